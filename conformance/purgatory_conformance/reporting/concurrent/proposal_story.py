"""A counterexample of the concurrent purgatory in the proposal's order, as a story."""

from collections.abc import Mapping

from purgatory_conformance.reporting.concurrent.story import narrate_threads
from purgatory_model.claims.explorer import Counterexample
from purgatory_model.claims.narrative import Narrative
from purgatory_model.concurrent.proposal.state import ProposalState
from purgatory_model.overlapping.interleaving import Step

SAYINGS: Mapping[str, str] = {
    "AddToTimer": "adds operation {0} to the timer",
    "Advance": "operation {0} is due: hands it to the executor",
    "CallOnComplete": "calls on_complete of operation {0}",
    "CallOnExpiration": "calls on_expiration of operation {0}",
    "CancelForKey": "cancel_for_key of {0}: detaches the list",
    "CancelTimeOut": "takes operation {0} out of the timer",
    "Check": "checks {0}",
    "Count": "counts operation {0}",
    "Drop": "drops operation {1} from the list of {0}",
    "DropCompleted": "drops operation {1}, completed before, from the list of {0}",
    "ExpiryLoses": "finds operation {0} completed",
    "ExpirySets": "sets operation {0} completed",
    "ExpiryTests": "sees operation {0} not completed",
    "ExpiryWins": "completes operation {0}",
    "FindLive": "sees operation {0} not completed",
    "FirstTryCompletes": "tries operation {0}: completes it",
    "FirstTryFails": "tries operation {0}: not yet, watches it",
    "Insert": "appends operation {0} to the list of {1}",
    "LookAgain": "looks again at operation {0}, after arming it",
    "LookFindsCompleted": "sees operation {0} completed, returns",
    "LookFindsLive": "sees operation {0} not completed",
    "NoPurge": "compares with timer size {0}: no purge",
    "Purge": "compares with timer size {0}: will purge",
    "Raise": "an event of {0} happens",
    "ReadEstimate": "purge test: reads estimate {0}",
    "ReadSizeAgain": "reads the timer's size again: {0}",
    "Reset": "resets the estimate to {0}",
    "SecondTryCompletes": "tries operation {0} again: completes it",
    "SecondTryFails": "tries operation {0} again: not yet",
    "Snapshot": "begins to walk the list of {0}",
    "Sweep": "sweeps the list of {0}",
    "TakeExpired": "takes operation {0} from its queue",
    "TryCompletes": "tries operation {0}: completes it",
    "TryFails": "tries operation {0}: not done here",
    "Withdraw": "cancels the time-out of operation {0}",
}
"""The actions in words; the numbers stand for the arguments behind the thread."""


def narrate_proposal(
    instance: str, counterexample: Counterexample[ProposalState, Step]
) -> Narrative:
    """Return the way to a step that breaks the claim; ``instance`` says what was explored."""
    return narrate_threads(
        instance,
        counterexample,
        lambda _, step: SAYINGS.get(step.action, "").format(*step.arguments[1:]),
        _counts,
    )


def _counts(state: ProposalState) -> dict[str, str]:
    return {
        "timer": str(len(state.timer)),
        "queue": str(len(state.queue)),
        "estimate": str(state.estimate),
        "distinct": str(len(state.distinct)),
        "live": str(len(state.live)),
        "stale": str(len(state.stale)),
    }
