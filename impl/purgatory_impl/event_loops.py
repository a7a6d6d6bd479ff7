"""Event loops: coroutines that wait in a purgatory, and timer tasks that run in a loop's thread.

    async with AsyncioPurgatory(purgatory) as waiting:
        message = await waiting.watch(AwaitedOperation(mailbox.take, 30_000), [mailbox.name])

Threads and any number of loops may use one purgatory; each loop has an ``AsyncioPurgatory`` of its
own. An operation is answered in the thread of whoever completes it, and the loop is told by
``call_soon_threadsafe``. Between the two the awaiting task may be cancelled. Then the answer has
been taken already: a message, say, has left its mailbox. So whoever was first counts:

    cancelled first  the operation is abandoned: nothing is taken, watched or timed any more
    answered first   ``watch`` returns the answer, and the task is cancelled at its next await

The second line holds whether the loop has learnt of the answer or not. What is asked again in the
loop's next turn is the cancellation that nobody has withdrawn by then: an ``asyncio.timeout`` that
was left meanwhile has, a ``Task.cancel`` has not.

This module is not compiled: a coroutine that is dropped is closed, and so abandons its operation;
those that the compiler makes are not closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from types import CoroutineType, TracebackType
from typing import Final, Generic, Self, TypeVar, final

from purgatory_impl.arguments import Delay, see_callable
from purgatory_impl.delayed_operation import DelayedOperation, abandon
from purgatory_impl.errors import OperationOfAnotherPurgatory, PurgatoryClosed
from purgatory_impl.executors import SteppedExecutor
from purgatory_impl.failures import asks_to_leave, log_failure
from purgatory_impl.purgatory import Purgatory
from purgatory_impl.watchers import Key

Answer = TypeVar("Answer")
Answer_co = TypeVar("Answer_co", covariant=True)

_TASKS_PER_TURN: Final = 64
"""The tasks that an executor runs before it lets the loop do something else."""


@final
class AwaitedOperation(DelayedOperation, Generic[Answer_co]):
    """An operation that a coroutine waits for, made of callables; watched once.

    What its callables raise, an exception of whatever class, goes to the awaiting task and ends the
    operation. A ``KeyboardInterrupt`` or ``SystemExit`` in the main thread also goes to the caller.
    Once the loop is closed nobody waits: then nothing is called, and the next try or the time-out
    ends the operation.
    """

    __slots__ = ("_answer", "_answered", "_failure", "_loop", "_otherwise", "_take", "_woken")

    @classmethod
    def __init_subclass__(cls) -> None:
        """Refuse subclasses, of which an own ``on_complete`` would leave the task waiting.

        Raises:
            TypeError: always.
        """
        raise TypeError("AwaitedOperation has no subclasses; give it other callables")

    def __init__(
        self,
        take: Callable[[], Answer_co | None],
        delay_ms: Delay,
        *,
        otherwise: Callable[[], Answer_co] | None = None,
    ) -> None:
        """Make an operation that is not watched yet.

        Args:
            take: The try. None where there is no answer yet; anything else completes the operation
                and is the answer. Runs in any thread that tries the operation, one at a time.
            delay_ms: The time-out, as of any ``DelayedOperation``.
            otherwise: Makes the answer where the time-out, or a force, completes the operation;
                when absent, that answer is None.

        Raises:
            InvalidConfiguration: one of them cannot be called.
            InvalidDelay: the delay is no whole number of milliseconds.
            DelayTooLarge: the delay exceeds ``LARGEST_DELAY_MS``.
            TypeError: one of them is a coroutine function.
        """
        super().__init__(delay_ms)
        see_callable("take", take)
        if otherwise is not None:
            see_callable("otherwise", otherwise)
        self._take = take
        self._otherwise = otherwise
        self._answer: Answer_co | None = None
        self._failure: BaseException | None = None
        self._answered = False
        self._loop: asyncio.AbstractEventLoop | None = None
        # What the loop waits for now; made anew where a cancellation has used it up.
        self._woken: asyncio.Future[None] | None = None

    def try_complete(self) -> bool:
        """Take the answer and complete the operation, unless ``take`` returns None."""
        if self._is_left():
            abandon(self)
            return False
        # An answer is there where completing was refused, too deep in callbacks, after a take.
        if self._answer is None:
            try:
                self._answer = _no_coroutine("take", self._take())
            except BaseException as failure:
                self._failure = failure
                completed = self.force_complete()
                if asks_to_leave(failure):
                    raise
                return completed
            if self._answer is None:
                return False
        return self.force_complete()

    def on_complete(self) -> None:
        """Keep the answer and tell the loop."""
        try:
            owed = self._answer is None and self._failure is None
            if owed and self._otherwise is not None and not self._is_left():
                self._answer = _no_coroutine("otherwise", self._otherwise())
        except BaseException as failure:
            self._failure = failure
            if asks_to_leave(failure):
                raise
        finally:
            self._answered = True
            self._tell_loop()

    def _is_left(self) -> bool:
        """Tell whether the loop was closed under the task, so that nobody waits."""
        return self._loop is not None and self._loop.is_closed()

    def _left(self) -> None:
        """Let the task go on where nobody would complete the operation, or time it out."""
        if self._abandoned:
            self._tell_loop()
        else:
            self._refuse(PurgatoryClosed())

    def _tell_loop(self) -> None:
        # First answered, then looked for who waits; the loop does it the other way round.
        woken = self._woken
        if woken is None or self._loop is None or woken.done():
            return
        try:
            self._loop.call_soon_threadsafe(self._wake)
        except RuntimeError:
            # Closed: nobody waits, and the task is let go of. A message may have been taken before.
            self._woken = None
            if self._answer is not None:
                log_failure("The event loop was closed; nobody gets the answer of %r", self)

    def _wake(self) -> None:
        """Let the awaiting task go on; called in the thread of the loop."""
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    def _refuse(self, failure: BaseException) -> None:
        """Complete the operation with a failure, unless it has an answer."""
        self._failure = failure
        self.force_complete()

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Be awaited from now on.

        Raises:
            TypeError: the operation was awaited before.
        """
        if self._loop is not None:
            raise TypeError("the operation was awaited before; make a new one")
        self._loop = loop

    def _future(self, loop: asyncio.AbstractEventLoop) -> asyncio.Future[None] | None:
        """Return a new future for whoever ends the operation; None after its end."""
        self._woken = loop.create_future()
        return None if self._answered or self._abandoned else self._woken

    def _forget(self) -> None:
        """Keep nothing: the operation may be in lists for long after its task has gone on."""
        self._answer = self._failure = self._woken = None

    def _outcome(self) -> Answer_co | None:
        """Return the answer, or raise the failure."""
        answer, failure = self._answer, self._failure
        self._forget()
        if answer is None and failure is not None:
            try:
                raise failure
            finally:
                # The failure knows this frame, which would keep the failure alive.
                del failure
        return answer


def _no_coroutine(name: str, made: Answer) -> Answer:
    """Return what a callable has made, unless it is a coroutine, which nobody would await.

    Raises:
        TypeError: it is one, and is closed here.
    """
    if isinstance(made, CoroutineType):
        made.close()
        raise TypeError(
            f"{name} has made the coroutine {made.__qualname__}, and nothing runs it; {name} says "
            "at once what the answer is"
        )
    return made


class AsyncioPurgatory(Generic[Key]):
    """A purgatory that coroutines of one event loop wait in; call its methods in that loop."""

    def __init__(self, purgatory: Purgatory[Key] | None = None, *, drain_ms: int = 0) -> None:
        """Make a place to wait in, of the loop that uses it first.

        Args:
            purgatory: Where operations are watched; threads and other loops may use it, too. It
                stays open. When absent, a purgatory of its own, which is closed with this.
            drain_ms: How long the end of ``async with`` lets waiting operations be answered.
        """
        self._owned: Purgatory[Key] | None = None
        if purgatory is None:
            purgatory = self._owned = Purgatory()
        self._purgatory = purgatory
        self._drain_ms = drain_ms
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: set[DelayedOperation] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._closed = False

    def __repr__(self) -> str:
        """Return the purgatory and the number of waiting coroutines."""
        closed = ", closed" if self._closed else ""
        return f"<AsyncioPurgatory in {self._purgatory!r}, {len(self._waiting)} wait{closed}>"

    async def __aenter__(self) -> Self:
        """Return the purgatory itself, in its running loop."""
        self._running_loop()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the purgatory at the end of the block."""
        await self.close(self._drain_ms)

    @property
    def purgatory(self) -> Purgatory[Key]:
        """Return the purgatory of the watched operations: check keys there, in any thread."""
        return self._purgatory

    @property
    def waiting(self) -> int:
        """Return the number of coroutines that wait."""
        return len(self._waiting)

    async def watch(
        self, operation: AwaitedOperation[Answer], keys: Iterable[Key]
    ) -> Answer | None:
        """Wait until an operation is completed.

        It is tried at once, and then as ``Purgatory.try_complete_else_watch`` says. Where it is
        completed by that, the coroutine goes on without a turn of the loop.

        Where somebody else abandons the operation, the task is cancelled. A task that is cancelled
        before the operation is completed abandons it, see ``Purgatory.abandon``. For one that is
        cancelled after an answer other than None the call returns the answer, and the cancellation
        is raised at the task's next await.

        Args:
            operation: A new one.
            keys: At least one.

        Returns:
            The answer; None where the time-out, or a force, has completed an operation that has
            no ``otherwise``.

        Raises:
            PurgatoryClosed: this or the purgatory is closed, or was closed while the operation
                waited.
            WatchError: the purgatory refuses the operation or its keys.
            TypeError: the operation was awaited before, or it is no ``AwaitedOperation``.
            RuntimeError: this is the place of another event loop.
            BaseException: what ``take`` or ``otherwise`` has raised, in whatever thread that was.
                A ``StopIteration``, which no coroutine can raise, is the cause of a RuntimeError.
        """
        if not isinstance(operation, AwaitedOperation):
            raise TypeError(
                f"the operation is a {type(operation).__name__}; a coroutine waits for an "
                "AwaitedOperation, which is made of callables"
            )
        loop = self._running_loop()
        if self._closed:
            raise PurgatoryClosed
        operation._begin(loop)
        self._waiting.add(operation)
        self._idle.clear()
        try:
            self._purgatory.try_complete_else_watch(operation, keys)
            await self._answered(operation, loop)
            return operation._outcome()
        except OperationOfAnotherPurgatory:
            raise
        except BaseException:
            self._purgatory.abandon(operation)
            raise
        finally:
            operation._forget()
            self._waiting.discard(operation)
            # In a closed loop this coroutine was dropped, and nobody can be told.
            if not self._waiting and not loop.is_closed():
                self._idle.set()

    async def close(self, drain_ms: int = 0) -> None:
        """Watch nothing any more, and let nobody wait.

        Returns when no coroutine waits any longer. May be called again.

        Args:
            drain_ms: How long operations that wait may still be answered. To coroutines that wait
                after that, ``watch`` raises ``PurgatoryClosed``.
        """
        self._closed = True
        try:
            if drain_ms > 0:
                async with asyncio.timeout(drain_ms / 1000):
                    await self._idle.wait()
        except TimeoutError:
            pass
        finally:
            for operation in list(self._waiting):
                if isinstance(operation, AwaitedOperation):
                    operation._refuse(PurgatoryClosed())
        await self._idle.wait()
        if self._owned is not None:
            # Closing joins threads, for which a loop must not wait.
            await asyncio.to_thread(self._owned.close)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop:
            raise RuntimeError("this is the place of another event loop; make one for each loop")
        return loop

    async def _answered(
        self, operation: AwaitedOperation[Answer], loop: asyncio.AbstractEventLoop
    ) -> None:
        """Wait until the operation is completed; a cancellation after its answer is put off."""
        task = asyncio.current_task()
        # Requests to cancel the task that it has met before.
        met = 0 if task is None else task.cancelling()
        # Its words and not the cancellation itself, whose traceback knows this frame.
        cancellation: tuple[object, ...] | None = None
        while (woken := operation._future(loop)) is not None:
            try:
                await woken
            except asyncio.CancelledError as cancelled:
                if self._purgatory.abandon(operation) or not operation._answered:
                    raise
                cancellation = cancelled.args
        if operation.is_abandoned:
            raise asyncio.CancelledError("the operation was abandoned")
        if cancellation is None:
            return
        if operation._answer is None:
            # A time-out, or closing: nothing is lost.
            raise asyncio.CancelledError(*cancellation)
        if task is not None:
            # One may have been made, and not met, before this coroutine began.
            met = min(met, task.cancelling() - 1)
            loop.call_soon(_cancel_again, task, met, cancellation)


def _cancel_again(task: asyncio.Task[object], met: int, words: tuple[object, ...]) -> None:
    """Cancel a task for the requests that it has not met yet, unless all of them were withdrawn.

    Args:
        task: Whom.
        met: How many requests it has met.
        words: The message of the cancellation, if it has one.
    """
    if not task.done() and task.cancelling() > met:
        task.cancel(*words)
        # The request has been counted before.
        task.uncancel()


class EventLoopExecutor(SteppedExecutor):
    """Tasks run in the thread of an event loop, between its other callbacks.

    A task that answers a future of the loop has to look first whether the future is done: it may
    have been cancelled in the same turn.

    A ``KeyboardInterrupt`` or ``SystemExit`` of a task in the main thread ends the loop's run, as
    that of any callback does; the tasks behind run when the loop goes on.
    """

    __slots__ = ("_asked", "_loop", "_told")

    def __init__(
        self, loop: asyncio.AbstractEventLoop | None = None, name: str = "purgatory"
    ) -> None:
        """Make an executor of a loop.

        Args:
            loop: Whose thread runs tasks; the running loop when absent.
            name: Begins the lines that the executor logs.

        Raises:
            RuntimeError: no loop is given, and none runs in this thread.
        """
        super().__init__(name)
        self._loop = asyncio.get_running_loop() if loop is None else loop
        self._asked = False
        self._told = False

    def wake(self) -> None:
        """Let the loop run what is queued; called in any thread.

        Where the loop is closed, that is logged once, and the tasks stay queued.
        """
        with self._lock:
            if self._asked or not len(self._waiting):
                return
            self._asked = True
        try:
            self._loop.call_soon_threadsafe(self._run_some)
        except BaseException as failure:
            with self._lock:
                self._asked = False
                lost = len(self._waiting)
            if not isinstance(failure, RuntimeError):
                raise
            if not self._told:
                self._told = True
                log_failure("%s: the event loop is closed; %d tasks will not run", self.name, lost)

    def _run_some(self) -> None:
        try:
            for _ in range(_TASKS_PER_TURN):
                if not self.run_one():
                    break
        finally:
            with self._lock:
                self._asked = False
            # What is left, or has come meanwhile, has a turn of its own.
            self.wake()
