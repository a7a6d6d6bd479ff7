"""``purgatory replay DIR``: every kept case is run, a table tells them, the worst one decides."""

import shutil
from pathlib import Path

import msgspec
import pytest

from purgatory_conformance.problems import EXIT_INCONCLUSIVE, EXIT_SUBJECT_FAILED, EXIT_USAGE
from purgatory_conformance.resources import adapter_folder
from purgatory_spec.cases import Case, CaseHeader, encode_case, read_case
from purgatory_spec.resources import specification_folder
from tests.conformance.command import purgatory

VECTORS = specification_folder() / "vectors"


def rows(output: str) -> dict[str, str]:
    """The result of each file, by its name; rows that are folded are joined."""
    found: dict[str, str] = {}
    name = ""
    for line in output.splitlines()[1:-1]:
        if line[0] in "✓✗!":
            name = line[3:].split()[0]
            found[name] = line[0]
        found[name] += " " + " ".join(line.split()[1:])
    return found


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder of kept cases, one of them in a folder inside."""
    folder = tmp_path / "kept"
    (folder / "of-shutdown").mkdir(parents=True)
    for name in ("across-zero", "tlc-zero-delay-waits"):
        shutil.copy(VECTORS / f"timer/{name}.jsonl", folder)
    shutil.copy(VECTORS / "timer/add-after-shutdown.jsonl", folder / "of-shutdown")
    return folder


def test_all_files_of_a_folder_are_run(kept: Path) -> None:
    """Each file has its row, folders inside included, and the exit code is 0."""
    replayed = purgatory(kept.parent, "replay", "kept", "--subject", "bundled")
    assert replayed.returncode == 0, replayed.stdout
    assert len(rows(replayed.stdout)) == 3
    assert "of-shutdown/add-after-shutdown.jsonl" in replayed.stdout
    assert all("all as the rules say" in row for row in rows(replayed.stdout).values())
    assert replayed.stdout.endswith("3 files: 3 as the rules say, 0 not, 0 without a result\n")


def test_the_worst_decides(kept: Path) -> None:
    """Every file has its row, and the exit code is that of the broken rule."""
    (kept / "a-note.jsonl").write_text("no case\n", encoding="utf-8")
    unreadable = purgatory(kept.parent, "replay", "kept", "--subject", "bundled")
    assert unreadable.returncode == EXIT_USAGE
    assert unreadable.stdout.endswith("4 files: 3 as the rules say, 0 not, 1 without a result\n")

    broken = purgatory(kept.parent, "replay", "kept", "--subject", "mutant:zero-dropped")
    assert broken.returncode == 1
    assert "breaks TIMER-" in " ".join(rows(broken.stdout).values())
    assert "1 without a result" in broken.stdout


def test_each_case_is_asked_of_its_own_subject(kept: Path) -> None:
    for path in kept.rglob("*.jsonl"):
        case = read_case(path)
        header = _of_subject(case.header, "bundled")
        path.write_text(encode_case(Case(header, case.steps)), encoding="utf-8")
    replayed = purgatory(kept.parent, "replay", "kept")
    assert replayed.returncode == 0, replayed.stdout
    assert all("bundled" in row for row in rows(replayed.stdout).values())

    path = next(kept.glob("*.jsonl"))
    lost = _of_subject(read_case(path).header, "kafak")
    path.write_text(encode_case(Case(lost, read_case(path).steps)), encoding="utf-8")
    unknown = purgatory(kept.parent, "replay", "kept")
    assert unknown.returncode == EXIT_USAGE
    assert "'kafak' is no subject" in " ".join(unknown.stdout.split())


def _of_subject(header: CaseHeader, word: str) -> CaseHeader:
    return msgspec.structs.replace(header, subject=word)


def test_recorded_outcomes_are_judged_alone(kept: Path) -> None:
    replayed = purgatory(kept.parent, "replay", "kept", "--recorded")
    assert replayed.returncode == 0
    assert all("as recorded" in row for row in rows(replayed.stdout).values())


@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        (f"{adapter_folder('python')}/no-such-program", EXIT_SUBJECT_FAILED, "not started"),
        ("", EXIT_INCONCLUSIVE, "has no shutdown"),
    ],
)
def test_what_gives_no_result_is_not_taken_for_right(
    kept: Path, command: str, code: int, told: str
) -> None:
    """The exit code says that there is no result."""
    (kept.parent / "refusing.py").write_text(REFUSING, encoding="utf-8")
    whom = ("--command", command) if command else ("--subject", "refusing:make")
    replayed = purgatory(kept.parent, "replay", "kept", *whom)
    assert replayed.returncode == code, replayed.stdout
    assert told in " ".join(replayed.stdout.split())
    one = purgatory(kept.parent, "replay", "kept/of-shutdown/add-after-shutdown.jsonl", *whom)
    assert one.returncode == code, one.stdout


REFUSING = """
from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_conformance.subjects.subject import UnsupportedConfigurationError

def make():
    subject = bundled_subject()
    def new(case, configuration):
        raise UnsupportedConfigurationError("it has no shutdown")
    subject.new = new
    return subject
"""


def test_an_empty_folder_is_no_pass(tmp_path: Path) -> None:
    replayed = purgatory(tmp_path, "replay", ".")
    assert replayed.returncode == EXIT_USAGE
    assert "there is nothing to replay" in replayed.stderr
