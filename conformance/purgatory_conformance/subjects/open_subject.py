"""A subject that is open, with what its declaration says."""

from dataclasses import dataclass

from purgatory_conformance.judging.case_judge import Deviation
from purgatory_conformance.subjects.subject import Subject
from purgatory_spec.cases import Case


@dataclass(frozen=True)
class OpenSubject:
    """A subject with what its declaration says beyond its profile."""

    name: str
    subject: Subject
    deviations: tuple[Deviation, ...] = ()
    replays: tuple[tuple[str, Case], ...] = ()
    reopen: str = ""
    """The word that opens the subject again, where that is not its name."""
