"""A counterexample of the concurrent purgatory with the exact accounting, as a story."""

from collections.abc import Mapping

from purgatory_conformance.reporting.concurrent.story import narrate_threads
from purgatory_model.claims.explorer import Counterexample
from purgatory_model.claims.narrative import Narrative
from purgatory_model.concurrent.exact.state import ExactState, Thread
from purgatory_model.overlapping.interleaving import Step

SAYINGS: Mapping[str, str] = {
    "Arm": "arms operation {of.operation}: timer and promise",
    "BeginCancel": "detaches the list of {0}",
    "BeginCheck": "an event of {0} happens",
    "BeginForce": "completes operation {0} by force",
    "BeginPurge": "a purge is due",
    "BeginWatch": "tries operation {0} for the first time",
    "CallBack": "leaves the timer, callback of operation {of.operation}",
    "CancelOne": "settles operation {0} of the detached list",
    "CopyList": "copies the list of {of.key}",
    "Decide": "expiry of operation {of.operation}: swaps the word",
    "Drop": "drops operation {of.operation} from the list of {of.key}",
    "EndCancel": "has settled the detached list",
    "EndWalk": "has walked the list",
    "Expire": "operation {0} is due: hands it to the executor",
    "FailInserting": "cannot append operation {of.operation}, gives back what it has promised",
    "Fall": "an event of {0} is undone",
    "Insert": "appends operation {of.operation} to the list of {0}",
    "LookBehind": "looks again at operation {of.operation}, which it has tried in vain",
    "NestedNothing": "the callback does nothing",
    "Post": "adds {of.balance} to stale",
    "PostEarly": "adds {of.balance} to stale",
    "Resume": "the callback of operation {of.operation} is over",
    "SecondTry": "tries operation {of.operation} again",
    "Settle": "adds {of.balance} to stale, and returns",
    "StopInserting": "operation {of.operation} is completed: gives back what it has promised",
    "SwapWord": "swaps the word of operation {of.operation}",
    "Sweep": "purges the list of {0}",
    "Take": "takes operation {0} from its queue",
    "Walk": "looks at operation {0}",
}
"""The actions in words: numbers are the arguments behind the thread, ``of`` the thread before."""


def narrate_exact(instance: str, counterexample: Counterexample[ExactState, Step]) -> Narrative:
    """Return the way to a step that breaks the claim; ``instance`` says what was explored."""
    return narrate_threads(instance, counterexample, _says, _counts)


def _says(before: ExactState, step: Step) -> str:
    thread = before.threads.get(str(step.arguments[0]), Thread())
    return SAYINGS.get(step.action, "").format(*step.arguments[1:], of=thread)


def _counts(state: ExactState) -> dict[str, str]:
    pending = len(state.timer) + len(state.queue) + len(state.deciding)
    return {
        "timer": str(len(state.timer)),
        "queue": str(len(state.queue)),
        "pending": str(pending),
        "counted": str(state.stale),
        "stale": str(sum(1 for each in state.listed() if each in state.completed)),
        "estimate": str(pending + max(0, state.stale)),
        "live": str(len(state.live)),
    }
