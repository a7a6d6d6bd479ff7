"""Peers are built: the foreign ones by their own tools, the compiled wheel in an environment.

Everything that is made goes below the work folder, but for Maven's ``target``, which Git ignores.
What fails says why in one sentence, and its peer is then not measured.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from purgatory_conformance.problems import EXIT_USAGE, Problem

NO_CHECKOUT: Final = (
    "its sources are in a checkout of the project, and this is none; say --checkout FOLDER"
)

_CONTRACT: Final = Path("lab") / "peers" / "README.md"


def find_checkout(told: Path | None) -> Path | None:
    """Return the checkout: the folder given, or else the checkout that contains this module.

    Raises:
        Problem: the folder given is no checkout.
    """
    if told is not None:
        if not (told / _CONTRACT).is_file():
            raise Problem(f"{told} is no checkout: it has no {_CONTRACT.as_posix()}", EXIT_USAGE)
        return told.resolve()
    here = Path(__file__).resolve().parents[4]
    return here if (here / _CONTRACT).is_file() else None


_ERROR: Final = re.compile(r"\w(Error)?: error: |\wError: |\[ERROR\] \S|^error\[")
_BUILD_SECONDS: Final = 1200.0
_SOURCES: Final = (
    "impl/purgatory_impl",
    "spec/purgatory_spec",
    "conformance/purgatory_judge",
    "conformance/purgatory_conformance",
    "lab/purgatory_lab/benchmarks/baselines",
    "lab/purgatory_lab/benchmarks/network",
    "lab/purgatory_lab/benchmarks/python_peer",
)
"""The sources of the compiled environment; a change in these files makes a new environment."""


class NotBuilt(Exception):
    """A peer cannot be had; the message says why."""


def build_jvm(checkout: Path, log: Path) -> Path:
    """Compile the peers of the Java machine; their folder.

    Raises:
        NotBuilt: a tool is missing, or fails.
    """
    _need("java", "Java 17")
    maven = _need("mvn", "Maven")
    folder = checkout / "lab" / "peers" / "jvm"
    quietly = [maven, "-q", "-Dstyle.color=never"]
    try:
        _run([*quietly, "-o", "compile"], folder, log)
    except NotBuilt:
        _run([*quietly, "compile"], folder, log)  # its jars are not here yet
    return folder


def build_go(checkout: Path, work: Path, log: Path) -> Path:
    """Compile the peer in Go; the program.

    Raises:
        NotBuilt: the tool is missing, or fails.
    """
    program = work / "build" / "go-peer"
    program.parent.mkdir(parents=True, exist_ok=True)
    command: list[str | Path] = [_need("go", "Go"), "build", "-o", program, "."]
    _run(command, checkout / "lab" / "peers" / "go", log)
    return program


def build_rust(checkout: Path, work: Path, log: Path) -> Path:
    """Compile the peer in Rust; the program.

    Raises:
        NotBuilt: the tool is missing, or fails.
    """
    output = work / "build" / "rust"
    command: list[str | Path] = [
        _need("cargo", "Rust"),
        "build",
        "--release",
        "--quiet",
        "--target-dir",
        output,
    ]
    _run(command, checkout / "lab" / "peers" / "rust", log)
    return output / "release" / "purgatory-peer"


def build_compiled(checkout: Path, work: Path, log: Path) -> Path:
    """Build an environment with the compiled wheel, and return its Python.

    It is made anew when a source has changed.

    Raises:
        NotBuilt: a tool fails.
    """
    environment = work / "compiled"
    python = environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    made_of = environment / "made-of"
    sources = fingerprint(checkout)
    if made_of.is_file() and made_of.read_text(encoding="utf-8") == sources:
        return python
    wheels = work / "build" / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    shutil.rmtree(environment, ignore_errors=True)
    _run([sys.executable, "-m", "venv", environment], checkout, log)
    pip: list[str | Path] = [python, "-m", "pip", "--disable-pip-version-check"]
    wheel: list[str | Path] = [
        *pip,
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        wheels,
        checkout,
    ]
    _run(wheel, work, log, {"PURGATORY_COMPILED": "1", "PURGATORY_LAB": "1"})
    constraints: list[str | Path] = ["--constraint", checkout / "constraints.txt"]
    (built,) = wheels.glob("purgatory_spec-*.whl")
    # The library alone needs no package; a peer reads and writes JSON.
    _run([*pip, "install", "--quiet", *constraints, f"{built}[conformance]"], work, log)
    made_of.write_text(sources, encoding="utf-8")
    return python


def fingerprint(checkout: Path) -> str:
    """Return a fingerprint of the compiled environment: of all contents and this Python."""
    sums = hashlib.sha256(sys.version.encode())
    for path in _files(checkout):
        sums.update(path.relative_to(checkout).as_posix().encode() + b"\0" + path.read_bytes())
    return sums.hexdigest()


def _files(checkout: Path) -> Iterator[Path]:
    names = ("pyproject.toml", "wheel_hook.py", "wheel_setup.py", "constraints.txt")
    yield from (checkout / name for name in names)
    for name in _SOURCES:
        yield from sorted((checkout / name).rglob("*.py"))


def _need(tool: str, name: str) -> str:
    """Return the path of a program.

    Raises:
        NotBuilt: it is not installed.
    """
    found = shutil.which(tool)
    if found is None:
        raise NotBuilt(f"{name} is not installed (no `{tool}` on the path)")
    return found


def _run(
    command: Sequence[str | Path],
    folder: Path,
    log: Path,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run a tool; what it says goes to the end of the log.

    Raises:
        NotBuilt: it has failed, or took too long.
    """
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with log.open("ab") as output:
        begin = output.tell()
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env={**inherited, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=_BUILD_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise NotBuilt(f"building took more than {_BUILD_SECONDS:.0f} s") from None
        except OSError as problem:
            raise NotBuilt(f"building cannot be started: {problem.strerror}") from problem
    if done.returncode != 0:
        tool = Path(command[0]).name
        raise NotBuilt(f"`{tool}` has failed with {done.returncode}{_tail(log, begin)}")


def _tail(log: Path, begin: int) -> str:
    """Return the last line in which a tool names an error; without one, its last line."""
    said = log.read_bytes()[begin:].decode(errors="replace").split("\n")
    lines = [line.strip() for line in said if line.strip()]
    errors = [line for line in lines if _ERROR.search(line)]
    return f": {(errors or lines)[-1][:200]}" if lines else ""
