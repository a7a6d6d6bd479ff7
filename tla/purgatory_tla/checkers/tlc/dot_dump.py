r"""A state graph as TLC writes it in DOT, read line by line.

A dump has a head of four lines, then a line for every state and for every step, in the order in
which TLC finds them, then lines that say which states lie at one height, and two closing braces. A
line of any other form is an error, and so is an end before the last brace: a dump that was cut off
is no smaller graph.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from purgatory_tla.errors import UnexpectedOutput

_HEAD = (
    "strict digraph DiskGraph {",
    "nodesep=0.35;",
    "subgraph cluster_graph {",
    'color="white";',
)
_LABEL = ' [label="'
_ARROW = " -> "
_INITIAL = ",style = filled]"
_BETWEEN = r"\n/\\ "
_BEFORE = r"/\\ "
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Node:
    """A state: the number that TLC gave it, and its variables as they stand in the file.

    Each of ``variables`` is ``name = value`` with DOT's escapes, see ``unescaped``.
    """

    identifier: int
    variables: tuple[str, ...]
    initial: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """A step, by the numbers of its states."""

    source: int
    target: int


def read_dump(lines: Iterable[str]) -> Iterator[Node | Edge]:
    """Yield the states and steps of a dump, in the file's order, one line at a time.

    Raises:
        UnexpectedOutput: a line has a form that is not known, or the dump is not complete.
    """
    depth = 0
    number = 0
    for number, line in enumerate(lines, start=1):
        text = line.rstrip("\r\n")
        if number <= len(_HEAD):
            if text != _HEAD[number - 1]:
                raise _unknown(number, text)
            depth += text.endswith("{")
        elif text == "}":
            depth -= 1
        elif depth <= 0 or not line.endswith("\n"):
            raise _unknown(number, text)
        elif not text.startswith("{rank = same; "):
            yield _item(number, text)
    if depth != 0 or number < len(_HEAD):
        raise UnexpectedOutput(
            f"TLC's graph ends after line {number}, before it is complete: was the run ended?"
        )


def unescaped(text: str) -> str:
    """Return a label's text without DOT's escapes."""
    return _ESCAPE.sub(lambda match: "\n" if match[1] == "n" else match[1], text)


def _item(number: int, text: str) -> Node | Edge:
    head, found, rest = text.partition(_LABEL)
    label, quoted, after = rest.rpartition('"')
    if not found or not quoted or not after.rstrip(";").endswith("]"):
        raise _unknown(number, text)
    source, arrow, target = head.partition(_ARROW)
    try:
        if arrow:
            return Edge(int(source), int(target))
        variables = tuple(label.removeprefix(_BEFORE).split(_BETWEEN))
        return Node(int(source), variables, rest.endswith(_INITIAL))
    except ValueError:
        raise _unknown(number, text) from None


def _unknown(number: int, text: str) -> UnexpectedOutput:
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return UnexpectedOutput(f"TLC's graph has an unknown form in line {number}: {shown}")
