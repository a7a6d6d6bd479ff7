"""An open subject, with the deviations and replays of its declaration."""

from dataclasses import dataclass

from purgatory_conformance.judging.case_judge import Deviation
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
