"""Jobs that can be watched and cancelled, on a Spark of this process and through Spark Connect.

Theory of operation. The action runs in a separate thread; the calling thread shows the progress.
What Ctrl-C does is only remembered while it runs, so that no talk with Spark is cut off half-way:
the jobs of the action are cancelled by their tag, the action is waited for, and only then
``KeyboardInterrupt`` is raised. A second Ctrl-C raises it at once.

Spark has no way that works in both places. In this process jobs are told and cancelled by the
context; there the session's own ``interruptTag`` does nothing. Through Connect there is no context.
"""

import logging
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from purgatory_spark.engine.session import is_connect
from purgatory_traces.engines.interrupts import remembered_interrupt
from purgatory_traces.engines.progress_bar import is_shown, progress_bar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import SparkSession
    from pyspark.sql.connect.shell.progress import ProgressHandler, StageInfo

T = TypeVar("T")

_LOGGER = logging.getLogger(__name__)
_SECONDS_BETWEEN_LOOKS = 0.2
_LOOKS_TO_GIVE_UP = 150
_LOOKS_FOR_TASKS = 50


class WatchedJobs(Protocol):
    """The jobs of an action, on whatever machine they run."""

    def begin(self) -> None:
        """Mark the jobs that this thread starts from now on."""

    def tasks_done(self) -> int:
        """Return the number of tasks that have ended."""

    def cancel(self) -> None:
        """Cancel the jobs that run; may be called again."""

    def end(self) -> None:
        """Stop watching the jobs of the check."""


class _JobsHere:
    """Jobs of the Spark of this process."""

    def __init__(self, spark: "SparkSession") -> None:
        self._context = spark.sparkContext
        self._tag = _new_tag()
        self._done: dict[int, int] = {}

    def begin(self) -> None:
        self._context.addJobTag(self._tag)
        self._context.setJobGroup(self._tag, "purgatory")

    def tasks_done(self) -> int:
        tracker = self._context.statusTracker()
        for job in tracker.getJobIdsForGroup(self._tag):
            info = tracker.getJobInfo(job)
            for stage in () if info is None else info.stageIds:
                told = tracker.getStageInfo(stage)
                if told is not None:
                    self._done[stage] = told.numCompletedTasks
        return sum(self._done.values())

    def cancel(self) -> None:
        self._context.cancelJobsWithTag(self._tag)

    def end(self) -> None:
        pass


class _JobsThroughConnect:
    """Jobs of the Spark behind a Connect server, which tells of them by itself.

    The server cancels what runs at that moment, and not what is about to be started: therefore it
    is asked when tasks are known to run, or when none were seen for a while.

    Adaptive execution is switched off in the session; it finds nothing to adapt where the number of
    partitions is given. Under it Spark 4.3 prepares the last job in a further thread, and a
    cancellation that comes meanwhile is confirmed, while that job runs all the same.
    """

    def __init__(self, spark: "SparkSession") -> None:
        self._spark = spark
        self._tag = _new_tag()
        self._done = 0
        self._running = 0
        self._looks = 0

    def begin(self) -> None:
        self._spark.conf.set("spark.sql.adaptive.enabled", "false")
        self._spark.registerProgressHandler(cast("ProgressHandler", self._take))
        self._spark.addTag(self._tag)

    def _take(
        self,
        stages: "Iterable[StageInfo] | None",
        inflight_tasks: int,
        operation_id: str | None,
        done: bool,
    ) -> None:
        self._running = inflight_tasks
        if stages is not None:
            self._done = sum(stage.num_completed_tasks for stage in stages)

    def tasks_done(self) -> int:
        return self._done

    def cancel(self) -> None:
        self._looks += 1
        if self._running or self._looks > _LOOKS_FOR_TASKS:
            self._spark.interruptTag(self._tag)

    def end(self) -> None:
        self._spark.removeProgressHandler(cast("ProgressHandler", self._take))


def _new_tag() -> str:
    return f"purgatory-{uuid.uuid4().hex}"


def jobs_of(spark: "SparkSession") -> WatchedJobs:
    """Return the watcher of an action's jobs, which can cancel them, for this session."""
    return _JobsThroughConnect(spark) if is_connect(spark) else _JobsHere(spark)


def describe(spark: "SparkSession", words: str) -> None:
    """Name the jobs that this thread starts from now on, in Spark's UI and in metrics.

    Through Spark Connect jobs have no names.
    """
    _LOGGER.info("jobs: %s", words)
    if not is_connect(spark):
        spark.sparkContext.setJobDescription(words)


def run_watched(spark: "SparkSession", action: Callable[[], T], *, tasks: int, label: str) -> T:
    """Carry out an action; a bar tells how far it is, on a terminal only.

    Args:
        spark: The session that the action uses.
        action: What starts jobs of Spark; it is called in another thread.
        tasks: How many tasks it will take, about.
        label: The name of the action, in a word or two.

    Raises:
        KeyboardInterrupt: Ctrl-C; the jobs are cancelled by then.
        Exception: whatever the action raises.
    """
    jobs = jobs_of(spark)
    future: Future[T] = Future()

    def work() -> None:
        try:
            jobs.begin()
            future.set_result(action())
        except BaseException as error:  # raised again where the action is waited for
            future.set_exception(error)

    with remembered_interrupt() as interrupted, progress_bar("tasks") as show:
        threading.Thread(target=work, name="purgatory-spark-job", daemon=True).start()
        try:
            while not _has_ended(future):
                if interrupted.is_set():
                    break
                if is_shown():
                    show(min(jobs.tasks_done(), tasks), tasks, label)
            if interrupted.is_set():
                _cancel(future, jobs)
                raise KeyboardInterrupt
        finally:
            jobs.end()
    return future.result()


def _has_ended(future: Future[T]) -> bool:
    """Wait a little, and decide whether the action has ended."""
    return bool(wait([future], _SECONDS_BETWEEN_LOOKS).done)


def _cancel(future: Future[T], jobs: WatchedJobs) -> None:
    """Cancel until the action has ended, since it may be about to start a further job."""
    _LOGGER.info("interrupted: cancelling the jobs")
    for _ in range(_LOOKS_TO_GIVE_UP):
        jobs.cancel()
        if _has_ended(future):
            return
