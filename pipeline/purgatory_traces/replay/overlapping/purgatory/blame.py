"""Name the rule of the purgatory that an unexplained line breaks, with what was expected.

What is known is what the operation was: completed, cancelled, waiting, or never watched; and what
was seen of it. Where that may have more than one reason the likeliest rule is named, and the others
beside it.
"""

from collections.abc import Mapping

from purgatory_spec import operations as op
from purgatory_spec.outcomes import Value
from purgatory_spec.reasons import Reason
from purgatory_traces.replay.judge import Finding
from purgatory_traces.replay.overlapping.purgatory.followed_operations import (
    Fate,
    FollowedOperation,
    PurgatoryCall,
)
from purgatory_traces.traces.lines import WaitingOperation

_OVERLAPPING = "PURGATORY-OVERLAPPING-CALLS"
_COMPLETED = (Fate.COMPLETED, Fate.TOLD_COMPLETED)
_RULES_OF_REJECTIONS: Mapping[object, str] = {
    op.Shutdown: "PURGATORY-SHUTDOWN-AGAIN",
    op.Check: "PURGATORY-SHUTDOWN-COMPLETES",
    op.CancelForKey: "PURGATORY-SHUTDOWN-COMPLETES",
    op.Force: "PURGATORY-SHUTDOWN-COMPLETES",
}
_RULES_OF_RESULTS: Mapping[object, str] = {
    op.Watch: "PURGATORY-WATCH-WAITS",
    op.Force: "PURGATORY-FORCE",
    op.CancelForKey: "PURGATORY-CANCEL-RESULT",
}


def of_try(
    name: str, call: PurgatoryCall | None, followed: FollowedOperation | None, fate: Fate | None
) -> Finding:
    """Return the finding of a try that must not be, or is one too many."""
    seen = f"{name} is tried{_in(call)}"
    if call is not None and call.began_closed and isinstance(call.operation, op.Watch):
        return Finding("PURGATORY-SHUTDOWN-CLOSED", "tried", "rejected: closed, untried", seen)
    if fate in _COMPLETED or (followed is not None and followed.is_completed):
        return Finding(
            "PURGATORY-COMPLETED-NOT-TRIED", "tried", f"{name} is completed: no try", seen
        )
    if fate is Fate.CANCELLED or (followed is not None and followed.was_cancelled):
        return Finding("PURGATORY-CANCEL-LEAVES", "tried", f"{name} is cancelled: no try", seen)
    if followed is None:
        return Finding(
            "PURGATORY-EXACTLY-ONCE", "tried", f"no try of {name}: it is not watched", seen
        )
    if call is not None and isinstance(call.operation, op.Watch):
        return Finding(
            "PURGATORY-WATCH-SECOND-TRY", "tried", f"no further try of {name} in its watch", seen
        )
    return Finding(
        "PURGATORY-CHECK-ORDER", "tried", f"one try of {name} for each of its entries", seen
    )


def of_completion(
    name: str, call: PurgatoryCall | None, followed: FollowedOperation | None, fate: Fate | None
) -> Finding:
    """Return the finding of a completion that must not be."""
    seen = f"{name} is completed{_in(call)}"
    if fate in _COMPLETED or (followed is not None and followed.is_completed):
        return Finding("PURGATORY-EXACTLY-ONCE", "completed", f"{name} is completed already", seen)
    if fate is Fate.CANCELLED or (followed is not None and followed.was_cancelled):
        timed_out = (
            call is None
            or isinstance(call.operation, op.Advance | op.RunOne)
            or (followed is not None and followed not in call.concerned)
        )
        rule = "PURGATORY-CANCEL-LAST-KEY" if timed_out else "PURGATORY-CANCEL-LEAVES"
        return Finding(rule, "completed", f"{name} is cancelled: nothing completes it", seen)
    if followed is None:
        return Finding(
            "PURGATORY-EXACTLY-ONCE",
            "completed",
            f"no completion of {name}: fired without being pending",
            seen,
        )
    if call is None or followed not in call.concerned:
        return Finding(
            "PURGATORY-TIME-OUT",
            "completed",
            f"{name} owes no time-out",
            seen,
            also=("PURGATORY-SHUTDOWN-DROPS", "PURGATORY-EXACTLY-ONCE"),
        )
    return Finding(
        _OVERLAPPING, "completed", f"{name} is completed by a try of it, or by force", seen
    )


def of_expiration(name: str, call: PurgatoryCall | None) -> Finding:
    """Return the finding of an ``on_expiration`` without a time-out just before."""
    return Finding(
        "PURGATORY-CALLBACK-ORDER",
        "timed_out",
        f"on_expiration of {name} comes after its time-out has completed it, and once",
        f"{name} times out{_in(call)}",
        also=("PURGATORY-EXACTLY-ONCE",),
    )


def without_expiration(followed: FollowedOperation, seen: str) -> Finding:
    """Return the finding of an event before the owed ``on_expiration`` of a time-out."""
    return Finding(
        "PURGATORY-CALLBACK-ORDER",
        "completed",
        f"on_expiration of {followed.name}, which its time-out has completed",
        seen,
    )


def early(followed: FollowedOperation, call: PurgatoryCall | None, at_ms: int) -> Finding:
    """Return the finding of a completion without a completing call or a due time-out."""
    if followed.early_ms is None:
        expected = f"nothing completes {followed.name}: it has no time-out"
    else:
        expected = f"{followed.name} does not time out before {followed.early_ms}"
    return Finding(
        "PURGATORY-TIME-OUT",
        "early",
        expected,
        f"{followed.name} is completed at {at_ms}{_in(call)}",
        also=("TIMER-NOT-EARLY",),
    )


def late(followed: FollowedOperation, seen: str) -> Finding:
    """Return the finding of a time-out that is too late."""
    rules = ["PURGATORY-TIME-OUT", "TIMER-LATENESS", "PURGATORY-NOT-LOST"]
    if followed.was_cancelled:
        rules.insert(0, "PURGATORY-CANCEL-KEEPS-TIME-OUT")
    return Finding(
        rules[0],
        "late",
        f"{followed.name} times out not after {followed.late_ms}, if nothing completes it",
        f"{seen}",
        f"time-out of {followed.name}",
        also=tuple(rules[1:]),
    )


def of_rejection(call: PurgatoryCall, rejected: Reason) -> Finding:
    """Return the finding of a wrong rejection, or of one for another reason."""
    rule = _RULES_OF_REJECTIONS.get(type(call.operation), "PURGATORY-SHUTDOWN-CLOSED")
    if isinstance(call.operation, op.Watch) and not call.operation.keys:
        rule = "PURGATORY-NO-KEYS"
    seen = f"rejected: {rejected.value}"
    if call.tries:
        seen += ", after it was tried"
    return Finding(rule, "rejection", "accepted, or rejected untried", seen)


def of_taken(call: PurgatoryCall, watch: op.Watch) -> Finding:
    """Return the finding of a watch that should have been rejected."""
    if call.began_closed:
        return Finding("PURGATORY-SHUTDOWN-CLOSED", "rejection", "rejected: closed", "accepted")
    return Finding(
        "PURGATORY-NO-KEYS", "rejection", "rejected: invalid_argument", "accepted", watch.operation
    )


def of_result(call: PurgatoryCall, expected: str, result: Value) -> Finding:
    """Return the finding of a result of another kind."""
    rule = _RULES_OF_RESULTS.get(type(call.operation), _OVERLAPPING)
    return Finding(rule, "result", expected, _words(result))


def of_watch(
    call: PurgatoryCall, followed: FollowedOperation, *, result: bool, tries_first: bool
) -> Finding:
    """Return the finding of an unexplained watch result; ``tries_first`` is the profile's."""
    completed_it = followed.completed_in is call
    in_lists = call.tries > tries_first
    if result != completed_it:
        rule = "PURGATORY-WATCH-SECOND-TRY" if in_lists else "PURGATORY-WATCH-FIRST-TRY"
        expected = "true" if completed_it else "false: this call has not completed it"
        return Finding(rule, "result", expected, _words(result), also=("PURGATORY-WATCH-WAITS",))
    if call.tries == tries_first:
        return Finding(
            "PURGATORY-WATCH-SECOND-TRY",
            "not tried",
            f"{followed.name} is tried after it was added to all lists",
            f"it was tried {'once' if tries_first else 'never'}",
            also=("PURGATORY-WATCH-FIRST-TRY",) if tries_first else (),
        )
    if call.tries == 0:
        return Finding(
            "PURGATORY-WATCH-FIRST-TRY", "not tried", f"{followed.name} is tried", "it was not"
        )
    if call.tries > 1 + tries_first:
        return Finding(
            "PURGATORY-WATCH-SECOND-TRY",
            "tried",
            f"no further try of {followed.name} in its watch",
            f"it was tried {call.tries} times",
        )
    return Finding(
        "PURGATORY-WATCH-WAITS",
        "result",
        "a result that some order of the overlapping calls gives",
        _words(result),
        also=("PURGATORY-NOT-LOST", _OVERLAPPING),
    )


def of_count(call: PurgatoryCall, result: Value) -> Finding:
    """Return the finding of a check with a wrong count."""
    return Finding("PURGATORY-CHECK-COUNT", "result", str(call.completions), _words(result))


def of_check(followed: FollowedOperation, result: Value) -> Finding:
    """Return the finding of a check that returns before its work on an operation is done."""
    return Finding(
        "PURGATORY-NOT-LOST",
        "not tried",
        f"{followed.name}, which waits under the key, is tried, and completed if that is possible",
        f"the check returns {result} without",
        also=("PURGATORY-CHECK-ORDER", _OVERLAPPING),
    )


def of_cancellation(followed: FollowedOperation, count: int) -> Finding:
    """Return the finding of a cancellation with an operation too many or too few."""
    if count and followed.was_cancelled:
        rule, expected = "PURGATORY-CANCEL-LEAVES", f"no {followed.name}: it was cancelled before"
    elif count:
        rule, expected = "PURGATORY-CANCEL-RESULT", f"no, or fewer, {followed.name}"
    else:
        rule, expected = "PURGATORY-CANCEL-RESULT", f"{followed.name}, which waits under the key"
    return Finding(rule, "result", expected, f"{followed.name} {count} times", also=(_OVERLAPPING,))


def of_completed_result(name: str) -> Finding:
    """Return the finding of a cancellation with an operation that was completed before."""
    return Finding("PURGATORY-CANCEL-RESULT", "result", f"no {name}: it is completed", f"{name}")


def of_unknown(name: str) -> Finding:
    """Return the finding of a cancellation with an operation that was never watched."""
    return Finding(
        "PURGATORY-CANCEL-RESULT", "result", f"no {name}: it was never watched", f"{name}"
    )


def of_force(call: PurgatoryCall, followed: FollowedOperation, *, result: bool) -> Finding:
    """Return the finding of an unexplained result of a force."""
    completed_it = followed.completed_in is call
    rule = (
        "PURGATORY-FORCE" if completed_it or not followed.is_completed else "PURGATORY-FORCE-AGAIN"
    )
    expected = "true" if not result else "false"
    return Finding(rule, "result", expected, _words(result), also=("PURGATORY-EXACTLY-ONCE",))


def of_snapshot(followed: FollowedOperation, told: WaitingOperation) -> Finding:
    """Return the finding of a snapshot that contradicts the known facts about an operation."""
    owed = told.early_ms is not None or told.queued > 0
    return Finding(
        "PURGATORY-WATCH-WAITS" if not told.entries else "PURGATORY-TIME-OUT",
        "snapshot",
        f"{followed.name} as the calls before have left it",
        f"under {len(told.entries)} keys, {'a' if owed else 'no'} time-out owed",
        f"snapshot of {followed.name}",
        also=("PURGATORY-CANCEL-LEAVES", _OVERLAPPING),
    )


def _in(call: PurgatoryCall | None) -> str:
    if call is None or call.operation is None:
        return " outside of every call"
    return f" inside {op.operation_name(call.operation)}"


def _words(result: Value) -> str:
    if isinstance(result, bool):
        return "true" if result else "false"
    return "no result" if result is None else str(result)
