"""Slides of the lessons in one file: a point for each paragraph, the whole text as notes."""

from collections.abc import Iterator, Sequence
from importlib.resources import files

from markupsafe import Markup

from purgatory_conformance.teaching.lessons import Block, Exercise, Lesson, Section
from purgatory_conformance.viewing.markup import page_of, viewer, viewer_script, viewer_style
from purgatory_conformance.viewing.runs import run_of_case
from purgatory_spec.cases import decode_case

_MOST_POINTS = 4
_MOST_LINES = 24
"""Of code on one slide; what is longer goes on, on the next one."""

_SLIDE = Markup('<section class="slide {kind}" aria-label="{label}">\n{body}\n</section>\n')
_NOTES = Markup('<aside class="notes" hidden>{}</aside>')
_BAR = Markup(
    '<nav class="bar" aria-label="slides" hidden><button type="button" data-go="-1">Back</button>'
    '<output></output><button type="button" data-go="1">Forward</button>'
    '<button type="button" data-notes aria-pressed="false">Notes</button></nav>\n'
)


def slides_page(chosen: Sequence[Lesson]) -> Markup:
    """The slides of these lessons as a page that loads nothing."""
    slides = Markup("").join(slide for lesson in chosen for slide in _of_lesson(lesson))
    style = Markup("<style>\n{}</style>\n").format(Markup(_text("slides.css")))
    script = Markup("<script>\n{}</script>\n").format(Markup(_text("slides.js")))
    title = chosen[0].title.striptags() if len(chosen) == 1 else "The course"
    return page_of(title, viewer_style() + style, slides + _BAR, script + viewer_script())


def _of_lesson(lesson: Lesson) -> Iterator[Markup]:
    head = Markup("<p>Lesson {}</p>\n<h1>{}</h1>\n{}")
    yield _slide("title", lesson.title, head.format(lesson.number, lesson.title, lesson.idea))
    for section in lesson.sections:
        yield from _of_section(section)
    for exercise in lesson.exercises:
        yield from _of_exercise(exercise)


def _of_section(section: Section) -> Iterator[Markup]:
    points: list[Markup] = []
    told: list[Markup] = []
    for block in section.blocks:
        if block.kind in ("text", "list"):
            for point in block.points:
                if len(points) == _MOST_POINTS:
                    yield _points(section.title, points, told)
                    points, told = [], []
                points.append(point)
            told.append(block.html)
            continue
        if points:
            yield _points(section.title, points, told)
            points, told = [], []
        yield from _shown(section.title, block)
    if points:
        yield _points(section.title, points, told)


def _of_exercise(exercise: Exercise) -> Iterator[Markup]:
    for what, blocks in (("Exercise", exercise.task), ("Solution", exercise.solution)):
        title = Markup("{} {}").format(what, exercise.number)
        text = [block.html for block in blocks if block.kind in ("text", "list")]
        if text:
            body = Markup("<h2>{}</h2>\n{}").format(title, Markup("\n").join(text))
            yield _slide("text", title, body)
        for block in blocks:
            if block.kind not in ("text", "list"):
                yield from _shown(title, block)


def _points(title: Markup, points: list[Markup], told: list[Markup]) -> Markup:
    items = Markup("\n").join(Markup("<li>{}</li>").format(point) for point in points)
    notes = _NOTES.format(Markup("\n").join(told))
    return _slide(
        "points", title, Markup("<h2>{}</h2>\n<ul>{}</ul>\n{}").format(title, items, notes)
    )


def _shown(title: Markup, block: Block) -> Iterator[Markup]:
    """The slides of a picture, a table, or code."""
    heading = Markup("<h2>{}</h2>\n{}")
    if block.kind == "viewer":
        run = run_of_case(decode_case("\n".join(block.lines) + "\n", title.striptags()))
        yield _slide("picture", title, heading.format(title, viewer(run)))
    elif block.kind == "table":
        yield _slide("table", title, heading.format(title, block.html))
    else:
        for first in range(0, len(block.lines), _MOST_LINES):
            yield _slide("code", title, heading.format(title, _code(block.lines, first)))


def _code(lines: Sequence[str], first: int) -> Markup:
    """Code in letters as large as its lines and columns leave room for."""
    shown = lines[first : first + _MOST_LINES]
    columns = max(map(len, shown))
    code = Markup('<pre style="--lines:{};--columns:{}"><code>{}</code></pre>')
    return code.format(max(len(shown), 6), max(columns, 30), "\n".join(shown))


def _slide(kind: str, label: Markup, body: Markup) -> Markup:
    return _SLIDE.format(kind=kind, label=label.striptags(), body=body)


def _text(name: str) -> str:
    return (files("purgatory_conformance.teaching") / name).read_text(encoding="utf-8")
