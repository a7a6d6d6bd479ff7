"""What a caller does: ``try_complete_else_watch`` in the proposal's order.

With the operation's lock in hand it tries, inserts the operation into the list of each key, counts
it and tries again. Then it lets go of the lock. It looks whether somebody has completed the
operation, adds it to the timer, and looks again: who completed it in between found no time-out
there to cancel.
"""

from collections.abc import Iterator
from dataclasses import replace

from purgatory_model.concurrent.proposal.completion import completing, completion_steps
from purgatory_model.concurrent.proposal.state import (
    REAPER,
    Caller,
    Defect,
    Place,
    ProposalInstance,
    ProposalState,
)
from purgatory_model.overlapping.interleaving import Step

_IDLE = Caller()


def caller_steps(
    instance: ProposalInstance, state: ProposalState, name: str, caller: Caller
) -> Iterator[tuple[Step, ProposalState]]:
    """The next step of a caller; which key it inserts into next is left to chance."""
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
    """The next operation is handed in and tried. Rules: PURGATORY-WATCH-FIRST-TRY."""
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
    """Into the list of one of the keys that are left. Rules: PURGATORY-WATCH-WAITS."""
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
    """One more by the estimate, which a reset may be about to wipe.

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
    """An event may have come before the operation was in all lists.

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
    """No time-out for what somebody else has completed."""
    if caller.operation in state.completed:
        return Step("LookFindsCompleted", (name, caller.operation)), state.to(name, _IDLE)
    live = replace(caller, place=Place.ADD)
    return Step("LookFindsLive", (name, caller.operation)), state.to(name, live)


def _add_to_timer(
    instance: ProposalInstance, state: ProposalState, name: str, caller: Caller
) -> tuple[Step, ProposalState]:
    """The time-out is armed. Rules: PURGATORY-TIME-OUT."""
    armed = replace(state, timer=state.timer | {caller.operation})
    returns = Defect.NO_SECOND_LOOK in instance.defects
    following = _IDLE if returns else replace(caller, place=Place.LOOK_AGAIN)
    return Step("AddToTimer", (name, caller.operation)), armed.to(name, following)


def _look_again(state: ProposalState, name: str, caller: Caller) -> tuple[Step, ProposalState]:
    """Cancel the time-out of an operation completed meanwhile. Rules: PURGATORY-TIMER-LEFT."""
    if caller.operation in state.completed:
        state = replace(state, timer=state.timer - {caller.operation})
    return Step("LookAgain", (name, caller.operation)), state.to(name, _IDLE)
