"""The file of a failing case: what ``purgatory replay`` takes."""

from pathlib import Path

from msgspec import structs

from purgatory_conformance.running.case_run import CaseRun
from purgatory_conformance.subjects.declared_as import DeclaredAs
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_conformance.subjects.subject import Subject, SubjectFailure, profile_of
from purgatory_conformance.whole_files import write_whole
from purgatory_conformance.work_folder import plain
from purgatory_spec.cases import Case, case_header, encode_case
from purgatory_spec.profiles import Profile


def write_replay(
    folder: Path, run: CaseRun, rule: str, opened: OpenSubject, profile: Profile
) -> Path:
    """Write the case that shows a cause, and tell where."""
    case = replay_case(run, rule, opened, profile)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{case.header.case}.jsonl"
    write_whole(path, encode_case(case).encode())
    return path


def replay_case(run: CaseRun, rule: str, opened: OpenSubject, profile: Profile) -> Case:
    """Return the case that shows how a subject breaks a rule."""
    kind = run.divergence.kind if run.divergence else ""
    name = plain(f"{rule}-{kind}")
    header = case_header(
        name,
        run.configuration,
        profile,
        title=f"{opened.name} breaks {rule}",
        rules=(rule,),
        subject=opened.reopen or opened.name,
        breaks=rule,
    )
    return Case(header, tuple(run.steps))


def compared_as_stored(case: Case, subject: Subject) -> Subject:
    """Return a subject of which only those observables are compared that a failing case compares.

    The case of a fault that another one hides leaves out the observable that the other one makes
    wrong: with it, the case would fail for the other one's rule.
    """
    if not case.header.breaks:
        return subject
    try:
        profile = profile_of(subject, case.component)
    except SubjectFailure:
        return subject  # whoever runs the case reports it
    shown = profile.observables & case.header.profile.observables
    if shown == profile.observables:
        return subject
    return DeclaredAs(subject, structs.replace(profile, observables=shown))
