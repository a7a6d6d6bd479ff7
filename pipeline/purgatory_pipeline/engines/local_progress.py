"""How far the local engine is: a bar on standard error, on a terminal only."""

import sys

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


class CheckProgress:
    """Shows how many lines have been read, then how many of them have been judged."""

    def __init__(self, lines: int) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24, complete_style="blue", finished_style="blue"),
            TextColumn("{task.fields[words]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),  # whatever the environment says of colours
        )
        self._task = self._progress.add_task("reading", total=max(1, lines), words="")

    def __enter__(self) -> "CheckProgress":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def read(self, lines: int) -> None:
        """So many lines have been read."""
        self._progress.update(self._task, completed=lines, words=f"{lines:,} lines")

    def judged(self, lines: int, of: int) -> None:
        """So many lines of all have been judged."""
        self._progress.update(
            self._task,
            description="judging",
            completed=lines,
            total=max(1, of),
            words=f"{lines:,} of {of:,} lines",
        )
