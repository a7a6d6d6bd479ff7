"""A generator's knowledge of a purgatory: the model's state, by the rules."""

from dataclasses import dataclass, field

import msgspec

from purgatory_conformance.generation.source import Source
from purgatory_judge.purgatory.step import Model, State
from purgatory_model.purgatory import purgatory_model
from purgatory_spec import profiles
from purgatory_spec.operations import Advance, Elapse, Operation, RunOne, Watch

MOST_OPERATIONS = 12
"""How many different delayed operations one case uses at the most, but for mass expiries."""

KEYS = ("a", "b", "c", "d")
"""The keys that operations are watched under; any other is one that nobody waits under."""

_MOST_RUNS = 100


@dataclass(slots=True)
class PurgatoryWorld:
    """The predicted state of a subject and the names that are in play.

    What is predicted is a stepped executor. Where the subject has another one, what was handed over
    is run at the end of each step. Where lists have no order, that of the entries is predicted.

    Scripts are made for a watch that tries twice; where the subject tries once, it is given what
    they say from the second try on.
    """

    configuration: profiles.PurgatoryConfiguration
    profile: profiles.PurgatoryProfile
    model: Model = field(init=False)
    state: State = field(init=False)
    names: int = 0

    def __post_init__(self) -> None:
        """Begin with a fresh purgatory."""
        stepped = msgspec.structs.replace(
            self.profile,
            executor=profiles.Executor.STEPPED,
            check_order=profiles.CheckOrder.AS_WATCHED,
        )
        self.model = purgatory_model(self.configuration, stepped)
        self.state = self.model.initial()

    def apply(self, operation: Operation) -> Operation:
        """Follow an operation, taking the first of the ways in which it may go.

        Returns the operation, no earlier than the clock reads: what goes before it in its row may
        have moved the clock.
        """
        if isinstance(operation, Watch) and self.profile.first_try is profiles.FirstTry.NONE:
            operation = _without_first_try(operation)
        if isinstance(operation, Advance | Elapse) and operation.to_ms < self.now:
            operation = type(operation)(self.now)
        self._follow(operation)
        runs = 0
        while not self.is_stepped and self.state.timer.queue and runs < _MOST_RUNS:
            self._follow(RunOne())
            runs += 1
        return operation

    def _follow(self, operation: Operation) -> None:
        _, self.state = next(iter(self.model.successors(self.state, operation)))

    @property
    def is_stepped(self) -> bool:
        """Decide whether running an expired operation is a step of its own."""
        return self.profile.executor is profiles.Executor.STEPPED

    def has(self, *features: profiles.PurgatoryFeature) -> bool:
        """Decide whether the subject offers all of these."""
        return self.profile.features.issuperset(features)

    def fresh_name(self) -> str:
        """Return the name of an operation that was never used."""
        self.names += 1
        return f"o{self.names}"

    @property
    def next_name(self) -> str:
        """Return the name that will be fresh next."""
        return f"o{self.names + 1}"

    def keys(self, source: Source, most: int = 3) -> tuple[str, ...]:
        """Return some distinct keys, in any order."""
        left = list(KEYS)
        drawn: list[str] = []
        for _ in range(source.integer(1, most)):
            key = left[source.integer(0, len(left) - 1)]
            left.remove(key)
            drawn.append(key)
        return tuple(drawn)

    def delay(self, source: Source) -> int:
        """Return a short delay, ms; rarely one that is due at once."""
        tick_ms = self.configuration.tick_ms
        if source.integer(0, 11) == 11:
            negative = self.profile.negative_delay is not profiles.NegativeDelay.NOT_OFFERED
            return source.integer(-1 if negative else 0, 0)
        return source.integer(1, 12) * source.item((1, tick_ms))

    @property
    def now(self) -> int:
        """Return the clock's reading, ms."""
        return self.state.timer.now_ms

    @property
    def live(self) -> list[str]:
        """Return the operations that are watched and not completed."""
        return sorted(self.state.live)

    @property
    def completed(self) -> list[str]:
        """Return the completed operations."""
        return sorted(self.state.completed)

    @property
    def used_keys(self) -> list[str]:
        """Return the keys that have a list."""
        return sorted(self.state.lists)

    @property
    def queue(self) -> tuple[str, ...]:
        """Return the executor's queue of operations that have not run."""
        return self.state.timer.queue

    def keys_of(self, name: str) -> list[str]:
        """Return the keys under which an operation is watched."""
        return [key for key, entries in sorted(self.state.lists.items()) if name in entries]

    @property
    def due_ticks(self) -> list[int]:
        """Return the moments at which something is due, the first one first, ms."""
        return sorted(set(self.state.timer.store.due_ticks.values()))

    def due_tick(self, delay_ms: int) -> int:
        """Return the time at which a delay that begins now is over, no sooner than now, ms."""
        return max(self.now, self.model.timer.due_tick_of(self.state.timer, delay_ms))


def _without_first_try(watch: Watch) -> Watch:
    """Return the same watch with no script for the first try; a last answer stays."""
    script = watch.script
    later = msgspec.structs.replace(
        script, tries=script.tries[1:] or script.tries, on_try=script.on_try[1:]
    )
    return msgspec.structs.replace(watch, script=later)
