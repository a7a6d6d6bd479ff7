"""Traces for the tests of the engines."""

import gzip
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, cycle
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from purgatory_traces.engines.sinks import CheckResults
from purgatory_spark.engine.engine import Checked, check_on_spark, plan_of
from purgatory_traces.errors import Unusable
from purgatory_traces.results.manifest import MANIFEST_FORMAT, Manifest
from purgatory_traces.results.rows import Row
from purgatory_traces.results.schemas import ROW_TYPES, TableName
from purgatory_traces.traces.lines import TRACED
from purgatory_traces.traces.parsing import place_of
from purgatory_traces.traces.synthetic import Expected, expected_of, faults_of, run_lines
from purgatory_traces.traces.synthetic_steps import Fault
from purgatory_spec.profiles import Component

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNREAD = Manifest(MANIFEST_FORMAT, "", "spark", "", 0, {}, (), ())
NAMES = ("a.jsonl", "b.jsonl", "c.jsonl.gz", "d.parquet", "e.parquet")


def planned(runs: int) -> Iterator[tuple[str, Component, Fault]]:
    """Runs of all components; each second one has a fault, and each fault comes in turn."""
    components = TRACED
    faults = {component: cycle(faults_of(component)) for component in components}
    for number in range(runs):
        component = components[number % len(components)]
        fault = next(faults[component]) if number % 2 else Fault.NONE
        yield f"run-{number:04d}", component, fault


def write_shuffled(
    folder: Path, runs: int, events: int, names: Iterable[str] = NAMES, seed: int = 1
) -> list[Expected]:
    """Lines of many runs in no order at all, over several files of all kinds."""
    plans = list(planned(runs))
    runs_in_order = (run_lines(run, what, events, fault) for run, what, fault in plans)
    lines = [
        line
        for one_or_two in chain.from_iterable(runs_in_order)
        for line in one_or_two.splitlines(keepends=True)
    ]
    Random(seed).shuffle(lines)
    paths = [folder / name for name in names]
    for which, path in enumerate(paths):
        write_lines(path, lines[which :: len(paths)])
    return [expected_of(run, what, events, fault) for run, what, fault in plans]


def write_lines(path: Path, lines: list[bytes]) -> None:
    """A file of the kind that its name says."""
    if path.suffix == ".parquet":
        places = [_place(line) for line in lines]
        columns = {
            "run": pa.array([run for run, _ in places], pa.string()),
            "seq": pa.array([seq for _, seq in places], pa.int64()),
            "line": pa.array([line.rstrip(b"\n") for line in lines], pa.binary()),
        }
        pq.write_table(pa.table(columns), path)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(b"".join(lines), compresslevel=1))
    else:
        path.write_bytes(b"".join(lines))


def _place(line: bytes) -> tuple[str | None, int | None]:
    try:
        return place_of(line)
    except Unusable:
        return None, None


def rows_on_spark(spark: "SparkSession", files: Sequence[str | Path], folder: Path) -> list[Row]:
    """The rows that a check on Spark gives: written to folders in this one, and read from there."""
    whole = folder / "whole"
    checked_on_spark(spark, files, folder)
    results = CheckResults(UNREAD, whole)
    return [row for table in TableName for row in rows_of(results, table)]


def checked_on_spark(
    spark: "SparkSession", files: Sequence[str | Path], folder: Path, examples: int = 1
) -> Checked:
    """A check of files of this machine, whose tables go to ``whole`` in a folder."""
    whole, staging = (folder.absolute() / name for name in ("whole", "staging"))
    whole.mkdir(parents=True)
    return check_on_spark(spark, plan_of(files), whole.as_uri(), staging.as_uri(), examples)


def rows_of(results: CheckResults, table: TableName) -> list[Row]:
    """The rows of a table of results."""
    return [row_with(table, row.values()) for row in results.table(table).to_pylist()]


def row_with(table: TableName, values: Iterable[object]) -> Row:
    """The row of a table that has these values."""
    return msgspec.convert(list(values), ROW_TYPES[table])
