"""The exercises of the lessons on one sheet, to be printed, with or without the solutions."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from purgatory_conformance.viewing.markup import page_of
from purgatory_course.teaching.exercises import EXERCISES
from purgatory_course.teaching.gradable import Predicted
from purgatory_course.teaching.lessons import Block, Lesson

_STYLE = Markup("""<style>
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 46rem; padding: 1rem; background: light-dark(#ffffff, #14181c);
  color: light-dark(#1c2126, #e4e9ee);
  font: 16px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
pre { overflow-x: auto; font-size: 13px; padding: .5rem; background: light-dark(#f0f3f6, #1f262d); }
.solution { border-left: 3px solid light-dark(#0063a6, #6cb8f0); padding-left: .8rem; }
.graded { color: light-dark(#5b6672, #a3b0bc); }
section { break-inside: avoid; }
@media print { body { max-width: none; font-size: 11pt; } pre { white-space: pre-wrap; } }
</style>
""")


def sheet_page(chosen: Sequence[Lesson], *, solutions: bool) -> Markup:
    """Return the exercises of these lessons as a page that loads nothing."""
    title = "Exercises with solutions" if solutions else "Exercises"
    parts = Markup("").join(part for lesson in chosen for part in _of(lesson, solutions))
    return page_of(title, _STYLE, Markup("<h1>{}</h1>\n{}").format(title, parts), Markup(""))


def _of(lesson: Lesson, solutions: bool) -> Iterator[Markup]:
    yield Markup("<h2>{}. {}</h2>\n").format(lesson.number, lesson.title)
    for exercise in lesson.exercises:
        graded = _graded(exercise.number)
        part = Markup("<section><h3>{}</h3>\n{}{}</section>\n")
        yield part.format(exercise.number, _html(exercise.task), graded)
        if solutions:
            yield Markup('<div class="solution">{}</div>\n').format(_html(exercise.solution))


def _graded(number: str) -> Markup:
    """Return the way of grading and the beginning of the answer; nothing for one on paper."""
    if number not in EXERCISES:
        return Markup("")
    command = Markup("<code>purgatory course {}</code>")
    words = Markup("Graded: {}").format(command.format(f"check {number} FILE"))
    if isinstance(EXERCISES[number], Predicted):
        begin = command.format(f"begin {number} --out FILE")
        words += Markup(", which {} writes without its outcomes").format(begin)
    return Markup('<p class="graded">{}.</p>').format(words)


def _html(blocks: Sequence[Block]) -> Markup:
    return Markup("\n").join(block.html for block in blocks)
