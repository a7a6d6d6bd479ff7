"""Apache Kafka as a subject: builds its adapter once and gives the command that starts it.

The adapter is a small Maven project (``conformance/adapters/kafka``). It is copied into the work
folder and built there, once for each Kafka release; a stamp with a digest of the sources tells a
later call that nothing is left to do.
"""

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from purgatory_conformance.subjects.building import installed, run_build, sole_builder

_STAMP = "sources.sha256"
_MAIN_CLASS = "purgatory.adapter.kafka.Main"
MASS_EXPIRY_CLASS = "purgatory.adapter.kafka.MassExpiry"
_TRACE_RECORDING_CLASS = "purgatory.adapter.kafka.TraceRecording"
_MUTING_CLASS = "purgatory.adapter.kafka.MutingFindings"
_BROKER_CLASS = "purgatory.adapter.kafka.BrokerFindings"
# One collector thread and a bounded heap: several adapters share a small machine.
_JAVA_OPTIONS = ("-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xmx512m")
_OLDER_RELEASE = re.compile(r"[0-3](\.|$)")


class KafkaMode(Enum):
    """The classes of Kafka that the adapter drives, and their clock."""

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


def kafka_command(
    *, version: str = "4.4.0", mode: KafkaMode = KafkaMode.VIRTUAL, work_folder: Path
) -> tuple[str, ...]:
    """Return the command line of the adapter for a Kafka release, built if it was not yet.

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
    """Return the command line for expiries in rounds of many operations, of unchanged Kafka.

    It prints one line of JSON for each round: the entries, the timer's size and the estimate that
    stay, and the purge interval. Arguments and errors are those of ``kafka_command``.
    """
    java = _java(version, KafkaMode.REAL_CLOCK, work_folder)
    return (*java, MASS_EXPIRY_CLASS, str(rounds), str(operations))


def trace_recording_command(
    *, version: str = "4.4.0", arguments: Sequence[str], work_folder: Path
) -> tuple[str, ...]:
    """Return the command line that records a trace of unchanged Kafka under a workload.

    The arguments are those of the adapter's class ``TraceRecording``. Errors are those of
    ``kafka_command``; releases before 4.0 are refused.
    """
    java = _java(version, KafkaMode.REAL_CLOCK, work_folder)
    return (*java, _TRACE_RECORDING_CLASS, *arguments)


def muting_findings_command(
    *, version: str = "4.4.0", scenarios: Sequence[str] = (), work_folder: Path
) -> tuple[str, ...]:
    """Return the command line that shows how Kafka's selector treats channels that wait.

    The scenarios are those of the adapter's class ``MutingFindings``, all if none is named; the
    exit code is 0 where all are reproduced. Errors are those of ``kafka_command``.
    """
    java = _java(version, None, work_folder)
    return (*java, _MUTING_CLASS, *scenarios)


def broker_findings_command(
    *, version: str = "4.4.0", scenarios: Sequence[str] = (), work_folder: Path
) -> tuple[str, ...]:
    """Return the command line that shows the same on a whole broker, whose jars it fetches.

    The scenarios are those of the adapter's class ``BrokerFindings``. The rest is that of
    ``muting_findings_command``; releases before 3.0, whose brokers need ZooKeeper, are refused.
    """
    if re.match(r"[0-2]\.", version):
        raise ValueError(f"a broker of release {version} needs ZooKeeper: take 3.0 or later")
    java = _java(version, None, work_folder)
    jars = broker_jars(version=version, work_folder=work_folder)
    return (*java, _BROKER_CLASS, str(jars), *scenarios)


def broker_jars(*, version: str = "4.4.0", work_folder: Path) -> Path:
    """Return the folder of the jars that a whole broker runs with, fetched if they were not yet.

    Arguments and errors are those of ``kafka_command``.
    """
    folder = work_folder.resolve() / "adapters" / f"kafka-broker-{version}"
    broker = _built_project(_sources_folder() / "broker", folder, version, mock=False)
    return broker / "target" / "lib"


def _java(version: str, mode: KafkaMode | None, work_folder: Path) -> tuple[str, ...]:
    """Return the command line up to the main class; without a mode Kafka is unchanged."""
    if not re.fullmatch(r"[0-9]+(\.[0-9A-Za-z-]+)*", version):
        raise ValueError(f"{version!r} is not a Kafka release such as '4.4.0'")
    if mode in _TIMER_ALONE and _scala_version(version):
        raise ValueError(f"there is no {mode.value} before release 4.0, which {version} is")
    if mode is KafkaMode.SHARED_LOCK and not _scala_version(version):
        raise ValueError(f"operations share no lock from release 4.0 on, which {version} is")
    java = installed("java", "install a Java runtime, version 17 or later")
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
    """Return the adapter's sources: package data in the wheel, or beside us in the source tree."""
    package = Path(__file__).resolve().parent.parent
    packaged = package / "data" / "adapters" / "kafka"
    return packaged if packaged.is_dir() else package.parent / "adapters" / "kafka"


def _built_project(sources: Path, project: Path, version: str, mock: bool) -> Path:
    digest = _digest(sources)
    if not _is_built(project, digest):
        maven = installed(
            "mvn", "install Apache Maven, version 3.6.3 or later, and a JDK 17 or later"
        )
        with sole_builder(project.parent / "kafka.lock"):
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
    """Return the Scala version of a release's purgatory; empty where it is in Java."""
    return "2.12" if _OLDER_RELEASE.match(version) else ""


def _build(sources: Path, project: Path, digest: str, command: tuple[str, ...]) -> None:
    """Build in a folder of its own, and move it into place whole."""
    with tempfile.TemporaryDirectory(
        prefix="kafka-build-", dir=project.parent, ignore_cleanup_errors=True
    ) as folder:
        fresh = Path(folder) / "fresh"
        shutil.copytree(sources, fresh, ignore=shutil.ignore_patterns("target"))
        # Maven looks for extensions to load in the nearest .mvn, in any folder further up.
        (fresh / ".mvn").mkdir(exist_ok=True)
        run_build(command, fresh, "Maven")
        (fresh / _STAMP).write_text(digest, encoding="ascii")
        if project.exists():
            project.rename(Path(folder) / "former")
        fresh.rename(project)
