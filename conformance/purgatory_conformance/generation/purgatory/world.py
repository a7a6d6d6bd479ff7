"""A generator's knowledge of a purgatory: the model's state, by the rules."""

from dataclasses import dataclass, field

import msgspec

from purgatory_conformance.generation.source import Source
from purgatory_judge.purgatory.step import Model, State
from purgatory_model.purgatory import purgatory_model
from purgatory_spec import profiles
from purgatory_spec.operations import (
    Advance,
    Elapse,
    Meanwhile,
    Operation,
    Reachable,
    RunOne,
    Watch,
    WatchInside,
)
from purgatory_spec.outcomes import EventKind

MOST_OPERATIONS = 12
"""The most delayed operations that one case uses, mass expiries aside."""

KEYS = ("a", "b", "c", "d")
"""The keys that operations are watched under; any other is one that nobody waits under."""

WITHIN_REACH_MS = 2**21
"""The distance that the clock may always be moved in one step, ms."""

_MOST_RUNS = 100
_MOST_REFUSED = 5


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
    unit_ms: int = 1
    """The time that a ms of the world stands for in the case, ms."""
    names: int = 0
    dropped: set[str] = field(default_factory=set)
    """The operations that nothing but a look may name any longer."""
    tried: set[str] = field(default_factory=set)
    early: set[str] = field(default_factory=set)
    """The operations that were completed before they were watched."""

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
            operation = msgspec.structs.replace(operation, to_ms=self.now)
        self._follow(operation)
        if isinstance(operation, Reachable):
            self.dropped.add(operation.task)
        runs = 0
        while not self.is_stepped and self.state.timer.queue and runs < _MOST_RUNS:
            self._follow(RunOne())
            runs += 1
        return operation

    def _follow(self, operation: Operation) -> None:
        live = self.state.live
        outcome, self.state = next(iter(self.model.successors(self.state, operation)))
        for event in outcome.events:
            if event.kind is EventKind.TRIED:
                self.tried.add(event.task)
            elif event.kind is EventKind.COMPLETED and event.task not in self.tried | live:
                self.early.add(event.task)

    @property
    def is_stepped(self) -> bool:
        """Decide whether running an expired operation is a step of its own."""
        return self.profile.executor is profiles.Executor.STEPPED

    def has(self, *features: profiles.PurgatoryFeature) -> bool:
        """Decide whether the subject offers all of these."""
        return self.profile.features.issuperset(features)

    def may_refuse(self, to_ms: int) -> bool:
        """Decide whether an executor may refuse what is due at a reading.

        Where the caller runs it, a few time-outs are refused, and no callback watches: the executor
        would refuse that time-out as well.
        """
        if self.profile.refused_task is profiles.RefusedTask.KEPT:
            return True
        due_ticks = self.state.timer.store.due_ticks.values()
        scripts = (operation.script for operation in self.state.operations.values())
        actions = (action for script in scripts for each in script.callbacks for action in each)
        return sum(due <= to_ms for due in due_ticks) < _MOST_REFUSED and not any(
            isinstance(action, WatchInside | Meanwhile) for action in actions
        )

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
            is_offered = self.profile.negative_delay is not profiles.NegativeDelay.NOT_OFFERED
            return source.item((0, -1, -tick_ms, -4 * tick_ms)) if is_offered else 0
        return source.integer(1, 12) * source.item((1, tick_ms))

    @property
    def reach_ms(self) -> int:
        """Return how far the clock may be moved in one step, ms.

        A wheel with a delay queue goes from bucket to bucket, any other timer may go by ticks.
        """
        if profiles.goes_far(self.profile):
            return (profiles.LARGEST_SAFE_INTEGER >> 4) // self.unit_ms
        return WITHIN_REACH_MS

    @property
    def now(self) -> int:
        """Return the clock's reading, ms."""
        return self.state.timer.now_ms

    @property
    def live(self) -> list[str]:
        """Return the operations that are watched and not completed."""
        return sorted(self.state.live - self.dropped)

    @property
    def completed(self) -> list[str]:
        """Return the names of the completed operations, sorted."""
        return sorted(self.state.completed - self.dropped)

    @property
    def used_keys(self) -> list[str]:
        """Return the keys that have a list."""
        return sorted(self.state.lists)

    @property
    def queue(self) -> tuple[str, ...]:
        """Return the executor's queue of operations that have not run."""
        return self.state.timer.queue

    def may_hold(self, name: str) -> bool:
        """Decide whether the purgatory may hold an operation."""
        return self.model.may_hold(self.state, name)

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
