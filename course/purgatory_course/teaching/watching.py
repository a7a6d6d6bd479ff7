"""Notices each save of a file."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

_SECONDS = 0.3
"""The time between two looks at the file, s."""


def saves(file: Path, wait: Callable[[], object] = lambda: time.sleep(_SECONDS)) -> Iterator[bytes]:
    """Yield the contents of a file at first and after each change; an absent file is waited for.

    Args:
        file: The file, which editors may delete and write anew.
        wait: Waits between two looks.
    """
    before: bytes | None = None
    while True:
        try:
            now = file.read_bytes()
        except OSError:
            now = None
        if now is not None and now != before:
            yield now
        before = now if now is not None else before
        wait()
