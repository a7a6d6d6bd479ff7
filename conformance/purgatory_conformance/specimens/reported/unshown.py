"""Bugs that people reported and that no wrong subject here shows, each with the reason.

A report leaves this table when an operation, an observable or a judge can show it: it is then
planted beside the others. What is legal by the rules stays.
"""

from dataclasses import dataclass

from purgatory_conformance.specimens.mutant import Kind


@dataclass(frozen=True)
class Unshown:
    """A report without a wrong subject."""

    report: str
    mechanism: str
    kind: Kind
    why: str


_FOR_TRACES = "Threads alone show it: traces and chosen schedules may, cases cannot."

UNSHOWN = (
    Unshown(
        "samza#450, jPOS#311",
        "The dispatcher catches ordinary exceptions only, and the other sort ends it.",
        Kind.OPERATION,
        "A script throws one sort of exception; the uncatchable sort is no operation.",
    ),
    Unshown(
        "tgstation#29437",
        "Numbers of six digits come round after a million armings, and two tasks share one.",
        Kind.CROWDS,
        "A million steps are more than a case has.",
    ),
    Unshown(
        "mesa#3800",
        "Cancelled entries are never removed from the heap.",
        Kind.OBSERVABLE,
        "Nothing shows whether a cancelled task is still referenced.",
    ),
    Unshown(
        "KAFKA-19763, linkerd#2222",
        "Completed operations stay in a side table.",
        Kind.OBSERVABLE,
        "Nothing shows whether a completed operation is still referenced.",
    ),
    Unshown(
        "KAFKA-3994",
        "A check tries operations under the lock of its list, and two threads wait crosswise.",
        Kind.THREADS,
        "One call at most is nested in another; a trace shows two calls that never returned.",
    ),
    Unshown(
        "hutool#2712",
        "Two threads create one bucket, and the task of one is lost.",
        Kind.THREADS,
        _FOR_TRACES,
    ),
    Unshown(
        "ogema#54",
        "The executor refuses a task, and the dispatcher dies.",
        Kind.OPERATION,
        "No operation makes an executor refuse.",
    ),
    Unshown(
        "loongcollector#2399",
        "A wake-up between the test and the wait is lost.",
        Kind.THREADS,
        _FOR_TRACES,
    ),
    Unshown(
        "muduo#668",
        "A cancel within a batch that has expired comes too late.",
        Kind.LEGAL,
        "TIMER-CANCEL-TOO-LATE leaves it free; the small heap timer does so and conforms.",
    ),
    Unshown(
        "shenyu#1730",
        "The time in which a request is handled counts as idle once it is answered.",
        Kind.LEGAL,
        "MUTING-IDLE leaves free whether a connection whose request is handled is idle.",
    ),
    Unshown(
        "czmq#566, KadNode#158",
        "The clock is set back, and timers wait until it has come as far again.",
        Kind.OLD_CLOCKS,
        "Readings do not fall: the rules are for a monotonic clock.",
    ),
)
