"""Apache Kafka as a subject: builds its adapter once and gives the command that starts it.

The adapter is a small Maven project (``conformance/adapters/kafka``). It is copied into the work
folder and built there, once for each Kafka release; a stamp with a digest of the sources tells a
later call that nothing is left to do.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import IO

_BUILD_SECONDS = 600.0
_OUTPUT_LINES = 30
_STAMP = "sources.sha256"
_MAIN_CLASS = "purgatory.adapter.kafka.Main"
_MASS_EXPIRY_CLASS = "purgatory.adapter.kafka.MassExpiry"
_TRACE_RECORDING_CLASS = "purgatory.adapter.kafka.TraceRecording"
_MUTING_CLASS = "purgatory.adapter.kafka.MutingFindings"
_BROKER_CLASS = "purgatory.adapter.kafka.BrokerFindings"
# One collector thread and a bounded heap: several adapters share a small machine.
_JAVA_OPTIONS = ("-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xmx512m")
_OLDER_RELEASE = re.compile(r"[0-3](\.|$)")


class KafkaMode(Enum):
    """Which classes of Kafka's the adapter drives, and on which clock."""

    VIRTUAL = "virtual"
    """``SystemTimer`` and the purgatory, stepped on a virtual clock, and ``SimpleMemoryPool``."""

    LEAK_TRACKING = "leak-tracking"
    """``GarbageCollectedMemoryPool`` alone."""

    REAL_CLOCK = "real-clock"
    """``SystemTimer`` and its reaper as they are, on the real clock."""

    MOCK_TIMER = "mock-timer"
    """``MockTimer`` of Kafka's own tests; released in test jars, for example of 4.3.0."""

    SHARED_LOCK = "shared-lock"
    """The purgatory as before, its operations given one lock: releases 2.4 to 3.9."""


_TIMER_ALONE = (KafkaMode.REAL_CLOCK, KafkaMode.MOCK_TIMER)
_VIRTUAL_CLOCK = (KafkaMode.VIRTUAL, KafkaMode.SHARED_LOCK)


class MissingTool(Exception):
    """A program that is needed is not installed."""

    def __init__(self, tool: str, advice: str) -> None:
        """Keep the tool's name and the sentence that says what to install."""
        super().__init__(f"'{tool}' is not installed: {advice}")
        self.tool = tool
        self.advice = advice


class BuildFailed(Exception):
    """The adapter cannot be built; ``output`` holds the last lines of what the build said."""

    def __init__(self, problem: str, output: str = "") -> None:
        """Keep what went wrong and the build's last lines."""
        super().__init__(f"{problem}\n{output}" if output else problem)
        self.problem = problem
        self.output = output


def kafka_command(
    *, version: str = "4.4.0", mode: KafkaMode = KafkaMode.VIRTUAL, work_folder: Path
) -> tuple[str, ...]:
    """The command line of the adapter for a Kafka release, built if it was not yet.

    Args:
        version: the Kafka release: 4.0.0 or later, or 2.4.0 or later without the timer; channels
            from 2.8 on.
        mode: the choice of Kafka's classes and of the clock.
        work_folder: where the build is kept, in ``adapters/kafka-<version>[-mock]``.

    Raises:
        MissingTool: there is no ``java``, or no ``mvn`` and something to build.
        BuildFailed: Maven failed, or another process holds the build for too long.
        ValueError: ``version`` is not the name of a release, or of one without this mode.
    """
    arguments = () if mode is KafkaMode.VIRTUAL else (f"--{mode.value}",)
    return (*_java(version, mode, work_folder), _MAIN_CLASS, *arguments)


def mass_expiry_command(
    *, version: str = "4.4.0", rounds: int, operations: int, work_folder: Path
) -> tuple[str, ...]:
    """The command line that lets operations expire together, in rounds, with nothing replaced.

    It prints one line of JSON for each round: the entries, the timer's size and the estimate that
    stay, and the purge interval. Arguments and errors are those of ``kafka_command``.
    """
    java = _java(version, KafkaMode.REAL_CLOCK, work_folder)
    return (*java, _MASS_EXPIRY_CLASS, str(rounds), str(operations))


def trace_recording_command(
    *, version: str = "4.4.0", arguments: Sequence[str], work_folder: Path
) -> tuple[str, ...]:
    """The command line that records a trace of Kafka under a workload, with nothing replaced.

    The arguments are those of the adapter's class ``TraceRecording``. Errors are those of
    ``kafka_command``; releases before 4.0 are refused.
    """
    java = _java(version, KafkaMode.REAL_CLOCK, work_folder)
    return (*java, _TRACE_RECORDING_CLASS, *arguments)


def muting_findings_command(
    *, version: str = "4.4.0", scenarios: Sequence[str] = (), work_folder: Path
) -> tuple[str, ...]:
    """The command line that shows what Kafka's selector does with channels that wait for memory.

    The scenarios are those of the adapter's class ``MutingFindings``, all if none is named; the
    exit code is 0 where all are reproduced. Errors are those of ``kafka_command``.
    """
    java = _java(version, None, work_folder)
    return (*java, _MUTING_CLASS, *scenarios)


def broker_findings_command(
    *, version: str = "4.4.0", scenarios: Sequence[str] = (), work_folder: Path
) -> tuple[str, ...]:
    """The command line that shows the same on a whole broker, whose jars it fetches.

    The scenarios are those of the adapter's class ``BrokerFindings``. The rest is that of
    ``muting_findings_command``; releases before 3.0, whose brokers need ZooKeeper, are refused.
    """
    if re.match(r"[0-2]\.", version):
        raise ValueError(f"a broker of release {version} needs ZooKeeper: take 3.0 or later")
    java = _java(version, None, work_folder)
    folder = work_folder.resolve() / "adapters" / f"kafka-broker-{version}"
    broker = _built_project(_sources_folder() / "broker", folder, version, mock=False)
    return (*java, _BROKER_CLASS, str(broker / "target" / "lib"), *scenarios)


def _java(version: str, mode: KafkaMode | None, work_folder: Path) -> tuple[str, ...]:
    """The command line up to the main class; without a mode nothing of Kafka's is replaced."""
    if not re.fullmatch(r"[0-9]+(\.[0-9A-Za-z-]+)*", version):
        raise ValueError(f"{version!r} is not a Kafka release such as '4.4.0'")
    if mode in _TIMER_ALONE and _scala_version(version):
        raise ValueError(f"there is no {mode.value} before release 4.0, which {version} is")
    if mode is KafkaMode.SHARED_LOCK and not _scala_version(version):
        raise ValueError(f"operations share no lock from release 4.0 on, which {version} is")
    java = _tool("java", "install a Java runtime, version 17 or later")
    mock = mode is KafkaMode.MOCK_TIMER
    name = f"kafka-{version}-mock" if mock else f"kafka-{version}"
    folder = work_folder.resolve() / "adapters" / name
    project = _built_project(_sources_folder(), folder, version, mock)
    output = project / "target"
    folders = [output / "shadow"] if mode in _VIRTUAL_CLOCK else []
    folders.append(output / "classes")
    class_path = os.pathsep.join(map(str, [*folders, *sorted((output / "lib").glob("*.jar"))]))
    return (java, *_JAVA_OPTIONS, "-cp", class_path)


def _sources_folder() -> Path:
    """The adapter's sources: in the wheel as package data, in the source tree beside us."""
    package = Path(__file__).resolve().parent.parent
    packaged = package / "data" / "adapters" / "kafka"
    return packaged if packaged.is_dir() else package.parent / "adapters" / "kafka"


def _tool(name: str, advice: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise MissingTool(name, advice)
    return path


def _built_project(sources: Path, project: Path, version: str, mock: bool) -> Path:
    digest = _digest(sources)
    if not _is_built(project, digest):
        maven = _tool("mvn", "install Apache Maven, version 3.6.3 or later, and a JDK 17 or later")
        project.parent.mkdir(parents=True, exist_ok=True)
        with _sole_builder(project.parent / "kafka.lock"):
            # Another process may have built the adapter during the wait for the lock.
            if not _is_built(project, digest):
                _build(sources, project, digest, _maven_command(maven, version, mock))
    return project


def _digest(sources: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(sources.rglob("*")):
        name = path.relative_to(sources).as_posix()
        if path.is_file() and not name.startswith("target/"):
            content = path.read_bytes()
            digest.update(f"{name}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()


def _is_built(project: Path, digest: str) -> bool:
    try:
        return (project / _STAMP).read_text(encoding="ascii") == digest
    except OSError:
        return False


def _maven_command(maven: str, version: str, mock: bool) -> tuple[str, ...]:
    scala = _scala_version(version)
    chosen = (
        f"-Dkafka.version={version}",
        *([f"-Dscala.version={scala}"] if scala else []),
        *(["-Pmock"] if mock else []),
    )
    return (maven, "-B", "-q", "-ntp", "-Dstyle.color=never", *chosen, "test-compile")


def _scala_version(version: str) -> str:
    """The version of Scala that a release's purgatory is taken for; none where it is in Java."""
    return "2.12" if _OLDER_RELEASE.match(version) else ""


def _build(sources: Path, project: Path, digest: str, command: tuple[str, ...]) -> None:
    """Builds in a folder of its own and moves it into place whole: no half build is seen."""
    with tempfile.TemporaryDirectory(
        prefix="kafka-build-", dir=project.parent, ignore_cleanup_errors=True
    ) as folder:
        fresh = Path(folder) / "fresh"
        shutil.copytree(sources, fresh, ignore=shutil.ignore_patterns("target"))
        _run_maven(command, fresh)
        (fresh / _STAMP).write_text(digest, encoding="ascii")
        if project.exists():
            project.rename(Path(folder) / "former")
        fresh.rename(project)


def _run_maven(command: tuple[str, ...], folder: Path) -> None:
    try:
        finished = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=_BUILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        raise BuildFailed(f"Maven was not done after {_BUILD_SECONDS:.0f} s") from expired
    if finished.returncode != 0:
        output = "\n".join(finished.stdout.splitlines()[-_OUTPUT_LINES:])
        raise BuildFailed(f"Maven ended with exit code {finished.returncode}", output)


@contextmanager
def _sole_builder(lock: Path) -> Iterator[None]:
    """Holds the lock file, which the system lets go of even where its holder is killed."""
    deadline = time.monotonic() + _BUILD_SECONDS
    with lock.open("ab") as file:
        while not _try_lock(file):
            if time.monotonic() > deadline:
                raise BuildFailed(f"another process has held {lock} for {_BUILD_SECONDS:.0f} s")
            time.sleep(0.1)
        yield


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
