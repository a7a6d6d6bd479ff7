"""Archives of Java's classes, which a later start of Java maps into memory.

Java 13 and later can write the classes that a program has loaded into an archive when it ends. It
is kept in the user's cache folder, under a name for the jars and the Java that it is for. An empty
file says that none could be made. Java itself compares an archive with itself and with the jars,
and does without where they differ. Java crashes on an archive that is cut off; so its size is in
its name, and one of another size is not used.

This module imports the standard library alone.
"""

import hashlib
import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MOST_ARCHIVES = 3
"""The most archives of a program that are kept: the latest."""

_SECONDS_TO_END = 20
_SECONDS_TO_WRITE = 300


@dataclass
class ClassArchive:
    """The archive for a process of Java.

    Attributes:
        place: The file of the archive, present or to come; None without an archive.
        unfinished: The file that this process writes; None if the process writes none.
        is_wanted: Whether the process has done what the archive is for.
    """

    place: Path | None = None
    unfinished: Path | None = None
    is_wanted: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """Return Java's options that make or use the archive; none where there is no archive."""
        if self.unfinished is not None:
            return (f"-XX:ArchiveClassesAtExit={self.unfinished.as_posix()}",)
        if self.place is not None:
            return (f"-XX:SharedArchiveFile={self.place.as_posix()}", "-Xlog:disable")
        return ()

    def wait_for(self, java: "subprocess.Popen[bytes]") -> None:
        """Wait until Java, which is about to end, has ended, and keep what it has written."""
        seconds = _SECONDS_TO_END
        if self.unfinished is not None:
            seconds = _SECONDS_TO_WRITE if self.is_wanted else 0
        try:
            java.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            java.kill()
            java.wait()
            if self.place is not None and self.unfinished is not None:
                with suppress(OSError):
                    self._keep(self.unfinished, self.place, is_whole=java.returncode >= 0)

    def _keep(self, unfinished: Path, place: Path, *, is_whole: bool) -> None:
        """Put the archive in its place, or an empty file; two makers do no harm."""
        if not self.is_wanted or not is_whole:
            unfinished.unlink(missing_ok=True)
        if not self.is_wanted:
            return
        unfinished.touch()
        size = unfinished.stat().st_size
        unfinished.replace(place.with_name(f"{place.stem}-{size}.jsa"))
        by_age = sorted(place.parent.iterdir(), key=lambda path: path.stat().st_mtime_ns)
        for old in by_age[:-MOST_ARCHIVES]:
            old.unlink()


def class_archive(program: str, java: Path, jars: Path, *, makes: bool) -> ClassArchive:
    """Return the archive for a process that is about to start.

    Args:
        program: A name for what Java runs.
        java: The program ``java``.
        jars: The jar, or the folder of jars; known by path, size and time, as Java is.
        makes: Whether the process writes the archive if there is none.
    """
    try:
        place = _place(program, java, jars)
        for found in place.parent.glob(f"{place.stem}-*.jsa"):
            size = found.stat().st_size
            return ClassArchive(found if size and found.stem.endswith(f"-{size}") else None)
        if makes:
            place.parent.mkdir(parents=True, exist_ok=True)
            return ClassArchive(place, place.with_suffix(f".{os.getpid()}"))
    except OSError:
        pass
    return ClassArchive()


def _place(program: str, java: Path, jars: Path) -> Path:
    parts: list[str] = []
    for path in (java.resolve(), jars.resolve()):
        status = path.stat()
        parts += [str(path), str(status.st_size), str(status.st_mtime_ns)]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    # As the XDG convention has it.
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / f"purgatory-{program}" / f"{key}.jsa"
