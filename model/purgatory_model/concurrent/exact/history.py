"""The history of the concurrent purgatory: what of a step can be seen from outside.

Operation n is called ``str(n)``. A thread's calls are told by its group: callers watch, completers
check, cancellers cancel for a key, forcers force, the executor runs one, the timer advances, and a
purge is an advance at the same reading of the clock. The clock has no reading here: a time-out that
is due is due at some reading, and every reading is told as 0.

An event of a key that makes conditions true is told as a call of ``Satisfy`` for each operation
that it newly satisfies, at the instant of the event, before the check is called.
"""

from collections.abc import Iterator

from purgatory_model.concurrent.exact.instance import EXECUTOR, ExactInstance
from purgatory_model.concurrent.exact.state import ExactState, Thread
from purgatory_model.overlapping.interleaving import (
    Called,
    Happened,
    HistoryEvent,
    Returned,
    Step,
    thread_of,
)
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Value, completed, expired, timed_out, tried
from purgatory_spec.reasons import Reason

DELAY_MS = 1
"""The delay with which every operation is watched, ms: long enough to wait, and due some time."""


def history(
    instance: ExactInstance, before: ExactState, step: Step, after: ExactState
) -> tuple[HistoryEvent, ...]:
    """Return the visible events of a step."""
    thread = thread_of(step)
    if step.action == "Expire":
        (_, number) = step.arguments
        return (
            Called(thread, op.Advance(0)),
            Happened(thread, expired(str(number))),
            Returned(thread),
        )
    if thread not in after.threads:
        return ()
    return (
        *_begun(instance, before, step, after),
        *_happened(instance, before, step),
        *_returned(instance, before, step, after),
    )


def _begun(
    instance: ExactInstance, before: ExactState, step: Step, after: ExactState
) -> Iterator[HistoryEvent]:
    """Yield the call that a step begins."""
    thread = thread_of(step)
    chosen = step.arguments[1:]
    match step.action, chosen:
        case "BeginWatch", (int(number),):
            yield Called(thread, op.Watch(str(number), instance.entries_per_call, DELAY_MS))
        case "BeginCheck", (str(key),):
            for number in after.operations:
                holds = instance.condition(after, number)
                if holds and not instance.condition(before, number):
                    yield Called(thread, op.Satisfy(str(number)))
                    yield Returned(thread)
            yield Called(thread, op.Check(key))
        case "BeginCancel", (str(key),):
            yield Called(thread, op.CancelForKey(key))
        case "BeginForce", (int(number),):
            yield Called(thread, op.Force(str(number)))
        case "BeginPurge", ():
            yield Called(thread, op.Advance(0))
        case "Take", (int(),):
            yield Called(thread, op.RunOne())


def _happened(instance: ExactInstance, before: ExactState, step: Step) -> Iterator[HistoryEvent]:
    """Yield the try or the callback that a step is."""
    thread = thread_of(step)
    match step.action, step.arguments[1:]:
        case (("BeginWatch" | "Walk"), (int(number),)):
            if not before.operations[number].completed:
                yield Happened(thread, tried(str(number)))
        case "SecondTry", ():
            number = before.threads[thread].operation
            if not before.operations[number].completed:
                yield Happened(thread, tried(str(number)))
        case "CallBack", ():
            number = before.threads[thread].operation
            yield Happened(thread, completed(str(number)))
            if thread == EXECUTOR and number not in instance.throwing:
                yield Happened(thread, timed_out(str(number)))


def _returned(
    instance: ExactInstance, before: ExactState, step: Step, after: ExactState
) -> Iterator[HistoryEvent]:
    """Yield the end of a call."""
    thread = thread_of(step)
    if after.threads[thread].stage != "idle" or step.action == "NestedNothing":
        return
    if instance.programs and _failed(instance, before, step, after):
        yield Returned(thread, raised=Reason.THROWN)
    else:
        yield Returned(thread, _result(instance, before.threads[thread], step))


def _failed(instance: ExactInstance, before: ExactState, step: Step, after: ExactState) -> bool:
    """Decide whether the call that ends with a step raises.

    What the executor runs is its own affair (PURGATORY-EXPIRY-THROWS).
    """
    thread = thread_of(step)
    if thread == EXECUTOR:
        return False
    me = before.threads[thread]
    numbers = before.operations
    tries = any(before.operations[n].raised != after.operations[n].raised for n in numbers)
    callback = step.action == "CallBack" and me.operation in instance.throwing
    return me.failed or tries or callback


def _result(instance: ExactInstance, me: Thread, step: Step) -> Value:
    """Return the result of a call, worked out from the notes of its thread."""
    thread = thread_of(step)
    if not instance.programs or thread in (EXECUTOR, *instance.purgers):
        return None
    cancels = step.action in ("BeginCancel", "EndCancel", "CancelOne")
    settles_cancel = step.action == "Settle" and me.key is None and bool(me.about)
    if cancels or settles_cancel:
        return tuple(str(number) for number in me.about)
    checks = me.key is not None
    return len(me.about) if checks else bool(me.about)
