"""A topic gives the rows of the same lines in files, whatever is killed, restarted or truncated."""

import re
import signal
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import pytest

from purgatory_spec.profiles import Component
from purgatory_traces.engines.local import check_locally
from purgatory_traces.results.rows import QuarantineRow, Row, VerdictRow
from purgatory_traces.traces.synthetic import run_lines, write_corpus
from tests.conformance.adapters.adapter_process import WORK_FOLDER, need_java_and_maven
from tests.pipeline.processes import PURGATORY, may_be_interrupted
from tests.pipeline.streaming.test_watch import kill_in_mid_batch
from tests.pipeline.streaming.watched import rows_of
from tests.pipeline.topics.broker import Broker

pytestmark = [pytest.mark.verify, pytest.mark.java, pytest.mark.slow]

DEADLINE_SECONDS = 600


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    need_java_and_maven()
    started = Broker(tmp_path_factory.mktemp("broker"))
    yield started
    started.stop()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every fault of every component, the lines of the runs mixed, in one file."""
    folder = tmp_path_factory.mktemp("corpus")
    write_corpus(folder, runs=45, events=80, faulty=2, mixed=True, files=1)
    return folder / "part-00000.jsonl"


def trace(*words: str | Path, ends_with: int) -> str:
    """Return the output of ``purgatory trace``, which must end with this exit code."""
    done = subprocess.run(
        command(*words), capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False
    )
    assert done.returncode == ends_with, done.stdout + done.stderr
    return done.stdout + done.stderr


def command(*words: str | Path) -> list[str | Path]:
    return [PURGATORY, "trace", *words, "--master", "local[2]"]


def placeless(rows: Iterable[Row]) -> Counter[Row]:
    """Rows without files and lines, which are partitions and offsets in a topic."""
    counted: Counter[Row] = Counter()
    for row in rows:
        if isinstance(row, QuarantineRow):
            row = row._replace(file="", line=0)
        elif isinstance(row, VerdictRow):
            row = row._replace(file="", line=None)
        counted[row] += 1
    return counted


def verdicts(rows: Iterable[Row]) -> dict[str, str]:
    return {row.run: row.verdict for row in rows if isinstance(row, VerdictRow)}


def of_run(run: str) -> list[bytes]:
    return list(run_lines(run, Component.TIMER, 60))


def written(path: Path, lines: Iterable[bytes]) -> Path:
    path.write_bytes(b"".join(lines))
    return path


def test_a_check_goes_from_offset_to_offset(broker: Broker, corpus: Path, tmp_path: Path) -> None:
    topic, cut, later = broker.address("checked"), of_run("cut"), of_run("later")
    broker.topic("create", "checked", 3)
    broker.topic("spread", "checked", corpus)
    broker.topic("spread", "checked", written(tmp_path / "first.jsonl", cut[:20]))
    said = trace("check", topic, "--out", tmp_path / "one", ends_with=1)
    assert "lines in 3 partitions; engine spark: local[2] is named" in " ".join(said.split())
    found = rows_of(tmp_path / "one")
    assert placeless(found) == placeless(check_locally([corpus, tmp_path / "first.jsonl"]))
    places = {row.file for row in found if isinstance(row, QuarantineRow)}
    assert places <= {f"{topic}/{partition}" for partition in range(3)}
    # The control: a line of a run is missing.
    lines = corpus.read_bytes().splitlines(keepends=True)
    assert placeless(found) != placeless(check_locally([written(tmp_path / "l.jsonl", lines[1:])]))

    broker.topic("keyed", "checked", written(tmp_path / "second.jsonl", [*cut[20:], *later]))
    trace("check", topic, "--out", tmp_path / "two", "--since", tmp_path / "one", ends_with=0)
    assert verdicts(rows_of(tmp_path / "two")) == {"cut": "conforms", "later": "conforms"}


def test_kills_and_restarts_of_the_broker_lose_nothing_and_count_nothing_twice(
    broker: Broker, corpus: Path, tmp_path: Path
) -> None:
    broker.topic("create", "watched", 3)
    broker.topic("spread", "watched", corpus)
    out = tmp_path / "out"
    topic = broker.address("watched")
    watch = command("watch", topic, "--out", out, "--lines-per-batch", "400", "--every", "0.1")
    first = kill_in_mid_batch(watch, out, after=0)
    broker.stop()
    broker.start()
    assert kill_in_mid_batch(watch, out, after=first) > first
    trace(*watch[2:-2], "--once", ends_with=1)
    found = rows_of(out / "tables")
    assert placeless(found) == placeless(check_locally([corpus]))


@contextmanager
def watching(topic: str, out: Path) -> Iterator[subprocess.Popen[str]]:
    """A watch that goes on, and is ended with the block, or where it hangs."""
    watch = subprocess.Popen(
        command("watch", topic, "--out", out, "--every", "0.1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=may_be_interrupted,
    )
    give_up = Timer(DEADLINE_SECONDS, watch.kill)
    give_up.start()
    with watch:
        try:
            yield watch
        finally:
            give_up.cancel()
            watch.kill()


def wait_for_lines(watch: subprocess.Popen[str], lines: int) -> None:
    """Read what a watch tells until it has judged so many lines."""
    assert watch.stdout is not None
    said = ""
    for line in watch.stdout:
        said += line
        told = re.match(r"batch [0-9]+: [0-9]+ runs?, ([0-9,]+) lines: ", line)
        if told is not None and int(told[1].replace(",", "")) == lines:
            return
    raise AssertionError(f"the watch has ended: {said}")


def test_a_watch_goes_on_when_the_broker_is_back(broker: Broker, tmp_path: Path) -> None:
    broker.topic("create", "restarted", 2)
    lines, out = of_run("a"), tmp_path / "out"
    broker.topic("keyed", "restarted", written(tmp_path / "a.jsonl", lines))
    with watching(broker.address("restarted"), out) as watch:
        wait_for_lines(watch, len(lines))
        broker.stop()
        broker.start()
        more = of_run("b")
        broker.topic("keyed", "restarted", written(tmp_path / "b.jsonl", more))
        wait_for_lines(watch, len(lines) + len(more))
        watch.send_signal(signal.SIGINT)
        assert watch.wait(DEADLINE_SECONDS) == 130
    assert verdicts(rows_of(out / "tables")) == {"a": "conforms", "b": "conforms"}


def test_kafkas_own_steps_are_judged_while_they_come(broker: Broker, tmp_path: Path) -> None:
    """Kafka's purgatory under load writes its steps to a topic of Kafka."""
    broker.topic("create", "steps", 2)
    out, topic = tmp_path / "out", broker.address("steps")
    load = ("--threads", "4", "--events", "20000", "--rate", "2000", "--lateness", "10000")
    kafka = ("record", "kafka", "--component", "purgatory", *load, "--out", topic)
    with watching(topic, out) as watch:
        done = subprocess.run(
            [PURGATORY, "trace", *kafka, "--work", WORK_FOLDER],
            capture_output=True,
            text=True,
            timeout=DEADLINE_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        said = re.match(r"run (\S+): ([0-9,]+) lines in a topic, ", done.stdout)
        assert said is not None, done.stdout
        assert done.stdout.endswith(f"to check it: purgatory trace check {topic}\n")
        lines = int(said[2].replace(",", ""))
        wait_for_lines(watch, lines)
    (verdict,) = (row for row in rows_of(out / "tables") if isinstance(row, VerdictRow))
    assert (verdict.run, verdict.events) == (said[1], lines)
    # On a loaded machine a search may be given up, and nothing else may go wrong.
    assert verdict.verdict in ("conforms", "inconclusive"), verdict


def test_records_that_went_before_they_were_read_are_told(broker: Broker, tmp_path: Path) -> None:
    broker.topic("create", "cut", 1)
    broker.topic("keyed", "cut", written(tmp_path / "a.jsonl", of_run("a")))
    out = tmp_path / "out"
    words = ("watch", broker.address("cut"), "--out", out, "--once")
    trace(*words, ends_with=0)
    behind = len(of_run("a"))
    lines = [*of_run("whole"), *of_run("half"), *of_run("last")]
    broker.topic("keyed", "cut", written(tmp_path / "b.jsonl", lines))
    broker.topic("cut", "cut", 0, behind + len(of_run("whole")) + 10)
    said = trace(*words, ends_with=3)
    assert re.search(rf"\[{behind}, .* cut-0\).*--skip-lost` goes on behind", said), said
    trace(*words, "--skip-lost", ends_with=4)
    assert verdicts(rows_of(out / "tables")) == {
        "a": "conforms",
        "half": "incomplete",
        "last": "conforms",
    }


def test_a_topic_that_is_not_there_is_told(broker: Broker, tmp_path: Path) -> None:
    said = trace("check", broker.address("none"), "--out", tmp_path / "out", ends_with=3)
    assert "the broker has no such topic: make it, or name another" in said
