"""The writer: nothing is lost, nothing waits for ever, and what goes wrong is told."""

import gzip
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from purgatory_traces.recording.recorder import WrittenEvent
from purgatory_traces.recording.trace_writer import TraceNotWritten, TraceWriter, further_file

from .recordings import LONG_S

EVENT = "ran"


def line(writer: TraceWriter) -> int:
    seq = writer.next_seq()
    writer.put(WrittenEvent("run", seq, 0, "thread", EVENT, "task"))
    return seq


def numbers(path: Path) -> list[int]:
    text = path.read_bytes()
    if path.name.endswith(".gz"):
        text = gzip.decompress(text)
    return [json.loads(raw)["seq"] for raw in text.splitlines()]


@pytest.mark.parametrize("name", ["trace.jsonl", "trace.jsonl.gz"])
def test_lines_of_many_threads_are_all_written_and_numbered_without_gaps(
    name: str, tmp_path: Path
) -> None:
    writer = TraceWriter(tmp_path / name)
    threads = [
        threading.Thread(target=lambda: [line(writer) for _ in range(2000)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    last = line(writer)
    writer.close(last)
    assert sorted(numbers(tmp_path / name)) == list(range(8001))
    assert writer.lines_written == 8001


def test_a_file_that_exists_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text("mine\n", encoding="utf-8")
    with pytest.raises(FileExistsError):
        TraceWriter(path)
    assert path.read_text(encoding="utf-8") == "mine\n"


def test_what_comes_behind_the_last_line_is_not_written(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "trace.jsonl")
    last = line(writer)
    line(writer)
    writer.close(last)
    assert numbers(tmp_path / "trace.jsonl") == [0]


def test_a_further_file_begins_at_its_border(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl.gz"
    writer = TraceWriter(path)
    for _ in range(10):
        line(writer)
    border = line(writer)
    writer.next_file(border)
    last = line(writer)
    writer.close(last)
    second = tmp_path / "trace-2.jsonl.gz"
    assert second == further_file(path, 2)
    assert writer.files in ([path], [path, second])
    # The border may be told after the line was written: then the file grows on.
    assert [*numbers(path), *(numbers(second) if second.exists() else [])] == list(range(12))


def test_a_border_that_is_told_in_time_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    writer = TraceWriter(path)
    writer.next_file(5)
    for _ in range(5):
        line(writer)
    last = [line(writer) for _ in range(5)][-1]
    writer.close(last)
    assert numbers(path) == list(range(5))
    assert numbers(tmp_path / "trace-2.jsonl") == list(range(5, 10))


class Stuck:
    """A file that takes nothing for a while, and then perhaps never again."""

    def __init__(self, failure: OSError | None = None) -> None:
        self.began = threading.Event()
        self.go_on = threading.Event()
        self.failure = failure

    def write(self, encoded: bytes) -> int:
        self.began.set()
        self.go_on.wait(LONG_S)
        if self.failure is not None:
            raise self.failure
        return len(encoded)

    def close(self) -> None:
        pass


def stuck_writer(folder: Path, stuck: Stuck) -> TraceWriter:
    writer = TraceWriter(folder / "trace.jsonl", most_buffered=100)
    writer._file.close()
    writer._file = stuck  # type: ignore[assignment]
    return writer


def test_who_meets_a_full_buffer_waits_until_there_is_room(tmp_path: Path) -> None:
    stuck = Stuck()
    writer = stuck_writer(tmp_path, stuck)
    line(writer)
    assert stuck.began.wait(LONG_S)  # the writing thread has taken it, and is stuck with it
    for _ in range(100):
        line(writer)
    assert writer.is_full
    waiter = threading.Thread(target=writer.wait_for_room)
    waiter.start()
    waiter.join(0.1)
    assert waiter.is_alive()
    stuck.go_on.set()
    waiter.join(LONG_S)
    assert not waiter.is_alive()
    writer.close(line(writer))


def test_a_write_that_fails_is_told_by_close_and_stops_nobody(tmp_path: Path) -> None:
    stuck = Stuck(OSError(28, "No space left on device"))
    stuck.go_on.set()
    writer = stuck_writer(tmp_path, stuck)
    line(writer)
    for _ in range(300):
        line(writer)
        writer.wait_for_room()
    with pytest.raises(TraceNotWritten, match="No space left"):
        writer.close(line(writer))
    with pytest.raises(TraceNotWritten):
        writer.close(0)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_told_by_close(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "trace.jsonl")
    writer._file.close()
    writer._file = Path("/dev/full").open("wb")  # noqa: SIM115
    for _ in range(2000):
        last = line(writer)
    with pytest.raises(TraceNotWritten, match="No space left"):
        writer.close(last)


PROGRAM = """
from pathlib import Path
from purgatory_traces.recording import Recorder, RecordedTimer
timer = RecordedTimer(Recorder(Path("trace.jsonl"), "run"))
timer.add(print, 60_000)
"""


@pytest.mark.slow
def test_a_program_that_ends_without_closing_leaves_no_last_line(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        check=True,
        timeout=5 * LONG_S,
        env={**os.environ},
    )
    text = (tmp_path / "trace.jsonl").read_text(encoding="utf-8")
    assert '"kind":"end"' not in text
