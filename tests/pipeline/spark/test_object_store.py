"""Traces and results on an S3-compatible store, which runs on the loopback address."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from purgatory_spec.profiles import Component
from purgatory_traces.traces.synthetic import run_lines
from tests.pipeline.ports import free_port

from .corpora import NAMES, write_shuffled
from .stored_results import ask, assert_rows_as_local, fetched, jars_of
from .test_elsewhere import environment, run, spark_submit

pytestmark = [pytest.mark.verify, pytest.mark.java, pytest.mark.slow]

STORE = "moto[server,s3]==5.2.5"
"""Run by uvx, in an environment of its own: it wants other versions than the pinned ones."""
BUCKET = "traces"
SECONDS = 600


@pytest.fixture(scope="module")
def jars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return jars_of("s3", tmp_path_factory.mktemp("jars"))


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    """The address of a store with an empty bucket."""
    port = free_port()
    uvx = Path(sys.prefix) / "bin" / "uvx"
    process = subprocess.Popen(
        [str(uvx), "--quiet", "--from", STORE, "moto_server", "-H", "127.0.0.1", "-p", str(port)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        until = time.monotonic() + SECONDS
        while not answers(address):
            assert process.poll() is None, "the store has ended"
            assert time.monotonic() < until, "the store does not answer"
            time.sleep(0.2)
        ask(f"{address}/{BUCKET}", "PUT", b"")
        yield address
    finally:
        process.terminate()
        process.wait(SECONDS)


def answers(address: str) -> bool:
    try:
        ask(address, seconds=5)
    except OSError:
        return False
    return True


def submitted(store: str, jars: Path, folder: Path, *arguments: str) -> tuple[int, str]:
    """Submit a check to a Spark that splits files after 40,000 bytes."""
    import purgatory_spark.engine.jobs as jobs

    settings = {
        "spark.ui.enabled": "false",
        "spark.jars": ",".join(sorted(str(jar) for jar in jars.iterdir())),
        "spark.hadoop.fs.s3a.endpoint": store,
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.access.key": "any",
        "spark.hadoop.fs.s3a.secret.key": "any",
        "spark.sql.files.maxPartitionBytes": "40000",
    }
    confs = [f"--conf={name}={value}" for name, value in settings.items()]
    submit = [spark_submit(), "--master", "local[1]", *confs, str(jobs.__file__)]
    return run([*submit, "trace", "check", *arguments], folder, environment(folder), SECONDS)


def test_a_check_from_bucket_to_bucket(tmp_path: Path, store: str, jars: Path) -> None:
    traces = tmp_path / "in"
    traces.mkdir(parents=True)
    write_shuffled(traces, runs=12, events=200)
    blanks = b"\n \n" + b"".join(run_lines("blank", Component.TIMER, 60)).replace(b"}\n", b"}\n\n")
    (traces / "blanks.jsonl").write_bytes(blanks * 4 + b"\n\n")
    (traces / "empty.jsonl").touch()
    (traces / "note.txt").write_bytes(b"x")
    for file in traces.iterdir():
        ask(f"{store}/{BUCKET}/in/{file.name}", "PUT", file.read_bytes())

    places = [f"s3a://{BUCKET}/in", "--out", f"s3a://{BUCKET}/out"]
    code, said = submitted(store, jars, tmp_path, *places)

    assert code == 1, said
    assert "ignored 1 file in the folders: s3a://traces/in/note.txt" in said
    there = fetched(lambda name: ask(f"{store}/{BUCKET}/out/{name}"), tmp_path / "out")
    assert [each.file for each in there.manifest.inputs] == sorted(
        f"s3a://{BUCKET}/in/{name}" for name in (*NAMES, "blanks.jsonl", "empty.jsonl")
    )
    assert_rows_as_local(there, f"s3a://{BUCKET}/in", traces)

    # A second check, of what is new since then: nothing is.
    places = [f"s3a://{BUCKET}/in", "--out", f"s3a://{BUCKET}/more"]
    code, said = submitted(store, jars, tmp_path, *places, "--since", f"s3a://{BUCKET}/out")
    assert (code, "nothing is new since s3a://traces/out" in said) == (0, True), said
