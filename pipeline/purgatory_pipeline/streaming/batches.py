"""The folder of a stream's batches: each is written aside, and takes its place by one rename.

    batches/batch=000012/     the records of batch 12
    batches/merged=000011/    what stands after batches 0 to 11; they are gone

Spark does a batch that was cut off again, under the same number: its folder is replaced. Only
batches before the latest one are ever merged, since that one may be done again.
"""

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from purgatory_pipeline.streaming.records import Record, still_standing

_SCHEMA = pa.schema(
    [
        pa.field("run", pa.string(), nullable=False),
        pa.field("table", pa.string(), nullable=False),
        pa.field("standing", pa.string(), nullable=False),
        pa.field("payload", pa.binary(), nullable=False),
    ]
)
_NAME = re.compile(r"(batch|merged)=(\d{6,})")
_ROWS = 10_000


class Batches:
    """The batches of one stream, on a local disk."""

    def __init__(self, folder: Path, *, keep: int = 32) -> None:
        """Find the batches of the folder, and clear away the remains of a killed process.

        Args:
            folder: The folder of the batches, made if missing.
            keep: How many batches are kept before they are merged.
        """
        self._folder = folder
        self._keep = keep
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob("staging-*"):
            shutil.rmtree(left)
        self._drop_what_is_merged()

    def staging(self, number: int) -> Path:
        """Where the records of a batch are to be written, as Parquet files; it does not exist."""
        staging = self._folder / f"staging-{number:06}"
        if staging.exists():
            shutil.rmtree(staging)
        return staging

    def take_place(self, number: int) -> None:
        """The records of a batch are all in its staging folder: from now on they count."""
        place = self._batch(number)
        if place.exists():
            # The batch is done again; a kill between these two lines has it done once more.
            shutil.rmtree(place)
        self.staging_of(number).rename(place)

    def staging_of(self, number: int) -> Path:
        """The staging folder of a batch, as it is."""
        return self._folder / f"staging-{number:06}"

    def standing(self) -> Iterator[Record]:
        """The records that stand after all batches."""
        merged, batches = self._found()
        folders = [merged[1]] if merged else []
        yield from still_standing(_read(folder) for folder in [*folders, *batches.values()])

    def merge(self) -> None:
        """Merge all batches but the latest, once they are many."""
        merged, batches = self._found()
        if len(batches) <= self._keep:
            return
        *older, _ = batches
        folders = [merged[1]] if merged else []
        folders += [batches[number] for number in older]
        staging = self._folder / f"staging-merged-{older[-1]:06}"
        if staging.exists():
            shutil.rmtree(staging)
        staging.mkdir()
        write_records(staging / "part.parquet", still_standing(_read(folder) for folder in folders))
        staging.rename(self._folder / f"merged={older[-1]:06}")
        self._drop_what_is_merged()

    def _drop_what_is_merged(self) -> None:
        merged, _ = self._found()
        if merged is None:
            return
        for path in self._folder.iterdir():
            name = _NAME.fullmatch(path.name)
            if name and (int(name[2]) < merged[0] or path == self._batch(merged[0])):
                shutil.rmtree(path)

    def _batch(self, number: int) -> Path:
        return self._folder / f"batch={number:06}"

    def _found(self) -> tuple[tuple[int, Path] | None, dict[int, Path]]:
        """The latest merged folder, and the batches behind it in order."""
        merged: tuple[int, Path] | None = None
        batches: dict[int, Path] = {}
        for path in self._folder.iterdir():
            name = _NAME.fullmatch(path.name)
            if name is None:
                continue
            number = int(name[2])
            if name[1] == "batch":
                batches[number] = path
            elif merged is None or number > merged[0]:
                merged = number, path
        upto = -1 if merged is None else merged[0]
        return merged, {number: batches[number] for number in sorted(batches) if number > upto}


def _read(folder: Path) -> Iterator[Record]:
    for path in sorted(folder.glob("*.parquet")):
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_ROWS):
                columns = [batch.column(name).to_pylist() for name in _SCHEMA.names]
                for run, table, standing, payload in zip(*columns, strict=True):
                    yield Record(run, table, standing, payload)


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write records as a Parquet file of a batch."""
    with pq.ParquetWriter(path, _SCHEMA) as writer:
        waiting: list[Record] = []
        for record in records:
            waiting.append(record)
            if len(waiting) == _ROWS:
                writer.write_table(_table(waiting))
                waiting.clear()
        writer.write_table(_table(waiting))


def _table(records: list[Record]) -> pa.Table:
    return pa.Table.from_pylist([record._asdict() for record in records], schema=_SCHEMA)
