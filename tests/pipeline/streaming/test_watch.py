"""The stream gives the rows of the batch, and a kill in mid-batch changes nothing."""

import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from purgatory_spark.streaming.tables import Tables
from purgatory_spec.profiles import Component
from purgatory_traces.engines.local import check_locally
from purgatory_traces.engines.sinks import Conclusion, ResultWriter, read_results
from purgatory_traces.results.schemas import TableName
from purgatory_traces.traces.byte_streams import CHECKSUM, checksum_line
from purgatory_traces.traces.synthetic import run_lines, write_corpus
from tests.pipeline.processes import PURGATORY
from tests.pipeline.streaming.watched import rows_of, write_records

pytestmark = [pytest.mark.verify, pytest.mark.spark, pytest.mark.slow]

FILES = 4
DEADLINE_SECONDS = 900


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every fault of every component, the runs spread line by line over files that stay open."""
    whole = tmp_path_factory.mktemp("whole")
    write_corpus(whole, runs=45, events=80, faulty=2, mixed=True, files=1)
    folder = tmp_path_factory.mktemp("corpus")
    lines = (whole / "part-00000.jsonl").read_bytes().splitlines(keepends=True)
    share = -(-len(lines) // FILES)
    for number in range(FILES):
        path = folder / f"part-{number:05d}.jsonl"
        path.write_bytes(b"".join(lines[number * share : (number + 1) * share]))
    return folder


def watching(corpus: Path, out: Path, *words: str) -> list[str | Path]:
    options: list[str | Path] = ["--out", out, "--files-per-batch", "1", "--every", "0.1"]
    return [PURGATORY, "trace", "watch", corpus, *options, "--master", "local[2]", *words]


def test_one_turn_is_sure_of_a_file_that_has_changed(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for run in ("flipped", "sound"):
        content = b"".join(run_lines(run, Component.TIMER, 60))
        log = logs / f"{run}.jsonl"
        line = checksum_line(log.name, sha256(content).hexdigest())
        log.with_name(log.name + CHECKSUM).write_text(line, encoding="utf-8")
        changed = content[:700] + bytes([content[700] ^ 1]) + content[701:]
        log.write_bytes(changed if run == "flipped" else content)
    done = subprocess.run(
        watching(logs, tmp_path / "out", "--once"),
        capture_output=True,
        encoding="utf-8",
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert done.returncode == 4, done.stderr
    verdicts = read_results(tmp_path / "out" / "tables").table("verdicts").to_pylist()
    # Files of one millisecond are read in any order.
    assert sorted((row["run"], row["verdict"]) for row in verdicts) == [
        ("flipped", "incomplete"),
        ("sound", "conforms"),
    ]


def test_a_kill_in_mid_batch_loses_nothing_and_counts_nothing_twice(
    corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "watched"
    killed_in = kill_in_mid_batch(watching(corpus, out), out, after=0)
    assert killed_in < FILES
    before = newest(out / "checkpoint" / "commits")
    assert before is not None
    assert before < killed_in

    done = subprocess.run(
        watching(corpus, out, "--once"),
        capture_output=True,
        encoding="utf-8",
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"batch {killed_in}:" in done.stdout
    assert f"batch {before}:" not in done.stdout

    with ResultWriter(tmp_path / "checked") as writer:
        writer.write(check_locally([corpus]))
        writer.finish()
        writer.commit(Conclusion("local", 1, {}))
    for table in TableName:
        watched = read_results(out / "tables").table(table).to_pylist()
        assert watched == read_results(tmp_path / "checked").table(table).to_pylist()
        assert watched

    # The control: the comparison sees a batch that is lost.
    tables = Tables(out / "tables")
    write_records(tables.staging, [])
    tables.take(FILES - 1, [])
    left = rows_of(out / "tables")
    assert Counter(left) != Counter(check_locally([corpus]))


def kill_in_mid_batch(command: Sequence[str | Path], out: Path, after: int) -> int:
    """Kill a watch and its Java machine in the middle of a batch beyond ``after``; which one."""
    watch = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        give_up = time.monotonic() + DEADLINE_SECONDS
        begun = None
        while begun is None or begun <= after:
            os.killpg(watch.pid, signal.SIGCONT)
            assert watch.poll() is None, "the watch has ended by itself"
            assert time.monotonic() < give_up, "no batch was ever under way"
            time.sleep(0.01)
            if batch_under_way(out) is not None:
                # It stands still: what is under way is so still when it is killed.
                os.killpg(watch.pid, signal.SIGSTOP)
                begun = batch_under_way(out)
    finally:
        os.killpg(watch.pid, signal.SIGKILL)
        watch.wait()
    return begun


def batch_under_way(out: Path) -> int | None:
    """The batch that has begun and is not committed, by what Spark has written down."""
    begun = newest(out / "checkpoint" / "offsets")
    done = newest(out / "checkpoint" / "commits")
    return begun if begun is not None and (done is None or begun > done) else None


def newest(folder: Path) -> int | None:
    return max((int(path.name) for path in folder.glob("*") if path.name.isdigit()), default=None)
