"""The words of the page about a run."""

from pathlib import Path

import msgspec
import pytest

from purgatory_conformance.reporting.marked_pages import between_marks

pytest.importorskip("cosmic_ray")

from purgatory_lab.documents import read_document, write_in_lines
from purgatory_lab.mutation.figures import RunRecord, page_text, run_record
from purgatory_lab.mutation.mutants import Mutant, Mutants
from purgatory_lab.mutation.reviewed import Kind, Reviewed, read_reviewed
from purgatory_lab.mutation.runner import End, Result

ROOT = Path(__file__).parents[3]
REVIEWED = ROOT / "lab" / "purgatory_lab" / "mutation" / "survivors.toml"
REFERENCE = ROOT / "docs" / "reference"

FULL = "if self._last.tasks and len(self._last.tasks) + count > BATCH:"
SURVIVOR = Mutant("task_queue", "TaskQueue.take", "Eq", 3, "a == b", "a | b", "")


def test_the_page_has_the_survivors_and_the_constants_that_are_smaller() -> None:
    killed = Mutant("task_queue", "TaskQueue.take", "Eq", 3, "a == b", "a != b", "")
    of_threads = Mutant("task_queue", "TaskQueue.put", "Eq", 3, FULL, "pass", "")
    results = [
        Result(killed, End.RAISED, "KeyError", "bundled_subject, timer"),
        Result(of_threads, End.RAISED, "KeyError", "bundled_subject, timer, BATCH 2"),
        Result(SURVIVOR, End.SURVIVED, "", "bundled_subject, timer, BATCH 2"),
    ]
    reviewed = [
        Reviewed("task_queue", "TaskQueue.take", "a == b", ("a | b",), Kind.EQUIVALENT, "the same")
    ]

    run = run_record(results, {"task_queue": Mutants([each.mutant for each in results])}, "Today.")
    lines = page_text(run, reviewed).splitlines()

    assert lines[0] == "Today."
    assert [line for line in lines if "%)" in line] == [
        "| all | 3 | 1 (33.3%) | 1 (33.3%) | 2 (66.7%) |",
        "| of one thread | 3 | 1 (33.3%) | 1 (33.3%) | 2 (66.7%) |",
        "| of one thread, not equivalent | 2 | 1 (50.0%) | 1 (50.0%) | 2 (100.0%) |",
        "| in scope | 2 | 1 (50.0%) | 1 (50.0%) | 1 (50.0%) |",
        "| in scope, not equivalent | 1 | 1 (100.0%) | 1 (100.0%) | 1 (100.0%) |",
        "| `task_queue` | 2 | 1 (50.0%) | 1 (50.0%) | 2 (100.0%) |",
    ]
    assert [line for line in lines if "BATCH" in line] == [
        "| `task_queue`, `BATCH` | 2 | `task_queue` | the queue has more than one batch |",
        "| `task_queue`, <code>BATCH: Final = 1024</code> | 0 | 0 | yes | how many steps a lock is"
        " held; only threads that wait for it are concerned |",
        "| `task_queue`, `TaskQueue.put`, <code>if self._last.tasks and len(self._last.tasks) +"
        " count &gt; BATCH:</code> | 1 | 1 |  | when a list is full; that bounds how long a"
        " lock is held, and no rule speaks of it |",
    ]
    assert lines[-1] == (
        "| `task_queue`, `TaskQueue.take` | <code>a == b</code> | <code>a &#124; b</code> |"
        " equivalent | the same |"
    )


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = {"task_queue": Mutants([SURVIVOR])}
    run = run_record([Result(SURVIVOR, End.SURVIVED, "")], found, "Today.")
    write_in_lines(tmp_path / "results" / "mutation.json", run)
    assert read_document(tmp_path / "results" / "mutation.json", RunRecord) == run
    text = (tmp_path / "results" / "mutation.json").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if "TaskQueue.take" in line] == [
        line for line in text.splitlines() if '"a | b"' in line
    ]


def test_the_page_follows_from_the_file_of_the_last_run() -> None:
    run = read_document(REFERENCE / "results" / "mutation.json", RunRecord)
    page = (REFERENCE / "mutation.md").read_text(encoding="utf-8")
    reviewed = read_reviewed(REVIEWED)
    assert between_marks(page, "mutation", page_text(run, reviewed)) == page

    run.results[0] = msgspec.structs.replace(run.results[0], end=End.SURVIVED.value)
    assert between_marks(page, "mutation", page_text(run, reviewed)) != page
