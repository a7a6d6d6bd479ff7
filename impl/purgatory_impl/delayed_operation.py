"""The delayed operation: completed once, by whoever is first, or else by its time-out.

A user's class overrides ``try_complete`` and the callbacks. Its state is one *word*: whether it is
completed, and how many list entries it has or has been promised. Who completes it sets the one and
takes the other out, in one step, so that entries are never counted twice and never forgotten.

Two locks, in this order. The operation's own lock is held while user code runs: tries exclude each
other and the callback ``on_complete``. It is re-entrant, so these may call anything of the same
operation. A thread that holds the own lock of one operation waits for that of no other: see
``left_operations``. The lock of the word covers the word and what has to change together with it,
the time-out; it is never held while user code runs, so that nobody waits there for a user's try.

What is not a user's to override is a function and no method: in the compiled build a method of a
class that users subclass is looked up at each call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Final

from purgatory_impl.accounting import Accounting
from purgatory_impl.arguments import Delay, whole_ms
from purgatory_impl.compiler import i32, mypyc_attr
from purgatory_impl.errors import (
    DelayTooLarge,
    OperationOfAnotherPurgatory,
    refuse_second_init,
)
from purgatory_impl.exclusion import THIN
from purgatory_impl.failures import asks_to_leave
from purgatory_impl.guarded import GuardedTask, OperationLocks
from purgatory_impl.left_operations import ABANDON, ASKS, EXPIRE, FORCE, LEFT, TRY
from purgatory_impl.operation_locks import (
    HELD,
    enter,
    enter_word,
    holds,
    leave,
    leave_word,
    this_thread,
    under_own_lock,
)
from purgatory_impl.task import COMPILED
from purgatory_impl.timer import LARGEST_DELAY_MS, Timer

_ident: Final = threading.get_ident


class Place:
    """An entry of an operation in some list."""

    __slots__ = ()

    def drop(self) -> int:
        """Take the entry out of the list; the number of entries taken out, 1 or 0."""
        raise NotImplementedError("a place must override drop")


@mypyc_attr(allow_interpreted_subclasses=True)
class DelayedOperation(GuardedTask):
    """Something that waits for a condition, for ``delay_ms`` at most.

    Subclasses override ``try_complete``, ``on_complete`` and, where they wish, ``on_expiration``.
    An operation is used once: completed, it stays so. It belongs to the first purgatory to which a
    caller gives it.
    """

    __slots__ = (
        "_abandoned",
        "_accounting",
        "_completed",
        "_delay_ms",
        "_entries",
        "_given",
        "_place",
    )

    def __init__(self, delay_ms: Delay) -> None:
        """Make an operation that nobody watches yet.

        Args:
            delay_ms: The time-out, whole milliseconds from when it is watched, or a ``timedelta``
                of so many. Zero and less mean already due.

        Raises:
            InvalidDelay: the delay is no whole number of milliseconds.
            DelayTooLarge: the delay exceeds ``LARGEST_DELAY_MS``.
            TypeError: the operation is in use already.
        """
        if self._given if COMPILED else getattr(self, "_given", False):
            refuse_second_init(self)
        super().__init__(None if THIN else OperationLocks())
        # The small numbers side by side, behind those of thin locks: they take the space of two.
        self._completed = False
        self._abandoned = False
        self._given = False
        self._entries: i32 = 0
        self._delay_ms = delay_ms if isinstance(delay_ms, int) else whole_ms(delay_ms)
        if self._delay_ms > LARGEST_DELAY_MS:
            raise DelayTooLarge(self._delay_ms, LARGEST_DELAY_MS)
        self._accounting: Accounting | None = None
        # Where a walk stands that is trying this operation; read and written under its own lock.
        self._place: Place | None = None

    def __repr__(self) -> str:
        """Return the class, the time-out, and what has become of the operation."""
        try:
            return f"<{type(self).__name__} of {self._delay_ms} ms, {_state_of(self)}>"
        except AttributeError:
            return f"<{type(self).__name__}, not initialised>"

    def try_complete(self) -> object:
        """Complete the operation if it can be completed now; overridden by every subclass.

        Calls ``force_complete`` if the condition holds, and returns what that returns: True or
        False, or any value that is true or false. Runs under
        the operation's own lock, and never once it is completed. It may call the purgatory. Another
        thread that is to try the operation meanwhile waits; inside a try or a callback of a further
        operation it does not wait, and this call tries the operation once more.

        Rules: PURGATORY-TRY-INSIDE, PURGATORY-MEANWHILE, PURGATORY-NO-CIRCLE.
        """
        raise NotImplementedError("an operation must override try_complete")

    def on_complete(self) -> object:
        """React to the completion: called once, under the operation's own lock.

        What it returns is ignored.
        """

    def on_expiration(self) -> object:
        """React to the time-out: called after ``on_complete``, under no lock.

        What it returns is ignored.

        Rules: PURGATORY-CALLBACK-ORDER, PURGATORY-CALLBACK-THROWS.
        """

    @property
    def delay_ms(self) -> int:
        """Return the time-out, ms from when the operation is watched."""
        return self._delay_ms

    @property
    def is_completed(self) -> bool:
        """Decide whether the operation is completed; true before ``on_complete`` is called."""
        return self._completed and not self._abandoned

    @property
    def is_abandoned(self) -> bool:
        """Decide whether ``Purgatory.abandon`` has taken the operation out for good."""
        return self._abandoned

    def force_complete(self) -> bool:
        """Complete the operation, whatever its condition.

        Marks it completed, takes its time-out, then calls ``on_complete``. What that raises goes
        to the caller; the operation is completed all the same.

        Inside a try or a callback of another operation this does not wait for a thread that is
        trying the operation: that thread completes the operation after its try.

        Returns:
            Whether this call has completed the operation. Exactly one call ever does.

        Raises:
            RecursionError: callbacks are nested ``MOST_NESTED`` deep; nothing was changed.

        Rules: PURGATORY-EXACTLY-ONCE, PURGATORY-CALLBACK-ORDER, PURGATORY-FORCE,
        PURGATORY-FORCE-AGAIN, PURGATORY-CALLBACK-THROWS, PURGATORY-FORCE-INSIDE,
        PURGATORY-NO-CIRCLE.
        """
        return _force(self, this_thread())

    def run(self) -> None:
        """Complete the operation whose time-out is due, unless it is completed already.

        Rules: PURGATORY-TIME-OUT, PURGATORY-LOST-EXPIRY, PURGATORY-CALLBACK-ORDER,
        PURGATORY-EXPIRY-THROWS.
        """
        # The winner of a completed operation may be in its callback still: do not wait.
        if self._completed:
            _end_time_out(self)
        elif _expire(self):
            self.on_expiration()

    def cancel(self) -> bool:
        """Take the time-out, if it is pending; the operation stays watched.

        Returns:
            Whether it was pending. A time-out that was handed to the executor is not taken.
        """
        return take_time_out(self)

    def _dropped(self) -> None:
        """Count out the time-out, which is owed no longer though it was not taken.

        Rules: PURGATORY-PENDING.
        """
        _end_time_out(self)
        self._left()

    def _left(self) -> None:
        """React to abandonment, or to a time-out that closing has dropped; called under no lock."""


class ConditionalOperation(DelayedOperation):
    """An operation that is completed where its condition holds, and no class of the user's.

    Whoever tries it knows the thread, so that completing it does not ask for the thread again.
    """

    __slots__ = ()

    def try_complete(self) -> bool:
        """Complete the operation if its condition holds."""
        return self._holds() and self.force_complete()

    def _holds(self) -> bool:
        """Decide whether the condition holds; called under the operation's own lock."""
        raise NotImplementedError("a conditional operation must override _holds")


def _state_of(operation: DelayedOperation) -> str:
    """Read without any lock: for people."""
    if operation._abandoned:
        return "abandoned"
    if operation._completed:
        return "completed"
    timed = "" if operation._next is None else ", in the timer"
    return f"{operation._entries} entries in lists{timed}"


def belong_to(operation: DelayedOperation, accounting: Accounting) -> None:
    """Let the operation be of one purgatory from now on.

    Raises:
        OperationOfAnotherPurgatory: the operation belongs to a different purgatory.
    """
    if operation._locks is not None:
        with operation._locks.word:
            _belong_to(operation, accounting)
            return
    enter_word(operation)
    try:
        _belong_to(operation, accounting)
    finally:
        leave_word(operation)


def _belong_to(operation: DelayedOperation, accounting: Accounting) -> None:
    if operation._accounting is None:
        operation._accounting = accounting
        operation._given = True
    elif operation._accounting is not accounting:
        raise OperationOfAnotherPurgatory


def attempt(operation: DelayedOperation, me: int, place: Place | None = None) -> int:
    """Try to complete the operation, and do what others have left to this call meanwhile.

    Inside a try or a callback of another operation, an operation that another thread is trying is
    not waited for: it is left to that thread, which tries it again.

    Args:
        operation: What is tried.
        me: ``this_thread()``.
        place: The place of the walk that tries the operation; None outside a walk.

    Returns:
        1 if this call has completed the operation; 2 more for each other operation that other
        threads have left and this call has completed.

    Rules: PURGATORY-COMPLETED-NOT-TRIED, PURGATORY-WATCH-COMPLETED, PURGATORY-NO-CIRCLE.
    """
    locks = operation._locks
    if locks is not None:
        return _in_turn(operation, locks, TRY, partial(_attempt, operation, me, place))
    if not enter(operation, me):
        LEFT.note(operation, TRY)
        return _serve(operation)
    served = 0
    done = False
    try:
        done = _attempt(operation, me, place)
    finally:
        leave(operation)
        if ASKS:
            served = _serve(operation)
    return done + served


def _in_turn(
    operation: DelayedOperation, locks: OperationLocks, ask: int, body: Callable[[], int]
) -> int:
    """Do something under the own lock, or leave it to the thread that has that; then serve.

    Args:
        operation: Whose lock.
        locks: Its locks, of ``threading``.
        ask: What is left, where the lock is not waited for.
        body: What is done; returns 0 or 1.

    Returns:
        What the body returns, or 0 where that is left to others; and what was served, as for
        ``attempt``.
    """
    served = 0
    done = 0
    try:
        done = under_own_lock(operation, locks, body)
        if done == HELD:
            done = 0
            _note(operation, ask)
    finally:
        if ASKS:
            served = _serve(operation)
    # Who abandons an operation, or lets it expire, claims no completion that others have left.
    return done + (served if ask in (TRY, FORCE) else served & ~1)


def _leave_to_others(operation: DelayedOperation, ask: int) -> bool:
    """Leave something to the thread that has a thin own lock; it is not done by this call."""
    _note(operation, ask)
    _serve(operation)
    return False


def _note(operation: DelayedOperation, ask: int) -> None:
    """Note an ask; of two time-outs that come to be due meanwhile, one decides."""
    if not LEFT.note(operation, ask) and ask == EXPIRE:
        _end_time_out(operation)


def _serve(operation: DelayedOperation) -> int:
    """Do what was left, if this thread has let go of the operation, and nobody else serves.

    Args:
        operation: What this thread has let go of, or has left to others: these may have let go of
            it before they could know.

    Returns:
        1 if this call has completed the operation; 2 more for each other completed operation.

    Raises:
        BaseException: the first one that an operation has raised, after everything was done; before
            it a request to end the program. A second such request ends this call at once.
    """
    me = _ident()
    if holds(operation, me):
        return 0
    served = 0
    failures: list[BaseException] = []
    leaving = False
    following: GuardedTask | None = None
    try:
        if not LEFT.begin(operation, me):
            return 0
        while True:
            following = LEFT.following()
            if following is None:
                break
            assert isinstance(following, DelayedOperation)
            try:
                if _answer_all(following, me):
                    served += 1 if following is operation else 2
            except BaseException as failure:
                if not asks_to_leave(failure):
                    failures.append(failure)
                elif leaving:
                    raise
                else:
                    leaving = True
                    failures.insert(0, failure)
                # What else was asked of it is left to be done.
                LEFT.again(following)
    except BaseException:
        LEFT.stop(me, following)
        raise
    if failures:
        try:
            raise failures[0]
        finally:
            # A failure knows this frame: known here, too, it would keep operations alive.
            failures.clear()
    return served


def _answer_all(operation: DelayedOperation, me: int) -> bool:
    """Do what was asked of an operation, unless some thread has it: that looks here after.

    Returns:
        Whether a try or a force that was asked for has completed it.
    """
    completed = False
    answered = 0
    while not holds(operation, me):
        locks = operation._locks
        if locks is not None:
            answered = under_own_lock(operation, locks, partial(_answer, operation), False)
        elif enter(operation, me, False):
            try:
                answered = _answer(operation)
            finally:
                leave(operation)
        else:
            answered = HELD
        if answered in (HELD, _NOTHING):
            break
        completed = completed or answered == _COMPLETED
        if answered == ABANDON:
            operation._left()
        elif answered == EXPIRE:
            _run_again(operation)
    return completed


_NOTHING: Final = 0
_COMPLETED: Final = TRY | FORCE
_IN_VAIN: Final = TRY | EXPIRE


def _answer(operation: DelayedOperation) -> int:
    """Do the next thing that was asked of an operation, whose own lock the caller has.

    Returns:
        Nothing, completed, in vain; or what has to be done without the lock.
    """
    ask = LEFT.take(operation)
    if ask == TRY:
        done = _attempt(operation, this_thread(), None)
    elif ask == FORCE:
        done = _complete(operation)
    elif ask == ABANDON:
        return ABANDON if _abandon(operation) else _IN_VAIN
    else:
        return ask
    return _COMPLETED if done else _IN_VAIN


def _run_again(operation: DelayedOperation) -> None:
    """Let the executor run a time-out that could not be decided when it was run."""
    timer = operation._timer
    if isinstance(timer, Timer):
        timer._hand_over_again(operation)
    else:
        operation.run()


def _attempt(operation: DelayedOperation, me: int, place: Place | None) -> bool:
    """Try the operation, whose own lock the caller has."""
    if operation._completed:
        return False
    outer = operation._place
    operation._place = place
    try:
        if isinstance(operation, ConditionalOperation):
            return operation._holds() and _force(operation, me)
        return bool(operation.try_complete()) and operation._completed
    finally:
        operation._place = outer


def _force(operation: DelayedOperation, me: int) -> bool:
    """Complete the operation, unless somebody has; whether this has done it."""
    if operation._completed:
        return False
    locks = operation._locks
    if locks is not None:
        return _in_turn(operation, locks, FORCE, partial(_complete, operation)) & 1 == 1
    if not enter(operation, me):
        LEFT.note(operation, FORCE)
        return _serve(operation) & 1 == 1
    try:
        return _complete(operation)
    finally:
        leave(operation)
        if ASKS:
            _serve(operation)


def _complete(operation: DelayedOperation) -> bool:
    """Complete the operation, whose own lock the caller has; whether this has done it."""
    won = _win(operation)
    if won:
        operation.on_complete()
    return won


def _expire(operation: DelayedOperation) -> bool:
    """Complete the operation by its time-out; whether this has done it."""
    locks = operation._locks
    if locks is not None:
        body = partial(_expire_under_lock, operation)
        return _in_turn(operation, locks, EXPIRE, body) & 1 == 1
    if not enter(operation, this_thread()):
        return _leave_to_others(operation, EXPIRE)
    try:
        return _expire_under_lock(operation)
    finally:
        leave(operation)
        if ASKS:
            _serve(operation)


def _expire_under_lock(operation: DelayedOperation) -> bool:
    won = _win(operation)
    _end_time_out(operation)
    if won:
        if operation._accounting is not None:
            operation._accounting.count_expiry()
        operation.on_complete()
    return won


def abandon(operation: DelayedOperation) -> bool:
    """Let nobody complete the operation from now on; whether this call has ended it.

    The word is completed as by a winner, so that entries and time-out are counted out alike; only
    ``on_complete`` is not called.
    """
    locks = operation._locks
    if locks is not None:
        ended = _in_turn(operation, locks, ABANDON, partial(_abandon, operation)) & 1 == 1
    elif enter(operation, this_thread()):
        try:
            ended = _abandon(operation)
        finally:
            leave(operation)
            if ASKS:
                _serve(operation)
    else:
        ended = _leave_to_others(operation, ABANDON)
    if ended:
        operation._left()
    return ended


def _abandon(operation: DelayedOperation) -> bool:
    if operation._completed:
        return False
    # Under its own lock nobody else completes it: so it is never seen completed.
    operation._abandoned = True
    return _win(operation)


def _win(operation: DelayedOperation) -> bool:
    """Complete the word, take the time-out, count both; the caller has the own lock.

    Returns:
        False where the operation was completed already.

    Rules: PURGATORY-EXACTLY-ONCE, PURGATORY-CALLBACK-ORDER, PURGATORY-TIMER-LEFT,
    PURGATORY-STALE-ENTRIES.
    """
    if operation._locks is not None:
        with operation._locks.word:
            balance = _set_completed(operation)
    else:
        enter_word(operation)
        balance = _set_completed(operation)
        leave_word(operation)
    if balance < 0:
        return False
    # The walk that tries the operation drops the walk's entry first: one entry costs no addition.
    if operation._place is not None:
        balance -= operation._place.drop()
    timer = operation._timer
    taken = timer is not None and timer.cancel(operation)
    if operation._accounting is not None:
        operation._accounting.post(balance, operation if taken else None)
    return True


def _set_completed(operation: DelayedOperation) -> int:
    """Take the entries out of the word and complete it; below zero where it was completed."""
    if operation._completed:
        return -1
    balance = operation._entries
    operation._entries = 0
    operation._completed = True
    return balance


def arm(
    operation: DelayedOperation, accounting: Accounting, entries: int, timer: Timer | None
) -> tuple[bool, bool]:
    """Promise entries and start the time-out, in one step.

    Args:
        operation: What is to be watched.
        accounting: Counts the time-out.
        entries: How many are about to be appended.
        timer: Where the time-out waits; None for no time-out.

    Returns:
        False where the operation is completed, and nothing was done. Then whether the time-out
        is due already, so that the timer's executor is to be woken.

    Rules: PURGATORY-TIME-OUT, PURGATORY-REWATCH, PURGATORY-WATCH-COMPLETED,
    PURGATORY-NO-TIME-OUTS, PURGATORY-STALE-ENTRIES.
    """
    if operation._locks is not None:
        with operation._locks.word:
            return _arm(operation, accounting, entries, timer)
    enter_word(operation)
    try:
        return _arm(operation, accounting, entries, timer)
    finally:
        leave_word(operation)


def _arm(
    operation: DelayedOperation, accounting: Accounting, entries: int, timer: Timer | None
) -> tuple[bool, bool]:
    if operation._completed:
        return False, False
    due = False
    if timer is not None:
        due = _start_time_out(operation, accounting, timer)
    operation._entries += entries
    return True, due


def _start_time_out(operation: DelayedOperation, accounting: Accounting, timer: Timer) -> bool:
    """Add the operation to the timer, or move it there; whether it is due already.

    Rules: PURGATORY-TIME-OUT, PURGATORY-REWATCH, PURGATORY-PENDING.
    """
    if operation._timer is None:
        # Its purgatory has one timer, and who gets here has the word: nobody else adopts it.
        operation._timer = timer
    # First counted, then there: pending is never too low.
    accounting.begin_time_out(operation)
    moved = True
    try:
        moved, waits = timer._add_quietly(operation, operation._delay_ms)
    finally:
        if moved:
            accounting.end_time_out(operation)
    return not waits


def withdraw(operation: DelayedOperation, entries: int) -> int:
    """Give entries back that were promised or detached, and the time-out with the last one.

    Returns:
        What the caller's balance changes by.

    Rules: PURGATORY-CANCEL-LAST-KEY, PURGATORY-CANCEL-KEEPS-TIME-OUT.
    """
    if operation._locks is not None:
        with operation._locks.word:
            return _withdraw(operation, entries)
    enter_word(operation)
    try:
        return _withdraw(operation, entries)
    finally:
        leave_word(operation)


def _withdraw(operation: DelayedOperation, entries: int) -> int:
    if operation._completed:
        return -entries
    operation._entries -= entries
    if operation._entries == 0:
        take_time_out(operation)
    return 0


def take_time_out(operation: DelayedOperation) -> bool:
    """Take the time-out, if it is pending; whether it was."""
    timer = operation._timer
    taken = timer is not None and timer.cancel(operation)
    if taken:
        _end_time_out(operation)
    return taken


def _end_time_out(operation: DelayedOperation) -> None:
    if operation._accounting is not None:
        operation._accounting.end_time_out(operation)
