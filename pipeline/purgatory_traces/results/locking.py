"""A lock for one process at a time in a folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from purgatory_traces.errors import PipelineError

LOCK = ".lock"
"""The name of the file that is locked; it stays."""


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Keep others out of a folder, made where it is missing; what dies lets go of it by itself.

    Raises:
        PipelineError: another process is in it, or it cannot be made or written to.
    """
    lock = _opened(folder)
    try:
        try:
            _lock(lock)
        except OSError:
            raise PipelineError(
                f"another process is writing its results to {folder}: wait for it, or name "
                "another folder with --out"
            ) from None
        yield
    finally:
        os.close(lock)


def _opened(folder: Path) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as problem:
        raise PipelineError(
            f"the folder {folder} cannot be made or written to ({problem.strerror}): allow it, or "
            "name another folder with --out"
        ) from None


def _lock(file: int) -> None:
    """Lock an open file; it is unlocked when it is closed."""
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
