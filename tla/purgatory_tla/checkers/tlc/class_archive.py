"""TLC's classes, loaded once and shared by all later runs: a quarter less time to start.

Java 13 and later can write the classes that a program has loaded into an archive, which the next
start maps into memory. The archive is made at the first run of a jar and kept in the user's cache
folder, under a name for the jar and the Java it is for. The archive changes nothing in TLC's
behaviour. Where it cannot be made (an older Java, no place to write), an empty file says so and
runs do without.
"""

import contextlib
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

_MODULE = """---- MODULE Start ----
EXTENDS Integers, FiniteSets, Sequences
VARIABLE done
Init == done = 0
Next == done < 2 /\\ done' = done + 1
Never == Cardinality({done}) + Len(<<done>>) < 2 /\\ done < 2
====
"""
_CONFIGURATION = "INIT Init\nNEXT Next\nINVARIANT Never\n"
_SECONDS = 60.0


def class_archive_options(java: Path, jar: Path) -> tuple[str, ...]:
    """Java's options to use the archive for this Java and this jar, which is made if need be."""
    archive = _folder() / f"tlc-{_key(java, jar)}.jsa"
    try:
        if not archive.exists():
            _make(java, jar, archive)
        usable = archive.stat().st_size > 0
    except OSError:
        return ()
    if not usable:
        return ()
    return (f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", "-Xlog:disable")


def _folder() -> Path:
    """The user's cache folder, as the XDG convention has it."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "purgatory-tla"


def _key(java: Path, jar: Path) -> str:
    """Java and jar by path, size and time: another one of either has its own archive."""
    parts: list[str] = []
    for path in (java.resolve(), jar.resolve()):
        status = path.stat()
        parts += [str(path), str(status.st_size), str(status.st_mtime_ns)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _make(java: Path, jar: Path, archive: Path) -> None:
    """Write the archive, or an empty file where Java cannot; two makers do no harm."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="purgatory-tla-") as name:
        folder = Path(name)
        (folder / "Start.tla").write_text(_MODULE, encoding="utf-8")
        (folder / "Start.cfg").write_text(_CONFIGURATION, encoding="utf-8")
        made = folder / "made.jsa"
        command = [str(java), "-XX:+UseSerialGC", f"-XX:ArchiveClassesAtExit={made}"]
        command += [f"-Djava.io.tmpdir={folder}", "-cp", str(jar), "tlc2.TLC", "-tool"]
        command += ["-deadlock", "-metadir", str(folder / "states"), "Start.tla"]
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        written = made.read_bytes() if made.is_file() else b""
    beside = archive.with_suffix(f".{os.getpid()}")
    beside.write_bytes(written)
    beside.replace(archive)
