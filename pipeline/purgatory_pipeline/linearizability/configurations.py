"""What a search remembers: how far calls are, the configurations, and the states it reached."""

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeAlias

from immutables import Map

from purgatory_model.overlapping.parts import WHOLE, Part
from purgatory_model.overlapping.sequential_rules import Effect
from purgatory_model.step import result_matches
from purgatory_pipeline.linearizability.calls import RecordedCall, Rule
from purgatory_pipeline.linearizability.order import Order
from purgatory_spec.outcomes import Event, Value
from purgatory_spec.reasons import Reason


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a call is: the part that is next, None where nothing of it is left.

    ``used`` of its events are explained; ``owed`` are events of its parts that were not seen yet,
    which only a call that has not returned may have.
    """

    part: Part | None = WHOLE
    used: int = 0
    owed: tuple[Event, ...] = ()
    result: Value = None
    raised: Reason | None = None

    def after(self, effect: Effect[Rule], call: RecordedCall) -> "Progress | None":
        """How far the call is after its next part, None where what was seen contradicts it."""
        left = call.events[self.used : self.used + len(effect.events)]
        if left != effect.events[: len(left)]:
            return None
        used = self.used + len(left)
        owed = (*self.owed, *effect.events[len(left) :])
        if owed and call.returned is not None:
            return None
        if effect.then is None and used < len(call.events):
            return None
        result = self.result if effect.result is None else effect.result
        return Progress(effect.then, used, owed, result, effect.raised)

    def answers(self, call: RecordedCall) -> bool:
        """Whether a call that is over has answered what was seen."""
        returned = call.returned
        return returned is None or (
            self.raised is returned.raised and result_matches(self.result, returned.result)
        )


BEGUN = Progress()

Calls: TypeAlias = Map[int, Progress]
"""How far the calls are that have begun to take effect and are not done with, by number."""


class Configuration(NamedTuple, Generic[Rule]):
    """What the rest of a search depends on: calls that are over, the state, calls half done."""

    over: int
    state: Rule
    calls: Calls


class Reached(NamedTuple, Generic[Rule]):
    """A state in which a piece of a history may leave the rules, and an order that leads to it."""

    state: Rule
    calls: Calls
    order: Order | None = None
