"""Numbers, cells and tables of the report."""

from collections.abc import Iterable, Sequence
from typing import Final

from purgatory_lab.benchmarks.bench.statistics import Summary

NONE: Final = "-"


def number(value: float, digits: int = 0) -> str:
    """Return a number with thousands set apart."""
    return f"{value:,.{digits}f}"


def told(found: Summary, digits: int = 0) -> str:
    """Return the median, and least and most in brackets where there are several rounds."""
    middle = number(found.median, digits)
    if found.rounds == 1:
        return middle
    return f"{middle} [{number(found.least, digits)} to {number(found.most, digits)}]"


def per_cent(found: Summary) -> str:
    """Return a factor as per cent above 1."""
    middle, least, most = (f"{(x - 1):+.1%}" for x in (found.median, found.least, found.most))
    return middle if found.rounds == 1 else f"{middle} [{least} to {most}]"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Return a Markdown table whose first columns are set left, and the others right."""
    marks = ["---"] * left + ["---:"] * (len(head) - left)
    lines = [_line(head), "|" + "|".join(marks) + "|", *(_line(row) for row in rows)]
    return "\n".join(lines)


def bullets(lines: Iterable[str]) -> str:
    """Return a list in Markdown."""
    return "\n".join(f"- {line}" for line in lines)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(each.replace("|", "&#124;") for each in cells) + " |"
