"""A run in columns: one per thread, one line for each thing that happened."""

from collections.abc import Callable
from textwrap import wrap
from typing import Final, cast

from purgatory_lab.scheduling.history import CALLS, RETURNS
from purgatory_lab.scheduling.run import Mark, Record
from purgatory_lab.scheduling.schedule import letter
from purgatory_model.overlapping.interleaving import Returned
from purgatory_spec.operations import Operation

_WIDEST: Final = 60
_NARROWEST: Final = 24
_BETWEEN: Final = 2
_OF_CALLS: Final = (CALLS, RETURNS)

Describe = Callable[[Operation], str]


def columns(record: Record, describe: Describe, width: int = 120) -> list[str]:
    """Return the lines of a run.

    Args:
        record: The run.
        describe: A call in words.
        width: Of the lines, characters; but no column is made too narrow to read.
    """
    threads = sorted({mark.thread for mark in record.marks})
    if not threads:
        return ["nothing happened"]
    share = min(max(width // len(threads) - _BETWEEN, _NARROWEST), _WIDEST)
    heads = [f"{letter(thread)}: {record.names[thread]}".ljust(share) for thread in threads]
    lines = [(" " * _BETWEEN).join(heads).rstrip()]
    for mark in record.marks:
        indent = " " * (threads.index(mark.thread) * (share + _BETWEEN))
        first, further = ("", "    ") if mark.what in _OF_CALLS else ("  ", "    ")
        words = wrap(
            words_of(mark, describe), share, initial_indent=first, subsequent_indent=further
        )
        lines += [indent + line for line in words]
    return lines


def words_of(mark: Mark, describe: Describe) -> str:
    """Return a mark of the record in words."""
    about = mark.about
    if isinstance(about, Returned):
        return _returned(about)
    if mark.what == CALLS:
        return f"> {describe(cast('Operation', about))}"
    name = getattr(about, "name", None)
    return f"{mark.what} of {name}" if isinstance(name, str) else mark.what


def _returned(returned: Returned) -> str:
    if returned.raised is not None:
        return f"< refused: {returned.raised.value}"
    result = returned.result
    match result:
        case None:
            return "<"
        case bool():
            return f"< {str(result).lower()}"
        case int():
            return f"< {result}"
        case _:
            return f"< {', '.join(result) or 'nothing'}"
