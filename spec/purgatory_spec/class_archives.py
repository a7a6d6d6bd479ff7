"""The places of archives of Java's classes, which a later start of Java maps into memory.

Java 13 and later can write the classes that a program has loaded into such an archive. It is kept
in the user's cache folder, under a name for the jars and the Java that it is for. An empty file
says that none can be made. Java itself compares an archive with itself and with the jars, and does
without where they differ; so an archive changes nothing but the time to start.

This module imports the standard library alone.
"""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

MOST_ARCHIVES = 3
"""So many archives of a program are kept, the latest."""


def place_of_archive(program: str, java: Path, jars: Path) -> Path:
    """Where the archive is, once it is made.

    Args:
        program: A name for what Java runs.
        java: The program ``java``.
        jars: The jar, or the folder of jars, by path, size and time, as Java is.

    Raises:
        OSError: Java or the jars are not there.
    """
    parts: list[str] = []
    for path in (java.resolve(), jars.resolve()):
        status = path.stat()
        parts += [str(path), str(status.st_size), str(status.st_mtime_ns)]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    # As the XDG convention has it.
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / f"purgatory-{program}" / f"{key}.jsa"


def unfinished_archive(place: Path) -> Path:
    """Where this process has an archive written, in a folder that is made.

    Raises:
        OSError: the folder cannot be made.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    return place.with_suffix(f".{os.getpid()}")


def keep_archive(unfinished: Path, place: Path) -> None:
    """Put an archive in its place, or an empty file where none was written; two makers do no harm.

    Raises:
        OSError: it cannot be written.
    """
    unfinished.touch()
    unfinished.replace(place)
    by_age = sorted(place.parent.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for old in by_age[:-MOST_ARCHIVES]:
        with suppress(OSError):
            old.unlink()
