"""Sheets for a room without a network: rings to fill in, and the hunt on paper."""

import math
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

from markupsafe import Markup

from purgatory_conformance.describing.steps import describe_operation
from purgatory_conformance.specimens.mutants import mutant
from purgatory_conformance.specimens.small.timer import small_subject
from purgatory_conformance.subjects.subject import Subject
from purgatory_conformance.viewing.markup import page_of
from purgatory_course.playing.hunts import hunts
from purgatory_course.teaching.lessons import case_of, slides
from purgatory_spec.cases import Case
from purgatory_spec.operations import Add, Advance, Cancel, TimerOperation
from purgatory_spec.outcomes import EventKind, Outcome
from purgatory_spec.profiles import TimerConfiguration

PAPER = Markup("<style>\n{}</style>\n").format(
    Markup((files("purgatory_course.teaching") / "paper.css").read_text(encoding="utf-8"))
)
"""The style of sheets that are printed."""

HUNTED = range(3, 9)
"""The numbers of the timers that the class hunts, as on the page to play."""

HUNT: tuple[TimerOperation, ...] = (
    *(Add("a", 2), Add("b", 3), Add("c", 1), Cancel("c"), Cancel("c"), Add("a", 2)),
    *(Advance(1), Advance(2), Advance(3), Add("d", 5), Add("e", 1), Advance(8)),
)
"""The steps in which each of them shows its defect."""

_SIZE = 100
_PLACES = 4


def room_page() -> Markup:
    """Return the sheets that students write on, as a page that loads nothing."""
    cases = {each.header.case: each for each in _cases()}
    body = Markup("<h1>A class of ninety minutes</h1>\n") + Markup("").join(
        (
            _rings(1, "One wheel", cases["class-wheel"], 1),
            _rings(2, "Wheels above wheels", cases["class-cascade"], 3),
            _hunt(),
        )
    )
    return page_of("A class of ninety minutes", PAPER, body, Markup(""))


def _cases() -> Iterator[Case]:
    """Yield the runs on the slides."""
    for slide in slides():
        if slide.figure.kind == "viewer":
            yield case_of(slide.figure)


def _rings(sheet: int, title: str, case: Case, levels: int) -> Markup:
    """Return a sheet with empty rings for the state after each step of a run."""
    head = Markup(
        "<h2>Sheet {}: {}</h2>\n<p>After each step draw the hand, the time that each place "
        "stands for, and the tasks in it. The number outside is that of the place.</p>\n"
    )
    figure = Markup("<figure><figcaption>{}. {}</figcaption>{}</figure>\n")
    shown = Markup("").join(
        figure.format(number, describe_operation(step.operation), _ring(levels))
        for number, step in enumerate(case.steps, start=1)
    )
    kind = "rings of-three" if levels > 1 else "rings"
    return head.format(sheet, title) + Markup('<div class="{}">{}</div>\n').format(kind, shown)


def _ring(levels: int) -> Markup:
    """Return empty rings side by side, one for each level."""
    parts = Markup("").join(_level(level) for level in range(levels))
    box = Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="empty rings">{}</svg>')
    return box.format(_SIZE * levels, _SIZE + 8, parts)


def _level(level: int) -> Markup:
    middle_x, middle_y, radius, hub = _SIZE * level + _SIZE / 2, _SIZE / 2, 40, 10
    circle = Markup('<circle cx="{}" cy="{}" r="{}"/>')
    drawn = circle.format(middle_x, middle_y, radius) + circle.format(middle_x, middle_y, hub)
    for place in range(_PLACES):
        begins = 2 * math.pi * (place - 0.5) / _PLACES  # place 0 is at the top, as on the slides
        x, y = math.sin(begins), -math.cos(begins)
        line = Markup('<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>')
        drawn += line.format(
            middle_x + hub * x, middle_y + hub * y, middle_x + radius * x, middle_y + radius * y
        )
        inside = begins + math.pi / _PLACES
        words = Markup('<text x="{:.1f}" y="{:.1f}">{}</text>')
        out = radius + 6
        drawn += words.format(
            middle_x + out * math.sin(inside), middle_y - out * math.cos(inside) + 3, place
        )
    below = Markup('<text x="{}" y="{}">level {}</text>')
    return drawn + below.format(middle_x, _SIZE + 4, level + 1)


def _hunt() -> Markup:
    """Return the sheet of the hunt: what each wrong timer did in the same steps."""
    head = Markup(
        "<h2>Sheet 3: The hunt on paper</h2>\n<p>Six timers took the same steps; each has one "
        "defect. A cell has the tasks that expired and the number of tasks that are left. Mark in "
        "each column the first cell that a right timer would not give, and say what is wrong. The "
        "wheel has a tick of 1 ms and 2 places on each level.</p>\n"
    )
    names = Markup("").join(Markup("<th>timer {}</th>").format(number) for number in HUNTED)
    columns = [cells_of(number) for number in HUNTED]
    rows = Markup("").join(
        Markup("<tr><td>{}</td>{}</tr>\n").format(
            describe_operation(operation),
            Markup("").join(Markup("<td>{}</td>").format(column[at]) for column in columns),
        )
        for at, operation in enumerate(HUNT)
    )
    table = Markup("<table><thead><tr><th>step</th>{}</tr></thead><tbody>\n{}</tbody></table>\n")
    return head + table.format(names, rows)


@cache
def cells_of(number: int | None) -> tuple[str, ...]:
    """Return what a timer of the hunt gives in each step; without a number the right one."""
    subject = mutant(hunts()[number - 1].name).make() if number else small_subject()
    return tuple(map(_cell, _outcomes(subject)))


def _outcomes(subject: Subject) -> Sequence[Outcome]:
    subject.new("hunt", TimerConfiguration(wheel_size=2))
    return list(subject.do_all(HUNT))


def _cell(outcome: Outcome) -> str:
    gone = [event.task for event in outcome.events if event.kind is EventKind.EXPIRED]
    left = f"{outcome.observed['size']} left"
    return f"{', '.join(sorted(gone))} expired, {left}" if gone else left


def first_wrong(number: int) -> int:
    """Return the number of the first step, from 1, that shows the defect of a timer of the hunt."""
    pairs = zip(cells_of(number), cells_of(None), strict=True)
    return next(at for at, (seen, right) in enumerate(pairs, start=1) if seen != right)


def answers_on_paper() -> Markup:
    """Return the answers to the hunt on paper, for the teacher."""
    answer = Markup("<li>Timer {}: step {}, {}. {}</li>\n")
    listed = Markup("").join(
        answer.format(
            number,
            first_wrong(number),
            describe_operation(HUNT[first_wrong(number) - 1]),
            hunts()[number - 1].title,
        )
        for number in HUNTED
    )
    return Markup("<h2>Answers to sheet 3</h2>\n<ul>\n{}</ul>\n").format(listed)
