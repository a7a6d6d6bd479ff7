"""A counterexample of a model with threads as a story: who did what, and the shared counts."""

from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

from purgatory_model.claims.explorer import Counterexample
from purgatory_model.claims.narrative import Narrative, NarrativeStep
from purgatory_model.overlapping.interleaving import Step

State = TypeVar("State", bound=Hashable)


def narrate_threads(
    instance: str,
    counterexample: Counterexample[State, Step],
    says: Callable[[State, Step], str],
    counts: Callable[[State], Mapping[str, str]],
) -> Narrative:
    """The way to a step that breaks the claim, the threads as actors.

    Args:
        instance: What was explored, in words.
        counterexample: The way.
        says: The words for a step from a state; empty for an action without words, which is then
            told by name and arguments.
        counts: The shared counts of a state, by the heading of their column.
    """
    before = counterexample.initial
    steps = [NarrativeStep(0, "", "at first", counts(before))]
    last = len(counterexample.path)
    for number, (step, state) in enumerate(counterexample.path, start=1):
        actor, *arguments = map(str, step.arguments)
        words = says(before, step) or " ".join([step.action, *arguments])
        remark = "claim broken" if number == last else ""
        steps.append(NarrativeStep(number, actor, words, counts(state), remark))
        before = state
    return Narrative(
        title=instance,
        actors=tuple(dict.fromkeys(step.actor for step in steps if step.actor)),
        counts=tuple(steps[0].counts),
        steps=tuple(steps),
        verdict=f"It is false that {counterexample.broken}.",
    )
