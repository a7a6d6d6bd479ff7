"""A counterexample of the executable model as a story."""

from purgatory_conformance.describing.timer_words import (
    describe_timer_configuration,
    describe_timer_operation,
    describe_timer_outcome,
)
from purgatory_model.claims.explorer import Counterexample
from purgatory_model.claims.narrative import Narrative, NarrativeStep
from purgatory_model.claims.timer import Instance, WheelState, WheelStep
from purgatory_spec.operations import Advance, Elapse, Operation, RunOne

_ACTORS = {Advance: "reaper", Elapse: "clock", RunOne: "executor"}
_COUNTS = ("clock", "own clock", "pending", "levels", "buckets", "queue")


def narrate(instance: Instance, counterexample: Counterexample[WheelState, WheelStep]) -> Narrative:
    """The way to a step that breaks the claim."""
    steps = [NarrativeStep(0, "", "at first", _counts(counterexample.initial))]
    last = len(counterexample.path)
    for number, ((operation, outcome), state) in enumerate(counterexample.path, start=1):
        words = f"{describe_timer_operation(operation)} -> {describe_timer_outcome(outcome)}"
        remark = "claim broken" if number == last else ""
        steps.append(NarrativeStep(number, _actor(operation), words, _counts(state), remark))
    return Narrative(
        title=f"a timing wheel with {describe_timer_configuration(instance.configuration)}",
        actors=tuple(dict.fromkeys(step.actor for step in steps if step.actor)),
        counts=_COUNTS,
        steps=tuple(steps),
        verdict=f"It is false that {counterexample.broken}.",
    )


def _actor(operation: Operation) -> str:
    return _ACTORS.get(type(operation), "caller")


def _counts(state: WheelState) -> dict[str, str]:
    wheel = state.store
    buckets = [
        f"level {level} at {expiry}: {' '.join(sorted(tasks)) or 'empty'}"
        for (expiry, level), tasks in sorted(wheel.buckets.items())
    ]
    values = (
        str(state.now_ms),
        str(wheel.own_clock_ms),
        str(len(wheel.due_ticks)),
        str(wheel.levels),
        "; ".join(buckets) or "none",
        " ".join(state.queue) or "empty",
    )
    return dict(zip(_COUNTS, values, strict=True))
