"""A flipped bit in a file on an address is told by Spark, or changes nothing, as on a path.

Each file holds a run of its own, with one bit flipped. Their places are evenly spread over the
whole of a file: its pages, their headers and its footer.
"""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from purgatory_lab.benchmarks.flipped_bits import (
    KINDS,
    Fate,
    lines_of_run,
    write_bare_table,
)
from purgatory_spark.engine.engine import check_on_spark
from purgatory_spark.engine.hadoop import HadoopFiles, hadoop_files
from purgatory_spark.engine.pieces import PieceKind, lines_in, pieces_in
from purgatory_spec.profiles import Component

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.verify, pytest.mark.spark, pytest.mark.slow]

FILES = 120
"""The files of a kind, each with another flipped bit."""
NO_SILENCE = {Fate.TOLD, Fate.SAME}


def write_flipped(folder: Path, kind: str) -> dict[str, list[bytes]]:
    """Write files of a kind, each with a run and a flipped bit; return the lines of each run."""
    written = {}
    for number in range(FILES):
        run = f"r{number:04d}"
        lines = lines_of_run(run, Component.MEMORY_POOL)
        inner = folder / run
        inner.mkdir()
        KINDS[kind](inner, lines)
        places = [(file, byte) for file in sorted(inner.iterdir()) for byte in _bytes_of(file)]
        file, byte = places[number * len(places) // FILES]
        content = bytearray(file.read_bytes())
        content[byte] ^= 1 << number % 8
        file.write_bytes(content)
        written[run] = lines
    return written


def _bytes_of(file: Path) -> range:
    return range(file.stat().st_size)


def fates_on_spark(
    spark: "SparkSession", folder: Path, written: dict[str, list[bytes]]
) -> Counter[Fate]:
    """Return how many runs met each fate in a check of all files on addresses."""
    found = hadoop_files(spark, [(folder / "in").as_uri()])
    believed = _lines_by_folder(spark, found)
    (folder / "tables").mkdir()
    whole, staging = ((folder / name).as_uri() for name in ("tables", "staging"))
    check_on_spark(spark, found, whole, staging)
    rows, quarantine = (
        pq.read_table(folder / "tables" / f"{name}.parquet", partitioning=None).to_pylist()
        for name in ("verdicts", "quarantine")
    )
    aside = {Path(row["file"]).parent.name for row in quarantine}
    fates: Counter[Fate] = Counter()
    for run, lines in written.items():
        said = {row["verdict"] for row in rows if row["run"] == run}
        if run in aside or said & {"incomplete", "inconclusive"}:
            fates[Fate.TOLD] += 1
        elif "diverges" in said:
            fates[Fate.DIVERGES] += 1
        else:
            fates[Fate.SAME if believed.get(run) == lines else Fate.CONFORMS] += 1
    return fates


def _lines_by_folder(spark: "SparkSession", found: HadoopFiles) -> dict[str, list[bytes]]:
    """Return the lines that Spark's tasks read, in order, by the folder of their file."""
    pieces = found.pieces(spark, judges=False).where(f"kind = {int(PieceKind.LINES)}")
    lines = [line for piece in pieces_in(pieces.toArrow().to_batches()) for line in lines_in(piece)]
    by_folder: dict[str, list[bytes]] = {}
    for line in sorted(lines, key=lambda line: (line.file, line.seq)):
        by_folder.setdefault(Path(line.file).parent.name, []).append(line.raw)
    return by_folder


# Without any checksum a bit may stop Spark's decoder, and with it the check, which fails.
SUMMED = [kind for kind, write in KINDS.items() if kind != "`.jsonl`" and write != write_bare_table]


@pytest.mark.parametrize("kind", SUMMED)
def test_no_flipped_bit_is_passed_over_under_a_checksum(
    kind: str, spark: "SparkSession", tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    fates = fates_on_spark(spark, tmp_path, write_flipped(tmp_path / "in", kind))
    assert fates.total() == FILES
    assert set(fates) <= NO_SILENCE
    assert fates[Fate.TOLD] > FILES // 10
