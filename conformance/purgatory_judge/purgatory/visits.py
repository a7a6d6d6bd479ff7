"""Name the rules that a right step has put to the test, by itself.

A rule is visited only where breaking it would have been seen in this step, by the events, the
result, or the observables that are declared. What shows only later is ``purgatory_history``'s.
"""

from collections.abc import Iterator
from functools import singledispatch

from purgatory_judge.purgatory.step import Act, PurgatoryStep
from purgatory_spec import operations as op
from purgatory_spec.outcomes import EventKind
from purgatory_spec.profiles import Accounting
from purgatory_spec.reasons import Reason


def visits(step: PurgatoryStep) -> Iterator[str]:
    """Yield the rules that a step puts to the test by itself."""
    yield from _by_operation(step.operation, step)
    yield from _callbacks(step)
    yield from _actions(step)
    if not step.after.closed:
        yield from _counts(step)


@singledispatch
def _by_operation(operation: op.Operation, step: PurgatoryStep) -> Iterator[str]:
    """Yield the rules that the operation itself puts to the test."""
    del operation, step
    return iter(())


@_by_operation.register
def _watch(operation: op.Watch, step: PurgatoryStep) -> Iterator[str]:
    name, result = operation.operation, step.outcome.result
    if step.before.closed:
        yield "PURGATORY-SHUTDOWN-CLOSED"
    elif not operation.keys:
        yield "PURGATORY-NO-KEYS"
    elif step.was_completed(name):
        yield "PURGATORY-WATCH-COMPLETED"
    elif step.outcome.rejected is Reason.THROWN:
        if not step.is_completed(name) and step.is_at_first_try(name):
            yield "PURGATORY-FIRST-TRY-THROWS"
        elif not step.is_completed(name) and step.shows_timer:
            yield "PURGATORY-SECOND-TRY-THROWS"
    elif result is True and step.is_at_first_try(name):
        yield "PURGATORY-WATCH-FIRST-TRY"
    else:
        yield "PURGATORY-WATCH-SECOND-TRY"
        yield from _waits(step, operation)


def _waits(step: PurgatoryStep, operation: op.Watch) -> Iterator[str]:
    if step.outcome.result is False:
        yield "PURGATORY-WATCH-WAITS"
        if not step.model.configuration.time_outs and step.shows_timer:
            yield "PURGATORY-NO-TIME-OUTS"
    if step.shows_entries:
        if len(set(operation.keys)) < len(operation.keys):
            yield "PURGATORY-DUPLICATE-KEYS"
        if step.is_rewatch(operation):
            yield "PURGATORY-REWATCH"


@_by_operation.register
def _check(operation: op.Check, step: PurgatoryStep) -> Iterator[str]:
    key = operation.key
    entries = step.before.lists.get(key, ())
    live = [name for name in entries if name in step.before.live]
    if step.before.closed and entries:
        yield "PURGATORY-SHUTDOWN-COMPLETES"
    if not entries:
        yield "PURGATORY-CHECK-UNKNOWN"
        return
    if step.outcome.rejected is Reason.THROWN:
        yield "PURGATORY-CHECK-THROWS"
    else:
        yield "PURGATORY-CHECK-COUNT"
    if len(live) > 1:
        yield "PURGATORY-CHECK-ORDER"
    completed = step.of_kind(EventKind.COMPLETED)
    tried = step.of_kind(EventKind.TRIED)
    if len(live) < len(entries) or any(name in completed and name not in tried for name in live):
        yield "PURGATORY-COMPLETED-NOT-TRIED"
    if len(step.after.lists.get(key, ())) < len(entries) and step.shows_stale:
        yield "PURGATORY-CHECK-DROPS"
    if any(name in completed and step.is_completable(name) for name in live):
        yield "PURGATORY-NOT-LOST"


@_by_operation.register
def _force(operation: op.Force, step: PurgatoryStep) -> Iterator[str]:
    if step.was_completed(operation.operation):
        yield "PURGATORY-FORCE-AGAIN"
        return
    yield "PURGATORY-FORCE"
    if step.before.closed:
        yield "PURGATORY-SHUTDOWN-COMPLETES"


@_by_operation.register
def _cancel_for_key(operation: op.CancelForKey, step: PurgatoryStep) -> Iterator[str]:
    entries = step.before.lists.get(operation.key, ())
    if not entries:
        yield "PURGATORY-CANCEL-UNKNOWN"
        return
    yield "PURGATORY-CANCEL-RESULT"
    if step.before.closed:
        yield "PURGATORY-SHUTDOWN-COMPLETES"
    if step.shows_entries:
        yield "PURGATORY-CANCEL-LEAVES"
    if not step.shows_timer:
        return
    armed = step.before.timer.store.due_ticks
    for name in entries:
        if name in armed:
            kept = name in step.after.timer.store.due_ticks
            yield ("PURGATORY-CANCEL-KEEPS-TIME-OUT" if kept else "PURGATORY-CANCEL-LAST-KEY")


@_by_operation.register
def _advance(_: op.Advance, step: PurgatoryStep) -> Iterator[str]:
    if step.before.closed or step.outcome.rejected is not None:
        return
    before, after = step.before, step.after
    purged = before.lists != after.lists
    if step.shows_stale and (before.stale_entries or purged):
        yield "PURGATORY-PURGE-START"
        # The number that an advance leaves, or fewer: what expires in it lives no longer.
        interval = step.model.interval(after.live_entries)
        if before.stale_entries > interval:
            yield "PURGATORY-STALE-ENTRIES"
        quiet = not before.timer.queue and not after.timer.queue
        if quiet and len(before.stale_operations) > interval:
            yield "PURGATORY-STALE-OPERATIONS"
    if purged and step.shows_stale:
        yield "PURGATORY-PURGE-REMOVES"
    if not step.model.configuration.time_outs and before.live:
        yield "PURGATORY-NO-TIME-OUTS"


@_by_operation.register
def _shutdown(_: op.Shutdown, step: PurgatoryStep) -> Iterator[str]:
    if step.before.closed:
        yield "PURGATORY-SHUTDOWN-AGAIN"


@_by_operation.register
def _reachable(operation: op.Reachable, step: PurgatoryStep) -> Iterator[str]:
    if not step.model.may_hold(step.before, operation.task):
        yield "PURGATORY-RELEASES"


@_by_operation.register
def _run_one(_: op.RunOne, step: PurgatoryStep) -> Iterator[str]:
    queue = step.before.timer.queue
    if not queue:
        return
    if step.was_completed(queue[0]):
        yield "PURGATORY-LOST-EXPIRY"
    if step.before.closed:
        yield "PURGATORY-SHUTDOWN-DROPS"


def _callbacks(step: PurgatoryStep) -> Iterator[str]:
    completed = step.of_kind(EventKind.COMPLETED)
    timed_out = set(step.of_kind(EventKind.TIMED_OUT))
    if completed:
        yield "PURGATORY-EXACTLY-ONCE"
    if timed_out:
        yield "PURGATORY-CALLBACK-ORDER"
    armed = step.before.timer.store.due_ticks
    by_others = [name for name in completed if name in armed and name not in timed_out]
    if by_others and step.shows_timer:
        yield "PURGATORY-TIMER-LEFT"
    throwing = step.throwing_callbacks()
    if any(step.is_lost_expiry(name) for name in set(by_others) - throwing):
        yield "PURGATORY-LOST-EXPIRY"
    if throwing & set(completed):
        yield "PURGATORY-CALLBACK-THROWS"
    if throwing and isinstance(step.operation, op.RunOne | op.Advance):
        yield "PURGATORY-EXPIRY-THROWS"


def _actions(step: PurgatoryStep) -> Iterator[str]:
    acts = list(step.acts())
    for act in acts:
        if _shows(step, act):
            yield act.rule
    if _is_crosswise(acts):
        yield "PURGATORY-NO-CIRCLE"


def _is_crosswise(acts: list[Act]) -> bool:
    """Decide whether two threads call, each inside a callback that the other thread's call meets.

    An operation has another thread call, and then calls itself; that other call comes to a further
    operation, which calls in its turn.
    """
    calling = {act.owner for act in acts if act.rule != "PURGATORY-MEANWHILE"}
    return any(
        act.rule == "PURGATORY-MEANWHILE"
        and len(calling) > 1
        and any(own.owner == act.owner and own.rule != act.rule for own in acts[place:])
        for place, act in enumerate(acts)
    )


def _shows(step: PurgatoryStep, act: Act) -> bool:
    """Decide whether a call inside a callback that does nothing would be seen in this step."""
    owner = act.owner
    refused = any(event.kind is EventKind.REJECTED and event.task == owner for event in step.events)
    match act.call:
        case op.WatchInside(name, _, _):
            return refused or name in step.of_kind(EventKind.TRIED)
        case op.ForceInside(name):
            own = name == owner and act.once_completed
            return not own and name in step.of_kind(EventKind.COMPLETED)
        case op.CheckInside() if not act.once_completed and step.is_woken(owner):
            return True
        case op.CheckInside(key):
            tried = set(step.of_kind(EventKind.TRIED)) - {owner}
            main = step.operation.key if isinstance(step.operation, op.Check) else None
            return key != main and bool(tried & set(step.before.lists.get(key, ())))
        case op.CancelForKeyInside(key):
            gone = key in step.before.lists and key not in step.after.lists
            return gone and step.shows_entries


def _counts(step: PurgatoryStep) -> Iterator[str]:
    observed, before, after = step.outcome.observed, step.before, step.after
    if isinstance(step.operation, op.Elapse | op.Satisfy):
        return
    if "entries" in observed and before.entries != after.entries:
        yield "PURGATORY-ENTRIES"
    if "keys" in observed and set(before.lists) - set(after.lists):
        yield "PURGATORY-EMPTY-LISTS"
    if "timer_size" in observed and before.timer_size != after.timer_size:
        yield "PURGATORY-TIMER-SIZE"
    inline_change = not step.is_stepped and before.pending != after.pending
    if "pending" in observed and (after.timer.queue or inline_change):
        yield "PURGATORY-PENDING"
    if "estimate" in observed:
        if step.model.profile.accounting is Accounting.EXACT:
            if after.stale_entries:
                yield "PURGATORY-ESTIMATE-EXACT"
        elif before.estimate != after.estimate or after.stale_entries:
            yield "PURGATORY-ESTIMATE-PROPOSAL"
