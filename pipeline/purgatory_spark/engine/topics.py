"""Traces in topics of Kafka, ``kafka://host:port/topic``.

Theory of operation. The value of a record is a line of a trace, and its key is the line's run. So a
run lies in one partition, and its lines come in order. Without keys they may lie in several; then
they are put in order like lines in several files. A place is the address of a partition with the
offset of a record.

Spark's own source reads the records. It is a library of Java that PySpark does not bring: Spark
fetches it through Maven when the session starts, in its own version.
"""

import json
import re
import socket
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
from pyspark import TaskContext

from purgatory_conformance.problems import EXIT_MISSING_TOOL, EXIT_SUBJECT_FAILED, Problem
from purgatory_spark.engine.errors import job_failure
from purgatory_spark.engine.pieces import PIECE_COLUMNS, piece_batches
from purgatory_spark.engine.reading import JudgeOrCut
from purgatory_traces.errors import Refused, Unusable
from purgatory_traces.results.manifest import InputFile
from purgatory_traces.results.rows import TOPICS, QuarantineRow
from purgatory_traces.traces.lines import Located
from purgatory_traces.traces.parsing import place_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader

    from purgatory_spark.engine.splits import Split

_SERVER = r"(?:\[[0-9A-Fa-f:.]+\]|[^\s:/,?#@\[\]]+):[0-9]{1,5}"
_ADDRESS = re.compile(rf"{TOPICS}({_SERVER}(?:,{_SERVER})*)/([A-Za-z0-9._-]+)")
_INPUT = re.compile(rf"({TOPICS}.+)@[0-9]+-([0-9]+)")
_SECONDS_TO_ANSWER = 20
_BYTES_OF_A_TASK = 16 << 20
_MOST_TASKS = 10_000
_MS_OF_A_DAY = 86_400_000
_COLUMNS = ("partition", "offset", "key", "value")
_RECORDS = "partition int, offset bigint, key binary, value binary"
PACKAGES = "spark.jars.packages"
"""The setting that names what Spark fetches through Maven."""


class Topic(NamedTuple):
    """A topic: the brokers that are asked first, ``host:port,host:port``, and its name."""

    servers: str
    name: str

    @property
    def address(self) -> str:
        """Return the address, as rows name it."""
        return f"{TOPICS}{self.servers}/{self.name}"


def topic_at(address: str) -> Topic:
    """Return the topic at an address, when one of its brokers answers.

    Raises:
        Refused: the address names no broker or no topic.
        Problem: no broker answers (exit code 3).
    """
    if (said := _ADDRESS.fullmatch(address)) is None:
        raise Refused(
            f"{address} is no address of a topic, which is {TOPICS}host:port/topic, or "
            f"{TOPICS}host:port,host:port/topic"
        )
    topic = Topic(said[1], said[2])
    why = ""
    for server in topic.servers.split(","):
        host, _, port = server.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), _SECONDS_TO_ANSWER).close()
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or str(error)
        else:
            return topic
    raise Problem(f"no broker of Kafka answers at {topic.servers}: {why}", EXIT_SUBJECT_FAILED)


def connector() -> dict[str, str]:
    """Return the setting by which Spark fetches its source of topics, in its own version."""
    from pyspark import __version__

    return {PACKAGES: f"org.apache.spark:spark-sql-kafka-0-10_2.13:{__version__}"}


def records(
    reader: "DataFrameReader | DataStreamReader", topic: Topic, **options: str | int
) -> "DataFrame":
    """Return the records of a topic.

    Args:
        reader: The session's ``read`` or ``readStream``.
        topic: The topic.
        options: Further options of Spark's source.

    Raises:
        Problem: Spark has no such source (exit code 5).
    """
    from pyspark.errors import AnalysisException

    said = {"kafka.bootstrap.servers": topic.servers, **options}
    try:
        frame = reader.format("kafka").options(**said).load()
        _ = frame.schema  # through Connect the source is not looked for before
        return frame
    except AnalysisException as problem:
        if "find data source: kafka" not in str(problem):
            raise
        packages = connector()[PACKAGES]
        raise Problem(
            f"this Spark has no source of topics: start it with --packages {packages}",
            EXIT_MISSING_TOOL,
        ) from None


def lines_of_records(
    topic: Topic, batches: Iterable[pa.RecordBatch]
) -> Iterator[Located | QuarantineRow]:
    """Yield the lines that records of a topic hold, or why a record holds none."""
    for batch in batches:
        columns = [batch.column(name).to_pylist() for name in _COLUMNS]
        for partition, offset, key, value in zip(*columns, strict=True):
            yield _line_of(f"{topic.address}/{partition}", offset, key, value)


def _line_of(
    place: str, offset: int, key: bytes | None, value: bytes | None
) -> Located | QuarantineRow:
    if value is None:
        return QuarantineRow(place, offset, "", "the record has no value")
    try:
        run, seq = place_of(value)
        if key is not None and key != run.encode():
            said = key.decode("utf-8", "backslashreplace")
            raise Unusable(f"the record's key is {said!r}, and the line's run {run!r}")
    except Unusable as problem:
        text = value.decode("utf-8", "backslashreplace")
        return QuarantineRow(place, offset, text, str(problem))
    return Located(run, seq, place, offset, value)


class Part(NamedTuple):
    """Records of a partition: from an offset to that behind the last, bytes, newest time."""

    partition: int
    start: int
    stop: int
    bytes: int
    modified_ms: int


@dataclass(frozen=True)
class TopicRecords:
    """The records of a topic from offset to offset; see ``Plan``.

    Attributes:
        topic: The topic.
        parts: Partitions that have records.
    """

    topic: Topic
    parts: tuple[Part, ...]
    ignored: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[InputFile, ...]:
        """Return the partitions, with their offsets, as a manifest names them."""
        return tuple(
            InputFile(f"{self._place(part)}@{part.start}-{part.stop}", part.bytes, part.modified_ms)
            for part in self.parts
        )

    def without(self, known: Iterable[InputFile]) -> "TopicRecords":
        """Return the records that have come since the manifest.

        Raises:
            Refused: records between the two are lost, or it is another topic of the same name.
        """
        ends = (_INPUT.fullmatch(each.file) for each in known)
        behind = {said[1]: int(said[2]) for said in ends if said is not None}
        left = []
        for part in self.parts:
            place = self._place(part)
            start = behind.get(place, part.start)
            if not part.start <= start <= part.stop:
                raise Refused(
                    f"{place} has the offsets {part.start} to {part.stop} now, and the earlier "
                    f"check ended before {start}: check without --since"
                )
            if start < part.stop:
                left.append(part._replace(start=start))
        return TopicRecords(self.topic, tuple(left))

    @property
    def files(self) -> tuple[str, ...]:
        """Return the addresses of the partitions."""
        return tuple(map(self._place, self.parts))

    @property
    def is_empty(self) -> bool:
        """Decide whether there is no record."""
        return not self.parts

    @property
    def partitions(self) -> int:
        """Return the number of tasks that replay."""
        total = sum(part.bytes for part in self.parts)
        return max(1, min(_MOST_TASKS, -(-total // _BYTES_OF_A_TASK)))

    @property
    def tasks(self) -> int:
        """Return the number of all tasks, about."""
        return len(self.parts) + self.partitions

    def pieces(
        self, spark: "SparkSession", *, judges: bool = True, only: frozenset[str] | None = None
    ) -> "DataFrame":
        """Return the pieces of the runs in the topic; see also ``JudgeOrCut``."""
        days = {self._place(part): part.modified_ms // _MS_OF_A_DAY for part in self.parts}
        read = ReadRecords(self.topic, JudgeOrCut(judges, only), days)
        if self.is_empty:
            return spark.createDataFrame([], _RECORDS).mapInArrow(read, PIECE_COLUMNS)

        def of_topic(of_parts: object) -> str:
            return json.dumps({self.topic.name: of_parts})

        frame = records(
            spark.read,
            self.topic,
            assign=of_topic([part.partition for part in self.parts]),
            startingOffsets=of_topic({part.partition: part.start for part in self.parts}),
            endingOffsets=of_topic({part.partition: part.stop for part in self.parts}),
            minPartitions=self.partitions,
        )
        return frame.mapInArrow(read, PIECE_COLUMNS)

    def aside(
        self, spark: "SparkSession", splits: "Collection[Split]"
    ) -> tuple[QuarantineRow, ...]:
        """Return no row: a record is known where it is read."""
        return ()

    def _place(self, part: Part) -> str:
        return f"{self.topic.address}/{part.partition}"


def topic_records(spark: "SparkSession", topic: Topic) -> TopicRecords:
    """Return the records that a topic has now, from its earliest offsets to its latest.

    Spark reads them once to see the offsets: what comes later belongs to a later check.

    Raises:
        PipelineError: there is no such topic, or it cannot be read.
    """
    from pyspark.sql import functions

    frame = records(spark.read, topic, subscribe=topic.name)
    try:
        counted = frame.groupBy("partition").agg(
            functions.min("offset"),
            functions.max("offset") + 1,
            functions.sum(functions.coalesce(functions.length("value"), functions.lit(0))),
            functions.unix_millis(functions.max("timestamp")),
        )
        rows = counted.orderBy("partition").collect()
    except Exception as error:
        raise job_failure(error) from error
    return TopicRecords(topic, tuple(Part(*row) for row in rows))


@dataclass(frozen=True)
class ReadRecords:
    """Turns records into pieces of runs; called by Spark in its workers.

    Attributes:
        topic: The topic.
        then: What is done with the lines.
        days: The day of each partition.
    """

    topic: Topic
    then: JudgeOrCut
    days: Mapping[str, int]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Read the records of a task."""
        task = TaskContext.get()
        share = "" if task is None else str(task.partitionId())
        lines = lines_of_records(self.topic, batches)
        yield from piece_batches(self.then.pieces(share, lines, self.days))
