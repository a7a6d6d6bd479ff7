"""``purgatory trace convert``: a check of the Parquet file says what one of the lines does."""

import gzip
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from purgatory_conformance.problems import Problem
from purgatory_traces.commands import convert as convert_command
from purgatory_traces.commands.convert import convert
from purgatory_traces.engines.local import check_locally
from purgatory_traces.results.rows import QuarantineRow, Row
from purgatory_traces.traces.synthetic import write_corpus


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(convert, [str(word) for word in words])
    assert isinstance(result.exception, SystemExit) or result.exception is None
    return result.exit_code, result.output


def problem(code: int, *words: object) -> str:
    """Return what is said where the command ends with a problem of this exit code."""
    found = CliRunner().invoke(convert, [str(word) for word in words]).exception
    assert isinstance(found, Problem)
    assert found.exit_code == code
    return str(found)


def without_place(rows: list[Row]) -> list[Row]:
    """The rows without file and line, which differ."""
    return sorted(
        (
            row if not hasattr(row, "file") else row._replace(file="", line=0)  # type: ignore[call-arg]
            for row in rows
        ),
        key=repr,
    )


def test_a_check_of_what_was_written_says_the_same(tmp_path: Path) -> None:
    write_corpus(tmp_path / "a", 48, 70, faulty=2, files=2, mixed=True, compressed=True)
    target = tmp_path / "b/t.parquet"
    code, said = run(tmp_path / "a", target)
    rows = pq.ParquetFile(target).metadata.num_rows
    assert (code, said) == (0, f"{rows:,} lines of 2 files in {target}\n")
    before, after = (list(check_locally([tmp_path / name])) for name in ("a", "b"))
    assert without_place(after) == without_place(before)
    assert any(isinstance(row, QuarantineRow) and not row.run for row in after)


def test_what_cannot_be_taken_over_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"run":"r","seq":0}\n' * 50)[:-4])
    (tmp_path / "empty.jsonl").touch()
    code, said = run(path, tmp_path / "empty.jsonl", tmp_path / "t.parquet")
    assert code == 4
    assert f"not taken over: {path}:51: the compressed data breaks off" in said
    assert f"not taken over: {tmp_path / 'empty.jsonl'}: the file is empty" in said
    assert pq.ParquetFile(tmp_path / "t.parquet").metadata.num_rows == 50


def test_what_stands_in_damaged_data_is_not_taken_over(tmp_path: Path) -> None:
    lines = b"".join(b'{"run":"r","seq":%d}\n' % seq for seq in range(50))
    packed = bytearray(gzip.compress(lines, 0))
    packed[-8] ^= 1
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(lines) + packed)
    code, said = run(tmp_path / "t.jsonl.gz", tmp_path / "t.parquet")
    assert code == 4
    assert "t.jsonl.gz:51: the compressed data is damaged: incorrect data check" in said
    assert pq.ParquetFile(tmp_path / "t.parquet").metadata.num_rows == 50


def test_the_target_is_not_read_and_not_replaced_unasked(tmp_path: Path) -> None:
    write_corpus(tmp_path, 2, 60, faulty=0)
    target = tmp_path / "t.parquet"
    words = f"120 lines of 1 file in {target}\n"
    assert run(tmp_path, target) == (0, words)
    before = target.stat()
    said = f"{target} is there: name another file, or replace it with --force"
    assert problem(2, tmp_path, target) == said
    assert (target.stat().st_mtime_ns, target.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert run(tmp_path, target, "--force") == (0, words)
    assert target.stat().st_ino != before.st_ino


def test_a_link_to_nothing_is_no_file_to_write_to(tmp_path: Path) -> None:
    write_corpus(tmp_path / "a", 2, 60, faulty=0)
    (tmp_path / "t.parquet").symlink_to(tmp_path / "gone")
    problem(2, tmp_path / "a", tmp_path / "t.parquet")


def test_where_there_is_no_trace_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    target = tmp_path / "t.parquet"
    said = f"there is no trace in {tmp_path / 'empty'}: nothing is written"
    assert problem(4, tmp_path / "empty", target) == said
    assert not target.exists()


def test_the_target_must_be_parquet(tmp_path: Path) -> None:
    write_corpus(tmp_path, 2, 60, faulty=0)
    problem(2, tmp_path, tmp_path / "t.jsonl")
    assert not (tmp_path / "t.jsonl").exists()


def test_a_folder_that_may_not_be_written_to_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Failed to open 'ro/t.unfinished'. [errno 13] Permission denied")

    write_corpus(tmp_path, 2, 60, faulty=0)
    monkeypatch.setattr(convert_command, "write_parquet", refuse)
    said = "the conversion failed: Failed to open 'ro/t.unfinished'. Permission denied"
    assert problem(3, tmp_path, tmp_path / "t.parquet") == said
