"""Files that are there whole or not at all: written under another name, and then renamed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Provide a path to write that is renamed to ``path`` at the end; a failure leaves none.

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
