"""The errors of a run; each message names the remedy or the finding."""


class SchedulingError(Exception):
    """A run could not be made, or has not ended as a run must."""


class InvalidSchedule(SchedulingError):
    """A text is no schedule."""


class Diverged(SchedulingError):
    """A replayed schedule does not fit the run: the code or the scenario is not the same."""


class Deadlock(SchedulingError):
    """The failure of a run in which no thread can go on."""


class TooManySteps(SchedulingError):
    """The threads go on without end."""


class Stalled(SchedulingError):
    """A thread reaches no yield point any more: it loops, or waits for something uncontrolled."""


class NotUnderControl(SchedulingError):
    """The code uses something of ``threading`` that the scheduler does not know."""


class UndeclaredLock(SchedulingError):
    """The code has made a lock that the table of yield points does not name."""


class ThreadFailed(SchedulingError):
    """A program has raised what none of its calls may raise."""


class CheckFailed(SchedulingError):
    """A check of the state at the end of a run has failed."""


class Abandoned(BaseException):  # no Exception, so that the code under test does not catch it
    """Ends the threads of a run that is over; never leaves this package."""
