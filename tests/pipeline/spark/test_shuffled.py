"""Data that goes from task to task: rows of runs within a share, blocks of all others."""

import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from purgatory_lab.benchmarks.trace_pipeline import FILES as LONG_FILES
from purgatory_lab.benchmarks.trace_pipeline import write_one_run
from purgatory_spark.engine import engine
from purgatory_spark.engine.engine import plan_of, staged_rows
from purgatory_spec.profiles import Component
from purgatory_traces.engines.local import check_locally
from purgatory_traces.results.rows import VerdictRow
from purgatory_traces.results.schemas import TableName
from purgatory_traces.summary.summary import Summary
from purgatory_traces.traces.sources import files_of
from purgatory_traces.traces.synthetic import run_lines, write_corpus

from .corpora import checked_on_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.verify, pytest.mark.spark, pytest.mark.slow]

FILES, RUNS, EVENTS = 4, 40, 500


class Shuffled(NamedTuple):
    """The data that a stage of Spark has written for the next, by Spark's own count."""

    records: int
    bytes: int


def stages(spark: "SparkSession") -> int:
    """Return how many stages the session has had."""
    return int(spark.sparkContext._jsc.sc().dagScheduler().nextStageId())


def jobs(spark: "SparkSession") -> Counter[str]:
    """Return how many jobs of each name the session has had."""
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    told = context.statusStore().jobsList(None)
    names = (told.apply(which).description() for which in range(told.size()))
    return Counter(name.get() for name in names if name.isDefined())


def shuffled(spark: "SparkSession", folder: Path) -> list[Shuffled]:
    """Return what the jobs shuffle, when they give the verdicts of the local engine."""
    since = stages(spark)
    plan = plan_of(files_of(["traces"]))
    _, summary, _ = staged_rows(spark, plan, (folder / "staged").as_uri(), 1)
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    data = [context.statusStore().lastStageAttempt(each) for each in range(since, stages(spark))]
    found = [Shuffled(each.shuffleWriteRecords(), each.shuffleWriteBytes()) for each in data]
    local = [row for row in check_locally(["traces"]) if isinstance(row, VerdictRow)]
    assert summary.verdicts == {**Summary().verdicts, "conforms": len(local)}
    return [each for each in found if each.records]


@pytest.fixture(autouse=True)
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a name of one length, since names of files are shuffled; a file to a share."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(engine, "BYTES_OF_A_SHARE", 1)
    return Path("traces")


def test_of_runs_that_lie_whole_in_a_share_the_rows_alone_are_shuffled(
    spark: "SparkSession", tmp_path: Path, traces: Path
) -> None:
    """Shuffle one record for each run; the control below, with the same lines, shuffles lines."""
    write_corpus(traces, RUNS, EVENTS, faulty=0, files=FILES)
    assert shuffled(spark, tmp_path) == [Shuffled(RUNS, 3_559)]


def test_of_runs_that_are_cut_compact_blocks_are_shuffled(
    spark: "SparkSession", tmp_path: Path, traces: Path
) -> None:
    write_shuffled(traces, RUNS, EVENTS)
    files = [file.read_bytes() for file in sorted(traces.iterdir())]
    (found,) = shuffled(spark, tmp_path)
    assert found == Shuffled(RUNS * FILES, 43_764)
    lines, size = sum(file.count(b"\n") for file in files), sum(map(len, files))
    assert found.bytes * 10 < size, f"{found.bytes / lines:.1f} bytes a line of {size / lines:.1f}"


def test_of_a_long_run_that_is_cut_the_first_lines_of_its_files_are_shuffled(
    spark: "SparkSession", tmp_path: Path, traces: Path
) -> None:
    """Shuffle two records and a block of lines for each file; nothing is read again."""
    write_one_run(traces, 40_000)
    (found,) = shuffled(spark, tmp_path)
    assert found.records == 3 * LONG_FILES - 1


def test_of_logs_that_were_shipped_twice_all_lines_are_shuffled_once(
    spark: "SparkSession", tmp_path: Path, traces: Path
) -> None:
    write_corpus(traces, RUNS, EVENTS, faulty=0, files=1)
    shutil.copy(traces / "part-00000.jsonl", traces / "again.jsonl")
    first, second = shuffled(spark, tmp_path)
    assert (first.records, second.records) == (2 * RUNS, 2 * RUNS)


def test_a_small_check_takes_seven_jobs_and_writes_each_table_once(
    spark: "SparkSession", tmp_path: Path, traces: Path
) -> None:
    """Take two jobs for the two stages that judge; none asks for the columns of the rows."""
    write_corpus(traces, RUNS, EVENTS, faulty=0, files=FILES)
    before = jobs(spark)
    checked = checked_on_spark(spark, files_of(["traces"]), tmp_path)
    assert jobs(spark) - before == {
        "judge runs": 2,
        "fetch summaries": 1,
        **{f"write {table.value}": 1 for table in TableName},
        "describe files": 1,
    }
    folders = Counter(Path(file.name).parent for file in checked.files)
    assert len(folders) >= len(TableName)
    assert set(folders.values()) == {1}


def write_shuffled(folder: Path, runs: int, events: int) -> None:
    """Runs each of which has every line in another file than the line before."""
    folder.mkdir()
    files: list[list[bytes]] = [[] for _ in range(FILES)]
    for run in range(runs):
        for number, line in enumerate(run_lines(f"run-{run:04d}", Component.TIMER, events)):
            files[number % FILES].append(line)
    for which, lines in enumerate(files):
        (folder / f"part-{which}.jsonl").write_bytes(b"".join(lines))
