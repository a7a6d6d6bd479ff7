"""Exceptions for refused calls: one for each case, with the reason as a code."""

from typing import NoReturn

from purgatory_spec.reasons import Reason


class PurgatoryError(Exception):
    """A call was refused and has changed nothing.

    Attributes:
        reason: The code that stands for the refusal in every language.
    """

    def __init__(self, reason: Reason, problem: str) -> None:
        super().__init__(problem)
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        """Return the parts of a copy, in another process too: the class, the words, the notes."""
        return _copied, (type(self), self.args), self.__dict__


class InvalidConfiguration(PurgatoryError):
    """Nothing can be built from these arguments; the reason is ``invalid_argument``."""

    def __init__(self, problem: str) -> None:
        super().__init__(Reason.INVALID_ARGUMENT, problem)


class UsedAfterFork(RuntimeError):
    """Something of the parent process was used in a child that ``os.fork`` has made.

    A fork copies objects and no threads: a reaper or the holder of a lock is missing in the child.
    """

    def __init__(
        self,
        problem: str = "this timer, purgatory, executor or pool was made before this process was "
        "forked; its threads are not here. Make a new one in the child",
    ) -> None:
        super().__init__(problem)


class TimerError(PurgatoryError):
    """The timer refused a call."""


class InvalidDelay(TimerError):
    """A delay is not a whole number of milliseconds; the reason is ``invalid_argument``."""

    def __init__(self, delay_ms: object) -> None:
        super().__init__(
            Reason.INVALID_ARGUMENT,
            f"the delay is {delay_ms!r}; it must be a whole number of milliseconds",
        )


class DelayTooLarge(TimerError):
    """A delay exceeds the largest one; the reason is ``too_large``.

    Rules: TIMER-LARGEST-DELAY.
    """

    def __init__(self, delay_ms: int, largest_ms: int) -> None:
        super().__init__(
            Reason.TOO_LARGE, f"the delay is {delay_ms} ms; the largest is {largest_ms} ms"
        )


class NotATask(TimerError):
    """Nothing that a timer can run; the reason is ``invalid_argument``."""

    def __init__(self, problem: str) -> None:
        super().__init__(Reason.INVALID_ARGUMENT, problem)


class TaskOfAnotherTimer(TimerError):
    """A task is still pending in another timer; the reason is ``invalid_argument``."""

    def __init__(self) -> None:
        super().__init__(
            Reason.INVALID_ARGUMENT, "the task is pending in another timer; cancel it there first"
        )


class OneShotEnded(TimerError):
    """A task that was made of a callable has ended; the reason is ``invalid_argument``."""

    def __init__(self) -> None:
        super().__init__(
            Reason.INVALID_ARGUMENT,
            "the task was made of a callable and is not pending any more; add the callable again, "
            "or use a CallableTask, which may be added as often as you like",
        )


class TimerClosed(TimerError):
    """The timer takes no more tasks; the reason is ``closed``.

    Rules: TIMER-SHUTDOWN-CLOSED.
    """

    def __init__(self) -> None:
        super().__init__(Reason.CLOSED, "the timer is closed")


class WatchError(PurgatoryError):
    """The purgatory refused to watch an operation, which was not tried and is as it was."""


class NoKeys(WatchError):
    """An operation is to be watched under no key; the reason is ``invalid_argument``."""

    def __init__(self) -> None:
        super().__init__(
            Reason.INVALID_ARGUMENT, "no key is given; an operation is watched under at least one"
        )


class KeysAreText(WatchError):
    """A text is given in the place of keys; the reason is ``invalid_argument``."""

    def __init__(self, keys: str | bytes) -> None:
        super().__init__(
            Reason.INVALID_ARGUMENT,
            f"the keys are the text {keys!r}, whose letters would be keys; for one key give "
            f"[{keys!r}]",
        )


class OperationOfAnotherPurgatory(WatchError):
    """An operation belongs to another purgatory; the reason is ``invalid_argument``."""

    def __init__(self) -> None:
        super().__init__(
            Reason.INVALID_ARGUMENT, "the operation belongs to the purgatory it was given to first"
        )


class PurgatoryClosed(WatchError):
    """The purgatory takes no more watches; the reason is ``closed``."""

    def __init__(self) -> None:
        super().__init__(Reason.CLOSED, "the purgatory is closed")


class MemoryPoolError(PurgatoryError):
    """The memory pool refused a call; the reason is always ``invalid_argument``."""

    def __init__(self, problem: str) -> None:
        super().__init__(Reason.INVALID_ARGUMENT, problem)


class InvalidAllocation(MemoryPoolError):
    """So many bytes can never be allocated from this pool, or are no number of bytes."""


class InvalidRelease(MemoryPoolError):
    """A refused release: the object is not a buffer that is out; each case has its own class."""


class NotABuffer(InvalidRelease):
    """A refused release: the object is no ``memoryview`` at all."""

    def __init__(self, given: object) -> None:
        super().__init__(f"{type(given).__name__} is no buffer of a pool; release the memoryview")


class ForeignBuffer(InvalidRelease):
    """A buffer was given back to a pool that it does not come from."""

    def __init__(self) -> None:
        super().__init__("the buffer does not come from this pool")


class BufferPart(InvalidRelease):
    """A slice or a copy of a buffer was given back instead of the buffer."""

    def __init__(self) -> None:
        super().__init__(
            "a slice or another view of a buffer; release the object that try_allocate returned"
        )


class BufferReleased(InvalidRelease):
    """A buffer was given back a second time."""

    def __init__(self) -> None:
        super().__init__("the buffer was released before")


class BufferInUse(InvalidRelease):
    """Something else still reads or writes the buffer through the buffer protocol."""

    def __init__(self) -> None:
        super().__init__("the buffer is still exported; drop what uses it, then release it again")


class RequestAnswered(PurgatoryError):
    """A request has been answered before; the reason is ``invalid_argument``."""

    def __init__(self) -> None:
        super().__init__(
            Reason.INVALID_ARGUMENT, "the request has its response; there is one for each request"
        )


class InvalidResponse(PurgatoryError):
    """A response is no bytes; its connection is closed. The reason is ``invalid_argument``."""

    def __init__(self, response: object) -> None:
        super().__init__(
            Reason.INVALID_ARGUMENT,
            f"the response is of type {type(response).__name__}; it must be bytes that can be read",
        )


class ResponseTooLarge(PurgatoryError):
    """A response is too large, its connection is closed; the reason is ``too_large``."""

    def __init__(self, bytes_: int, largest_bytes: int) -> None:
        super().__init__(
            Reason.TOO_LARGE,
            f"the response has {bytes_} bytes; the largest has {largest_bytes}",
        )


class ServerFailed(RuntimeError):
    """A thread of a server has ended by an error, which is the cause; the server is stopped."""

    def __init__(
        self,
        problem: str = "a thread of the server has ended by an error, which is the cause; the "
        "server has stopped. Make a new one",
    ) -> None:
        super().__init__(problem)


def refuse_copy(whole: object) -> NoReturn:
    """Refuse to copy an object: neither copy would count what they share correctly.

    Raises:
        TypeError: always.
    """
    raise TypeError(
        f"a {type(whole).__name__} cannot be copied or pickled: its counts would be wrong; "
        "make a new one"
    )


def refuse_second_init(whole: object) -> NoReturn:
    """Refuse to initialise an object that is in use, which would forget the waiting operations.

    Raises:
        TypeError: always.
    """
    raise TypeError(f"this {type(whole).__name__} is in use; make a new one instead")


def _copied(kind: type[PurgatoryError], words: tuple[object, ...]) -> PurgatoryError:
    """Return an error whose class has a constructor with arguments other than the message."""
    return kind.__new__(kind, *words)
