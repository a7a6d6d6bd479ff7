"""What a completer does: an event with ``check_and_complete``, or ``cancel_for_key``.

A check looks at the key's list once and goes through what it has seen, in the order in which the
operations were handed in: it drops what is completed and tries the rest under its lock. Cancelling
takes the whole list away, then the time-out of each operation in it.
"""

from collections.abc import Iterator
from dataclasses import replace

from purgatory_model.concurrent.proposal.completion import completing, completion_steps
from purgatory_model.concurrent.proposal.state import (
    Completer,
    Entries,
    Feature,
    Place,
    ProposalInstance,
    ProposalState,
    without,
)
from purgatory_model.overlapping.interleaving import Step


def completer_steps(
    instance: ProposalInstance, state: ProposalState, name: str, completer: Completer
) -> Iterator[tuple[Step, ProposalState]]:
    """The next step of a completer; which key it begins with is left to chance."""
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
    """A key has an event; the purgatory learns of it by the check that follows."""
    for key in sorted(instance.keys):
        if state.events[key] < instance.most_events:
            raised = replace(state, events=state.events.set(key, state.events[key] + 1))
            checking = Completer(Place.SNAPSHOT, key)
            yield Step("Raise", (name, key)), raised.to(name, checking)


def _check(
    instance: ProposalInstance, state: ProposalState, name: str
) -> Iterator[tuple[Step, ProposalState]]:
    """A key is checked although nothing has happened; only programs need this."""
    if instance.programs:
        for key in sorted(instance.keys):
            yield Step("Check", (name, key)), state.to(name, Completer(Place.SNAPSHOT, key))


def _snapshot(state: ProposalState, name: str, completer: Completer) -> tuple[Step, ProposalState]:
    """What is in the list now will be met. Rules: PURGATORY-CHECK-UNKNOWN."""
    key = _key_of(completer)
    walking = _on(completer, Place.WALK, state.lists[key])
    return Step("Snapshot", (name, key)), state.to(name, walking)


def _meet(state: ProposalState, name: str, completer: Completer) -> tuple[Step, ProposalState]:
    """The walk comes to its next operation.

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
    """As soon as nobody else has the operation's lock. Rules: PURGATORY-NOT-LOST."""
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
    """An operation that the walk has completed leaves the list. Rules: PURGATORY-CHECK-DROPS."""
    key = _key_of(completer)
    operation = completer.operation
    further = _on(completer, Place.WALK, completer.to_meet[1:])
    step = Step("Drop", (name, key, operation))
    return step, _without(state, key, operation).to(name, further)


def _cancel_for_key(
    instance: ProposalInstance, state: ProposalState, name: str
) -> Iterator[tuple[Step, ProposalState]]:
    """A list is taken away; an empty one only in programs.

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
    """The time-out goes, whatever other keys the operation is watched under, as in Kafka."""
    operation = completer.to_meet[0]
    cancelled = replace(state, timer=state.timer - {operation})
    further = _on(completer, Place.WITHDRAW, completer.to_meet[1:])
    return Step("Withdraw", (name, operation)), cancelled.to(name, further)


def _on(completer: Completer, place: Place, left: Entries) -> Completer:
    """The call goes on with what is left to meet, or is over."""
    return Completer(place, completer.key, left, about=completer.about) if left else Completer()


def _without(state: ProposalState, key: str, operation: int) -> ProposalState:
    left = without(state.lists[key], {operation})
    return replace(state, lists=state.lists.set(key, left))


def _key_of(completer: Completer) -> str:
    assert completer.key is not None  # between its first and its last step a call has a key
    return completer.key
