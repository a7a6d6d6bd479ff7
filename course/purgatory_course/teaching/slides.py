"""The slides of the class in one file: a figure each, and what to say as notes."""

from collections.abc import Sequence
from importlib.resources import files

from markupsafe import Markup

from purgatory_conformance.viewing.markup import page_of, viewer, viewer_script, viewer_style
from purgatory_conformance.viewing.runs import run_of_case
from purgatory_course.teaching.lessons import Block, Slide, case_of

_SLIDE = Markup(
    '<section class="slide {kind}" aria-label="{label}">\n<h2>{title}</h2>\n{figure}\n'
    '<aside class="notes" hidden>{says}</aside>\n</section>\n'
)
_BAR = Markup(
    '<nav class="bar" aria-label="slides" hidden><button type="button" data-go="-1">Back</button>'
    '<output></output><button type="button" data-go="1">Forward</button>'
    '<button type="button" data-notes aria-pressed="false">Notes</button></nav>\n'
)
_LEAST_LINES, _LEAST_COLUMNS = 6, 30
"""Code of fewer lines or columns is not shown in larger letters."""


def slides_page(chosen: Sequence[Slide]) -> Markup:
    """Return the slides as a page that loads nothing."""
    body = Markup("").join(map(_slide, chosen))
    style = Markup("<style>\n{}</style>\n").format(Markup(_text("slides.css")))
    script = Markup("<script>\n{}</script>\n").format(Markup(_text("slides.js")))
    whole = script + viewer_script()
    return page_of("A class of ninety minutes", viewer_style() + style, body + _BAR, whole)


def _slide(slide: Slide) -> Markup:
    return _SLIDE.format(
        kind=slide.figure.kind,
        label=slide.title.striptags(),
        title=slide.title,
        figure=_figure(slide.figure),
        says=slide.says,
    )


def _figure(block: Block) -> Markup:
    """Return a run to step through, a table, or code in letters as large as there is room for."""
    if block.kind == "viewer":
        return viewer(run_of_case(case_of(block)))
    if block.kind == "table":
        return block.html
    columns = max(map(len, block.lines))
    code = Markup('<pre style="--lines:{};--columns:{}"><code>{}</code></pre>')
    lines = max(len(block.lines), _LEAST_LINES)
    return code.format(lines, max(columns, _LEAST_COLUMNS), "\n".join(block.lines))


def _text(name: str) -> str:
    return (files("purgatory_course.teaching") / name).read_text(encoding="utf-8")
