"""List the peers in the order of the tables, and make each ready."""

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import purgatory_impl
from purgatory_lab.benchmarks.bench.building import (
    NO_CHECKOUT,
    NotBuilt,
    build_compiled,
    build_go,
    build_jvm,
    build_rust,
)
from purgatory_lab.benchmarks.bench.talking import Start


@dataclass(frozen=True)
class Place:
    """The place where peers are made and run.

    Attributes:
        checkout: The folder of the peers' sources; None without a checkout.
        work: Folder for everything that is made.
    """

    checkout: Path | None
    work: Path

    def log(self, name: str) -> Path:
        """Return the file for the messages of a peer, or of its build."""
        folder = self.work / "logs"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{name}.log"

    def sources(self) -> Path:
        """Return the folder of the peers' sources.

        Raises:
            NotBuilt: there is none.
        """
        if self.checkout is None:
            raise NotBuilt(NO_CHECKOUT)
        return self.checkout


@dataclass(frozen=True)
class Roll:
    """The way in which one peer is made ready.

    Attributes:
        name: In tables and options.
        start: Builds it, and says how it is started; raises ``NotBuilt``.
        runtime: What the end of its hello's ``runtime`` must be; anything if empty.
        whole: Whether the cost of its process belongs beside that of the thread that measures,
            since other threads work for it: collectors of garbage, compilers, workers.
        alone: Command-line words that start the peer for a single request about memory, in the same
            process.
        environment: Variables for it.
    """

    name: str
    start: Callable[[Place], Start]
    runtime: str = ""
    whole: bool = False
    alone: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def _java(name: str, *flags: str) -> Callable[[Place], Start]:
    def start(place: Place) -> Start:
        folder = build_jvm(place.sources(), place.log("build-jvm"))
        path = "target/classes:target/lib/*".replace(":", ";" if sys.platform == "win32" else ":")
        machine = ["java", "-XX:+UseG1GC", *flags, "-cp", path]
        return Start([*machine, "purgatory.peer.Main", name], folder, place.log(name))

    return start


def _go(label: str, name: str) -> Callable[[Place], Start]:
    def start(place: Place) -> Start:
        program = build_go(place.sources(), place.work, place.log("build-go"))
        return Start([program, name], place.work, place.log(label))

    return start


def _rust(place: Place) -> Start:
    program = build_rust(place.sources(), place.work, place.log("build-rust"))
    return Start([program, "hierarchical-hash-wheel"], place.work, place.log("rust"))


def _python(label: str, name: str) -> Callable[[Place], Start]:
    """Return a peer in the Python that runs this."""

    def start(place: Place) -> Start:
        return _python_start(place, label, Path(sys.executable), name)

    return start


def _compiled(label: str, name: str) -> Callable[[Place], Start]:
    """Return a peer in the environment of the compiled wheel, or in this Python."""

    def start(place: Place) -> Start:
        if place.checkout is None and purgatory_impl.COMPILED:
            return _python_start(place, label, Path(sys.executable), name)
        python = build_compiled(place.sources(), place.work, place.log("build-compiled"))
        return _python_start(place, label, python, name)

    return start


def _python_start(place: Place, label: str, python: Path, name: str) -> Start:
    command: list[str | Path] = [python, "-P", "-m", "purgatory_lab.benchmarks.python_peer", name]
    return Start(command, place.work, place.log(label))


def own_roll(name: str, command: str) -> Roll:
    """Return a peer that the user has written.

    Args:
        name: In tables.
        command: How it is started in the present folder, as a shell would read it.
    """

    def start(place: Place) -> Start:
        words = shlex.split(command)
        if not words:
            raise NotBuilt("its command is empty")
        return Start(words, Path.cwd(), place.log(name))

    return Roll(name, start)


_ALONE: Final = ("--alone",)

ROLLS: Final = (
    Roll("kafka", _java("kafka"), whole=True),
    Roll("netty", _java("netty"), whole=True),
    Roll("go", _go("go", "runtime"), whole=True),
    Roll("go-wheel", _go("go-wheel", "wheel"), whole=True),
    Roll("rust", _rust),
    Roll("compiled", _compiled("compiled", "implementation"), ", compiled", alone=_ALONE),
    Roll("pure", _python("pure", "implementation"), ", interpreted", alone=_ALONE),
    Roll("old-design", _compiled("old-design", "old-design"), ", compiled", alone=_ALONE),
    Roll("asyncio", _python("asyncio", "asyncio")),
    Roll("heapq", _python("heapq", "heapq")),
)
"""The peers of the measures."""

WORKLOAD_ROLLS: Final = (
    Roll("kafka", _java("kafka", "-Xmx200m"), whole=True),
    Roll("compiled", _compiled("compiled", "implementation"), ", compiled", alone=_ALONE),
    Roll("pure", _python("pure", "implementation"), ", interpreted", alone=_ALONE),
    Roll("old-design", _compiled("old-design", "old-design"), ", compiled", alone=_ALONE),
)
"""The peers of the proposal's workload; Kafka with the heap that the proposal gave it."""

OLD_PURE: Final = Roll(
    "old-design-pure", _python("old-design-pure", "old-design"), ", interpreted", alone=_ALONE
)
"""The old design, interpreted: run only when asked for by name."""
