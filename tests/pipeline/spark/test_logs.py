"""Logs of a check on Spark: Spark's event log, and the records of the command."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest

from purgatory_conformance.problems import EXIT_SUBJECT_FAILED
from purgatory_spec.profiles import Component
from purgatory_traces.traces.synthetic import run_lines
from tests.pipeline.processes import PURGATORY

pytestmark = [pytest.mark.verify, pytest.mark.spark, pytest.mark.slow]

OURS = re.compile(r"\S+Z [A-Z]+ purgatory_(\S+): (.+)")
JOBS = ["judge runs", "fetch summaries", "write verdicts"]
SECRET = "not-to-be-told"


class Ended(NamedTuple):
    """The end of a check: its code and its words."""

    exit_code: int
    out: str
    err: list[str]
    folder: Path


def checked(folder: Path, *words: str) -> Ended:
    """Check one run on Spark, on one processor."""
    (folder / "t.jsonl").write_bytes(b"".join(run_lines("r", Component.TIMER, 60)))
    command = [PURGATORY, "trace", "check", "t.jsonl", "--master", "local[1]", "--out", "out"]
    done = subprocess.run(
        [*command, "--format", "json", *words],
        cwd=folder,
        env={**os.environ, "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr.splitlines(), folder)


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """A check whose event log is kept, with all records shown."""
    folder = tmp_path_factory.mktemp("logged")
    (folder / "events").mkdir()
    settings = [
        "spark.eventLog.enabled=true",
        f"spark.eventLog.dir={(folder / 'events').as_uri()}",
        f"spark.hadoop.fs.s3a.secret.key={SECRET}",
    ]
    confs = [f"--conf={setting}" for setting in settings]
    ended = checked(folder, "--log-level", "debug", *confs)
    assert ended.exit_code == 0, ended.err
    return ended


def events(folder: Path, named: str = "local-*") -> Iterator[dict[str, object]]:
    """The events of the one application whose log is in a folder, as Spark 4 writes it."""
    (application,) = folder.glob(f"eventlog_v2_{named}")
    for path in sorted(application.glob("events_*.zstd")):
        with pa.input_stream(str(path), compression="zstd") as stream:
            yield from map(json.loads, stream.read().splitlines())


def test_the_event_log_names_the_jobs(logged: Ended) -> None:
    kinds: list[object] = []
    names: list[object] = []
    for event in events(logged.folder / "events"):
        kinds.append(event["Event"])
        if event["Event"] == "SparkListenerJobStart":
            properties = event["Properties"]
            assert isinstance(properties, dict)
            names.append(properties["spark.job.description"])
    assert list(dict.fromkeys(names))[:3] == JOBS
    assert "write coverage" in names
    assert kinds[-1] == "SparkListenerApplicationEnd"
    assert not any(SECRET in json.dumps(each) for each in events(logged.folder / "events"))


def test_records_go_to_standard_error_and_json_to_standard_output(logged: Ended) -> None:
    assert json.loads(logged.out)["verdicts"]["conforms"] == 1
    lines = [line for line in logged.err if not line.startswith("engine spark: ")]
    assert len(lines) == len(logged.err) - 1
    found = [OURS.fullmatch(line) for line in lines]
    assert None not in found, lines
    told = [(match[1], match[2]) for match in found if match is not None]
    assert [words for name, words in told if name.endswith("progress")][:3] == [
        f"jobs: {name}" for name in JOBS
    ]
    assert {name for name, _ in told} == {
        "traces.commands.check",
        "traces.engines.checking",
        "spark.engine.engine",
        "spark.engine.progress",
        "spark.engine.session",
    }
    assert "spark.hadoop.fs.s3a.secret.key" in "".join(lines)
    assert SECRET not in "".join(lines)


def test_spark_is_heard_if_its_level_is_asked_for(tmp_path: Path) -> None:
    """Control the test above, in which no line is Spark's."""
    ended = checked(tmp_path, "--conf", "spark.log.level=INFO")
    assert ended.exit_code == 0, ended.err
    assert json.loads(ended.out)["verdicts"]["conforms"] == 1
    assert any(re.match(r"INFO DAGScheduler: ", line) for line in ended.err)
    assert not any(map(OURS.fullmatch, ended.err))


def test_an_event_log_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    missing = (tmp_path / "missing").as_uri()
    confs = ["--conf", "spark.eventLog.enabled=true", "--conf", f"spark.eventLog.dir={missing}"]
    ended = checked(tmp_path, *confs)
    assert (ended.exit_code, ended.out) == (EXIT_SUBJECT_FAILED, "")
    assert ended.err[-1].startswith("purgatory: Spark does not start: ")
    assert str(tmp_path / "missing") in ended.err[-1]
    assert not any("Traceback" in line for line in ended.err)
