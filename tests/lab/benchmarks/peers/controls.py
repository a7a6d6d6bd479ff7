"""The foreign peers' own controls, run in a copy of a peer, so that the checkout stays as it is."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from purgatory_lab.benchmarks.bench.building import NotBuilt, build_go, build_jvm, build_rust

ROOT = Path(__file__).resolve().parents[4]
_SECONDS = 300.0
_CLASS_PATH = os.pathsep.join(("target/test-classes", "target/classes", "target/lib/*"))


@dataclass(frozen=True)
class Fault:
    """A piece of a peer's text, what stands there instead, and the one control that refuses it."""

    file: str
    right: str
    wrong: str
    refused_by: str

    def plant(self, folder: Path) -> None:
        path = folder / self.file
        text = path.read_text(encoding="utf-8")
        assert text.count(self.right) == 1
        path.write_text(text.replace(self.right, self.wrong), encoding="utf-8")


@dataclass(frozen=True)
class Said:
    """The end of the controls: the code, the names of those that held or not, and all words."""

    code: int
    held: set[str]
    failed: set[str]
    output: str


@dataclass(frozen=True)
class Peer:
    """One folder below ``lab/peers``, with its tools."""

    # ``fetch`` is the command that gets what the peer depends on. ``build`` is given a checkout, a
    # folder for what is made, and a log. ``commands`` are run one after the other in the peer's
    # folder; the last one runs the controls. ``held`` and ``failed`` find the names of controls in
    # what is said.

    folder: str
    tool: str
    build: Callable[[Path, Path, Path], object]
    commands: Callable[[Path], Sequence[Sequence[str]]]
    held: str
    failed: str
    fault: Fault
    fetch: Sequence[str] = ()
    needs_linux: bool = True


GO = Peer(
    folder="go",
    tool="go",
    build=build_go,
    commands=lambda work: [["go", "test", "-v", "-count=1", "./..."]],
    held=r"^--- PASS: (\w+)",
    failed=r"^--- FAIL: (\w+)",
    fault=Fault(
        "task.go",
        "runs == total.expected && repeated == 0",
        "runs == total.expected",
        "TestALedgerRefusesATaskThatRanForAnother",
    ),
    fetch=("go", "list", "-deps", "-test", "./..."),
)

RUST = Peer(
    folder="rust",
    tool="cargo",
    build=build_rust,
    commands=lambda work: [
        ["cargo", "test", "--release", "--target-dir", str(work / "build" / "rust")]
    ],
    held=r"^test (\S+) \.\.\. ok$",
    failed=r"^test (\S+) \.\.\. FAILED$",
    fault=Fault(
        "src/task.rs",
        "(runs, 0) if runs == operations",
        "(runs, _) if runs == operations",
        "task::tests::a_ledger_refuses_a_task_that_ran_for_another",
    ),
    fetch=("cargo", "fetch", "--quiet"),
)

JVM = Peer(
    folder="jvm",
    tool="java",
    build=lambda checkout, work, log: build_jvm(checkout, log),
    commands=lambda work: [
        ["mvn", "-q", "-o", "-Dstyle.color=never", "test-compile"],
        ["java", "-cp", _CLASS_PATH, "purgatory.peer.Controls"],
    ],
    held=r"^holds  ([^:\n]+)",
    failed=r"^FAILS  ([^:\n]+)",
    fault=Fault(
        "src/main/java/purgatory/peer/kafka/MarkedOperation.java",
        "completions != 1 || expired",
        "completions != 1",
        "an operation completed by its time-out is refused",
    ),
    needs_linux=False,
)


def need(peer: Peer) -> None:
    """Skip where a peer cannot run; of Java and Maven the marker ``java`` decides."""
    if peer.needs_linux and sys.platform != "linux":
        pytest.skip(f"the peer in lab/peers/{peer.folder} needs Linux")
    if peer is not JVM and shutil.which(peer.tool) is None:
        pytest.skip(f"{peer.tool} is not installed (for lab/peers/{peer.folder})")


class Copy:
    """A peer in a checkout of its own; what is made of it lies in ``work``."""

    def __init__(self, peer: Peer, source: Path, checkout: Path, work: Path) -> None:
        """Copy the peer out of the checkout ``source``."""
        self.peer = peer
        self.checkout = checkout
        self.work = work
        place = Path("lab", "peers", peer.folder)
        self.folder = checkout / place
        shutil.copytree(source / place, self.folder, ignore=shutil.ignore_patterns("target"))

    def fetch(self) -> None:
        """Get what it depends on; without it skip, or fail under REQUIRE_TOOLCHAINS=1."""
        if not self.peer.fetch:
            return
        code, said = run(self.peer.fetch, self.folder)
        if code != 0:
            words = f"what lab/peers/{self.peer.folder} needs cannot be had: {said.strip()}"
            if os.environ.get("REQUIRE_TOOLCHAINS") == "1":
                raise pytest.fail.Exception(words, pytrace=False)
            pytest.skip(words[:500])

    def build(self) -> None:
        """Build it as the bench does; fail with what the tools have said."""
        self.work.mkdir(exist_ok=True)
        log = self.work / "build.log"
        log.touch()
        try:
            self.peer.build(self.checkout, self.work, log)
        except NotBuilt as problem:
            said = log.read_text(encoding="utf-8", errors="replace")
            raise pytest.fail.Exception(f"{problem}\n{said}", pytrace=False) from None

    def controls(self) -> Said:
        """Run its controls; the first command that fails is the last."""
        output, code = "", 0
        for command in self.peer.commands(self.work):
            code, said = run(command, self.folder)
            output += f"{said}\n"
            if code != 0:
                break
        held, failed = (
            set(re.findall(pattern, output, re.MULTILINE))
            for pattern in (self.peer.held, self.peer.failed)
        )
        return Said(code, held, failed, output)


def run(command: Sequence[str], folder: Path, seconds: float = _SECONDS) -> tuple[int, str]:
    """Run a tool; its code and its words. Fail with them, if it has not ended in time."""
    log = folder / "controls.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [shutil.which(command[0]) or command[0], *command[1:]],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            said = log.read_text(encoding="utf-8", errors="replace")
            words = f"{command[0]} took more than {seconds} s\n{said}"
            raise pytest.fail.Exception(words, pytrace=False) from None
        finally:
            _end(process)
    return process.returncode, log.read_text(encoding="utf-8", errors="replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what still runs: the tool, and programs that it has started."""
    if process.poll() is None:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
