"""Traces and results on HDFS, and a driver that YARN has started; both run on loopback."""

import getpass
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from purgatory_spark.engine import jobs
from purgatory_traces.traces.synthetic import write_corpus

from .stored_results import ask, assert_rows_as_local, fetched, jars_of
from .test_elsewhere import environment, run, spark_submit

pytestmark = [pytest.mark.java, pytest.mark.large]

SOURCE = Path(__file__).parent / "stores" / "LoopbackHadoop.java"
SECONDS = 900


class Hadoop(NamedTuple):
    """A running HDFS and YARN."""

    conf: Path
    files: str
    web: str

    def put(self, path: str, content: bytes) -> None:
        """Write a file: the name node says where its bytes go."""
        place: str = json.loads(ask(self._url(path, "CREATE&noredirect=true"), "PUT"))["Location"]
        ask(place, "PUT", content)

    def get(self, path: str) -> bytes:
        """The content of a file."""
        return ask(self._url(path, "OPEN"))

    def _url(self, path: str, operation: str) -> str:
        return f"{self.web}/webhdfs/v1/{path}?op={operation}&user.name={getpass.getuser()}"


@pytest.fixture(scope="module")
def hadoop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hadoop]:
    jars = jars_of("hadoop", tmp_path_factory.mktemp("jars"))
    folder = tmp_path_factory.mktemp("hadoop")
    process = subprocess.Popen(
        ["java", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*", str(SOURCE), str(folder)],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        try:
            places = process.stdout.readline().split()
            assert len(places) == 2, "Hadoop has ended"
            yield Hadoop(folder / "conf", *places)
        finally:
            process.stdin.close()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()


def test_a_check_whose_driver_runs_on_yarn(tmp_path: Path, hadoop: Hadoop) -> None:
    write_corpus(tmp_path / "in", 9, 60, faulty=2, files=2)
    for file in (tmp_path / "in").iterdir():
        hadoop.put(f"in/{file.name}", file.read_bytes())
    import pyspark

    settings = {
        "spark.ui.enabled": "false",
        "spark.yarn.jars": f"local:{Path(pyspark.__file__).parent}/jars/*",
        "spark.yarn.maxAppAttempts": "1",
        "spark.yarn.appMasterEnv.PYSPARK_PYTHON": sys.executable,
        "spark.executorEnv.PYSPARK_PYTHON": sys.executable,
    }
    submit = [spark_submit(), "--master", "yarn", "--deploy-mode", "cluster"]
    submit += ["--num-executors", "1", "--driver-memory", "512m", "--executor-memory", "512m"]
    submit += [f"--conf={name}={value}" for name, value in settings.items()]
    check = ["trace", "check", f"{hadoop.files}/in", "--out", f"{hadoop.files}/out"]
    env = {**environment(tmp_path), "HADOOP_CONF_DIR": str(hadoop.conf)}

    code, said = run([*submit, str(jobs.__file__), *check], tmp_path, env, SECONDS)

    assert code == 1, said
    (log,) = [
        log for log in hadoop.conf.parent.rglob("stdout") if "trace check" in log.read_text("utf-8")
    ]
    assert log.read_text("utf-8").rstrip().endswith("exit code 1")
    there = fetched(lambda name: hadoop.get(f"out/{name}"), tmp_path / "out")
    assert_rows_as_local(there, f"{hadoop.files}/in", tmp_path / "in")
