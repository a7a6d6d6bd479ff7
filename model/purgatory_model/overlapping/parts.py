"""The parts that calls are divided into: the values of a call's program counter."""

from enum import StrEnum
from typing import NamedTuple


class Stage(StrEnum):
    """The effect of a part of a call, in the words of a report."""

    WHOLE = "whole"
    TRY_AGAIN = "try again"
    LOOK_AGAIN = "look again"
    ENTER = "enter list"
    ARM = "arm"
    ARM_EXPIRING_AT = "arm, expiring at"
    MOVE_CLOCK_ON = "advance"
    LEAVE_TIMER = "leave the timer"
    LEAVE_TIMER_FIRST = "leave the timer first"
    MEET = "meet"
    PASS = "pass"
    DROP = "drop"
    SETTLE = "settle"
    PURGE = "purge"


class Part(NamedTuple):
    """A part of a call, with a number where there are several of its stage.

    Attributes:
        stage: What takes effect.
        number: The place of a key among the keys of a watch, from 0; the count of entries that a
            check or a cancellation has before it; the expiry of an add, ms. Otherwise None.
        inside: Whether an expired operation, which the call runs inside itself, has the part.
        following: With ``inside``, the part of the call that comes after the expired operation.
    """

    stage: Stage
    number: int | None = None
    inside: bool = False
    following: "Part | None" = None

    def __str__(self) -> str:
        """Return the words of a report, for example ``enter list 1``."""
        words = self.stage.value if self.number is None else f"{self.stage.value} {self.number}"
        return f"run: {words}" if self.inside else words


WHOLE = Part(Stage.WHOLE)
"""The first part of every call, and the only one of a call that is not divided."""
