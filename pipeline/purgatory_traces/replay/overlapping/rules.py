"""Name the rules that the judges of runs on a real clock put to the test.

Other rules need to see what such a trace does not tell: observables, the order in a list, what a
callback may do. Some are judged only in part, and are never counted: that a check goes through its
list in order (PURGATORY-CHECK-ORDER) and drops what is completed (PURGATORY-CHECK-DROPS), and that
what is completed is not handed to the executor (PURGATORY-TIMER-LEFT), and that calls do not wait
for each other for ever (PURGATORY-NO-CIRCLE), which only a run that ends like that can break.
"""

from collections.abc import Mapping
from typing import Final

from purgatory_spec.operations import (
    Add,
    Allocate,
    Cancel,
    CancelForKey,
    Check,
    Force,
    Operation,
    Watch,
)
from purgatory_spec.profiles import Component

RULES_ON_A_WALL_CLOCK: Final[Mapping[Component, frozenset[str]]] = {
    Component.TIMER: frozenset(
        {
            "TIMER-ALREADY-DUE",
            "TIMER-CANCEL",
            "TIMER-CANCEL-AGAIN",
            "TIMER-CANCEL-FIRED",
            "TIMER-CANCEL-UNKNOWN",
            "TIMER-EXACTLY-ONCE",
            "TIMER-LARGEST-DELAY",
            "TIMER-LATENESS",
            "TIMER-NEGATIVE-DELAY",
            "TIMER-NOT-EARLY",
            "TIMER-NOT-LATE",
            "TIMER-READD-CANCELLED",
            "TIMER-READD-FIRED",
            "TIMER-READD-PENDING",
            "TIMER-ROUNDING",
            "TIMER-SHUTDOWN-AGAIN",
            "TIMER-SHUTDOWN-CLOSED",
            "TIMER-SHUTDOWN-DROPS",
            "TIMER-ZERO-DELAY",
        }
    ),
    Component.PURGATORY: frozenset(
        {
            "PURGATORY-CALLBACK-ORDER",
            "PURGATORY-CANCEL-KEEPS-TIME-OUT",
            "PURGATORY-CANCEL-LAST-KEY",
            "PURGATORY-CANCEL-LEAVES",
            "PURGATORY-CANCEL-RESULT",
            "PURGATORY-CANCEL-UNKNOWN",
            "PURGATORY-CHECK-COUNT",
            "PURGATORY-CHECK-UNKNOWN",
            "PURGATORY-COMPLETED-NOT-TRIED",
            "PURGATORY-EXACTLY-ONCE",
            "PURGATORY-FORCE",
            "PURGATORY-FORCE-AGAIN",
            "PURGATORY-NO-KEYS",
            "PURGATORY-NO-TIME-OUTS",
            "PURGATORY-NOT-LOST",
            "PURGATORY-OVERLAPPING-CALLS",
            "PURGATORY-SHUTDOWN-AGAIN",
            "PURGATORY-SHUTDOWN-CLOSED",
            "PURGATORY-SHUTDOWN-COMPLETES",
            "PURGATORY-SHUTDOWN-DROPS",
            "PURGATORY-TIME-OUT",
            "PURGATORY-WATCH-FIRST-TRY",
            "PURGATORY-WATCH-SECOND-TRY",
            "PURGATORY-WATCH-WAITS",
        }
    ),
    Component.MEMORY_POOL: frozenset(
        {
            "POOL-BOUND",
            "POOL-CONSTRUCT",
            "POOL-LEAK",
            "POOL-NEGATIVE-REQUEST",
            "POOL-NON-STRICT",
            "POOL-OVERSIZE-REQUEST",
            "POOL-REFUSAL",
            "POOL-RELEASE",
            "POOL-RELEASE-AGAIN",
            "POOL-RELEASE-COPY",
            "POOL-RELEASE-FOREIGN",
            "POOL-RELEASE-NOTHING",
            "POOL-RELEASE-SLICE",
            "POOL-STRICT",
            "POOL-UNBOUNDED-GRANTS",
            "POOL-ZERO-REQUEST",
        }
    ),
}
"""The ids of the rules of which visits are counted, by component."""

_RULES_OF_OPEN_CALLS: Final[Mapping[type[Operation], str]] = {
    Add: "TIMER-EXACTLY-ONCE",
    Cancel: "TIMER-CANCEL",
    Allocate: "POOL-REFUSAL",
    Watch: "PURGATORY-NO-CIRCLE",
    Check: "PURGATORY-NO-CIRCLE",
    CancelForKey: "PURGATORY-NO-CIRCLE",
    Force: "PURGATORY-NO-CIRCLE",
}


def rule_of_open_call(operation: Operation) -> str:
    """Return the rule that a call breaks that never returns, though nothing holds it up."""
    return _RULES_OF_OPEN_CALLS.get(type(operation), "POOL-RELEASE")
