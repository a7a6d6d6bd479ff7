"""The rehearsal sheet of the class: for each slide the clock, its minutes, and what to say."""

from collections.abc import Sequence

from markupsafe import Markup

from purgatory_conformance.viewing.markup import page_of
from purgatory_course.teaching.lessons import Slide
from purgatory_course.teaching.paper import PAPER, answers_on_paper

_ROW = Markup(
    "<tr><td>{begins} to {ends}</td><td>{number}</td><td><strong>{title}</strong>{says}</td></tr>\n"
)
_BODY = Markup(
    "<h1>Rehearsal: a class of {minutes} minutes</h1>\n<table><thead><tr><th>minute</th>"
    "<th>slide</th><th>what to say</th></tr></thead><tbody>\n{rows}</tbody></table>\n{answers}"
)


def rehearsal_page(chosen: Sequence[Slide]) -> Markup:
    """Return the sheet of these slides as a page that loads nothing."""
    rows, now = Markup(""), 0
    for number, slide in enumerate(chosen, start=1):
        ends = now + slide.minutes
        rows += _ROW.format(
            begins=now, ends=ends, number=number, title=slide.title, says=slide.says
        )
        now = ends
    body = _BODY.format(minutes=now, rows=rows, answers=answers_on_paper())
    return page_of("Rehearsal", PAPER, body, Markup(""))
