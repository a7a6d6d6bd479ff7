"""What the timer refuses: one exception for each case, with the reason as a code."""

from purgatory_spec.reasons import Reason


class TimerError(Exception):
    """The timer refused a call and changed nothing.

    Attributes:
        reason: The code that stands for the refusal in every language.
    """

    def __init__(self, reason: Reason, problem: str) -> None:
        super().__init__(problem)
        self.reason = reason


class InvalidConfiguration(TimerError):
    """A timer cannot be built from these arguments; the reason is ``invalid_argument``."""

    def __init__(self, problem: str) -> None:
        super().__init__(Reason.INVALID_ARGUMENT, problem)


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


class TaskOfAnotherTimer(TimerError):
    """A task is still pending in another timer; the reason is ``invalid_argument``."""

    def __init__(self) -> None:
        super().__init__(
            Reason.INVALID_ARGUMENT, "the task is pending in another timer; cancel it there first"
        )


class TimerClosed(TimerError):
    """The timer takes no more tasks; the reason is ``closed``.

    Rules: TIMER-SHUTDOWN-CLOSED.
    """

    def __init__(self) -> None:
        super().__init__(Reason.CLOSED, "the timer is closed")
