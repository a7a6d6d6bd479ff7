"""``purgatory trace check`` by Spark, which the command finds by its entry point."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from purgatory_spark.engine.engine import Input, check_on_spark, plan_of
from purgatory_spark.engine.hadoop import hadoop_files
from purgatory_spark.engine.hadoop_results import HadoopResults, hadoop_results, manifest_at
from purgatory_spark.engine.session import is_connect, spark_session
from purgatory_spark.engine.topics import Topic, connector, topic_at, topic_records
from purgatory_traces.engines.checking import Asked, Done, Files, committed, log_files
from purgatory_traces.engines.choice import Choice
from purgatory_traces.engines.sinks import ResultWriter
from purgatory_traces.errors import Refused
from purgatory_traces.results.metrics import StageMetrics
from purgatory_traces.results.rows import TOPICS
from purgatory_traces.traces.addresses import is_address

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def check_by_spark(asked: Asked, choice: Choice, sources: Files | None) -> Done | None:
    """Check by Spark; where there are no sources, the paths are addresses.

    Nothing comes of it where nothing is new.
    """
    with ExitStack() as stack:
        results: ResultWriter | HadoopResults
        if not is_address(asked.out):
            results = stack.enter_context(ResultWriter(Path(asked.out)))
        topic = _topic_in(asked.paths)
        fetched = connector() if topic is not None and not asked.remote else {}
        session = spark_session(
            master=asked.master,
            remote=asked.remote,
            settings={**fetched, **asked.settings},
            makes_archive=True,
        )
        spark = stack.enter_context(session)
        before = _stage_count(spark)
        if is_address(asked.out):
            results = stack.enter_context(hadoop_results(spark, asked.out))
        given: Input
        everything: Input | None = None
        if sources is None:
            given = (
                hadoop_files(spark, asked.paths) if topic is None else topic_records(spark, topic)
            )
            inputs, ignored = given.inputs, given.ignored
            if asked.since:
                everything = given
                given = given.without(manifest_at(spark, asked.since).inputs)
            new = len(given.inputs)
            log_files(new, len(inputs) - new, len(ignored))
            if asked.since and not new:
                return None
        else:
            given = plan_of(sources.new)
            inputs, ignored = sources.inputs, sources.ignored
            if sources.earlier:
                everything = plan_of([*sources.new, *sources.earlier])
        places = results.address, results.staging
        found = check_on_spark(spark, given, *places, asked.examples, everything=everything)
        results.adopt(found.files)
        done = committed(results, asked, choice, found.summary, inputs, ignored)
        return done._replace(stages=tuple(_stages_since(spark, before)))


def _topic_in(paths: Sequence[str]) -> Topic | None:
    """Return the topic that is to be checked, if it is one.

    Raises:
        Refused: a topic is named beside something else, or its address is none.
        Problem: no broker answers.
    """
    if not any(path.startswith(TOPICS) for path in paths):
        return None
    if len(paths) > 1:
        raise Refused("a topic is checked by itself: name it alone")
    return topic_at(paths[0])


def _stage_count(spark: "SparkSession") -> int:
    """Return the number of the session's stages; 0 through Spark Connect, which does not tell."""
    return 0 if is_connect(spark) else int(_context(spark).dagScheduler().nextStageId())


def _stages_since(spark: "SparkSession", first: int) -> Iterator[StageMetrics]:
    """Yield the stages from a number on; none through Spark Connect."""
    if is_connect(spark):
        return
    context = _context(spark)
    context.listenerBus().waitUntilEmpty()
    for stage in range(first, _stage_count(spark)):
        data = context.statusStore().lastStageAttempt(stage)
        if not data.numCompleteTasks():
            continue  # its work was done by an earlier one
        described = data.description()
        yield StageMetrics(
            name=described.get() if described.isDefined() else data.name(),
            tasks=data.numCompleteTasks(),
            seconds=data.executorRunTime() / 1000,
            rows_read=data.inputRecords(),
            bytes_read=data.inputBytes(),
            rows_shuffled=data.shuffleWriteRecords(),
            bytes_shuffled=data.shuffleWriteBytes(),
            rows_written=data.outputRecords(),
            bytes_written=data.outputBytes(),
        )


def _context(spark: "SparkSession") -> Any:  # an object of Java
    return spark.sparkContext._jsc.sc()
