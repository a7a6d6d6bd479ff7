"""The viewer in a page: the frames as JSON, the picture's place, the controls, every step in words.

``viewer`` makes the figure of one run. A page with figures has ``viewer_style`` once in front of
them and ``viewer_script`` once behind them.
"""

from functools import cache
from importlib.resources import files

import msgspec
from markupsafe import Markup

from purgatory_conformance.viewing.content_policy import content_policy
from purgatory_conformance.viewing.runs import Run

_FIGURE = Markup(
    """<figure class="purgatory-viewer" tabindex="0" role="group" aria-label="{title}"{plays}>
<p class="viewer-title">{title}</p>
<p class="viewer-about">{about}</p>
<div class="viewer-controls" hidden>
<button type="button">Back</button><button type="button">Play</button>
<button type="button">Forward</button>
<input type="range" min="0" value="0" aria-label="step">
</div>
<p class="viewer-says" aria-live="polite"></p>
<svg xmlns="http://www.w3.org/2000/svg" aria-hidden="true" focusable="false"></svg>
<details><summary>All steps in words</summary><ol>
{steps}
</ol></details>
<script type="application/json">{frames}</script>
</figure>
"""
)
_STEP = Markup("<li><strong>{says}</strong> {state}</li>")


def viewer(run: Run, *, plays: bool = False) -> Markup:
    """Return the figure of a run; a script draws the picture, the words are on the page.

    One that ``plays`` begins by itself as soon as it is seen, unless the reader wants less motion.
    """
    frames = msgspec.json.encode(run).decode()
    return _FIGURE.format(
        title=run.title,
        about=run.about,
        plays=Markup(" data-plays" if plays else ""),
        steps=Markup("\n").join(
            _STEP.format(says=frame.says, state=frame.state) for frame in run.frames
        ),
        frames=Markup(inside_a_script(frames)),
    )


def viewer_style() -> Markup:
    """Return the style of all figures of a page."""
    return Markup("<style>\n{}</style>\n").format(Markup(_text("viewer.css")))


def viewer_script() -> Markup:
    """Return the script that draws all figures of a page."""
    scripts = Markup(_text("rings.js") + _text("viewer.js"))
    return Markup("<script>\n{{\n{}}}\n</script>\n").format(scripts)


def viewer_page(runs: tuple[Run, ...]) -> Markup:
    """Return a page of its own with the figures of these runs."""
    title = runs[0].title if runs else "no runs"
    figures = Markup("").join(viewer(run) for run in runs)
    return page_of(title, viewer_style(), figures, viewer_script())


def page_of(title: str, style: Markup, body: Markup, script: Markup) -> Markup:
    """Return a whole page, for light and dark; ``script`` are its script elements, or empty."""
    head = '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n{}'
    head += '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    head += '<meta name="color-scheme" content="light dark"><title>{}</title>\n'
    rest = Markup("</head><body><main>\n{}</main>\n{}</body></html>\n")
    return Markup(head).format(content_policy(script), title) + style + rest.format(body, script)


def inside_a_script(text: str) -> str:
    """Return the JSON without the letters that could end the script element or open a comment."""
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


@cache
def _text(name: str) -> str:
    return (files("purgatory_conformance.viewing") / name).read_text(encoding="utf-8")
