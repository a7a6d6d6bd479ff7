"""Name the rule of the timer that an unexplained line breaks, with what was expected."""

from purgatory_judge.differences import reason_words
from purgatory_spec.reasons import Reason
from purgatory_traces.replay.judge import Finding, Missing
from purgatory_traces.replay.overlapping.timer.armings import Arming, Fate, FollowedTask
from purgatory_traces.traces.lines import PendingTask

RULES_OF_REFUSALS = {
    Reason.CLOSED: "TIMER-SHUTDOWN-CLOSED",
    Reason.TOO_LARGE: "TIMER-LARGEST-DELAY",
    Reason.INVALID_ARGUMENT: "TIMER-NEGATIVE-DELAY",
}
"""The rule that says that an add is rejected for a reason."""

_NEVER = 3
"""A task that has not run for so many times the lateness, and does not run later, never runs."""


def of_run(
    task: str,
    followed: FollowedTask | None,
    fate: Fate | None,
    first_ms: int,
    last_ms: int,
    *,
    is_closed: bool,
) -> Finding:
    """Return the finding of a run that must not be: too early, too late, or not pending."""
    seen = f"{task} ran at {last_ms}"
    armings = [] if followed is None else sorted(followed.armings(), key=lambda a: a.early_ms)
    for arming in armings:
        if last_ms < arming.early_ms:
            expected = f"{task} not before {arming.early_ms}"
            also = () if followed is None else tuple(sorted(followed.ended_by))
            return Finding("TIMER-NOT-EARLY", "early", expected, seen, also=also)
    for arming in armings:
        if arming.late_ms is not None and first_ms > arming.late_ms:
            expected = f"{task} not after {arming.late_ms}"
            return Finding("TIMER-LATENESS", "late", expected, seen)
    rule = _rule_of_run(followed, fate, is_closed=is_closed)
    return Finding(rule, "ran", f"no run of {task}: it is not pending", seen, also=_others(rule))


def _rule_of_run(followed: FollowedTask | None, fate: Fate | None, *, is_closed: bool) -> str:
    """Return the rule that a run without an arming breaks."""
    ended_by = frozenset[str]() if followed is None else followed.ended_by
    if followed is None and fate is not None:
        ended_by = fate.ended_by
    rule = min(ended_by, default="TIMER-EXACTLY-ONCE")
    if is_closed and rule == "TIMER-EXACTLY-ONCE" and (fate is None or not fate.ran):
        rule = "TIMER-SHUTDOWN-DROPS"
    return rule


def of_overdue(task: str, overdue: Arming, now_ms: int, lateness_ms: int) -> Finding:
    """Return the finding of a task that has not run in time, and perhaps never does."""
    assert overdue.late_ms is not None
    never_ms = overdue.late_ms + _NEVER * lateness_ms
    return Finding(
        "TIMER-LATENESS",
        "late",
        f"{task} not after {overdue.late_ms}",
        f"{task} has not run by {now_ms}",
        f"run of {task}",
        also=("TIMER-NOT-LATE", "TIMER-EXACTLY-ONCE"),
        missing=Missing(task, never_ms, "TIMER-EXACTLY-ONCE"),
    )


def of_add(delay_ms: int, allowed: frozenset[Reason | None], rejected: Reason | None) -> Finding:
    """Return the finding of an add that is wrongly rejected or accepted."""
    expected = " or ".join(sorted(reason_words(reason) for reason in allowed))
    blamed = next((reason for reason in allowed if reason is not None), rejected)
    rule = "TIMER-NOT-LATE" if delay_ms else "TIMER-ZERO-DELAY"
    if rejected is Reason.CLOSED and blamed is not Reason.CLOSED:
        rule = "TIMER-SHUTDOWN-CLOSED"
    elif delay_ms < 0 and blamed is not Reason.CLOSED:
        rule = "TIMER-NEGATIVE-DELAY"
    elif blamed in RULES_OF_REFUSALS and blamed is not Reason.INVALID_ARGUMENT:
        rule = RULES_OF_REFUSALS[blamed]
    return Finding(rule, "rejection", expected, reason_words(rejected))


def of_rejection(rule: str, rejected: Reason) -> Finding:
    """Return the finding of a rejected call that never may be."""
    return Finding(rule, "rejection", "accepted", reason_words(rejected))


def of_snapshot(task: str, *, is_armed: bool) -> Finding:
    """Return the finding of a snapshot with an armed task too few or too many."""
    words = (f"{task} is armed", f"{task} is not")
    if not is_armed:
        words = (f"{task} is not armed", f"{task} is")
    return Finding("TIMER-EXACTLY-ONCE", "snapshot", *words, task)


def of_closed_snapshot(*, is_closed: bool) -> Finding:
    """Return the finding of a snapshot that is wrong about the timer's shutdown."""
    words = ("it is shut down", "it is not") if is_closed else ("it is not shut down", "it is")
    return Finding("TIMER-SHUTDOWN-DROPS", "snapshot", *words, "snapshot")


def of_told_times(
    task: str, pending: PendingTask | None, queued: int, followed: FollowedTask
) -> Finding:
    """Return the finding of a snapshot with an impossible expiry or unowed runs of a task."""
    seen = f"{queued} times in the queue"
    if pending is not None:
        seen = f"pending, due between {pending.early_ms} and {pending.late_ms}; {seen}"
    armings = sorted(each.early_ms for each in followed.armings())
    expected = f"{task} runs not before " + " or ".join(map(str, armings))
    return Finding("TIMER-EXACTLY-ONCE", "snapshot", expected, seen, f"snapshot of {task}")


def _others(rule: str) -> tuple[str, ...]:
    return () if rule == "TIMER-EXACTLY-ONCE" else ("TIMER-EXACTLY-ONCE",)
