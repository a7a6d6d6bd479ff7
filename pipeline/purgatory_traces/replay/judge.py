"""The interface of a replay to the judge of one run."""

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from purgatory_traces.traces.lines import Call, End, Happened, Return, Snapshot, Step

JudgedLine: TypeAlias = Snapshot | Step | Call | Happened | Return | End
"""Every line but the first."""


class Missing(NamedTuple):
    """A run of a task that has not come by the latest time, and the finding if it never comes.

    ``never_ms`` is the reading from which on it counts as never coming.
    """

    task: str
    never_ms: int
    rule: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A line that the rules do not allow.

    ``rule`` is the requirement id that is broken, ``kind`` a plain word for the sort of mismatch;
    ``also`` are further rules it may be put down to. ``operation`` is in the words of a person.
    ``missing`` is the run of a task that has not come in time, and may come later or never.
    """

    rule: str
    kind: str
    expected: str
    seen: str
    operation: str = ""
    thread: str = ""
    also: tuple[str, ...] = ()
    missing: Missing | None = None


class Unjudged(NamedTuple):
    """The part of a run that could not be judged at the present line.

    ``pending_expiries`` are due later than the run shows, or not overdue yet; ``open_calls`` have
    not returned; ``uncompared`` are declared observables that are not compared. ``unrefuted`` says
    why a rule could not be refuted by this run, whatever the instance did; empty where each could.
    """

    pending_expiries: int = 0
    open_calls: int = 0
    uncompared: tuple[str, ...] = ()
    unrefuted: str = ""


class TraceJudge(Protocol):
    """Follows one run; after a finding or an exception it is not used further.

    It can be pickled at any time. What it remembers is bounded by what is live in the instance and
    by the calls that are open, not by how long the run is.
    """

    @property
    def visits(self) -> Counter[str]:
        """Return the number of tests of each rule so far."""

    @property
    def deviated(self) -> tuple[str, ...]:
        """Return the declared deviations that were seen so far, by their rules."""

    @property
    def unjudged(self) -> Unjudged:
        """Return the part that could not be judged, if no line follows."""

    def take(self, line: JudgedLine) -> Finding | None:
        """Judge one line of the run.

        Raises:
            Unusable: the line cannot stand here, for example a return without a call.
            Undecided: too many states are possible.
        """
