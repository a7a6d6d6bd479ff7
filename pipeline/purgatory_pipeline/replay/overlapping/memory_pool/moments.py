"""The words in which a shared memory pool is explained: calls, outcomes, moments."""

from dataclasses import dataclass
from typing import NamedTuple

from purgatory_spec.operations import Lose, Operation, Release, ReleaseForm
from purgatory_spec.outcomes import Value
from purgatory_spec.reasons import Reason


class PoolOutcome(NamedTuple):
    """What came of a call at the instant at which it took effect."""

    result: Value
    rejected: Reason | None


REFUSED = PoolOutcome(False, None)
"""A request was not granted: that changes nothing for others."""


class PoolMoment(NamedTuple):
    """One explanation: what is available, what open calls have done, whether a rule was broken."""

    available_bytes: int
    done: frozenset[tuple[int, PoolOutcome]] = frozenset()
    credits_wrongly: bool = False
    refusable: frozenset[int] = frozenset()
    """The open requests that could have been refused by now: that changes nothing for others."""

    def outcome_of(self, number: int) -> PoolOutcome | None:
        """What an open call has done, if it took effect."""
        return next((outcome for each, outcome in self.done if each == number), None)


@dataclass(slots=True, eq=False)
class PoolCall:
    """An open call; ``size_bytes`` of the buffer that it gives back, where that is known."""

    number: int
    operation: Operation
    size_bytes: int | None
    is_held: bool = False
    """Whether the buffer was outstanding when the call began."""
    is_contested: bool = False
    """Whether another open call gives the same buffer back: either of the two may be first."""

    def gives_back(self, buffer: str) -> bool:
        """Whether it gives a buffer back, or leaks it."""
        return isinstance(self.operation, Release | Lose) and self.operation.buffer == buffer


def gives_back_itself(operation: Operation) -> bool:
    """Whether an operation ends a buffer's being out, if it is: not one of a copy or a slice."""
    if isinstance(operation, Release):
        return operation.form is ReleaseForm.ITSELF
    return isinstance(operation, Lose)
