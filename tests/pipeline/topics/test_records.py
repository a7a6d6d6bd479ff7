"""Addresses of topics, and what is made of records, without a broker and without Spark."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyspark
import pytest
from click.testing import CliRunner

from purgatory_conformance.problems import Problem
from purgatory_spark.commands.watch import watch
from purgatory_spark.engine.errors import job_failure
from purgatory_spark.engine.session import not_started
from purgatory_spark.engine.topics import (
    PACKAGES,
    Part,
    Topic,
    TopicRecords,
    connector,
    lines_of_records,
    records,
    topic_at,
)
from purgatory_spark.streaming.own_folder import own_folder
from purgatory_spark.streaming.watching import ReadTopic
from purgatory_traces.commands.check import check
from purgatory_traces.commands.record import record
from purgatory_traces.errors import Refused
from purgatory_traces.results.manifest import InputFile
from purgatory_traces.results.rows import QuarantineRow
from purgatory_traces.summary.words import place_of_line, so_many
from purgatory_traces.traces.lines import Located

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOPIC = Topic("127.0.0.1:9092", "steps")
NO_ADDRESS = [
    "kafka://",
    "kafka://host:9092",
    "kafka://host:9092/",
    "kafka://host/topic",
    "kafka:///topic",
    "kafka://host:9092/a/b",
    "kafka://host:9092/a b",
    "kafka://user@host:9092/topic",
    "kafka://host:9092,/topic",
    "kafka://host:/topic",
]


@pytest.fixture
def listening() -> Iterator[str]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def silent() -> Iterator[str]:
    """An address at which nothing listens: it is bound, so that nobody else takes it."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{bound.getsockname()[1]}"


@pytest.mark.parametrize("address", NO_ADDRESS)
def test_an_address_without_broker_or_topic_is_refused(address: str) -> None:
    with pytest.raises(Refused, match="is no address of a topic, which is kafka://host:port/topic"):
        topic_at(address)


def test_one_broker_that_answers_is_enough(listening: str, silent: str) -> None:
    topic = topic_at(f"kafka://{silent},{listening}/a.b_c-1")
    assert topic == Topic(f"{silent},{listening}", "a.b_c-1")
    assert topic.address == f"kafka://{silent},{listening}/a.b_c-1"


@pytest.mark.parametrize("port", ["silent", "99999"])
def test_no_broker_is_told_before_spark_is_started(silent: str, port: str, tmp_path: Path) -> None:
    server = silent if port == "silent" else f"127.0.0.1:{port}"
    for command in (check, watch):
        words = [f"kafka://{server}/steps", "--out", str(tmp_path / "out")]
        result = CliRunner().invoke(command, words)
        assert isinstance(result.exception, Problem)
        assert f"no broker of Kafka answers at {server}: " in str(result.exception)
        assert result.exception.exit_code == 3


@pytest.mark.parametrize("beside", ["kafka://127.0.0.1:9092/b", "s3a://bucket/traces"])
def test_a_topic_is_checked_by_itself(beside: str) -> None:
    result = CliRunner().invoke(check, [TOPIC.address, beside])
    assert isinstance(result.exception, Problem)
    assert str(result.exception) == "a topic is checked by itself: name it alone"
    assert result.exception.exit_code == 2


def test_the_bundled_implementation_writes_no_topic() -> None:
    result = CliRunner().invoke(record, ["bundled", "--out", TOPIC.address])
    assert result.exit_code == 2
    assert "a topic is written by kafka alone" in result.output


def test_a_stream_of_one_topic_goes_on_with_no_other(tmp_path: Path) -> None:
    for _ in range(2):
        with own_folder(tmp_path, TOPIC) as told:
            assert told == ""
    said = f"is of a watch of {TOPIC.address}, and the two would be mixed"
    with pytest.raises(Refused, match=said), own_folder(tmp_path, TOPIC._replace(name="other")):
        raise AssertionError("two in one")


def batch_of(*records: tuple[int, int, bytes | None, bytes | None]) -> pa.RecordBatch:
    """Records as Spark hands them to a worker."""
    kinds = {
        "partition": pa.int32(),
        "offset": pa.int64(),
        "key": pa.binary(),
        "value": pa.binary(),
    }
    columns = zip(zip(*records, strict=True), kinds.values(), strict=True)
    return pa.RecordBatch.from_arrays([pa.array(*each) for each in columns], names=list(kinds))


def test_a_record_is_a_line_with_its_offset() -> None:
    line = b'{"kind":"end","run":"a","seq":7}'
    batch = batch_of(
        (0, 5, b"a", line),
        (1, 0, None, line),
        (1, 1, b"b", line),
        (1, 2, b"a", b"{"),
        (1, 3, b"a", line * 2),
        (1, 4, b"a", None),
    )
    first, second, *aside = lines_of_records(TOPIC, [batch])
    assert first == Located("a", 7, f"{TOPIC.address}/0", 5, line)
    assert second == Located("a", 7, f"{TOPIC.address}/1", 0, line)
    assert [(each.line, each.reason) for each in aside if isinstance(each, QuarantineRow)] == [
        (1, "the record's key is 'b', and the line's run 'a'"),
        (2, "not JSON, or cut off: Expecting property name enclosed in double quotes in column 2"),
        (3, "more than one object in the line: the second begins in column 33"),
        (4, "the record has no value"),
    ]


class Task:
    """A task of a stream's seventh batch."""

    def getLocalProperty(self, name: str) -> str | None:  # noqa: N802 - Spark's name
        return "6" if name == "streaming.sql.batchId" else None


def test_lines_bear_the_number_of_their_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that runs which begin in different batches are at home in different parts."""
    monkeypatch.setattr("pyspark.TaskContext.get", Task)
    batch = batch_of(*((0, offset, b"a", b'{"run":"a","seq":%d}' % offset) for offset in range(3)))
    (lines,) = ReadTopic(TOPIC)([batch])
    assert lines.column("seq").to_pylist() == [0, 1, 2]
    assert lines.column("order").to_pylist() == [6, 6, 6]


def test_the_first_record_of_a_partition_is_told_as_a_line() -> None:
    row = QuarantineRow(f"{TOPIC.address}/0", 0, "", "the record has no value")
    assert place_of_line(row) == f"{TOPIC.address}/0:0"
    assert so_many(row, 1) == "1 line"
    of_a_file = QuarantineRow("a.jsonl", 0, "", "the file is empty")  # the control
    assert (place_of_line(of_a_file), so_many(of_a_file, 1)) == ("a.jsonl", "1 file")


def test_a_later_check_begins_where_the_earlier_ended() -> None:
    earlier = TopicRecords(TOPIC, (Part(0, 3, 10, 70, 1), Part(1, 0, 4, 40, 1)))
    now = TopicRecords(TOPIC, (Part(0, 5, 12, 70, 2), Part(1, 0, 4, 40, 1), Part(2, 0, 1, 10, 2)))
    assert [each.file for each in earlier.inputs] == [
        f"{TOPIC.address}/0@3-10",
        f"{TOPIC.address}/1@0-4",
    ]
    assert now.without(earlier.inputs).parts == (Part(0, 10, 12, 70, 2), Part(2, 0, 1, 10, 2))
    of_files = (InputFile("a@1-2", 1), InputFile("part-00000.jsonl", 1))
    assert now.without(of_files) == now


@pytest.mark.parametrize("part", [Part(0, 11, 20, 9, 2), Part(0, 0, 9, 9, 2)])
def test_records_lost_between_two_checks_are_told(part: Part) -> None:
    earlier = TopicRecords(TOPIC, (Part(0, 3, 10, 70, 1),))
    now = TopicRecords(TOPIC, (part,))
    said = f"{TOPIC.address}/0 has the offsets {part.start} to {part.stop} now, and the earlier "
    with pytest.raises(Refused, match=said):
        now.without(earlier.inputs)
    whole = TopicRecords(TOPIC, (part._replace(start=10, stop=12),))  # the control
    assert whole.without(earlier.inputs) == whole


def test_the_source_is_of_sparks_version_and_a_missing_one_is_told() -> None:
    package = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}"
    assert connector() == {PACKAGES: package}
    parted = package.replace(":", "#", 1).replace(":", ";", 1)
    missing = not_started(f"RuntimeException: [unresolved dependency: {parted}: not found]")
    assert missing.exit_code == 5
    assert f"Spark cannot fetch {package} through Maven, which needs a network" in str(missing)
    assert not_started("no memory").exit_code == 3


@pytest.mark.spark
def test_a_spark_without_the_source_is_told(spark: "SparkSession") -> None:
    """Such is one that spark-submit or a Connect server has started."""
    package = connector()[PACKAGES]
    for reader in (spark.read, spark.readStream):
        with pytest.raises(Problem, match=f"start it with --packages {package}") as told:
            records(reader, TOPIC, subscribe=TOPIC.name)
        assert told.value.exit_code == 5


def test_what_a_broker_says_is_told_in_a_sentence() -> None:
    none = RuntimeError("x\norg.apache.kafka.common.errors.UnknownTopicOrPartitionException: y")
    assert str(job_failure(none)) == "the broker has no such topic: make it, or name another"
    lost = (
        "a\n: KafkaIllegalStateException: Some data may have been lost because they are not\n"
        "topic. \nReason: Could not read records in offset [300, 600) for topic partition t-0\n b"
    )
    assert str(job_failure(RuntimeError(lost))).startswith(
        "records went from the topic before they were read (Could not read records in offset "
        "[300, 600) for topic partition t-0): "
    )
