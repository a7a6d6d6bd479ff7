"""Variants of the timer's model: what implementations do that are known to break a rule.

A variant says what may be seen of such an implementation, so that it can be followed beyond the
step in which it broke the rule, and any *other* fault of it is still found.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from purgatory_model.claims.long_arithmetic_wheel import LongArithmeticWheel, new_level
from purgatory_model.pending_tasks import Store
from purgatory_model.timer import TimerModel, TimerState, declared_timer_model
from purgatory_spec.operations import Add, Operation, RunOne
from purgatory_spec.outcomes import Event, Outcome
from purgatory_spec.profiles import TimerConfiguration, TimerProfile
from purgatory_spec.reasons import Reason

VARIANTS: Mapping[str, str] = {
    "long_arithmetic": "times wrap at 64 bits and round towards zero (long_arithmetic_wheel)",
    "taken_after_shutdown": "an add after shutdown may be accepted, and its task is lost",
}
"""The variants by name, each with a sentence."""


@dataclass(frozen=True, slots=True)
class VariantModel:
    """The model of a timing wheel that follows some variants."""

    model: TimerModel[Store]
    names: frozenset[str]

    def initial(self) -> TimerState[Store]:
        """Return the state of a timer that was just made."""
        return self.model.initial()

    def accept(
        self, state: TimerState[Store], operation: Operation, outcome: Outcome
    ) -> frozenset[TimerState[Store]]:
        """Return the states after an observed outcome of the timer; empty means divergence."""
        if _is_ruined(state):
            return frozenset({state})
        for expectation in self.model.expectations(state, operation):
            after = expectation.complete(())
            if _is_ruined(after):
                return frozenset({after})
        accepted = self.model.accept(state, operation, outcome)
        if "taken_after_shutdown" in self.names and state.closed:
            return accepted | self._taken(state, operation, outcome)
        return accepted

    def _taken(
        self, state: TimerState[Store], operation: Operation, outcome: Outcome
    ) -> frozenset[TimerState[Store]]:
        """Return the states after an add, from outside or inside, that shutdown did not refuse."""
        if outcome.rejected is Reason.INTERNAL and "long_arithmetic" in self.names:
            return frozenset({state})
        if outcome.rejected is not None:
            return frozenset()
        if isinstance(operation, Add):
            return frozenset({state}) if not outcome.events else frozenset()
        if isinstance(operation, RunOne):
            (expectation,) = self.model.expectations(state, operation)[:1]
            refused = [event for group in expectation.groups for event in group]
            seen = list(outcome.events)
            if "long_arithmetic" in self.names:
                seen = [_closed_for_internal(event) for event in seen]
            if seen[:1] == refused[:1] and not Counter(seen) - Counter(refused):
                return frozenset({expectation.complete(())})
        return frozenset()


def _closed_for_internal(event: Event) -> Event:
    """Return the event; an add refused as closed may fail in the arithmetic before that."""
    if event.reason is Reason.INTERNAL:
        return Event(event.kind, event.task, Reason.CLOSED)
    return event


def _is_ruined(state: TimerState[Store]) -> bool:
    return isinstance(state.store, LongArithmeticWheel) and state.store.ruined


def variant_model(
    configuration: TimerConfiguration, profile: TimerProfile, names: frozenset[str]
) -> VariantModel:
    """Return the model of a timing wheel with the named variants.

    Raises:
        ValueError: there is no such variant.
    """
    unknown = names - VARIANTS.keys()
    if unknown:
        raise ValueError(f"there is no variant {min(unknown)!r}")
    model: object = declared_timer_model(configuration, profile)
    if "long_arithmetic" in names:
        lowest = new_level(configuration.tick_ms, configuration.wheel_size, configuration.start_ms)
        wheel = LongArithmeticWheel(configuration.wheel_size, (lowest,))
        model = TimerModel(configuration, profile, wheel)
    assert isinstance(model, TimerModel)
    return VariantModel(model, names)
