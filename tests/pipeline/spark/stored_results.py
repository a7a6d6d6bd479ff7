"""The rows that a check has written into a store, against the rows of the local engine."""

import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import msgspec

from purgatory_traces.engines.sinks import CheckResults, read_results
from purgatory_traces.results.manifest import MANIFEST, Manifest, verify
from purgatory_traces.results.schemas import TableName

from .corpora import rows_of
from .test_elsewhere import run

SECONDS = 600


def ask(url: str, method: str = "GET", content: bytes | None = None, seconds: int = 60) -> bytes:
    """Return what a store answers."""
    headers = {
        "Content-Type": "application/octet-stream",  # else S3's store takes it for a form
        "Authorization": "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/s3/aws4_request",
    }
    request = urllib.request.Request(url, content, headers, method=method)
    with urllib.request.urlopen(request, timeout=seconds) as answer:
        return bytes(answer.read())


def jars_of(store: str, folder: Path) -> Path:
    """The jars of a store, from Maven, in a folder."""
    pom = Path(__file__).parent / "stores" / f"{store}.xml"
    goal = ["dependency:copy-dependencies", f"-DoutputDirectory={folder}", "-DincludeScope=runtime"]
    command = ["mvn", "--quiet", "--batch-mode", "--file", str(pom), *goal]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def fetched(get: Callable[[str], bytes], out: Path) -> CheckResults:
    """The results, each file of which ``get`` brings by its name, checked against the manifest."""
    manifest = msgspec.json.decode(get(MANIFEST), type=Manifest)
    for part in manifest.files:
        target = out / manifest.folder / part.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(get(f"{manifest.folder}/{part.name}"))
    verify(out, manifest)
    return CheckResults(manifest, out / manifest.folder)


def assert_rows_as_local(there: CheckResults, address: str, traces: Path) -> None:
    """The rows are those of the local engine for the same files on a path, line by line."""
    folder = traces.parent
    local = [sys.executable, "-m", "purgatory_conformance", "trace", "check", "--engine", "local"]
    code, said = run([*local, "--out", "here", traces.name], folder, {**os.environ})
    assert code == 1, said
    here = read_results(folder / "here")
    for table in TableName:
        rows = [str(row).replace(address, traces.name) for row in rows_of(there, table)]
        assert rows == [str(row) for row in rows_of(here, table)]
