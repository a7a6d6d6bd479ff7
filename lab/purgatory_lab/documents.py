"""Documents of the lab: tables in Markdown, files of results, and regions of pages."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import msgspec

from purgatory_conformance.problems import EXIT_USAGE, Problem
from purgatory_conformance.reporting.marked_pages import between_marks
from purgatory_conformance.whole_files import write_whole
from purgatory_spec.named_files import named_file

NONE: Final = "-"

Document = TypeVar("Document")
Record = TypeVar("Record")
Columns: TypeAlias = Sequence[tuple[str, Callable[[Record], str]]]
"""The titles of the columns of a table, each with what makes a cell of a record."""


def number(value: float, digits: int = 0) -> str:
    """Return a number with thousands set apart."""
    return f"{value:,.{digits}f}"


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], left: int | Container[str] = 1
) -> str:
    """Return rows as a Markdown table.

    Args:
        head: The titles of the columns.
        rows: The cells of each row.
        left: How many of the first columns are set left, or their titles; others are set right.
    """
    titles = head[:left] if isinstance(left, int) else left
    marks = ["---" if title in titles else "---:" for title in head]
    return "\n".join([_line(head), f"|{'|'.join(marks)}|", *map(_line, rows)])


def columned(
    records: Iterable[Record], columns: Columns[Record], left: int | Container[str] = 1
) -> str:
    """Return a Markdown table with a row for each record."""
    rows = ([cell(each) for _, cell in columns] for each in records)
    return table([title for title, _ in columns], rows, left)


def _line(cells: Sequence[str]) -> str:
    plain = (" ".join(each.replace("|", "&#124;").split()) for each in cells)
    return f"| {' | '.join(plain)} |"


def bullets(lines: Iterable[str]) -> str:
    """Return a list in Markdown."""
    return "\n".join(f"- {line}" for line in lines)


def write_document(path: Path, document: object) -> None:
    """Write an indented JSON file, whole or not at all."""
    _write(path, msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")


def write_in_lines(path: Path, document: object) -> None:
    """Write a JSON file with a line for each record: small, and its changes can be read."""
    _write(path, in_lines(document).encode())


def in_lines(document: object) -> str:
    """Return a list, or the fields of an object, with a line for each item and each list's item."""
    plain = msgspec.to_builtins(document)
    if isinstance(plain, list):
        return "[\n" + ",\n".join(map(_json, plain)) + "\n]\n"
    fields = []
    for name, value in plain.items():
        if isinstance(value, list) and value:
            items = ",\n".join(f"  {_json(item)}" for item in value)
            fields.append(f"{_json(name)}: [\n{items}\n ]")
        else:
            fields.append(f"{_json(name)}: {_json(value)}")
    return "{\n " + ",\n ".join(fields) + "\n}\n"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)


def read_document(path: Path, kind: type[Document]) -> Document:
    """Read a file of some kind of results.

    Raises:
        Problem: it is none.
    """
    try:
        return msgspec.json.decode(named_file(path).read_bytes(), type=kind)
    except OSError as problem:
        raise Problem(f"{path}: {problem.strerror}", EXIT_USAGE) from problem
    except msgspec.DecodeError as problem:
        raise Problem(f"{path} is no file of results: {problem}", EXIT_USAGE) from problem


def filled_page(page: Path, regions: Mapping[str, str]) -> str:
    """Return the text of a page with something else in some regions.

    Raises:
        Problem: the page is not there, or lacks a mark.
    """
    try:
        text = named_file(page).read_text(encoding="utf-8")
        for region, inside in regions.items():
            text = between_marks(text, region, inside)
    except OSError as problem:
        raise Problem(f"{page}: {problem.strerror}", EXIT_USAGE) from problem
    except ValueError as problem:
        raise Problem(f"{page} {problem}", EXIT_USAGE) from None
    return text
