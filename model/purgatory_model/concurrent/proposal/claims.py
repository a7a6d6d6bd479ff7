"""Claims about the concurrent purgatory in the proposal's order, true and false.

A claim is a sentence about single states. The true ones hold of every state of every instance here
whose features they allow; each has a fault under which it fails. The false ones are what one would
believe of the estimate and of the timer's size; each comes with an instance in which the explorer
finds why not. All have their names from ``tla/PurgatoryProposal.tla``.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from purgatory_model.concurrent.proposal.state import (
    EXECUTOR,
    REAPER,
    Caller,
    Completer,
    Executor,
    Place,
    ProposalInstance,
    ProposalState,
)

Claim: TypeAlias = Callable[[ProposalInstance, ProposalState], bool]


def called_at_most_once(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether ``on_complete`` is called once at most. Rules: PURGATORY-EXACTLY-ONCE."""
    return all(times <= 1 for times in state.callbacks.values())


def completed_means_called_once(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether, when idle, completed ones were called once. Rules: PURGATORY-EXACTLY-ONCE.

    Each of them once, and no other.
    """
    called = dict.fromkeys(state.completed, 1)
    return not state.all_idle or dict(state.callbacks) == called


def expired_after_completed(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether expiration follows completion. Rules: PURGATORY-CALLBACK-ORDER."""
    return all(state.callbacks.get(operation, 0) > 0 for operation in state.expirations)


def no_lost_completion(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether no completable operation waits for its time-out, when calls are over.

    Rules: PURGATORY-NOT-LOST, PURGATORY-WATCH-SECOND-TRY.
    """
    threads = state.threads.values()
    if any(isinstance(t, Caller | Completer) and t.place is not Place.IDLE for t in threads):
        return True
    waiting = (o for o in _begun(state) if o not in state.completed)
    return not any(instance.may_complete(state, operation) for operation in waiting)


def live_is_watched(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether live operations are in all their lists, once their calls are over.

    Cancelling for a key ends that. Rules: PURGATORY-WATCH-WAITS.
    """
    inside = _in_calls(state) | state.completed
    listed = [frozenset(entries) for entries in state.lists.values()]
    return all(o in inside or all(o in each for each in listed) for o in _begun(state))


def timer_holds_live_when_quiet(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether, when idle, the timer holds no completed operation.

    Rules: PURGATORY-TIMER-LEFT, PURGATORY-OVERLAPPING-CALLS.
    """
    return not state.all_idle or timer_holds_live(instance, state)


def time_out_is_owed(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether live operations have time-outs to come, once their calls are over.

    Cancelling for a key ends that, in the proposal.
    Rules: PURGATORY-TIME-OUT, PURGATORY-COUNTS-WHEN-QUIET.
    """
    deciding = state.threads[EXECUTOR]
    assert isinstance(deciding, Executor)
    owed = state.timer | state.queue | {deciding.operation}
    return state.live <= owed | _in_calls(state)


def estimate_bound(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether distinct <= estimate + 2 callers + lost + overlooked, outside a purge.

    Each caller may hide two: one that was counted, wiped and then added to the timer, and the next.
    Rules: PURGATORY-ESTIMATE-PROPOSAL, PURGATORY-COUNTS-WHEN-QUIET.
    """
    return _purging(state) or len(state.distinct) <= _bound(instance, state)


def live_bound(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether the live operations keep within that bound during a sweep as well."""
    return _place(state) is Place.RESET or len(state.live) <= _bound(instance, state)


def difference_covers_stale(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether, when idle, estimate - timer size covers the stale operations.

    It needs one thread at a time, and expiries run before the test for a purge.
    Rules: PURGATORY-PURGE-START, PURGATORY-STALE-OPERATIONS.
    """
    return not state.all_idle or state.estimate - len(state.timer) >= len(state.stale)


def stale_is_bounded(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether, when idle and no purge is due, the interval bounds stale operations.

    It needs the same. Rules: PURGATORY-STALE-OPERATIONS.
    """
    interval = instance.interval(len(state.timer))
    due = state.estimate - len(state.timer) > interval
    return not state.all_idle or due or len(state.stale) <= interval


def distinct_is_counted_when_quiet(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether, when idle, the estimate covers the distinct operations."""
    return not state.all_idle or len(state.distinct) <= state.estimate


def live_is_counted(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether the estimate covers the live operations."""
    return len(state.live) <= state.estimate


def pending_is_counted(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether the estimate covers the pending operations."""
    return state.pending <= state.estimate


def timer_size_is_pending(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether the timer's size is the number of pending operations."""
    return len(state.timer) == state.pending


def timer_holds_live(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether the timer holds no completed operation."""
    return not state.timer & state.completed


def no_count_is_lost(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether no watch is counted between a reset's read and its write."""
    return state.lost == 0


def estimate_bound_minus_one(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether the bound of the estimate could be smaller by one."""
    return _purging(state) or len(state.distinct) < _bound(instance, state)


def live_bound_minus_one(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether the bound of the live operations could be smaller by one."""
    return _place(state) is Place.RESET or len(state.live) < _bound(instance, state)


def estimate_bound_always(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether the bound of the estimate holds during a purge as well."""
    return len(state.distinct) <= _bound(instance, state)


def estimate_bound_without_lost(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether the bound holds without the counts that a reset loses."""
    return estimate_bound(instance, replace(state, lost=0))


def estimate_bound_without_executor(instance: ProposalInstance, state: ProposalState) -> bool:
    """Decide whether the bound holds without the operations in the executor."""
    return estimate_bound(instance, replace(state, overlooked=0))


def _begun(state: ProposalState) -> range:
    return range(1, state.begun + 1)


def _in_calls(state: ProposalState) -> frozenset[int]:
    """Return the operations that callers have in hand."""
    threads = state.threads.values()
    return frozenset(each.operation for each in threads if isinstance(each, Caller))


def _place(state: ProposalState) -> Place:
    return state.threads[REAPER].place


def _purging(state: ProposalState) -> bool:
    return _place(state) in (Place.RESET, Place.SWEEP)


def _bound(instance: ProposalInstance, state: ProposalState) -> int:
    return state.estimate + 2 * len(instance.callers) + state.lost + state.overlooked


CLAIMS: dict[str, tuple[str, Claim]] = {
    "called-at-most-once": ("on_complete is called at most once", called_at_most_once),
    "completed-means-called-once": (
        "when nothing runs, on_complete was called once for what is completed, else never",
        completed_means_called_once,
    ),
    "expired-after-completed": (
        "on_expiration comes after on_complete",
        expired_after_completed,
    ),
    "no-lost-completion": (
        "when callers and completers rest, nothing that can complete waits for its time-out",
        no_lost_completion,
    ),
    "live-is-watched": (
        "once its call is over, what is not completed is in the list of each of its keys",
        live_is_watched,
    ),
    "timer-holds-live-when-quiet": (
        "when nothing runs, nothing in the timer is completed",
        timer_holds_live_when_quiet,
    ),
    "time-out-is-owed": (
        "once its call is over, whatever is live has its time-out still to come",
        time_out_is_owed,
    ),
    "estimate-bound": (
        "outside a purge, distinct <= estimate + 2 callers + lost + overlooked",
        estimate_bound,
    ),
    "live-bound": (
        "outside a reset, live <= estimate + 2 callers + lost + overlooked",
        live_bound,
    ),
    "difference-covers-stale": (
        "when nothing runs, the estimate less the timer's size is at least the stale operations",
        difference_covers_stale,
    ),
    "stale-is-bounded": (
        "when nothing runs and no purge is due, at most the interval's number is stale",
        stale_is_bounded,
    ),
    "distinct-is-counted-when-quiet": (
        "when nothing runs, the estimate is at least the number of distinct operations",
        distinct_is_counted_when_quiet,
    ),
    "live-is-counted": (
        "the estimate is at least the number of live operations",
        live_is_counted,
    ),
    "pending-is-counted": (
        "the estimate is at least the number of pending operations",
        pending_is_counted,
    ),
    "timer-size-is-pending": (
        "the timer's size is the number of pending operations",
        timer_size_is_pending,
    ),
    "timer-holds-live": ("nothing in the timer is completed", timer_holds_live),
    "no-count-is-lost": ("a reset of the estimate loses no count", no_count_is_lost),
    "estimate-bound-minus-one": (
        "outside a purge, distinct < estimate + 2 callers + lost + overlooked",
        estimate_bound_minus_one,
    ),
    "live-bound-minus-one": (
        "outside a reset, live < estimate + 2 callers + lost + overlooked",
        live_bound_minus_one,
    ),
    "estimate-bound-always": (
        "at any time, distinct <= estimate + 2 callers + lost + overlooked",
        estimate_bound_always,
    ),
    "estimate-bound-without-lost": (
        "outside a purge, distinct <= estimate + 2 callers + overlooked",
        estimate_bound_without_lost,
    ),
    "estimate-bound-without-executor": (
        "outside a purge, distinct <= estimate + 2 callers + lost",
        estimate_bound_without_executor,
    ),
}
"""Claims about states by name: their sentence and their check."""
