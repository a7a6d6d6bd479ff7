"""Traces and results on an S3-compatible store, which runs on the loopback address."""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from purgatory_pipeline.engines.sinks import CheckResults, read_results
from purgatory_pipeline.results.manifest import MANIFEST, Manifest, verify
from purgatory_pipeline.results.schemas import TableName
from purgatory_pipeline.traces.synthetic import run_lines
from purgatory_spec.profiles import Component

from .corpora import NAMES, rows_of, write_shuffled
from .test_elsewhere import environment, free_port, run, spark_submit

pytestmark = [pytest.mark.java, pytest.mark.slow]

STORE = "moto[server,s3]==5.2.5"
"""Run by uvx, in an environment of its own: it wants other versions than the pinned ones."""
BUCKET = "traces"
SECONDS = 600
POM = Path(__file__).parent / "s3" / "pom.xml"


@pytest.fixture(scope="module")
def jars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The jars that Spark needs for ``s3a://``, from Maven."""
    folder = tmp_path_factory.mktemp("jars")
    goal = ["dependency:copy-dependencies", f"-DoutputDirectory={folder}", "-DincludeScope=runtime"]
    command = ["mvn", "--quiet", "--batch-mode", "--file", str(POM), *goal]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


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
        process.wait(20)


def answers(address: str) -> bool:
    try:
        ask(address, seconds=5)
    except OSError:
        return False
    return True


def ask(url: str, method: str = "GET", content: bytes | None = None, seconds: int = 60) -> bytes:
    headers = {
        "Content-Type": "application/octet-stream",  # else the store takes it for a form
        "Authorization": "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/s3/aws4_request",
    }
    request = urllib.request.Request(url, content, headers, method=method)
    with urllib.request.urlopen(request, timeout=seconds) as answer:
        return bytes(answer.read())


def submitted(store: str, jars: Path, folder: Path, *arguments: str) -> tuple[int, str]:
    """Submit a check to a Spark that splits files after 40,000 bytes."""
    import purgatory_pipeline.engines.spark.jobs as jobs

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
    """
    Given lines of many runs in files of all kinds in a bucket, and empty lines
    When a check of the bucket is submitted, with results in the bucket, and files split at lines
    Then the rows are those of the local engine, line by line, and the manifest names whole files
    """
    traces = tmp_path / BUCKET / "in"
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
    content = ask(f"{store}/{BUCKET}/out/{MANIFEST}")
    manifest = msgspec.json.decode(content, type=Manifest)
    out = tmp_path / "out"
    for part in manifest.files:
        target = out / manifest.folder / part.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(ask(f"{store}/{BUCKET}/out/{manifest.folder}/{part.name}"))
    verify(out, manifest)
    assert [each.file for each in manifest.inputs] == sorted(
        f"s3a://{BUCKET}/in/{name}" for name in (*NAMES, "blanks.jsonl", "empty.jsonl")
    )
    there = CheckResults(manifest, out / manifest.folder)

    local = [sys.executable, "-m", "purgatory_conformance", "trace", "check", "--engine", "local"]
    code, said = run([*local, "--out", "here", f"{BUCKET}/in"], tmp_path, {**os.environ})
    assert code == 1, said
    here = read_results(tmp_path / "here")
    for table in TableName:
        assert [
            str(row).replace("s3a://traces/in/", "traces/in/") for row in rows_of(there, table)
        ] == [str(row) for row in rows_of(here, table)]

    # A second check, of what is new since then: nothing is.
    places = [f"s3a://{BUCKET}/in", "--out", f"s3a://{BUCKET}/more"]
    code, said = submitted(store, jars, tmp_path, *places, "--since", f"s3a://{BUCKET}/out")
    assert (code, "nothing is new since s3a://traces/out" in said) == (0, True), said
