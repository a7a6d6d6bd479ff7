"""The file of a failing case: what ``purgatory replay`` takes."""

from pathlib import Path

from purgatory_conformance.running.case_run import CaseRun
from purgatory_conformance.subjects.open_subject import OpenSubject
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
