"""Files that are renamed, whose names are used again, and that grow: each line is judged once."""

import gzip
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from purgatory_spark.streaming import own_folder as module
from purgatory_spark.streaming.own_folder import own_folder
from purgatory_spec.profiles import Component
from purgatory_traces.engines.local import check_locally
from purgatory_traces.results.rows import CoverageRow, QuarantineRow, Row, VerdictRow
from purgatory_traces.traces.byte_streams import CHECKSUM, checksum_line
from purgatory_traces.traces.synthetic import run_lines
from purgatory_traces.traces.synthetic_steps import Fault
from tests.pipeline.streaming.watched import watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.verify, pytest.mark.spark, pytest.mark.slow]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


def of_run(run: str, fault: Fault = Fault.NONE) -> bytes:
    return b"".join(run_lines(run, Component.TIMER, 60, fault))


def nameless(rows: list[Row]) -> list[Row]:
    """The rows without the names of files: a watch knows a file by the name that it had then."""
    left = [row if isinstance(row, CoverageRow) else row._replace(file="") for row in rows]
    return sorted(left, key=repr)


def verdicts(rows: list[Row]) -> dict[str, str]:
    return {row.run: row.verdict for row in rows if isinstance(row, VerdictRow)}


def test_a_name_that_is_used_again_is_read_again(
    spark: "SparkSession", logs: Path, tmp_path: Path
) -> None:
    (logs / "log.jsonl").write_bytes(of_run("a"))
    rows, _ = watched(spark, logs, tmp_path / "out")
    assert verdicts(rows) == {"a": "conforms"}
    (logs / "log.jsonl").rename(logs / "log-1.jsonl")
    (logs / "log.jsonl").write_bytes(of_run("b", Fault.TWICE))
    rows, _ = watched(spark, logs, tmp_path / "out")
    assert verdicts(rows) == {"a": "conforms", "b": "diverges"}
    assert nameless(rows) == nameless(list(check_locally([logs])))


def test_a_file_that_grows_is_read_on(spark: "SparkSession", logs: Path, tmp_path: Path) -> None:
    whole, log = of_run("a", Fault.TWICE), logs / "log.jsonl"
    log.write_bytes(whole[:1000])
    rows, _ = watched(spark, logs, tmp_path / "out")
    assert verdicts(rows) == {"a": "incomplete"}
    assert sorted(rows, key=repr) == sorted(check_locally([logs]), key=repr)
    assert [row.reason[:12] for row in rows if isinstance(row, QuarantineRow)] == ["not JSON, or"]
    log.write_bytes(whole)
    rows, _ = watched(spark, logs, tmp_path / "out")
    assert verdicts(rows) == {"a": "diverges"}
    assert sorted(rows, key=repr) == sorted(check_locally([logs]), key=repr)
    assert watched(spark, logs, tmp_path / "out") == (rows, [])


def test_a_file_that_was_changed_before_it_was_complete_supports_no_verdict(
    spark: "SparkSession", logs: Path, tmp_path: Path
) -> None:
    content, log, out = of_run("a"), logs / "log.jsonl", tmp_path / "out"
    log.write_bytes(content)
    rows, _ = watched(spark, logs, out)
    assert verdicts(rows) == {"a": "conforms"}
    beside = logs / f"log.jsonl{CHECKSUM}"
    beside.write_text(checksum_line(log.name, sha256(content).hexdigest()), encoding="utf-8")
    assert watched(spark, logs, out) == (rows, [])
    log.write_bytes(bytes([*content[:700], content[700] ^ 1, *content[701:]]))
    for verdict in ("conforms", "incomplete", "incomplete"):
        rows, _ = watched(spark, logs, out)
        assert verdicts(rows) == {"a": verdict}
        (aside,) = (row for row in rows if isinstance(row, QuarantineRow))
        assert aside.reason.startswith(f"its SHA-256 is not that in {beside}")


def test_a_file_that_is_renamed_is_not_read_again(
    spark: "SparkSession", logs: Path, tmp_path: Path
) -> None:
    (logs / "log.jsonl").write_bytes(of_run("a"))
    (logs / "log.jsonl.gz").write_bytes(gzip.compress(of_run("b")))
    before, numbers = watched(spark, logs, tmp_path / "out")
    assert numbers == [0]
    (logs / "inner").mkdir()
    for name in ("log.jsonl", "log.jsonl.gz"):
        (logs / name).rename(logs / "inner" / f"old-{name}")
    assert watched(spark, logs, tmp_path / "out") == (before, [])


def test_another_judge_keeps_the_verdicts_of_files_that_are_gone(
    spark: "SparkSession", logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a file that is gone, one that is there, and one of two of a run: each run once."""
    out, parts = tmp_path / "out", of_run("parts").splitlines(keepends=True)
    (logs / "gone.jsonl").write_bytes(of_run("gone", Fault.TWICE))
    (logs / "there.jsonl").write_bytes(of_run("there"))
    (logs / "first.jsonl").write_bytes(b"".join(parts[:30]))
    (logs / "second.jsonl").write_bytes(b"".join(parts[30:]))
    with own_folder(out, logs):
        before, _ = watched(spark, logs, out)
    expected = {"gone": "diverges", "there": "conforms", "parts": "conforms"}
    assert verdicts(before) == expected
    for name in ("gone", "first"):
        (logs / f"{name}.jsonl").unlink()
    (logs / "there.jsonl").write_bytes(of_run("there", Fault.TWICE))  # it shows which is judged
    monkeypatch.setattr(module, "MODEL_VERSION", "another")
    with own_folder(out, logs) as told:
        assert "the verdicts of 3 runs stay until judged again" in told
        rows, _ = watched(spark, logs, out)
    assert verdicts(rows) == {**expected, "there": "diverges"}

    def others(of: list[Row]) -> list[Row]:
        return [row for row in of if row.run != "there"]

    assert others(rows) == others(before)
