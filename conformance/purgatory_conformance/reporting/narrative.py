"""A counterexample as a table for a terminal: a column per actor and one per shared count.

Where the columns do not fit side by side, one column names the actor and a second the action; on a
still narrower terminal the counts stand below the steps that change them.
"""

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from rich.console import Console
from rich.text import Text

from purgatory_conformance.describing.words import printable
from purgatory_model.claims.narrative import Narrative, NarrativeStep

_LEAST_TEXT = 16
_MOST_TEXT = 44
_LEAST_WIDE_TEXT = 20
_MOST_COUNT = 24
_GAP = "  "
_BAD = "bold #d9720b"
_GOOD = "bold #2a8fd6"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table; ``kind`` is ``header``, ``step``, ``remark`` or ``loop``."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    width: int
    right: bool = False

    def cell(self, words: str) -> list[str]:
        lines = textwrap.wrap(printable(words), self.width, break_on_hyphens=False) or [""]
        return [line.rjust(self.width) if self.right else line.ljust(self.width) for line in lines]


def print_narrative(console: Console, narrative: Narrative) -> None:
    """Print title, table, verdict and explanation, wrapped to the width of the console."""
    width = max(console.width, 40)
    _say(console, narrative.title, width)
    console.print()
    styles = {"header": "bold", "remark": _GOOD if narrative.is_witness else _BAD}
    for line in laid_out(narrative, width):
        style = "" if console.no_color else styles.get(line.kind, "")
        console.print(Text(line.text, style), no_wrap=True, overflow="ignore", crop=False)
    console.print()
    _say(console, narrative.verdict, width)
    if narrative.explanation:
        _say(console, narrative.explanation, width)


def _say(console: Console, words: str, width: int) -> None:
    for line in textwrap.wrap(printable(words), width, break_on_hyphens=False):
        console.print(Text(line), no_wrap=True, overflow="ignore", crop=False)


def laid_out(narrative: Narrative, width: int) -> list[Line]:
    """Return the lines of the table for a terminal of this width."""
    counts = [_count_column(name, narrative) for name in narrative.counts]
    number = _Column("step", 4, right=True)
    left = width - _taken([number, *counts])
    actors = _actor_columns(narrative, left)
    if actors is not None:
        return _table(narrative, number, actors, counts, width)
    who = _Column("who", max([3, *(len(actor) for actor in narrative.actors)]))
    room = left - who.width - 2 * len(_GAP)
    if room >= _LEAST_WIDE_TEXT:
        what = _Column("what", min(room, _longest_text(narrative)))
        return _table(narrative, number, [who, what], counts, width)
    what = _Column("what", width - _taken([number, who]) - len(_GAP))
    return _table(narrative, number, [who, what], [], width)


def _taken(columns: list[_Column]) -> int:
    return sum(column.width + len(_GAP) for column in columns) - len(_GAP)


def _count_column(name: str, narrative: Narrative) -> _Column:
    longest = max(len(printable(step.counts.get(name, ""))) for step in narrative.steps)
    return _Column(name, max(len(name), min(longest, _MOST_COUNT)), right=longest <= _MOST_COUNT)


def _longest_text(narrative: Narrative) -> int:
    return max(4, *(len(printable(step.text)) for step in narrative.steps))


def _actor_columns(narrative: Narrative, room: int) -> list[_Column] | None:
    """Return a column for each actor, as wide as there is room; None where there is too little."""
    wanted: list[int] = []
    for actor in narrative.actors:
        said = [len(printable(step.text)) for step in narrative.steps if step.actor == actor]
        wanted.append(max(len(actor), min(max(said, default=0), _MOST_TEXT)))
    least = [min(_LEAST_TEXT, width) for width in wanted]
    room -= len(_GAP) * len(wanted)
    if sum(least) > room:
        return None
    widths = least
    while sum(widths) < min(room, sum(wanted)):
        narrowest = min(
            (place for place, width in enumerate(widths) if width < wanted[place]),
            key=lambda place: widths[place],
        )
        widths[narrowest] += 1
    return [_Column(actor, width) for actor, width in zip(narrative.actors, widths, strict=True)]


def _table(
    narrative: Narrative,
    number: _Column,
    texts: list[_Column],
    counts: list[_Column],
    width: int,
) -> list[Line]:
    columns = [number, *texts, *counts]
    lines = [Line("header", each) for each in _row([[column.name] for column in columns], columns)]
    before: Mapping[str, str] = {}
    for step in narrative.steps:
        cells = [number.cell(str(step.number))]
        cells += [column.cell(_said(step, column.name)) for column in texts]
        cells += [column.cell(step.counts.get(column.name, "")) for column in counts]
        rows = [Line("step", each) for each in _row(cells, columns)]
        if not counts:
            rows += _counts_below(step, before, width)
        before = step.counts
        lines += _remarked(rows, step.remark, width) if step.remark else rows
    if narrative.loop is not None:
        lines += _indented("loop", _loop(narrative), width)
    return lines


def _said(step: NarrativeStep, column: str) -> str:
    if column == "who":
        return step.actor
    if column == "what" or column == step.actor:
        return step.text
    return ""


def _row(cells: list[list[str]], columns: list[_Column]) -> Iterator[str]:
    aligned = [
        [words.rjust(column.width) if column.right else words.ljust(column.width) for words in cell]
        for cell, column in zip(cells, columns, strict=True)
    ]
    blank = [" " * column.width for column in columns]
    for parts in zip_longest(*aligned):
        yield _GAP.join(words or empty for words, empty in zip(parts, blank, strict=True)).rstrip()


def _counts_below(step: NarrativeStep, before: Mapping[str, str], width: int) -> list[Line]:
    changed = [
        f"{name} {value}" for name, value in step.counts.items() if before.get(name) != value
    ]
    return _indented("step", ", ".join(changed), width) if changed else []


def _remarked(rows: list[Line], remark: str, width: int) -> list[Line]:
    """Return a step's lines with the remark behind the first, or below without room."""
    words = printable(remark)
    first, *others = rows
    if len(first.text) + 2 * len(_GAP) + len(words) <= width:
        return [Line("remark", f"{first.text}{_GAP * 2}{words}"), *others]
    return [*rows, *_indented("remark", words, width)]


def _loop(narrative: Narrative) -> str:
    last = narrative.steps[-1].number
    if narrative.loop == last:
        return f"Nothing happens any more after step {last}."
    return f"The state is now that after step {narrative.loop}; the steps after it repeat for ever."


def _indented(kind: str, words: str, width: int) -> list[Line]:
    wrapped = textwrap.wrap(words, width - 6, break_on_hyphens=False)
    return [Line(kind, f"      {line}") for line in wrapped]
