"""The rows that a check produces: one verdict per run, coverage, and what was set aside."""

from enum import Enum
from typing import NamedTuple, TypeAlias

TOPICS = "kafka://"
"""The beginning of the address of a topic, whose lines are records, numbered by offsets from 0."""


class RunVerdict(Enum):
    """The verdict about a run."""

    CONFORMS = "conforms"
    """Every line was judged, up to the run's last line, and all are allowed."""
    DIVERGES = "diverges"
    """The rules do not allow some line; the row tells the first one."""
    INCOMPLETE = "incomplete"
    """All judged lines are allowed; lines are missing or unusable, the end included."""
    INCONCLUSIVE = "inconclusive"
    """The run could not be followed to its end, or could not have refuted a rule it is bound by."""


class VerdictRow(NamedTuple):
    """The verdict on one run.

    Of a divergence: ``seq``, ``thread`` and ``operation`` of the first line that is not allowed,
    with its file and line number, the rule it breaks, what was expected and seen. ``cause`` is the
    same for runs that fail in the same way. ``reason`` says why a run is incomplete or
    inconclusive. ``events`` counts the lines of the run, ``judged`` those that were judged.
    ``pending_expiries`` were awaited and not overdue yet at the run's end or shutdown;
    ``open_calls`` had not returned.
    """

    run: str
    subject: str
    component: str
    verdict: str
    events: int
    judged: int
    seq: int | None = None
    file: str = ""
    line: int | None = None
    thread: str = ""
    operation: str = ""
    rule: str = ""
    kind: str = ""
    expected: str = ""
    seen: str = ""
    also: tuple[str, ...] = ()
    cause: str = ""
    reason: str = ""
    deviated: tuple[str, ...] = ()
    """Declared deviations that were seen."""
    pending_expiries: int = 0
    open_calls: int = 0
    uncompared: tuple[str, ...] = ()
    """Declared observables that were not compared."""
    model_version: str = ""


class CoverageRow(NamedTuple):
    """The number of visits of one rule in one run."""

    run: str
    rule: str
    visits: int


class QuarantineRow(NamedTuple):
    """A line that could not be used; ``run`` and ``seq`` where they could be read.

    Lines count from 1, and 0 stands for the file as a whole; those of a topic are offsets.
    """

    file: str
    line: int
    raw: str
    reason: str
    run: str = ""
    seq: int | None = None

    @property
    def is_of_a_line(self) -> bool:
        """Decide whether the row is about a line, not about a file."""
        return self.line > 0 or self.file.startswith(TOPICS)


Row: TypeAlias = VerdictRow | CoverageRow | QuarantineRow
"""A row of one of the three tables."""
