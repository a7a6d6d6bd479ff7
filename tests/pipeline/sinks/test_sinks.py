"""Results are whole or not there, whatever happens; and the same rows give the same files."""

import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from random import Random

import msgspec
import pyarrow.parquet as pq
import pytest

from purgatory_traces.engines.sinks import CheckResults, Conclusion, ResultWriter, read_results
from purgatory_traces.errors import PipelineError, Refused
from purgatory_traces.results.manifest import InputFile
from purgatory_traces.results.rows import CoverageRow, QuarantineRow, Row, VerdictRow
from purgatory_traces.results.schemas import TableName, arrow_schema

from .killed_writer import POINTS


def rows_of(number: int) -> list[Row]:
    """The rows of a run; each fifth diverges."""
    run = f"run-{number:02d}"
    verdict = VerdictRow(run, "s", "timer", "conforms", 7, 7)
    if number % 5 == 0:
        verdict = verdict._replace(verdict="diverges", seq=3, line=4, also=("A", "B"))
    return [
        verdict,
        CoverageRow(run, "TIMER-NOT-LATE", number + 1),
        CoverageRow(run, "TIMER-NOT-EARLY", 2),
        QuarantineRow("f", 50 - number, "raw", "why", "", None),
        QuarantineRow("e", number, "raw", "why", run, number),
    ]


ROWS: list[Row] = [row for number in range(50) for row in rows_of(number)]
CONCLUSION = Conclusion("local", 1, {"conforms": 40, "diverges": 10}, (InputFile("a", 5),), ("b",))


def write(folder: Path, rows: Iterable[Row], *, chunk_bytes: int = 1 << 20) -> CheckResults:
    with ResultWriter(folder, chunk_bytes=chunk_bytes) as writer:
        writer.write(rows)
        writer.finish()
        writer.commit(CONCLUSION, [("page.html", "<p>é")])
    return read_results(folder)


def test_tables_hold_the_rows_in_order_with_the_declared_schemas(tmp_path: Path) -> None:
    results = write(tmp_path / "out", ROWS)
    verdicts = results.table("verdicts")
    assert verdicts.schema == arrow_schema(TableName.VERDICTS)
    assert verdicts.column("run").to_pylist() == [f"run-{n:02d}" for n in range(50)]
    assert verdicts.to_pylist()[5]["also"] == ["A", "B"]
    assert (verdicts.to_pylist()[5]["seq"], verdicts.to_pylist()[6]["seq"]) == (3, None)
    coverage = results.table(TableName.COVERAGE).to_pylist()
    assert coverage[:3] == [
        {"run": "run-00", "rule": "TIMER-NOT-EARLY", "visits": 2},
        {"run": "run-00", "rule": "TIMER-NOT-LATE", "visits": 1},
        {"run": "run-01", "rule": "TIMER-NOT-EARLY", "visits": 2},
    ]
    quarantine = results.table("quarantine").to_pylist()
    places = [(row["file"], row["line"]) for row in quarantine]
    assert places == sorted(places)
    assert len(places) == 100


def test_the_manifest_says_what_there_is(tmp_path: Path) -> None:
    results = write(tmp_path / "out", ROWS)
    manifest = results.manifest
    assert [(file.name, file.rows) for file in manifest.files] == [
        ("verdicts.parquet", 50),
        ("coverage.parquet", 100),
        ("quarantine.parquet", 100),
        ("page.html", None),
    ]
    assert (manifest.engine, manifest.exit_code, manifest.ignored) == ("local", 1, ("b",))
    assert manifest.inputs == (InputFile("a", 5),)
    assert results.folder == tmp_path / "out" / manifest.folder
    assert (results.folder / "page.html").read_text(encoding="utf-8") == "<p>é"


def test_the_same_rows_give_the_same_bytes_in_any_order_and_memory(tmp_path: Path) -> None:
    first = write(tmp_path / "a", ROWS).manifest
    shuffled = list(ROWS)
    Random(1).shuffle(shuffled)
    assert write(tmp_path / "b", shuffled, chunk_bytes=5000).manifest == first
    assert write(tmp_path / "a", shuffled).manifest == first, "also where they were before"
    fewer = [row for row in ROWS if row != CoverageRow("run-07", "TIMER-NOT-LATE", 8)]
    assert write(tmp_path / "c", fewer).manifest.files[1] != first.files[1]


def test_no_rows_give_empty_tables_with_their_schemas(tmp_path: Path) -> None:
    results = write(tmp_path / "out", [])
    for table in TableName:
        assert results.table(table).num_rows == 0
        assert results.table(table).schema == arrow_schema(table)


def test_rows_go_by_while_they_are_written(tmp_path: Path) -> None:
    seen: list[Row] = []
    with ResultWriter(tmp_path) as writer:
        writer.write(reversed(ROWS))
        writer.finish(seen.append)
    assert len(seen) == len(ROWS)
    assert [row.run for row in seen[:50]] == [f"run-{n:02d}" for n in range(50)]


def test_new_results_take_the_place_of_the_previous_ones(tmp_path: Path) -> None:
    out = tmp_path / "out"
    before = write(out, ROWS)
    after = write(out, ROWS[:-1])
    assert not before.folder.exists()
    assert sorted(each.name for each in out.iterdir()) == [
        ".lock",
        "manifest.json",
        after.manifest.folder,
    ]


def test_what_fails_on_the_way_changes_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    before = write(out, ROWS)

    def fail() -> None:
        with ResultWriter(out) as writer:
            writer.write(ROWS[:10])
            writer.finish()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert read_results(out) == before
    assert len(list(out.iterdir())) == 3


def test_a_row_without_what_it_must_have_is_refused(tmp_path: Path) -> None:
    row = CoverageRow("r", None, 1)  # type: ignore[arg-type]
    with ResultWriter(tmp_path) as writer:
        writer.write([row])
        with pytest.raises(PipelineError, match="a row of coverage has no rule"):
            writer.finish()


def test_two_at_a_time_are_kept_apart(tmp_path: Path) -> None:
    second = ResultWriter(tmp_path)
    with ResultWriter(tmp_path), pytest.raises(PipelineError, match="another process is writing"):
        second.__enter__()
    write(tmp_path, ROWS)


@pytest.mark.parametrize("harm", ["gone", "longer", "changed"])
def test_a_file_that_is_not_as_it_was_written_is_told(tmp_path: Path, harm: str) -> None:
    results = write(tmp_path, ROWS)
    path = results.folder / "coverage.parquet"
    content = path.read_bytes()
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes(content + b"x" if harm == "longer" else b"x" + content[1:])
    said = "No such file" if harm == "gone" else "is not what the check wrote"
    with pytest.raises(PipelineError, match=said):
        read_results(tmp_path)
    assert write(tmp_path, ROWS) == results, "a further check mends it"


def test_a_folder_without_results_is_told(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match=r"it has no manifest\.json"):
        read_results(tmp_path)
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(PipelineError, match="cannot be read: Object missing required field"):
        read_results(tmp_path)
    with pytest.raises(Refused, match="is none that a check has written"):
        write(tmp_path, ROWS)
    (tmp_path / "manifest.json").unlink()
    results = write(tmp_path, ROWS)
    other = msgspec.structs.replace(results.manifest, format=2)
    (tmp_path / "manifest.json").write_bytes(msgspec.json.encode(other))
    with pytest.raises(PipelineError, match="has format 2, not 1"):
        read_results(tmp_path)
    assert write(tmp_path, ROWS) == results, "a manifest of another version is one of ours"


def killed(folder: Path, point: str, about: str) -> int:
    script = str(Path(__file__).with_name("killed_writer.py"))
    return subprocess.run(
        [sys.executable, script, str(folder), point, about], timeout=900, check=False
    ).returncode


@pytest.mark.slow
@pytest.mark.parametrize("point", [point for point in POINTS if point != "never"])
def test_whatever_kills_the_process_one_of_the_results_is_whole(tmp_path: Path, point: str) -> None:
    before = write(tmp_path, ROWS)
    assert killed(tmp_path, point, "new") == -signal.SIGKILL
    found = read_results(tmp_path)
    if point == "cleaning":
        assert found.table("verdicts").column("run").to_pylist()[0] == "new-0"
    else:
        assert found == before
        assert pq.read_table(found.folder / "verdicts.parquet").num_rows == 50
    assert len(list(tmp_path.iterdir())) > 3, "it was killed indeed"
    write(tmp_path, ROWS[:-1])
    assert len(list(tmp_path.iterdir())) == 3, "what it left behind is gone"


@pytest.mark.slow
def test_what_is_not_killed_is_there(tmp_path: Path) -> None:
    """Control the test above: the process comes to its end where nothing kills it."""
    assert killed(tmp_path, "never", "new") == 0
    found = read_results(tmp_path)
    assert found.table("verdicts").num_rows == 40
    assert len(list(tmp_path.iterdir())) == 3
