"""A counterexample of the purgatory's model, one call after another, as a story."""

from purgatory_conformance.describing.purgatory_words import (
    describe_purgatory_operation,
    describe_purgatory_outcome,
)
from purgatory_model.claims.explorer import Counterexample
from purgatory_model.claims.narrative import Narrative, NarrativeStep
from purgatory_model.claims.purgatory import PurgatoryStep, State
from purgatory_spec.operations import Advance, CancelForKey, Check, Operation, RunOne, Satisfy

_ACTORS: dict[type[Operation], str] = {
    Advance: "reaper",
    RunOne: "executor",
    Check: "completer",
    Satisfy: "completer",
    CancelForKey: "completer",
}


def narrate_purgatory(
    instance: str, counterexample: Counterexample[State, PurgatoryStep]
) -> Narrative:
    """The way to a step that breaks the claim; ``instance`` says what was explored."""
    steps = [NarrativeStep(0, "", "at first", _counts(counterexample.initial))]
    last = len(counterexample.path)
    for number, ((operation, outcome), state) in enumerate(counterexample.path, start=1):
        seen = describe_purgatory_outcome(operation, outcome)
        words = f"{describe_purgatory_operation(operation)} -> {seen}"
        remark = "claim broken" if number == last else ""
        actor = _ACTORS.get(type(operation), "caller")
        steps.append(NarrativeStep(number, actor, words, _counts(state), remark))
    return Narrative(
        title=instance,
        actors=tuple(dict.fromkeys(step.actor for step in steps if step.actor)),
        counts=tuple(steps[0].counts),
        steps=tuple(steps),
        verdict=f"It is false that {counterexample.broken}.",
    )


def _counts(state: State) -> dict[str, str]:
    return {
        "clock": str(state.timer.now_ms),
        "timer": str(state.timer_size),
        "queue": str(len(state.timer.queue)),
        "estimate": str(state.estimate),
        "distinct": str(len(state.distinct)),
        "live": str(len(state.live)),
        "stale": str(len(state.stale_operations)),
    }
