"""The bound of a search: configurations, remembered at once and looked at in all.

Neither the clock nor the load of the machine decides what is found: a run gets the same answer
wherever it is asked.
"""

from dataclasses import dataclass, field

MOST_CONFIGURATIONS = 900_000
"""The most configurations that are remembered at once, by default: some 400 MiB."""

FOR_EACH_CALL = 100
"""The configurations that each call of a run adds to those in all: a long run is not a hard one."""


class OutOfBudget(Exception):
    """The budget is used up before the search was over; the message says of what."""


class OutOfConfigurations(OutOfBudget):
    """So many as may be were looked at: nothing is left for the rest of the run."""


class OutOfAllowance(OutOfBudget):
    """The allowance of one search is used up; a later attempt may get a larger allowance."""


@dataclass(slots=True)
class Budget:
    """The budget of one run.

    Attributes:
        most_configurations: How many may be remembered at once.
        calls: How many calls the run has.
        configurations: How many were met in all.
    """

    most_configurations: int = MOST_CONFIGURATIONS
    calls: int = 0
    configurations: int = 0
    _remembered: int = 0
    _allowed: int | None = None
    _most_in_all: int = field(init=False)

    def __post_init__(self) -> None:
        self._most_in_all = self.most_configurations + FOR_EACH_CALL * self.calls

    def spend(self) -> None:
        """Count one more configuration against the budget.

        Raises:
            OutOfBudget: the budget is used up.
        """
        if self._allowed is not None and self.configurations >= self._allowed:
            raise OutOfAllowance("others are looked at first")
        self.look_at_rest()
        self.configurations += 1
        self._remembered += 1
        if self._remembered > self.most_configurations:
            raise OutOfBudget(
                f"{self.most_configurations:,} configurations are remembered, and more would be "
                "needed: too many calls overlap, or the rules leave too much open"
            )

    def look_at_rest(self) -> None:
        """See whether anything is left.

        Raises:
            OutOfConfigurations: nothing is.
        """
        if self.configurations >= self._most_in_all:
            raise OutOfConfigurations(
                f"{self.configurations:,} configurations were looked at, and more would be needed: "
                "too many calls overlap, or the rules leave too much open"
            )

    def allow(self, configurations: int | None) -> None:
        """Let so many more be met, None for as many as there may be."""
        self._allowed = None if configurations is None else self.configurations + configurations

    def forget(self, configurations: int) -> None:
        """Count so many configurations as no longer remembered."""
        self._remembered -= configurations
