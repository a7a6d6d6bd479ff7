"""Print a search and a run for the commands about scheduling."""

from typing import Final

from rich.console import Console

from purgatory_conformance.describing.steps import describe_operation
from purgatory_lab.scheduling.columns import columns
from purgatory_lab.scheduling.run import Record
from purgatory_lab.scheduling.search import Search

_WIDE: Final = 160


def wide_console() -> Console:
    """Return the terminal; a file or a pipe gets wide lines."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_WIDE)


def counts_of(search: Search) -> str:
    """Return the number of schedules in words."""
    if not search.by_preemptions:
        return f"{search.schedules} random schedules"
    counts = ", ".join(
        f"{count} with {number}" for number, count in enumerate(search.by_preemptions)
    )
    rest = "" if search.complete or search.failure is not None else "; more are left"
    return f"{search.schedules} schedules ({counts} preemptions){rest}"


def print_run(console: Console, record: Record, again: str) -> None:
    """Print a run in columns, what came of it, and the command that makes it again."""
    for line in columns(record, describe_operation, console.width):
        console.print(line, markup=False, soft_wrap=True)
    said = "nothing is wrong" if record.failure is None else str(record.failure)
    console.print(said, markup=False, soft_wrap=True)
    console.print(f"again: {again}", markup=False, soft_wrap=True)
