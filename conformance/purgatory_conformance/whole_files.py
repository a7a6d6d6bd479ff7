"""Files that are there whole or not at all: written under another name, and then renamed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Where to write a file that gets its name, ``path``, at the end; nothing stays of a failure.

    A process that is killed leaves ``NAME.unfinished`` behind. Neither name is followed where it
    is a link to another file.
    """
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, or replace it, in one step."""
    with whole_file(path) as unfinished:
        unfinished.write_bytes(content)
