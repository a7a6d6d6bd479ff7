"""Bugs that people reported and that no subject shows, wrong here or scheduled, with the reason.

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


UNSHOWN = (
    Unshown(
        "tgstation#29437",
        "Numbers of six digits come round after a million armings, and two tasks share one.",
        Kind.CROWDS,
        "A million steps are more than a case has.",
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
    Unshown(
        "envoy#28014",
        "A channel that is throttled twice goes on with the first of two ends.",
        Kind.LEGAL,
        "Whether throttles add up is free: the protocol throttles no channel twice.",
    ),
    Unshown(
        "ballerina-http#2669",
        "The time in which a channel is throttled counts as idle.",
        Kind.LEGAL,
        "MUTING-IDLE says so of every connection from which nothing is read or written.",
    ),
    Unshown(
        "colyseus/timer#16",
        "A task that shuts the timer down as it runs breaks the advance.",
        Kind.BATCHES,
        "No action of a task is a shutdown.",
    ),
    Unshown(
        "KAFKA-6185",
        "Channels that are closed while they are muted are referenced for ever.",
        Kind.OBSERVABLE,
        "Nothing looks at what a server holds of a channel that is closed.",
    ),
)
