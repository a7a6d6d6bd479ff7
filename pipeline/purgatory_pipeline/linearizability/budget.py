"""What a search may cost: time, and configurations that are remembered."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

MOST_CONFIGURATIONS = 2_000_000
"""How many configurations are remembered at once, unless told otherwise: about a gigabyte."""

_LOOKS_AT_CLOCK_EVERY = 256


class OutOfBudget(Exception):
    """Time or memory is used up before the search was over; the message says which."""


class OutOfTime(OutOfBudget):
    """The time is used up, for whatever would be looked at next, too."""


class OutOfAllowance(OutOfBudget):
    """The allowance of one search is used up; a later attempt may get a larger allowance."""


@dataclass(slots=True)
class Budget:
    """The budget of one run.

    Attributes:
        seconds: The time that is left, s.
        most_configurations: How many may be remembered at once.
        configurations: How many were met in all.
    """

    seconds: float = 60.0
    most_configurations: int = MOST_CONFIGURATIONS
    clock: Callable[[], float] = time.monotonic
    configurations: int = 0
    _remembered: int = 0
    _allowed: int | None = None
    _ends: float = field(init=False)

    def __post_init__(self) -> None:
        self._ends = self.clock() + self.seconds

    def spend(self) -> None:
        """One more configuration.

        Raises:
            OutOfBudget: it is one too many, or the time is over.
        """
        if self._allowed is not None and self.configurations >= self._allowed:
            raise OutOfAllowance("others are looked at first")
        self.configurations += 1
        self._remembered += 1
        if self._remembered > self.most_configurations:
            raise OutOfBudget(
                f"{self.most_configurations:,} configurations are remembered, and more would be "
                "needed: too many calls overlap, or the rules leave too much open"
            )
        if self.configurations % _LOOKS_AT_CLOCK_EVERY == 0:
            self.look_at_clock()

    def look_at_clock(self) -> None:
        """See whether there is time left.

        Raises:
            OutOfTime: there is none.
        """
        if self.clock() > self._ends:
            raise OutOfTime(f"{self.seconds:g} seconds are over")

    def allow(self, configurations: int | None) -> None:
        """Let so many more be met, None for as many as there may be."""
        self._allowed = None if configurations is None else self.configurations + configurations

    def forget(self, configurations: int) -> None:
        """So many are remembered no longer."""
        self._remembered -= configurations
