"""A standalone cluster with two workers on the loopback address gives the local engine's rows."""

import json
import os
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from purgatory_spark.engine import jobs
from purgatory_traces.results.schemas import TableName
from purgatory_traces.traces.synthetic import Expected
from tests.pipeline.ports import free_ports

from .corpora import write_shuffled
from .test_elsewhere import (
    PURGATORY,
    ROOT,
    SECONDS,
    environment,
    run,
    spark_submit,
    tables,
)
from .test_logs import events

pytestmark = [
    pytest.mark.verify,
    pytest.mark.spark,
    pytest.mark.large,
    pytest.mark.skipif(os.name == "nt", reason="Spark's programs are shell scripts"),
]

RUNS, EVENTS = 12, 200
WORKERS = 2
SECONDS_TO_END = 20
PAGE = ROOT / "docs" / "how-to" / "check-traces-on-a-cluster.md"


class Cluster(NamedTuple):
    """The address of a cluster, and the words that a command needs for it."""

    master: str
    environment: dict[str, str]

    def words(self, log: Path) -> list[str]:
        """The master and the settings: loopback, little memory, and an event log."""
        settings = {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "1g",
            "spark.eventLog.dir": log.as_uri(),
            "spark.eventLog.enabled": "true",
            "spark.executor.memory": "512m",
            "spark.sql.files.maxPartitionBytes": "32k",  # many tasks, of few lines
            "spark.ui.enabled": "false",
        }
        confs = [f"--conf={name}={value}" for name, value in settings.items()]
        return ["--master", self.master, *confs]


@contextmanager
def daemon(folder: Path, env: dict[str, str], *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of Spark with its children, all of which are gone afterwards."""
    program = Path(spark_submit()).with_name("spark-class")
    with (folder / "daemons.log").open("ab") as said:
        process = subprocess.Popen(
            [str(program), *words],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS_TO_END)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def alive_workers(page: int) -> int:
    """Return how many workers the master counts; none before it answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{page}/json/", timeout=5) as answer:
            return int(json.load(answer)["aliveworkers"])
    except OSError:
        return 0


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A master and two workers with one processor and 512 MiB for executors each."""
    folder = tmp_path_factory.mktemp("cluster")
    env = {**environment(folder), "SPARK_DAEMON_MEMORY": "256m"}
    port, page = free_ports(2)
    master = f"spark://127.0.0.1:{port}"
    where = ["--host", "127.0.0.1"]
    deploy = "org.apache.spark.deploy"
    ports = ["--port", str(port), "--webui-port", str(page)]
    size = ["--webui-port", "0", "--cores", "1", "--memory", "512m"]
    with ExitStack() as stack:
        started = [
            stack.enter_context(daemon(folder, env, f"{deploy}.master.Master", *where, *ports))
        ]
        for number in range(WORKERS):
            place = ["--work-dir", str(folder / f"worker-{number}"), master]
            words = [f"{deploy}.worker.Worker", *where, *size, *place]
            started.append(stack.enter_context(daemon(folder, env, *words)))
        until = time.monotonic() + SECONDS
        while alive_workers(page) < WORKERS:
            said = (folder / "daemons.log").read_text("utf-8", "replace")
            assert all(process.poll() is None for process in started), said
            assert time.monotonic() < until, said
            time.sleep(0.5)
        yield Cluster(master, env)


@pytest.fixture
def expected(tmp_path: Path) -> list[Expected]:
    """The lines of each run are spread over all files."""
    (tmp_path / "events").mkdir()
    (tmp_path / "traces").mkdir()
    names = [f"{letter}.jsonl" for letter in "abcd"]
    return write_shuffled(tmp_path / "traces", RUNS, EVENTS, names)


def executors(folder: Path) -> dict[str, set[object]]:
    """The executors that have carried out tasks of each job, by the event log."""
    found: dict[str, set[object]] = {}
    names: dict[object, str] = {}
    for event in events(folder, "app-*"):
        if event["Event"] == "SparkListenerJobStart":
            properties, stages = event["Properties"], event["Stage IDs"]
            assert isinstance(properties, dict)
            assert isinstance(stages, list)
            names |= dict.fromkeys(stages, str(properties.get("spark.job.description")))
        elif event["Event"] == "SparkListenerTaskEnd":
            info = event["Task Info"]
            assert isinstance(info, dict)
            found.setdefault(names[event["Stage ID"]], set()).add(info["Executor ID"])
    return found


def test_the_rows_are_those_of_the_local_engine(
    tmp_path: Path, cluster: Cluster, expected: list[Expected]
) -> None:
    traces = (tmp_path / "traces").as_uri()
    words = ["trace", "check", "--engine", "spark", *cluster.words(tmp_path / "events")]
    command = [*PURGATORY, *words, "--out", "out", traces]
    code, said = run(command, tmp_path, cluster.environment)
    assert code == 1, said
    local = [*PURGATORY, "trace", "check", "--engine", "local", "--out", "local", "traces"]
    code, said = run(local, tmp_path, {**os.environ})
    assert code == 1, said
    found = tables(tmp_path / "out")
    assert str(found).replace(traces, "traces") == str(tables(tmp_path / "local"))
    verdicts = [(row["run"], row["verdict"], row["seq"]) for row in found[TableName.VERDICTS]]
    assert verdicts == [(run.run, run.verdict, run.seq) for run in expected]
    assert executors(tmp_path / "events")["judge runs"] == {"0", "1"}


def test_a_standalone_cluster_takes_no_python_in_cluster_mode(
    tmp_path: Path, cluster: Cluster
) -> None:
    """Check what the page says of deploy modes: Spark refuses before anything has started."""
    submit = [spark_submit(), "--master", cluster.master, "--deploy-mode", "cluster"]
    words = [str(jobs.__file__), "trace", "check", "traces"]
    code, said = run([*submit, *words], tmp_path, cluster.environment)
    assert code == 1
    sentence = re.search(r"Cluster deploy mode .*", said)
    assert sentence is not None, said
    assert f"`{sentence[0]}`" in PAGE.read_text(encoding="utf-8")
