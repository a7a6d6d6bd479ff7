"""Progress of an engine: a bar on standard error, on a terminal only."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

Show: TypeAlias = Callable[[int, int, str], None]
"""Takes the work done so far, the whole work, and what is being done, in words."""


def is_shown() -> bool:
    """Decide whether standard error is a terminal that can show a bar, whatever its colours."""
    return sys.stderr.isatty()


@contextmanager
def progress_bar(unit: str) -> Iterator[Show]:
    """Show a bar on standard error, for the time of a block.

    Args:
        unit: What is counted, for example ``lines``.
    """
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24, complete_style="blue", finished_style="blue"),
        TextColumn("{task.fields[words]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not is_shown(),
    ) as progress:
        task = progress.add_task("starting", total=1, words="")

        def show(done: int, total: int, doing: str) -> None:
            words = f"{done:,} of {total:,} {unit}" if done <= total else f"{done:,} {unit}"
            progress.update(
                task, description=doing, completed=done, total=max(1, total), words=words
            )

        yield show
