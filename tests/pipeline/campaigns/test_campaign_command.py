"""``purgatory campaign`` as a person uses it: what it prints and leaves, how it exits, and dies."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from purgatory_spark.campaigns.folder import read_result
from tests.pipeline.processes import PURGATORY, may_be_interrupted, purgatory

from .judging_runs import manifest, rows

pytestmark = pytest.mark.verify

SECONDS = 900


def begun(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    """A campaign that has put two parts on record and is still at it."""
    process = subprocess.Popen(
        [PURGATORY, *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=may_be_interrupted,
    )
    deadline = time.monotonic() + SECONDS
    while len(list((folder / "out" / "parts").glob("part-*.parquet"))) < 2:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


@pytest.mark.slow
def test_a_broken_rule_and_its_replay_file(tmp_path: Path) -> None:
    words = ("mutant:pool-zero-refused", "--runs", "40", "--seed", "5")
    done = purgatory(tmp_path, "campaign", *words)
    assert done.returncode == 1, done.stderr
    assert "engine local: no cluster is named; --engine spark takes" in done.stderr
    assert "✗ not conformant: 1 cause of failure" in done.stdout
    assert "✗ broken  POOL-ZERO-REQUEST" in done.stdout
    folder = tmp_path / "purgatory-work" / "mutant-pool-zero-refused" / "campaign"
    (cause,) = rows(folder, "causes")
    assert (cause["rule"], cause["component"]) == ("POOL-ZERO-REQUEST", "memory_pool")
    replay = read_result(folder) / "replays" / str(cause["replay"])
    assert f"purgatory replay {replay.relative_to(tmp_path)}" in done.stdout
    again = purgatory(tmp_path, "replay", str(replay))
    assert again.returncode == 1
    assert "POOL-ZERO-REQUEST" in again.stdout
    report = purgatory(tmp_path, "report", str(folder / "results.jsonl"), "markdown")
    assert "POOL-ZERO-REQUEST" in report.stdout


def test_an_adapter_by_its_command(tmp_path: Path) -> None:
    written = purgatory(tmp_path, "init", "--lang", "python", "mine")
    assert written.returncode == 0, written.stderr
    command = f"{sys.executable} {tmp_path / 'mine' / 'adapter.py'}"
    done = purgatory(
        tmp_path, "campaign", "--command", command, "--runs", "4", "--out", "out", "--seed", "1"
    )
    assert done.returncode == 4, done.stderr
    assert {row["verdict"] for row in rows(tmp_path / "out")} == {"pass"}


PROBLEMS = [
    (("no-such-subject",), 2, "'no-such-subject' is no subject"),
    (("bundled", "--runs", "0"), 2, "0 is not in the range"),
    (("bundled", "--engine", "local", "--master", "local[1]"), 2, "--engine local has none"),
    (("bundled", "--resume", "--fresh"), 2, "--fresh throws it away"),
    (("bundled", "--runs", "1", "--out", "/dev/null/no"), 3, "no cannot be made or written to"),
    (("bundled-proposal", "--component", "timer", "--runs", "1"), 3, "timer was asked for"),
]


@pytest.mark.parametrize(("words", "code", "sentence"), PROBLEMS, ids=lambda each: str(each)[:30])
def test_foreseen_problems(
    words: tuple[str, ...], code: int, sentence: str, tmp_path: Path
) -> None:
    done = purgatory(tmp_path, "campaign", *words)
    assert done.returncode == code
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_killed_and_taken_up(tmp_path: Path) -> None:
    words = ("campaign", "bundled", "--component", "memory-pool", "--wave", "10", "--steps", "8")
    never_killed = purgatory(tmp_path, *words, "--runs", "800", "--seed", "3", "--out", "other")
    assert " carried out now" in never_killed.stdout
    purgatory(tmp_path, *words, "--runs", "4", "--seed", "9", "--out", "out")
    before = manifest(tmp_path / "out")
    again = purgatory(tmp_path, *words, "--runs", "800", "--seed", "3", "--out", "out")
    assert again.returncode == 2
    assert "take it up with --resume, name another --out" in again.stderr
    process = begun(tmp_path, *words, "--runs", "800", "--seed", "3", "--out", "out", "--fresh")
    process.kill()
    process.communicate()
    assert manifest(tmp_path / "out") == before
    parts = (tmp_path / "out" / "parts").glob("part-*.parquet")
    on_record = sum(pq.read_metadata(part).num_rows for part in parts)
    total = len(rows(tmp_path / "other"))
    assert 20 <= on_record < total
    done = purgatory(tmp_path, *words, "--runs", "800", "--seed", "3", "--out", "out", "--resume")
    assert done.returncode == never_killed.returncode, done.stderr
    assert f"{total - on_record} carried out now" in done.stdout
    assert f"{on_record} on record before" in done.stdout
    assert manifest(tmp_path / "out") == manifest(tmp_path / "other")


@pytest.mark.slow
def test_interrupted(tmp_path: Path) -> None:
    words = ("campaign", "bundled", "--runs", "9000", "--wave", "20", "--out", "out")
    process = begun(tmp_path, *words, "--component", "memory_pool")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert b"runs on record in out, go on with --resume" in said
    assert b"Traceback" not in said
    assert not (tmp_path / "out" / "manifest.json").exists()


@pytest.mark.slow
def test_two_hundred_runs_end_with_a_verdict(tmp_path: Path) -> None:
    words = ("campaign", "bundled", "--component", "channel-muting", "--seed", "3", "--out", "out")
    ended = purgatory(tmp_path, *words, "--runs", "200")
    assert ended.returncode == 0, ended.stdout
    assert "conformant: every applicable rule was put to the test and held" in ended.stdout
    assert "200 runs; 200 carried out now" in ended.stdout
    again = purgatory(tmp_path, *words, "--runs", "200", "--resume")
    assert again.returncode == 0
    assert "200 runs; 0 carried out now" in again.stdout
    few = purgatory(tmp_path, *words, "--runs", "99", "--fresh")
    assert few.returncode == 4
    assert "99 runs; 99 carried out now" in few.stdout
