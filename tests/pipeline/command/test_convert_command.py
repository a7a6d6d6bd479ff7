"""``purgatory trace convert``: a check of the Parquet file says what one of the lines does."""

import gzip
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from purgatory_pipeline.convert_command import convert
from purgatory_pipeline.local_engine import check_locally
from purgatory_pipeline.rows import QuarantineRow, Row
from purgatory_pipeline.synthetic import write_corpus


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(convert, [str(word) for word in words])
    assert isinstance(result.exception, SystemExit) or result.exception is None
    return result.exit_code, result.output


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


def test_the_target_is_not_read_and_must_be_parquet(tmp_path: Path) -> None:
    write_corpus(tmp_path, 2, 60, faulty=0)
    target = tmp_path / "t.parquet"
    for _ in range(2):
        assert run(tmp_path, target) == (0, f"120 lines of 1 file in {target}\n")
    result = CliRunner().invoke(convert, [str(tmp_path), str(tmp_path / "t.jsonl")])
    assert getattr(result.exception, "exit_code", None) == 2
    with pytest.raises(FileNotFoundError):
        (tmp_path / "t.jsonl").read_bytes()
