"""Draws a picture for each lemma of the timing wheel, from numbers for which it is true.

    python -m purgatory_lab.wheel_lemmas docs

writes ``assets/wheel/LEMMA.svg`` below the folder. Each picture has the buckets of one level or of
two over a line of time, in milliseconds.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import click

FOLDER = Path("assets/wheel")

_MS = 34
"""The width of a millisecond."""
_LEFT, _TOP, _ROW, _BUCKET = 92, 62, 54, 34

_STYLE = """\
svg { font: 14px system-ui, sans-serif; --ink: #1f2328; --paper: #ffffff; --line: #8c959f;
  --window: #ddf4ff; --own: #0550ae; --due: #bc4c00; --held: #ffd8b5; }
@media (prefers-color-scheme: dark) { svg { --ink: #e6edf3; --paper: #0d1117; --line: #6e7681;
  --window: #12324f; --own: #79c0ff; --due: #ffa657; --held: #5a3410; } }
.paper { fill: var(--paper); } text { fill: var(--ink); }
.bucket { fill: none; stroke: var(--line); } .window { fill: var(--window); }
.held { fill: var(--held); } .own { stroke: var(--own); fill: var(--own); }
.due { stroke: var(--due); fill: var(--due); } .axis { stroke: var(--line); }
text.own, text.due { stroke: none; }"""


@dataclass(frozen=True, slots=True)
class Row:
    """The buckets of a level.

    Attributes:
        label: The name of the level.
        tick: The width of a bucket, ms.
        first: The time at which the first bucket begins, ms.
        buckets: How many are drawn.
        window: The times at which the window begins and ends, ms.
        held: The beginnings of the buckets that are filled.
        places: How many places the ring has; 0 where they are not written into the buckets.
    """

    label: str
    tick: int
    first: int
    buckets: int
    window: tuple[int, int] | None = None
    held: tuple[int, ...] = ()
    places: int = 0


@dataclass(frozen=True, slots=True)
class Picture:
    """The numbers of a lemma, and their drawing.

    Attributes:
        lemma: The name of the lemma.
        says: The picture in words, for screen readers and as the caption.
        numbers: The values of the unknowns of the lemma.
        rows: The levels, the upper one first.
        marks: Times by what they are; a name that begins with ``due`` is a task.
    """

    lemma: str
    says: str
    numbers: Mapping[str, int]
    rows: tuple[Row, ...]
    marks: Mapping[str, int] = field(default_factory=dict)


_TWO_LEVELS = {"tick": 1, "upper": 4, "size": 4, "own": 5, "own_at": 5, "own_above": 1}

PICTURES = (
    Picture(
        "floors",
        "The multiple 4 of the upper tick is one of the lower, and not later than the floor of 6.",
        {"tick": 2, "upper": 4, "size": 2, "own": 7, "own_at": 3, "own_above": 1, "multiple": 2},
        (Row("upper level", 4, 0, 3, held=(4,)), Row("level", 2, 0, 6, held=(6,))),
        {"time": 7},
    ),
    Picture(
        "lowest-level",
        "The window of the upper level ends behind that of the lower.",
        {**_TWO_LEVELS, "due": 8},
        (Row("upper level", 4, 4, 4, (8, 20)), Row("level", 1, 4, 9, (6, 9), held=(8,))),
        {"own clock": 5, "due": 8},
    ),
    Picture(
        "high-enough",
        "The distance from 7 to 13 is two buckets of 3: the level of three buckets covers it.",
        {"tick": 3, "size": 3, "own": 7, "own_at": 2, "due": 13},
        (Row("level", 3, 6, 4, (9, 15), held=(12,)),),
        {"own clock": 7, "due": 13},
    ),
    Picture(
        "first-level",
        "The own clock is at 5; the bucket of the task begins at 7, when it is due.",
        {"tick": 1, "size": 4, "own": 5, "own_at": 5, "due": 7, "due_at": 7},
        (Row("level 1", 1, 4, 7, (6, 9), held=(7,)),),
        {"own clock": 5, "due": 7},
    ),
    Picture(
        "upper-level",
        "The lower level ends at 9; the bucket of the task on the upper one begins at 8.",
        {**_TWO_LEVELS, "due": 10, "due_above": 2},
        (Row("upper level", 4, 4, 3, (8, 16), held=(8,)), Row("level", 1, 4, 10, (6, 9))),
        {"own clock": 5, "due": 10},
    ),
    Picture(
        "inside",
        "The task at 14 is covered; its bucket begins at 12, before the level ends at 16.",
        {"tick": 4, "size": 3, "own": 5, "own_at": 1, "due": 14, "due_at": 3},
        (Row("level", 4, 4, 4, (8, 16), held=(12,)),),
        {"own clock": 5, "due": 14},
    ),
    Picture(
        "window-kept",
        "The own clock goes from 5 to 9; the bucket at 12 is in the window of both.",
        {
            "tick": 4,
            "size": 3,
            "own": 5,
            "own_at": 1,
            "next_own": 9,
            "next_at": 2,
            "bucket_at": 3,
        },
        (
            Row("later", 4, 4, 5, (12, 20), held=(12,)),
            Row("before", 4, 4, 5, (8, 16), held=(12,)),
        ),
        {"own clock": 5, "next own clock": 9},
    ),
    Picture(
        "own-slot",
        "Three buckets of the window have the places 2, 3 and 0 of four.",
        {"size": 4, "own_at": 5, "one": 7, "other": 7, "turns": 0},
        (Row("level", 1, 4, 8, (6, 9), held=(7,), places=4),),
        {"own clock": 5},
    ),
    Picture(
        "expires",
        "The bucket at 7 is popped: the own clock is at 7, and so is the task.",
        {"tick": 1, "size": 4, "due": 7, "bucket_at": 7, "next_own": 7},
        (Row("level 1", 1, 4, 7, held=(7,)),),
        {"own clock": 7, "due": 7},
    ),
    Picture(
        "cascade-down",
        "The bucket at 8 is popped; from there the lower level reaches to 12, and has the task.",
        {
            "tick": 1,
            "upper": 4,
            "size": 4,
            "own": 8,
            "own_at": 8,
            "due": 10,
            "due_above": 2,
        },
        (Row("upper level", 4, 4, 3, held=(8,)), Row("level", 1, 7, 7, (9, 12), held=(10,))),
        {"own clock": 8, "due": 10},
    ),
    Picture(
        "rests-highest",
        "Above, the bucket of the task is the one that was popped; here it begins at 10.",
        {
            "tick": 2,
            "upper": 4,
            "size": 2,
            "own_at": 4,
            "own_above": 2,
            "due": 11,
            "due_at": 5,
            "due_above": 2,
        },
        (Row("upper level", 4, 4, 3, held=(8,)), Row("level", 2, 6, 4, (10, 12), held=(10,))),
        {"own clock": 8, "due": 11},
    ),
    Picture(
        "not-early",
        "The own clock comes to 8, before the reading 9; what is due at 8 expires.",
        {
            "tick": 1,
            "upper": 4,
            "own": 5,
            "next_own": 8,
            "multiple": 8,
            "to": 9,
            "due": 8,
        },
        (Row("level 1", 1, 4, 8, held=(8,)),),
        {"own clock": 8, "due": 8, "reading": 9},
    ),
    Picture(
        "not-late",
        "The bucket at 12 is not due at the reading 11, nor is the task in it.",
        {"tick": 4, "size": 3, "due": 14, "due_at": 3, "to": 11},
        (Row("level", 4, 4, 4, held=(12,)),),
        {"reading": 11, "due": 14},
    ),
)
"""A picture for each lemma, in the order of the argument."""


def drawn(picture: Picture) -> str:
    """Return a picture as SVG."""
    first = min(row.first for row in picture.rows)
    last = max(row.first + row.tick * row.buckets for row in picture.rows)
    bottom = _TOP + _ROW * len(picture.rows)
    width, height = _LEFT + _MS * (last - first) + 24, bottom + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        f"<title>{escape(picture.says)}</title><style>{_STYLE}</style>",
        f'<rect class="paper" width="{width}" height="{height}" rx="6"/>',
    ]
    for number, row in enumerate(picture.rows):
        parts += _row(row, _TOP + _ROW * number, first)
    parts += _axis(first, last, bottom)
    parts += _marks(picture.marks, first, bottom)
    return "\n".join([*parts, "</svg>", ""])


def _x(time: int, first: int) -> int:
    return _LEFT + _MS * (time - first)


def _row(row: Row, top: int, first: int) -> Iterator[str]:
    middle = top + _BUCKET // 2 + 5
    yield f'<text x="8" y="{middle}">{row.label}</text>'
    if row.window is not None:
        begin, end = row.window
        yield (
            f'<rect class="window" x="{_x(begin, first)}" y="{top - 5}" '
            f'width="{_MS * (end - begin)}" height="{_BUCKET + 10}"/>'
        )
    for number in range(row.buckets):
        begin = row.first + row.tick * number
        kind = "bucket held" if begin in row.held else "bucket"
        yield (
            f'<rect class="{kind}" x="{_x(begin, first) + 1}" y="{top}" '
            f'width="{_MS * row.tick - 2}" height="{_BUCKET}"/>'
        )
        if row.places:
            place = begin // row.tick % row.places
            yield (
                f'<text x="{_x(begin, first) + _MS * row.tick // 2}" y="{middle}" '
                f'text-anchor="middle">{place}</text>'
            )


def _axis(first: int, last: int, y: int) -> Iterator[str]:
    yield f'<path class="axis" d="M{_LEFT} {y}H{_x(last, first)}"/>'
    for time in range(first, last + 1):
        yield f'<path class="axis" d="M{_x(time, first)} {y}v5"/>'
        yield f'<text x="{_x(time, first)}" y="{y + 20}" text-anchor="middle">{time}</text>'


def _marks(marks: Mapping[str, int], first: int, bottom: int) -> Iterator[str]:
    """Yield a line for each mark; words that would meet have different heights."""
    seen: list[int] = []
    for label, time in marks.items():
        kind = "due" if label == "due" else "own"
        x = _x(time, first)
        near = [each for each in seen if abs(each - x) < 5 * _MS]
        y = 16 * (len(near) + 1)
        seen.append(x)
        if kind == "due":
            yield f'<circle class="due" cx="{x}" cy="{bottom}" r="5"/>'
        yield f'<path class="{kind}" stroke-width="2" d="M{x} {y + 4}V{bottom}"/>'
        yield f'<text class="{kind}" x="{x + 4}" y="{y}">{label}</text>'


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def main(folder: Path) -> None:
    """Write the pictures below a folder."""
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    for picture in PICTURES:
        (folder / FOLDER / f"{picture.lemma}.svg").write_text(drawn(picture), encoding="utf-8")


if __name__ == "__main__":
    main()
