"""The actions of ``PurgatoryExact.tla`` in words, and which of them occur in an instance."""

from collections.abc import Mapping

from purgatory_model.concurrent.exact.instance import ExactInstance

COMPLETING = {
    "Post": "the winner of a word adds its balance to the count of stale entries",
    "CallBack": "the winner leaves the timer and runs the callback",
}
WATCHING = {
    "BeginWatch": "a caller tries an operation for the first time",
    "Arm": "a caller starts the time-out and promises the entries",
    "Insert": "a caller appends its operation to the list of a key",
    "SecondTry": "a caller tries its operation again",
}
CHECKING = {
    "BeginCheck": "an event of a key happens",
    "CopyList": "a completer copies the list of its key",
    "Walk": "a walk looks at an operation of the copy, and tries it",
    "EndWalk": "nothing is left of the copy",
    "Drop": "a walk drops an entry of a completed operation, its own before it posts",
    "Settle": "a thread adds its balance to the count of stale entries, and returns",
}
CANCELLING = {
    "BeginCancel": "a canceller detaches the list of a key",
    "CancelOne": "a canceller settles an operation of the detached list",
    "EndCancel": "nothing is left of the detached list",
}
FORCING = {"BeginForce": "a forcer swaps the word of an operation"}
PURGING = {
    "BeginPurge": "a purger sees that a purge is due",
    "Sweep": "a purger takes the entries of completed operations out of a list",
}
EXPIRING = {
    "Expire": "the timer hands an operation to the executor",
    "Take": "the executor takes an operation from its queue",
    "Decide": "the executor swaps the word, or finds the operation completed",
}
BY_FEATURE: Mapping[str, Mapping[str, str]] = {
    "time-outs": EXPIRING,
    "evaluate-then-win": {"SwapWord": "a thread whose try has seen the condition swaps the word"},
    "conditions-fall": {"Fall": "an event of a key is undone"},
    "post-early": {"PostEarly": "a thread adds its balance to the count of stale entries"},
    "walk-looks-again": {"LookBehind": "a walk looks again at what it has tried in vain"},
    "stops-inserting": {
        "StopInserting": "a caller sees its operation completed and gives back what it promised"
    },
    "insert-fails": {"FailInserting": "appending raises, and a caller gives back what it promised"},
    "re-entrant-check": {**CHECKING, "Resume": "a callback is over"},
    "re-entrant-watch": {**WATCHING, "Resume": "a callback is over"},
    "re-entrant-cancel": {**CANCELLING, "Resume": "a callback is over"},
}
"""Actions that occur where a feature is chosen."""


def actions_of(instance: ExactInstance) -> Mapping[str, str]:
    """Return the actions that occur in an instance, in words."""
    actions = dict(COMPLETING)
    for group, words in (
        (instance.callers, WATCHING),
        (instance.completers, CHECKING),
        (instance.cancellers, CANCELLING),
        (instance.forcers, FORCING),
        (instance.purgers, PURGING),
    ):
        if group:
            actions |= words
    for feature in sorted(instance.features & BY_FEATURE.keys()):
        actions |= BY_FEATURE[feature]
    if any(instance.reenters(number) for number in range(1, instance.operations + 1)):
        actions["NestedNothing"] = "the callback makes no call"
    if not (instance.demanding or instance.features & {"throwing-try", "conditions-fall"}):
        # Each operation that a walk tries is completed, and the last one ends it.
        actions.pop("EndWalk", None)
    settles = (instance.cancellers, instance.purgers, instance.completers)
    if any(settles) or "stops-inserting" in instance.features:
        actions["Settle"] = CHECKING["Settle"]
    return actions
