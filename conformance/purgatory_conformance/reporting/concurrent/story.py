"""A counterexample of a model with threads as a story: the threads are the actors."""

from collections.abc import Callable, Mapping

from purgatory_conformance.reporting.counterexample import State, narrate
from purgatory_model.claims.explorer import Counterexample
from purgatory_model.claims.narrative import Narrative
from purgatory_model.overlapping.interleaving import Step


def narrate_threads(
    instance: str,
    counterexample: Counterexample[State, Step],
    says: Callable[[State, Step], str],
    counts: Callable[[State], Mapping[str, str]],
) -> Narrative:
    """The way to a step that breaks the claim.

    ``says`` gives the words for a step from a state, empty for an action without words, which is
    then told by name and arguments; the rest is as in ``narrate``.
    """

    def with_thread(before: State, step: Step) -> tuple[str, str]:
        thread, *arguments = map(str, step.arguments)
        return thread, says(before, step) or " ".join([step.action, *arguments])

    return narrate(instance, counterexample, with_thread, counts)
