"""Watching and cancelling the jobs of one action."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from purgatory_spark.engine import progress as spark_progress
from purgatory_spark.engine.progress import jobs_of, run_watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.verify, pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(autouse=True)
def _by_value() -> "Iterator[None]":
    """Send functions of this file whole: workers import no module of the present folder."""
    from tests.pipeline.spark.sent_whole import sent_whole

    with sent_whole(__name__):
        yield


posix = pytest.mark.skipif(os.name == "nt", reason="needs signals")


LONG_S = 300
"""A limit that only a failure takes to its end."""


def slowly(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        time.sleep(2 * LONG_S)
        yield batch


def is_busy(spark: "SparkSession") -> bool:
    return bool(spark.sparkContext.statusTracker().getActiveJobsIds())


def eventually(is_so: Callable[[], bool]) -> bool:
    """Return whether it becomes so: what Spark tells of its jobs comes a moment later."""
    until = time.monotonic() + LONG_S
    while not is_so() and time.monotonic() < until:
        time.sleep(0.05)
    return is_so()


def when_busy(spark: "SparkSession", then: Callable[[], None]) -> threading.Thread:
    """Do something as soon as a job runs."""

    def wait() -> None:
        assert eventually(lambda: is_busy(spark))
        then()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_the_result_of_the_action_is_given(spark: "SparkSession") -> None:
    action = spark.range(0, 9, 1, 3).count
    assert run_watched(spark, action, tasks=3, label="counting") == 9


def test_what_the_action_raises_is_raised(spark: "SparkSession") -> None:
    def fails() -> None:
        raise ValueError("no such value")

    with pytest.raises(ValueError, match="no such value"):
        run_watched(spark, fails, tasks=1, label="failing")


def test_tasks_are_counted_over_all_stages(spark: "SparkSession") -> None:
    jobs = jobs_of(spark)
    done: list[int] = []

    def action() -> None:
        jobs.begin()
        done.append(jobs.tasks_done())
        spark.range(0, 20, 1, 5).repartition(3, "id").write.format("noop").mode("overwrite").save()

    thread = threading.Thread(target=action)
    thread.start()
    thread.join(LONG_S)
    assert done == [0]
    assert eventually(lambda: jobs.tasks_done() == 8)


def test_a_bar_follows_on_a_terminal(
    spark: "SparkSession", monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert looks(spark, monkeypatch)
    assert "counting rows" in capsys.readouterr().err


def test_elsewhere_there_is_no_bar_and_spark_is_asked_nothing_for_it(
    spark: "SparkSession", monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert not looks(spark, monkeypatch)
    assert capsys.readouterr() == ("", "")


def looks(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return what Spark has answered while an action ran, as to how many tasks are done."""
    done: list[int] = []
    jobs = jobs_of(spark)

    def looked() -> int:
        done.append(0)
        return 0

    monkeypatch.setattr(jobs, "tasks_done", looked)
    monkeypatch.setattr(spark_progress, "jobs_of", lambda _: jobs)
    monkeypatch.setattr(spark_progress, "_SECONDS_BETWEEN_LOOKS", 0.01)
    run_watched(spark, spark.range(0, 9, 1, 3).count, tasks=4, label="counting rows")
    return done


@posix
def test_ctrl_c_cancels_the_jobs_and_leaves_the_session(spark: "SparkSession") -> None:
    before = signal.getsignal(signal.SIGINT)
    interrupt = when_busy(spark, lambda: os.kill(os.getpid(), signal.SIGINT))
    action = spark.range(0, 2, 1, 2).mapInArrow(slowly, "id bigint").count
    began = time.monotonic()

    with pytest.raises(KeyboardInterrupt):
        run_watched(spark, action, tasks=2, label="sleeping")

    interrupt.join()
    assert time.monotonic() - began < LONG_S
    assert eventually(lambda: not is_busy(spark))
    assert signal.getsignal(signal.SIGINT) is before
    assert spark.range(3).count() == 3


def test_jobs_of_others_are_not_cancelled(spark: "SparkSession") -> None:
    jobs = jobs_of(spark)
    counted: list[int] = []

    def other() -> None:
        frame = spark.range(0, 2, 1, 1).mapInArrow(briefly, "id bigint")
        counted.append(frame.count())

    thread = threading.Thread(target=other)
    thread.start()
    when_busy(spark, jobs.cancel).join()
    thread.join(LONG_S)
    assert counted == [2]


def briefly(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        time.sleep(1)
        yield batch
