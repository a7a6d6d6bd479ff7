"""The tables of a stream, written by change: a batch rewrites the parts that hold its runs.

Theory of operation. Each run has a *home*, a number that it gets with its first line and keeps for
life: the order of that line, and a share of the run's name. A *part* is the rows of all runs whose
homes lie between two numbers, as one file for each table. Runs that begin together are at home
together and end together, so that a batch rewrites few parts, whatever the number of runs. Small
parts that lie side by side are merged when they are many. A run is in one part alone: all tables
are the rows of all parts.

A file of a part is never changed. A batch writes new files, then the list of parts, ``parts.json``,
in one step, then the manifest that readers go by. The list has the parts before its batch, too:
Spark does a batch that was cut off again, and then they are what it starts from. Files that neither
has are removed.

Verdicts of a judge of another version are *kept*: their lines may be gone. They are in parts of
their own, with homes below zero, until the present judge has seen their runs whole.
"""

import hashlib
import shutil
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from purgatory_conformance.whole_files import write_whole
from purgatory_spec.named_files import named_file
from purgatory_traces.engines.sinks import CheckResults, as_batch, read_table
from purgatory_traces.results.manifest import (
    MANIFEST,
    MANIFEST_FORMAT,
    RESULTS,
    STAGING,
    Manifest,
    ResultFile,
    described,
    encoded,
)
from purgatory_traces.results.rows import QuarantineRow, Row, RunVerdict, VerdictRow
from purgatory_traces.results.schemas import ROW_TYPES, TableName, arrow_schema, row_of
from purgatory_traces.summary.summary import Summary
from purgatory_traces.version import MODEL_VERSION

MOST_RUNS = 2_000
"""A part has no more, but for the runs of one home."""

MOST_SMALL = 16
"""The most parts of half that size or less before parts are merged."""

_QUARANTINE = TableName.QUARANTINE
_HELD = f"{_QUARANTINE.value}-held"
_KINDS: Mapping[str, TableName] = {
    **{table.value: table for table in TableName},
    _HELD: _QUARANTINE,
}
"""The tables of a part, by the beginnings of the files' names; ``quarantine-held`` has the rows of
quarantine that a later batch may take back."""

_LIST = "parts.json"
_ROWS_AT_A_TIME = 8192

Item = TypeVar("Item")


class Totals(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Counts of the rows of a part, named as in ``Summary``."""

    events: int
    aside: int
    verdicts: dict[str, int]
    components: dict[str, int]
    deviated: dict[str, int]
    broken: dict[str, int]
    visits: dict[str, int]

    @property
    def runs(self) -> int:
        """Return the number of runs."""
        return sum(self.verdicts.values())


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The runs whose homes lie from ``first`` to ``last``, both included."""

    first: int
    last: int
    totals: Totals
    files: tuple[ResultFile, ...]


class _List(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The parts after a batch, and before it; ``written`` numbers the files of parts."""

    batch: int = -1
    written: int = 0
    parts: tuple[Part, ...] = ()
    before: tuple[Part, ...] = ()


class Tables:
    """The tables of one stream, on a local disk."""

    def __init__(self, folder: Path) -> None:
        """Go on with the tables of a folder, made if missing; ``read_results`` reads them."""
        self._folder = folder
        self._inside = folder / f"{RESULTS}{0:016x}"
        self._inside.mkdir(parents=True, exist_ok=True)
        self.staging = folder / f"{STAGING}result"
        """The folder for the records of a batch, as Parquet, before the batch is taken."""
        self._kept: frozenset[str] = frozenset()
        """The runs that a batch has not seen whole, and that have a verdict of another judge."""
        self._runs_of: dict[str, list[str]] = {}
        """The names of kept runs, by the file of their verdicts: each batch looks for them."""
        path = folder / _LIST
        self._list = (
            msgspec.json.decode(named_file(path).read_bytes(), type=_List)
            if path.exists()
            else _List()
        )

    def keep(self, earlier: CheckResults) -> int:
        """Keep the verdicts of another judge until their runs are judged anew; how many there are.

        Runs that it has not seen whole are not kept, nor are rows of the quarantine about no run.
        """
        verdicts = earlier.table(TableName.VERDICTS)
        is_whole = pc.not_equal(verdicts["verdict"], RunVerdict.INCOMPLETE.value)
        runs = verdicts["run"].filter(is_whole).to_pylist()
        found = {name: earlier.table(name) for name in TableName}
        parts: list[Part] = []
        for begin in range(0, len(runs), MOST_RUNS):
            names = pa.array(runs[begin : begin + MOST_RUNS], pa.string())
            mine = {name.value: t.filter(pc.is_in(t["run"], names)) for name, t in found.items()}
            mine[_HELD] = found[_QUARANTINE].slice(0, 0)
            parts.append(self._part(-1 - begin, -1 - begin, mine))
        self._list = msgspec.structs.replace(self._list, parts=tuple(parts[::-1]))
        write_whole(self._folder / _LIST, msgspec.json.encode(self._list))
        self.publish(())
        return len(runs)

    def take(self, number: int, told: Sequence[QuarantineRow]) -> Summary:
        """Take in the records of a batch, which are in ``staging``; the counts of all rows.

        Args:
            number: The batch. The latest one may be taken again, and replaces itself.
            told: Rows about files as they are now.
        """
        last = self._list
        before = last.before if number == last.batch else last.parts
        self._list = msgspec.structs.replace(last, batch=number, before=before)
        parts = self._merged(sorted(self._changed(before), key=lambda part: part.first))
        self._list = msgspec.structs.replace(self._list, parts=tuple(parts))
        write_whole(self._folder / _LIST, msgspec.json.encode(self._list))
        shutil.rmtree(self.staging)
        return self.publish(told)

    def publish(self, told: Sequence[QuarantineRow]) -> Summary:
        """Let readers see the tables as they are, with rows about files; the counts of all rows."""
        summary = self._counted(len(told))
        files = [file for part in self._list.parts for file in part.files]
        if told:
            content = hashlib.sha256(msgspec.json.encode(told)).hexdigest()[:16]
            rows = pa.Table.from_batches([as_batch(_QUARANTINE, told)])
            files.append(self._written(f"{_QUARANTINE.value}-files-{content}", rows))
        self._manifest = Manifest(
            format=MANIFEST_FORMAT,
            model_version=MODEL_VERSION,
            engine="spark",
            folder=self._inside.name,
            exit_code=summary.exit_code,
            verdicts=summary.verdicts,
            files=tuple(files),
            inputs=(),
        )
        write_whole(self._folder / MANIFEST, encoded(self._manifest))
        kept = {file.name for file in files}
        kept.update(file.name for part in self._list.before for file in part.files)
        for path in self._inside.iterdir():
            if path.name not in kept:
                path.unlink()
        return summary

    def summary(self) -> Summary:
        """Return the summary of all rows, after ``publish``."""
        counted = self._counted(0)
        whole = Summary(visits=counted.visits)
        results = CheckResults(self._manifest, self.results)
        for table in (TableName.VERDICTS, _QUARANTINE):
            kind: type[Row] = ROW_TYPES[table]
            for batch in results.table(table).to_batches(_ROWS_AT_A_TIME):
                columns = [column.to_pylist() for column in batch.columns]
                for values in zip(*columns, strict=True):
                    whole.take(msgspec.convert(values, kind))
        return whole

    @property
    def results(self) -> Path:
        """Return the folder of the tables' files."""
        return self._inside

    def _counted(self, told: int) -> Summary:
        """Return the counts of all parts, and of rows about files."""
        summary = Summary(files_aside=told)
        for part in self._list.parts:
            totals = part.totals
            summary.events += totals.events
            summary.lines_aside += totals.aside
            for verdict, runs in totals.verdicts.items():
                summary.verdicts[verdict] += runs
            summary.components.update(totals.components)
            summary.deviated.update(totals.deviated)
            summary.broken.update(totals.broken)
            summary.visits.update(totals.visits)
        return summary

    def _changed(self, before: Sequence[Part]) -> Iterator[Part]:
        """Yield the parts after the batch: untouched parts, rewritten parts and new parts."""
        staged = pq.read_table(self.staging, columns=["home", "table"])
        is_run = pc.equal(staged["table"], TableName.VERDICTS.value)
        runs = Counter(staged["home"].filter(is_run).to_pylist())
        homes = sorted(pc.unique(staged["home"]).to_pylist())
        before = [self._without_judged(part) if part.last < 0 else part for part in before]
        self._kept = frozenset(run for part in before if part.last < 0 for run in self._runs(part))
        for part in before:
            inside = homes[bisect_left(homes, part.first) : bisect_right(homes, part.last)]
            yield self._rewritten(part) if inside else part
        firsts = [part.first for part in before]
        lasts = [part.last for part in before]
        new = [home for home in homes if bisect_right(firsts, home) == bisect_left(lasts, home)]
        for _, gap in groupby(new, lambda home: bisect_left(lasts, home)):
            for group in _groups(gap, lambda home: runs[home]):
                yield self._part(group[0], group[-1], self._records(group[0], group[-1])[0])

    def _runs(self, part: Part) -> list[str]:
        """Return the names of the runs of a part, whose file is read once."""
        verdicts = TableName.VERDICTS.value
        name = next((f.name for f in part.files if f.name.rpartition("-")[0] == verdicts), "")
        if name and name not in self._runs_of:
            self._runs_of[name] = read_table(self._inside / name)["run"].to_pylist()
        return self._runs_of.get(name, [])

    def _without_judged(self, part: Part) -> Part:
        """Return a part of kept runs without those that the batch has seen whole."""
        kept = pa.array(self._runs(part), pa.string())
        staged = pq.read_table(self.staging, filters=pc.field("run").isin(kept))
        told = staged.filter(pc.equal(staged["table"], TableName.VERDICTS.value))
        verdicts = (row_of(TableName.VERDICTS.value, each) for each in told["payload"].to_pylist())
        judged = [row.run for row in verdicts if not _is_incomplete(row)]
        if not judged:
            return part
        names = pa.array(judged, pa.string())
        tables = self._read(part).items()
        left = {
            name: table.filter(pc.invert(pc.is_in(table["run"], names))) for name, table in tables
        }
        return self._part(part.first, part.last, left)

    def _rewritten(self, part: Part) -> Part:
        """Return a part with the batch's rows of its runs in place of the former ones."""
        told, runs = self._records(part.first, part.last)
        changed = pa.array(sorted(runs), pa.string())
        tables = self._read(part)
        for name, table in tables.items():
            if name != TableName.QUARANTINE.value:
                table = table.filter(pc.invert(pc.is_in(table["run"], changed)))
            tables[name] = pa.concat_tables([table, told[name]])
        return self._part(part.first, part.last, tables)

    def _merged(self, parts: list[Part]) -> list[Part]:
        """Return the parts; neighbours are merged where small parts are many."""
        kept = [part for part in parts if part.last < 0 and part.totals.runs]
        parts = [part for part in parts if part.last >= 0]
        small = sum(part.totals.runs <= MOST_RUNS // 2 for part in parts)
        if small <= MOST_SMALL:
            return [*kept, *parts]
        joined = (
            group[0] if len(group) == 1 else self._joined(group)
            for group in _groups(parts, lambda part: part.totals.runs)
        )
        return [*kept, *joined]

    def _joined(self, parts: Sequence[Part]) -> Part:
        read = [self._read(part) for part in parts]
        tables = {name: pa.concat_tables([each[name] for each in read]) for name in _KINDS}
        return self._part(parts[0].first, parts[-1].last, tables)

    def _records(self, first: int, last: int) -> tuple[dict[str, pa.Table], set[str]]:
        """Return the batch's rows of a range of homes, and the runs that they are about."""
        within = [("home", ">=", first), ("home", "<=", last)]
        staged = pq.read_table(self.staging, filters=within)
        columns = [staged[name].to_pylist() for name in ("run", "table", "for_good", "payload")]
        rows: dict[str, list[Row]] = {name: [] for name in _KINDS}
        runs: set[str] = set()
        for run, table, for_good, payload in zip(*columns, strict=True):
            if run in self._kept and not for_good:
                continue  # another judge saw it whole, and this one has not yet
            if table == TableName.VERDICTS.value:
                runs.add(run)
            is_held = table == _QUARANTINE.value and not for_good
            rows[_HELD if is_held else table].append(row_of(table, payload))
        tables = {
            name: pa.Table.from_batches([as_batch(_KINDS[name], told)])
            for name, told in rows.items()
        }
        return tables, runs

    def _read(self, part: Part) -> dict[str, pa.Table]:
        tables = {name: arrow_schema(table).empty_table() for name, table in _KINDS.items()}
        for file in part.files:
            tables[file.name.rpartition("-")[0]] = read_table(self._inside / file.name)
        return tables

    def _part(self, first: int, last: int, tables: Mapping[str, pa.Table]) -> Part:
        """Return a part that holds these rows, written to files of its own."""
        number = self._list.written
        self._list = msgspec.structs.replace(self._list, written=number + 1)
        files = tuple(
            self._written(f"{name}-{number:09}", table)
            for name, table in tables.items()
            if table.num_rows
        )
        return Part(first, last, _totals_of(tables), files)

    def _written(self, name: str, table: pa.Table) -> ResultFile:
        path = self._inside / f"{name}.parquet"
        pq.write_table(table, path, compression="zstd", write_page_checksum=True)
        return described(path, table.num_rows)


def _is_incomplete(row: Row) -> bool:
    return isinstance(row, VerdictRow) and row.verdict == RunVerdict.INCOMPLETE.value


def _groups(items: Iterable[Item], runs: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Cut a sequence into groups that have no more runs than a part may have, or are one item."""
    group: list[Item] = []
    room = MOST_RUNS
    for item in items:
        room -= runs(item)
        if group and room < 0:
            yield group
            group, room = [], MOST_RUNS - runs(item)
        group.append(item)
    if group:
        yield group


def _totals_of(tables: Mapping[str, pa.Table]) -> Totals:
    verdicts, coverage = tables[TableName.VERDICTS.value], tables[TableName.COVERAGE.value]
    diverging = verdicts.filter(pc.equal(verdicts["verdict"], RunVerdict.DIVERGES.value))
    visits = coverage.group_by("rule").aggregate([("visits", "sum")]).to_pydict()
    return Totals(
        events=pc.sum(verdicts["events"]).as_py() or 0,
        aside=sum(tables[name].num_rows for name in (_QUARANTINE.value, _HELD)),
        verdicts=_counts(verdicts["verdict"]),
        components=_counts(verdicts["component"]),
        deviated=_counts(pc.list_flatten(verdicts["deviated"])),
        broken=_counts(diverging["rule"]),
        visits=dict(zip(visits["rule"], visits["visits_sum"], strict=True)),
    )


def _counts(column: pa.ChunkedArray) -> dict[str, int]:
    """Return the number of rows for each value of a column."""
    return {each["values"]: each["counts"] for each in pc.value_counts(column).to_pylist()}
