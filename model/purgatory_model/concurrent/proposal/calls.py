"""Steps of each thread of the concurrent purgatory, in the proposal's order."""

from collections.abc import Iterator
from dataclasses import replace

from purgatory_model.concurrent.proposal.state import (
    EXECUTOR,
    REAPER,
    Caller,
    Completer,
    Defect,
    Entries,
    Executor,
    Feature,
    Place,
    ProposalInstance,
    ProposalState,
    Reaper,
    Worker,
    without,
)
from purgatory_model.overlapping.interleaving import Step

# How a thread that has completed an operation goes on, whoever it is.
#
# To complete is to set ``completed``, once, under the operation's lock; then to cancel the
# time-out; then to call ``on_complete`` and let go of the lock.


def completing(state: ProposalState, name: str, worker: Worker, operation: int) -> ProposalState:
    """Return the state after a thread has taken an operation's lock and completed it."""
    return replace(
        state,
        completed=state.completed | {operation},
        holders=state.holders.set(operation, name),
        threads=state.threads.set(name, replace(worker, place=Place.CANCEL, operation=operation)),
    )


def completion_steps(
    state: ProposalState, name: str, worker: Worker
) -> Iterator[tuple[Step, ProposalState]]:
    """Yield the rest of a completion. Rules: PURGATORY-CALLBACK-ORDER, PURGATORY-TIMER-LEFT."""
    operation = worker.operation
    if worker.place is Place.CANCEL:
        after = replace(state, timer=state.timer - {operation})
        calling = replace(worker, place=Place.CALLBACK)
        yield Step("CancelTimeOut", (name, operation)), after.to(name, calling)
    elif worker.place is Place.CALLBACK:
        times = state.callbacks.get(operation, 0) + 1
        after = replace(
            state,
            callbacks=state.callbacks.set(operation, times),
            holders=state.freed(operation, name),
        )
        yield Step("CallOnComplete", (name, operation)), after.to(name, _called_back(worker))


def _called_back(worker: Worker) -> Worker:
    match worker:
        case Caller():
            return replace(worker, place=Place.IDLE, operation=0)
        case Completer():
            return replace(worker, place=Place.DROP)
        case Executor():
            return replace(worker, place=Place.EXPIRATION)


# What a caller does: ``try_complete_else_watch`` in the proposal's order.
#
# With the operation's lock in hand it tries, inserts the operation into the list of each key,
# counts it and tries again. Then it lets go of the lock. It looks whether somebody has completed
# the operation, adds it to the timer, and looks again: who completed it in between found no
# time-out there to cancel.


_IDLE_CALLER = Caller()


def caller_steps(
    instance: ProposalInstance, state: ProposalState, name: str, caller: Caller
) -> Iterator[tuple[Step, ProposalState]]:
    """Yield the next steps of a caller, with any key to insert into next."""
    match caller.place:
        case Place.IDLE:
            yield from _first_try(instance, state, name, caller)
        case Place.INSERT:
            yield from _insert(instance, state, name, caller)
        case Place.COUNT:
            yield _count(instance, state, name, caller)
        case Place.TRY_AGAIN:
            yield _second_try(instance, state, name, caller)
        case Place.LOOK:
            yield _look(state, name, caller)
        case Place.ADD:
            yield _add_to_timer(instance, state, name, caller)
        case Place.LOOK_AGAIN:
            yield _look_again(state, name, caller)
        case _:
            yield from completion_steps(state, name, caller)


def _first_try(
    instance: ProposalInstance, state: ProposalState, name: str, caller: Caller
) -> Iterator[tuple[Step, ProposalState]]:
    """Yield the first try of the next operation. Rules: PURGATORY-WATCH-FIRST-TRY."""
    operation = state.begun + 1
    if operation > len(instance.thresholds) or not instance.may_begin(state, name):
        return
    begun = replace(state, begun=operation)
    if instance.may_complete(state, operation):
        after = completing(begun, name, caller, operation)
        yield Step("FirstTryCompletes", (name, operation)), after
    else:
        locked = replace(begun, holders=state.holders.set(operation, name))
        waiting = Caller(Place.INSERT, operation, frozenset(instance.keys))
        yield Step("FirstTryFails", (name, operation)), locked.to(name, waiting)


def _insert(
    instance: ProposalInstance, state: ProposalState, name: str, caller: Caller
) -> Iterator[tuple[Step, ProposalState]]:
    """Yield the insertion into any list that is left. Rules: PURGATORY-WATCH-WAITS."""
    following_keys = sorted(caller.keys_left, key=instance.keys.index)
    for key in following_keys[:1] if instance.ordered else following_keys:
        entries = instance.appended(state.lists[key], caller.operation)
        listed = replace(state, lists=state.lists.set(key, entries))
        left = caller.keys_left - {key}
        following = replace(caller, place=Place.INSERT if left else Place.COUNT, keys_left=left)
        yield Step("Insert", (name, caller.operation, key)), listed.to(name, following)


def _count(
    instance: ProposalInstance, state: ProposalState, name: str, caller: Caller
) -> tuple[Step, ProposalState]:
    """Return the count of a watch in the estimate, which a reset may be about to wipe.

    Rules: PURGATORY-ESTIMATE-PROPOSAL.
    """
    wiped = state.threads[REAPER].place is Place.RESET
    counted = replace(state, estimate=state.estimate + 1, lost=state.lost + wiped)
    step = Step("Count", (name, caller.operation))
    if Defect.NO_SECOND_TRY in instance.defects:
        return step, _unlocked(counted, name, caller)
    return step, counted.to(name, replace(caller, place=Place.TRY_AGAIN))


def _second_try(
    instance: ProposalInstance, state: ProposalState, name: str, caller: Caller
) -> tuple[Step, ProposalState]:
    """Return the second try, since an event may have come before the last insertion.

    Rules: PURGATORY-WATCH-SECOND-TRY.
    """
    if instance.may_complete(state, caller.operation):
        after = completing(state, name, caller, caller.operation)
        return Step("SecondTryCompletes", (name, caller.operation)), after
    return Step("SecondTryFails", (name, caller.operation)), _unlocked(state, name, caller)


def _unlocked(state: ProposalState, name: str, caller: Caller) -> ProposalState:
    freed = replace(state, holders=state.freed(caller.operation, name))
    return freed.to(name, replace(caller, place=Place.LOOK))


def _look(state: ProposalState, name: str, caller: Caller) -> tuple[Step, ProposalState]:
    """Return the look before the time-out: a completed operation gets none."""
    if caller.operation in state.completed:
        return Step("LookFindsCompleted", (name, caller.operation)), state.to(name, _IDLE_CALLER)
    live = replace(caller, place=Place.ADD)
    return Step("LookFindsLive", (name, caller.operation)), state.to(name, live)


def _add_to_timer(
    instance: ProposalInstance, state: ProposalState, name: str, caller: Caller
) -> tuple[Step, ProposalState]:
    """Return the arming of the time-out. Rules: PURGATORY-TIME-OUT."""
    armed = replace(state, timer=state.timer | {caller.operation})
    returns = Defect.NO_SECOND_LOOK in instance.defects
    following = _IDLE_CALLER if returns else replace(caller, place=Place.LOOK_AGAIN)
    return Step("AddToTimer", (name, caller.operation)), armed.to(name, following)


def _look_again(state: ProposalState, name: str, caller: Caller) -> tuple[Step, ProposalState]:
    """Cancel the time-out of an operation completed meanwhile. Rules: PURGATORY-TIMER-LEFT."""
    if caller.operation in state.completed:
        state = replace(state, timer=state.timer - {caller.operation})
    return Step("LookAgain", (name, caller.operation)), state.to(name, _IDLE_CALLER)


# What a completer does: an event with ``check_and_complete``, or ``cancel_for_key``.
#
# A check looks at the key's list once and goes through what it has seen, in the order in which the
# operations were handed in: it drops what is completed and tries the rest under its lock.
# Cancelling takes the whole list away, then the time-out of each operation in it.


def completer_steps(
    instance: ProposalInstance, state: ProposalState, name: str, completer: Completer
) -> Iterator[tuple[Step, ProposalState]]:
    """Yield the next steps of a completer, with any key to begin with."""
    match completer.place:
        case Place.IDLE:
            if instance.may_begin(state, name):
                yield from _raise(instance, state, name)
                yield from _check(instance, state, name)
                yield from _cancel_for_key(instance, state, name)
        case Place.SNAPSHOT:
            yield _snapshot(state, name, completer)
        case Place.WALK:
            yield _meet(state, name, completer)
        case Place.TRY:
            yield from _try(instance, state, name, completer)
        case Place.DROP:
            yield _drop(state, name, completer)
        case Place.WITHDRAW:
            yield _withdraw(state, name, completer)
        case _:
            yield from completion_steps(state, name, completer)


def _raise(
    instance: ProposalInstance, state: ProposalState, name: str
) -> Iterator[tuple[Step, ProposalState]]:
    """Yield an event of a key; the following check tells the purgatory of it."""
    for key in sorted(instance.keys):
        if state.events[key] < instance.most_events:
            raised = replace(state, events=state.events.set(key, state.events[key] + 1))
            checking = Completer(Place.SNAPSHOT, key)
            yield Step("Raise", (name, key)), raised.to(name, checking)


def _check(
    instance: ProposalInstance, state: ProposalState, name: str
) -> Iterator[tuple[Step, ProposalState]]:
    """Yield a check of a key without an event; only programs need this."""
    if instance.programs:
        for key in sorted(instance.keys):
            yield Step("Check", (name, key)), state.to(name, Completer(Place.SNAPSHOT, key))


def _snapshot(state: ProposalState, name: str, completer: Completer) -> tuple[Step, ProposalState]:
    """Return the copy of the list that a walk will meet. Rules: PURGATORY-CHECK-UNKNOWN."""
    key = _key_of(completer)
    walking = _on(completer, Place.WALK, state.lists[key])
    return Step("Snapshot", (name, key)), state.to(name, walking)


def _meet(state: ProposalState, name: str, completer: Completer) -> tuple[Step, ProposalState]:
    """Return the walk's step to its next operation.

    Rules: PURGATORY-CHECK-ORDER, PURGATORY-CHECK-DROPS, PURGATORY-COMPLETED-NOT-TRIED.
    """
    key = _key_of(completer)
    operation = completer.to_meet[0]
    if operation not in state.completed:
        trying = replace(completer, place=Place.TRY, operation=operation)
        return Step("FindLive", (name, operation)), state.to(name, trying)
    dropped = _without(state, key, operation)
    further = _on(completer, Place.WALK, completer.to_meet[1:])
    return Step("DropCompleted", (name, key, operation)), dropped.to(name, further)


def _try(
    instance: ProposalInstance, state: ProposalState, name: str, completer: Completer
) -> Iterator[tuple[Step, ProposalState]]:
    """Yield the try, once the operation's lock is free. Rules: PURGATORY-NOT-LOST."""
    operation = completer.operation
    if operation in state.holders:
        return
    if operation not in state.completed and instance.may_complete(state, operation):
        about = (*completer.about, operation) if instance.programs else ()
        after = completing(state, name, replace(completer, about=about), operation)
        yield Step("TryCompletes", (name, operation)), after
    else:
        further = _on(completer, Place.WALK, completer.to_meet[1:])
        yield Step("TryFails", (name, operation)), state.to(name, further)


def _drop(state: ProposalState, name: str, completer: Completer) -> tuple[Step, ProposalState]:
    """Return the drop of an operation that the walk has completed. Rules: PURGATORY-CHECK-DROPS."""
    key = _key_of(completer)
    operation = completer.operation
    further = _on(completer, Place.WALK, completer.to_meet[1:])
    step = Step("Drop", (name, key, operation))
    return step, _without(state, key, operation).to(name, further)


def _cancel_for_key(
    instance: ProposalInstance, state: ProposalState, name: str
) -> Iterator[tuple[Step, ProposalState]]:
    """Yield the removal of a key's list; an empty one only in programs.

    Rules: PURGATORY-CANCEL-LEAVES, PURGATORY-CANCEL-RESULT.
    """
    if Feature.CANCEL_FOR_KEY not in instance.features:
        return
    for key in sorted(instance.keys):
        taken = state.lists[key]
        if taken or instance.programs:
            detached = replace(state, lists=state.lists.set(key, ()))
            about = taken if instance.programs else ()
            cancelling = _on(Completer(key=key, about=about), Place.WITHDRAW, taken)
            yield Step("CancelForKey", (name, key)), detached.to(name, cancelling)


def _withdraw(state: ProposalState, name: str, completer: Completer) -> tuple[Step, ProposalState]:
    """Return the removal of a time-out, whatever other keys the operation has, as in Kafka."""
    operation = completer.to_meet[0]
    cancelled = replace(state, timer=state.timer - {operation})
    further = _on(completer, Place.WITHDRAW, completer.to_meet[1:])
    return Step("Withdraw", (name, operation)), cancelled.to(name, further)


def _on(completer: Completer, place: Place, left: Entries) -> Completer:
    """Return the call that goes on with the rest of its list, or is over."""
    return Completer(place, completer.key, left, about=completer.about) if left else Completer()


def _without(state: ProposalState, key: str, operation: int) -> ProposalState:
    left = without(state.lists[key], {operation})
    return replace(state, lists=state.lists.set(key, left))


def _key_of(completer: Completer) -> str:
    assert completer.key is not None  # between its first and its last step a call has a key
    return completer.key


# The steps of the reaper: handing over due time-outs, and purging when the estimate calls for it.
#
# A pass reads the estimate, then the timer's size. Where they differ by more than the purge
# interval it reads the timer's size once more, sets the estimate to that, and sweeps the lists one
# by one. Whatever is counted, or leaves the timer, between these steps is missed.


def reaper_steps(
    instance: ProposalInstance, state: ProposalState, reaper: Reaper
) -> Iterator[tuple[Step, ProposalState]]:
    """Yield the next steps of the reaper, with any due operation and any list next."""
    match reaper.place:
        case Place.IDLE:
            if instance.may_begin(state, REAPER):
                yield from _advance(instance, state)
                yield from _begin_pass(instance, state)
        case Place.TEST:
            yield _test(instance, state, reaper)
        case Place.READ_AGAIN:
            yield _read_size_again(state)
        case Place.RESET:
            yield _reset(instance, state, reaper)
        case _:
            yield from _sweep(instance, state, reaper)


def _advance(
    instance: ProposalInstance, state: ProposalState
) -> Iterator[tuple[Step, ProposalState]]:
    """Yield the hand-over of one due operation. Rules: PURGATORY-TIME-OUT."""
    if Feature.NO_TIME_OUTS in instance.features:
        return
    for operation in sorted(state.timer):
        after = replace(state, timer=state.timer - {operation}, queue=state.queue | {operation})
        yield Step("Advance", (REAPER, operation)), after


def _begin_pass(
    instance: ProposalInstance, state: ProposalState
) -> Iterator[tuple[Step, ProposalState]]:
    busy = state.queue or state.threads[EXECUTOR].place is not Place.IDLE
    if Feature.DRAINED in instance.features and busy:
        return
    testing = Reaper(Place.TEST, estimate_read=state.estimate)
    yield Step("ReadEstimate", (REAPER, state.estimate)), state.to(REAPER, testing)


def _test(
    instance: ProposalInstance, state: ProposalState, reaper: Reaper
) -> tuple[Step, ProposalState]:
    """Return the test whether there is enough to purge. Rules: PURGATORY-PURGE-START."""
    size = len(state.timer)
    if reaper.estimate_read - size > instance.interval(size):
        return Step("Purge", (REAPER, size)), state.to(REAPER, Reaper(Place.READ_AGAIN))
    return Step("NoPurge", (REAPER, size)), state.to(REAPER, Reaper())


def _read_size_again(state: ProposalState) -> tuple[Step, ProposalState]:
    """Read the timer's size for the estimate; the observer notes the operations overlooked."""
    size = len(state.timer)
    seen = replace(state, lost=0, overlooked=state.in_executor)
    resetting = Reaper(Place.RESET, size_read=size)
    return Step("ReadSizeAgain", (REAPER, size)), seen.to(REAPER, resetting)


def _reset(
    instance: ProposalInstance, state: ProposalState, reaper: Reaper
) -> tuple[Step, ProposalState]:
    """Return the reset of the estimate. Rules: PURGATORY-ESTIMATE-PROPOSAL."""
    after = replace(state, estimate=reaper.size_read)
    sweeping = Reaper(Place.SWEEP, keys_left=frozenset(instance.keys))
    return Step("Reset", (REAPER, reaper.size_read)), after.to(REAPER, sweeping)


def _sweep(
    instance: ProposalInstance, state: ProposalState, reaper: Reaper
) -> Iterator[tuple[Step, ProposalState]]:
    """Yield the removal of one list's completed operations. Rules: PURGATORY-PURGE-REMOVES."""
    everything = Defect.SWEEP_TAKES_ALL in instance.defects
    for key in sorted(reaper.keys_left):
        entries = () if everything else without(state.lists[key], state.completed)
        swept = replace(state, lists=state.lists.set(key, entries))
        left = reaper.keys_left - {key}
        following = Reaper(Place.SWEEP, keys_left=left) if left else Reaper()
        yield Step("Sweep", (REAPER, key)), swept.to(REAPER, following)


# What the executor does: it completes what has expired, unless somebody else was first.


_IDLE_EXECUTOR = Executor()


def executor_steps(
    instance: ProposalInstance, state: ProposalState, executor: Executor
) -> Iterator[tuple[Step, ProposalState]]:
    """Yield the next steps of the executor, with any operation of its queue next."""
    match executor.place:
        case Place.IDLE:
            if instance.may_begin(state, EXECUTOR):
                yield from _take(state)
        case Place.DECIDE:
            yield from _decide(instance, state, executor)
        case Place.SET:
            yield _set_completed(state, executor)
        case Place.EXPIRATION:
            yield _call_on_expiration(state, executor)
        case _:
            yield from completion_steps(state, EXECUTOR, executor)


def _take(state: ProposalState) -> Iterator[tuple[Step, ProposalState]]:
    for operation in sorted(state.queue):
        after = replace(state, queue=state.queue - {operation})
        deciding = Executor(Place.DECIDE, operation)
        yield Step("TakeExpired", (EXECUTOR, operation)), after.to(EXECUTOR, deciding)


def _decide(
    instance: ProposalInstance, state: ProposalState, executor: Executor
) -> Iterator[tuple[Step, ProposalState]]:
    """Yield the decision of a time-out: it completes the operation, or finds it completed.

    Rules: PURGATORY-LOST-EXPIRY, PURGATORY-EXACTLY-ONCE.
    """
    operation = executor.operation
    if operation in state.completed:
        expires = Defect.EXPIRES_ANYWAY in instance.defects
        following = replace(executor, place=Place.EXPIRATION) if expires else _IDLE_EXECUTOR
        yield Step("ExpiryLoses", (EXECUTOR, operation)), state.to(EXECUTOR, following)
    elif Defect.TEST_THEN_SET in instance.defects:
        setting = replace(executor, place=Place.SET)
        yield Step("ExpiryTests", (EXECUTOR, operation)), state.to(EXECUTOR, setting)
    elif operation not in state.holders:
        won = completing(state, EXECUTOR, executor, operation)
        # It left the timer by being due: there is no time-out to cancel.
        calling = replace(executor, place=Place.CALLBACK)
        yield Step("ExpiryWins", (EXECUTOR, operation)), won.to(EXECUTOR, calling)


def _set_completed(state: ProposalState, executor: Executor) -> tuple[Step, ProposalState]:
    after = replace(state, completed=state.completed | {executor.operation})
    calling = replace(executor, place=Place.CALLBACK)
    return Step("ExpirySets", (EXECUTOR, executor.operation)), after.to(EXECUTOR, calling)


def _call_on_expiration(state: ProposalState, executor: Executor) -> tuple[Step, ProposalState]:
    """Return the call of ``on_expiration``, which is last. Rules: PURGATORY-CALLBACK-ORDER."""
    after = replace(state, expirations=state.expirations | {executor.operation})
    return Step("CallOnExpiration", (EXECUTOR, executor.operation)), after.to(
        EXECUTOR, _IDLE_EXECUTOR
    )
