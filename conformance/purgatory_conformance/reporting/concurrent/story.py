"""A counterexample of a model with threads as a story: the threads are the actors."""

from collections.abc import Callable, Mapping

from purgatory_conformance.reporting.counterexample import State, narrate
from purgatory_model.claims.explorer import Counterexample
from purgatory_model.claims.narrative import Narrative
from purgatory_model.concurrent.memory_pool.model import ConcurrentPoolState
from purgatory_model.overlapping.interleaving import Step


def narrate_threads(
    instance: str,
    counterexample: Counterexample[State, Step],
    says: Callable[[State, Step], str],
    counts: Callable[[State], Mapping[str, str]],
) -> Narrative:
    """Return the way to a step that breaks the claim.

    ``says`` gives the words for a step from a state, empty for an action without words, which is
    then told by name and arguments; the rest is as in ``narrate``.
    """

    def with_thread(before: State, step: Step) -> tuple[str, str]:
        thread, *arguments = map(str, step.arguments)
        return thread, says(before, step) or " ".join([step.action, *arguments])

    return narrate(instance, counterexample, with_thread, counts)


SAYINGS: Mapping[str, str] = {
    "Ask": "asks for {0} bytes",
    "Disown": "raises an error: not handed out by this pool",
    "FailToSwap": "swap fails: it is {available}, no longer {of.seen_bytes}",
    "Read": "reads {available} available, wants {of.request_bytes}",
    "Refuse": "is refused: {of.seen_bytes} was too little",
    "Reject": "raises an error: {of.request_bytes} bytes is no legal size",
    "Release": "gives {of.held_bytes} bytes back",
    "ReleaseAgain": "gives the same {of.spent_bytes} bytes back again",
    "ReleaseForeign": "gives back {0} bytes that are not the pool's",
    "Store": "stores {left}, has its buffer",
    "Subtract": "subtracts {of.request_bytes} unseen, has its buffer",
    "Swap": "swaps {of.seen_bytes} for {left}, has its buffer",
}
"""The actions in words: numbers are the arguments behind the thread, ``of`` the thread before.

``left`` is the count read less the bytes requested.
"""


def narrate_concurrent_pool(
    instance: str, counterexample: Counterexample[ConcurrentPoolState, Step]
) -> Narrative:
    """Return the way to a step that breaks the claim; ``instance`` says what was explored."""
    return narrate_threads(instance, counterexample, _says, _counts)


def _says(before: ConcurrentPoolState, step: Step) -> str:
    thread = before.thread(str(step.arguments[0]))
    left = thread.seen_bytes - thread.request_bytes
    words = SAYINGS.get(step.action, "")
    available = before.available_bytes
    return words.format(*step.arguments[1:], of=thread, available=available, left=left)


def _counts(state: ConcurrentPoolState) -> dict[str, str]:
    return {"available": str(state.available_bytes), "outstanding": str(state.outstanding_bytes)}
