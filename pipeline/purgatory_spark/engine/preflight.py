"""Spark's requirements, checked before Spark is started: whatever is missing, in a sentence."""

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

from purgatory_conformance.problems import EXIT_MISSING_TOOL, Problem
from purgatory_spec.installing import command_for

OLDEST_JAVA = 17
"""The oldest version of Java that Spark 4 runs on."""

_LIBRARIES = ("pyspark", "pandas", "pyarrow")
_LIBRARIES_OF_CONNECT = ("grpc", "google.protobuf")
_SECONDS_FOR_JAVA = 60


WITHOUT_JAVA = "`--engine local` needs no Java"
"""The advice where Java is missing, for most commands."""


def preflight(
    *, needs_java: bool = True, needs_connect: bool = False, without_java: str = WITHOUT_JAVA
) -> None:
    """Check that the libraries and Java are installed.

    Args:
        needs_java: Spark is to run on this machine, not only to be talked to.
        needs_connect: Spark is reached by Spark Connect.
        without_java: The advice for a machine without Java, in words.

    Raises:
        Problem: something is missing; the sentence says what, and how to get it.
    """
    wanted = _LIBRARIES + (_LIBRARIES_OF_CONNECT if needs_connect else ())
    missing = [name for name in wanted if not _is_installed(name)]
    if missing:
        raise Problem(
            f"Spark needs {' and '.join(missing)}, not installed here: {command_for('spark')}",
            EXIT_MISSING_TOOL,
        )
    if needs_java:
        _see_java(without_java)


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _see_java(otherwise: str) -> None:
    java = java_program()
    if java is None:
        home = os.environ.get("JAVA_HOME")
        where = f"JAVA_HOME is {home}, which has no bin/java" if home else "no java on PATH"
        raise Problem(
            f"Spark needs Java {OLDEST_JAVA} or later: {where}. "
            f"Install it, or set JAVA_HOME; {otherwise}",
            EXIT_MISSING_TOOL,
        )
    version = java_version(java)
    if version is None or version < OLDEST_JAVA:
        found = "does not say its version" if version is None else f"is version {version}"
        raise Problem(
            f"Spark needs Java {OLDEST_JAVA} or later: {java} {found}. "
            f"Set JAVA_HOME to a later one; {otherwise}",
            EXIT_MISSING_TOOL,
        )


def java_program() -> Path | None:
    """Return the program that Spark will start: of JAVA_HOME where that is set, else on PATH."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home, "bin"))) if home else shutil.which("java")
    return None if found is None else Path(found)


def java_version(java: Path) -> int | None:
    """Return the first number of a Java's version, 8 for 1.8; None if it does not tell."""
    try:
        done = subprocess.run(
            [str(java), "-version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS_FOR_JAVA,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = (done.stderr + done.stdout).decode("utf-8", "replace")
    match = re.search(r'version "(?:1\.)?(\d+)', said)
    return None if match is None or done.returncode else int(match[1])
