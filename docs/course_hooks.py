"""Puts the viewer into the lessons of the course: a run of the model for each marked code block.

A fence ``jsonl viewer`` holds a case. On the site, the figure of its run stands in its place, and
the case itself in a block that opens below. In a checkout the page shows the case alone. The page
to play on has places for its two parts.
"""

import re

from mkdocs.structure.pages import Page

from purgatory_conformance.playing.page import (
    hunt_for_a_defect,
    play_script,
    play_style,
    wheel_to_change,
)
from purgatory_conformance.viewing.markup import viewer, viewer_script, viewer_style
from purgatory_conformance.viewing.runs import run_of_case
from purgatory_spec.cases import decode_case

_CASE = re.compile(
    r'^```jsonl viewer title="(?P<title>[^"]+)"\n(?P<case>.*?)^```$', re.MULTILINE | re.DOTALL
)
_SLOT = re.compile(r'<div class="viewer-slot" data-run="(?P<number>\d+)"></div>')

_PART = re.compile(r'<div class="play-slot" data-part="(?P<part>wheel|hunt)"></div>')
_PARTS = {"wheel": wheel_to_change, "hunt": hunt_for_a_defect}

_FIGURES: dict[str, list[str]] = {}
"""The figures of each page, by its path, from its Markdown to its HTML."""


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Leave a place for each figure, with the case in a closed block below it."""
    figures: list[str] = []

    def place(fence: re.Match[str]) -> str:
        run = run_of_case(decode_case(fence["case"], f"{page.file.src_uri}: {fence['title']}"))
        figures.append(str(viewer(run)))
        lines = ["```jsonl", *fence["case"].rstrip().splitlines(), "```"]
        shown = "\n".join(f"    {line}" for line in lines)
        slot = f'<div class="viewer-slot" data-run="{len(figures) - 1}"></div>'
        return f'{slot}\n\n??? note "The steps as a file, {fence["title"]}"\n\n{shown}'

    changed = _CASE.sub(place, markdown)
    _FIGURES[page.file.src_uri] = figures
    return changed


def on_page_content(html: str, page: Page, **_: object) -> str:
    """Put the figures into their places, with the style and the script once."""
    figures = _FIGURES.pop(page.file.src_uri, [])
    if _PART.search(html):
        played = _PART.sub(lambda slot: str(_PARTS[slot["part"]]()), html)
        return f"{play_style()}{played}{play_script()}"
    if not figures:
        return html
    filled = _SLOT.sub(lambda slot: figures[int(slot["number"])], html)
    return f"{viewer_style()}{filled}{viewer_script()}"
