"""An open subject, with the deviations and replays of its declaration."""

from dataclasses import dataclass
from pathlib import Path

from purgatory_judge.case_judge import Deviation
from purgatory_conformance.subjects.subject import Subject
from purgatory_spec.cases import Case


@dataclass(frozen=True)
class OpenSubject:
    """An open subject, with the deviations and replays of its declaration."""

    name: str
    subject: Subject
    deviations: tuple[Deviation, ...] = ()
    replays: tuple[tuple[str, Case], ...] = ()
    reopen: str = ""
    """The word that opens the subject again; empty if the name does."""
    again: tuple[str, ...] = ()
    """The words that ``purgatory replay FILE`` needs besides; none for what runs in this process
    and comes with the suite, which a file may name."""
    home: Path | None = None
    """The folder that the subject is of; None for one that comes with the suite."""
