"""Recording a workload from its beginning to its end: the bundled implementation, or Kafka."""

import json
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from purgatory_conformance.subjects.bundled import implementation
from purgatory_conformance.subjects.kafka import trace_recording_command
from purgatory_spec import profiles
from purgatory_traces.recording.bundled_workloads import (
    MAX_SINGLE_BYTES,
    POOL_BYTES,
    PURGE_INTERVAL,
    TICK_MS,
    WHEEL_SIZE,
    bundled_workload,
)
from purgatory_traces.recording.recorder import Recorder, Rotation
from purgatory_traces.recording.workload import Wish
from purgatory_traces.traces.lines import (
    Begin,
    DeclaredDeviation,
    Instance,
    MemoryPoolInstance,
    PurgatoryInstance,
    TimerInstance,
    WallClock,
)

KAFKA_RELEASE: Final = "4.4.0"
_KAFKA_DEVIATIONS: Final = (
    DeclaredDeviation("PURGATORY-CANCEL-KEEPS-TIME-OUT", "time_out_taken_with_key"),
)
_NO_TRACE: Final = Path("-")
_ENDS_WITHIN_SECONDS: Final = 60.0
_LONGEST_PAUSE_MS: Final = 2000


class RecordingFailed(Exception):
    """The recording program has failed; the message is the program's own."""


class Recorded(msgspec.Struct, frozen=True):
    """The files of a recording, and the figures of the run.

    Attributes:
        files: The files of the trace, or the address of its topic.
        lines: How many lines were written.
        bytes_: Their length before compression.
        turns: How many turns the workload's threads took, of one call or a few.
        elapsed_ns: How long they took.
        cpu_ns: The processor time of the whole process meanwhile, encoding and writing included.
        interrupted: Whether it was ended early.
    """

    files: Sequence[Path | str]
    lines: int
    bytes_: int
    turns: int
    elapsed_ns: int
    cpu_ns: int
    interrupted: bool = False


def record_bundled(
    component: profiles.Component,
    wish: Wish,
    path: Path | None,
    *,
    run: str = "bundled",
    lateness_ms: int = 500,
    rotation: Rotation | None = None,
) -> Recorded:
    """Record the bundled implementation; without a path, let the workload run unrecorded.

    Raises:
        OSError: the file cannot be created.
        TraceNotWritten: the trace could not be written to its end.
    """
    recorder = None
    if path is not None:
        ours = implementation()
        recorder = Recorder(
            path,
            run,
            subject=f"{ours.name} {ours.version}, {ours.runtime}",
            lateness_ms=lateness_ms,
            rotation=rotation,
        )
    workload = bundled_workload(component, wish, recorder)
    interrupted = False
    began_ns, began_cpu_ns = time.monotonic_ns(), time.process_time_ns()
    try:
        workload.run()
    except KeyboardInterrupt:
        interrupted = True
    workload_ns = time.monotonic_ns() - began_ns
    if recorder is not None and not interrupted and component is not profiles.Component.MEMORY_POOL:
        # What was due by now has run by then, and its line has come, or it is missing.
        time.sleep(min(2 * lateness_ms, _LONGEST_PAUSE_MS) / 1000)
    workload.close()
    if recorder is not None:
        recorder.close()
    cpu_ns = time.process_time_ns() - began_cpu_ns
    if recorder is None:
        return Recorded([], 0, 0, workload.turns, workload_ns, cpu_ns, interrupted)
    written = recorder.writer
    return Recorded(
        written.files,
        written.lines_written,
        written.bytes_written,
        workload.turns,
        workload_ns,
        cpu_ns,
        interrupted,
    )


def record_kafka(
    component: profiles.Component,
    wish: Wish,
    path: Path | str | None,
    *,
    run: str = "kafka",
    lateness_ms: int = 500,
    release: str = "",
    work_folder: Path,
) -> Recorded:
    """Record Apache Kafka; without a path, let the workload run unrecorded.

    In the place of a path, a text is the address of a topic.

    Raises:
        MissingTool: there is no Java, or no Maven and something to build.
        BuildFailed: the adapter cannot be built.
        ValueError: Kafka has no such release, or the release is older than 4.0.
        FileExistsError: the file exists.
        RecordingFailed: the program has failed.
    """
    version = release or KAFKA_RELEASE
    arguments = [str(path or _NO_TRACE), str(wish.threads), str(wish.lines), str(wish.keys)]
    arguments += [str(wish.seed), str(wish.rate)]
    command = trace_recording_command(version=version, arguments=arguments, work_folder=work_folder)
    if isinstance(path, Path):
        path.touch(exist_ok=False)
    begin = Begin(
        run=run,
        seq=0,
        at_ns=None,
        instance=_kafkas(component),
        clock=WallClock(lateness_ms),
        subject=f"Apache Kafka {version}",
        deviations=_KAFKA_DEVIATIONS if component is profiles.Component.PURGATORY else (),
    )
    told, interrupted = _converse(command, msgspec.json.encode(begin) + b"\n")
    return Recorded(
        [] if path is None else [path],
        told["lines"],
        told["bytes"],
        told["turns"],
        told["elapsed_ns"],
        told["cpu_ns"],
        interrupted,
    )


def _converse(command: tuple[str, ...], begin: bytes) -> tuple[dict[str, int], bool]:
    """Give the program its first line and wait for its last; the end of its input ends it early."""
    # A session of its own: an interrupt in the terminal is for this process to pass on.
    child = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    interrupted = False
    with child:
        try:
            child.stdin.write(begin)
            child.stdin.flush()
            child.wait()
        except KeyboardInterrupt:
            interrupted = True
        except BrokenPipeError:
            pass
        try:
            output, errors = child.communicate(timeout=_ENDS_WITHIN_SECONDS)
        except BaseException:
            child.kill()
            raise
    if child.returncode != 0:
        raise RecordingFailed(errors.decode("utf-8", "replace").strip())
    told: dict[str, int] = json.loads(output)
    return told, interrupted


def _kafkas(component: profiles.Component) -> Instance:
    """Return the configuration of Kafka's instance, and the profile of its legal choices."""
    match component:
        case profiles.Component.TIMER:
            return TimerInstance(
                profiles.TimerConfiguration(TICK_MS, WHEEL_SIZE),
                profiles.TimerProfile(
                    executor=profiles.Executor.THREAD,
                    structure=profiles.Structure.DELAY_QUEUE_WHEEL,
                ),
            )
        case profiles.Component.PURGATORY:
            return PurgatoryInstance(
                profiles.PurgatoryConfiguration(PURGE_INTERVAL, True, TICK_MS, WHEEL_SIZE),
                profiles.PurgatoryProfile(
                    executor=profiles.Executor.THREAD,
                    structure=profiles.Structure.DELAY_QUEUE_WHEEL,
                ),
            )
        case profiles.Component.MEMORY_POOL:
            return MemoryPoolInstance(
                profiles.MemoryPoolConfiguration(POOL_BYTES, MAX_SINGLE_BYTES)
            )
        case profiles.Component.CHANNEL_MUTING:
            raise ValueError("there are no traces of a server's channels")
