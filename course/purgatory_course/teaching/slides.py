"""Slides of the lessons in one file: a point for each paragraph, the whole text as notes."""

from collections.abc import Iterator, Sequence
from importlib.resources import files

from markupsafe import Markup

from purgatory_conformance.viewing.markup import page_of, viewer, viewer_script, viewer_style
from purgatory_conformance.viewing.runs import run_of_case
from purgatory_course.teaching.lessons import Block, Exercise, Lesson, Section
from purgatory_spec.cases import decode_case

_WORDS = ("text", "list")
_MOST_POINTS = 4
_MOST_LINES = 24
"""The most lines of code on one slide; longer code goes on, on the next one."""

_SLIDE = Markup('<section class="slide {kind}" aria-label="{label}">\n{body}\n</section>\n')
_NOTES = Markup('<aside class="notes" hidden>{}</aside>')
_BAR = Markup(
    '<nav class="bar" aria-label="slides" hidden><button type="button" data-go="-1">Back</button>'
    '<output></output><button type="button" data-go="1">Forward</button>'
    '<button type="button" data-notes aria-pressed="false">Notes</button></nav>\n'
)


def slides_page(chosen: Sequence[Lesson]) -> Markup:
    """Return the slides of these lessons as a page that loads nothing."""
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
        if block.kind in _WORDS:
            for point in block.points:
                if len(points) == _MOST_POINTS:
                    yield _slide("points", section.title, _points(points, told))
                    points, told = [], []
                points.append(point)
            told.append(block.html)
            continue
        if points and not _fits_below(block, 3 * len(points)):
            yield _slide("points", section.title, _points(points, told))
            points, told = [], []
        above = _points(points, told) if points else Markup("")
        yield from _shown(section.title, block, above, 3 * len(points))
        points, told = [], []
    if points:
        yield _slide("points", section.title, _points(points, told))


def _of_exercise(exercise: Exercise) -> Iterator[Markup]:
    for what, blocks in (("Exercise", exercise.task), ("Solution", exercise.solution)):
        title = Markup("{} {}").format(what, exercise.number)
        text: list[Markup] = []
        for block in blocks:
            if block.kind in _WORDS:
                text.append(block.html)
                continue
            lines = sum(len(html.striptags()) // 60 + 2 for html in text)
            if text and not _fits_below(block, lines):
                yield _slide("text", title, Markup("\n").join(text))
                text, lines = [], 0
            yield from _shown(title, block, Markup("\n").join(text), lines)
            text = []
        if text:
            yield _slide("text", title, Markup("\n").join(text))


def _fits_below(block: Block, lines: int) -> bool:
    """Decide whether a picture, a table or code has room on a slide below so many lines of text."""
    return lines + (len(block.lines) if block.kind == "code" else 12) <= _MOST_LINES - 6


def _points(points: list[Markup], told: list[Markup]) -> Markup:
    items = Markup("\n").join(Markup("<li>{}</li>").format(point) for point in points)
    notes = _NOTES.format(Markup("\n").join(told))
    return Markup("<ul>{}</ul>\n{}").format(items, notes)


def _shown(title: Markup, block: Block, above: Markup, taken: int) -> Iterator[Markup]:
    """Yield the slides of a picture, a table, or code, below text that takes so many lines."""
    if block.kind == "viewer":
        run = run_of_case(decode_case("\n".join(block.lines) + "\n", title.striptags()))
        yield _slide("picture", title, above + viewer(run))
    elif block.kind == "table":
        yield _slide("table", title, above + block.html)
    else:
        for first in range(0, len(block.lines), _MOST_LINES):
            yield _slide("code", title, above + _code(block.lines, first, taken))


def _code(lines: Sequence[str], first: int, taken: int) -> Markup:
    """Return code in letters as large as its lines and columns leave room for."""
    shown = lines[first : first + _MOST_LINES]
    columns = max(map(len, shown))
    code = Markup('<pre style="--lines:{};--columns:{}"><code>{}</code></pre>')
    return code.format(max(len(shown) + taken, 6), max(columns, 30), "\n".join(shown))


def _slide(kind: str, label: Markup, body: Markup) -> Markup:
    heading = Markup("") if kind == "title" else Markup("<h2>{}</h2>\n").format(label)
    return _SLIDE.format(kind=kind, label=label.striptags(), body=heading + body)


def _text(name: str) -> str:
    return (files("purgatory_course.teaching") / name).read_text(encoding="utf-8")
