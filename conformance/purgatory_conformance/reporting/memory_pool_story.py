"""A counterexample of the memory pool's model, one call after another, as a story."""

from purgatory_conformance.describing.memory_pool_words import (
    describe_memory_pool_operation,
    describe_memory_pool_outcome,
)
from purgatory_model.claims.explorer import Counterexample
from purgatory_model.claims.memory_pool import PoolStep
from purgatory_model.claims.narrative import Narrative, NarrativeStep
from purgatory_model.memory_pool import MemoryPoolState


def narrate_memory_pool(
    instance: str, counterexample: Counterexample[MemoryPoolState, PoolStep]
) -> Narrative:
    """The way to a step that breaks the claim; ``instance`` says what was explored."""
    steps = [NarrativeStep(0, "", "at first", _counts(counterexample.initial))]
    last = len(counterexample.path)
    for number, ((operation, outcome), state) in enumerate(counterexample.path, start=1):
        seen = describe_memory_pool_outcome(operation, outcome)
        words = f"{describe_memory_pool_operation(operation)} -> {seen}"
        remark = "claim broken" if number == last else ""
        steps.append(NarrativeStep(number, "caller", words, _counts(state), remark))
    return Narrative(
        title=instance,
        actors=("caller",),
        counts=tuple(steps[0].counts),
        steps=tuple(steps),
        verdict=f"It is false that {counterexample.broken}.",
    )


def _counts(state: MemoryPoolState) -> dict[str, str]:
    return {
        "available": str(state.available_bytes),
        "outstanding": str(state.outstanding_bytes),
        "held": " ".join(sorted(state.held)) or "none",
    }
