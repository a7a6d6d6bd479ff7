"""What moves on pages: runs of the model in lessons, and the two parts of the page to play on.

A fence ``jsonl viewer`` holds a case. On the site, the figure of its run stands in its place, and
the case itself in a block that opens below. In a checkout the page shows the case alone. The page
to play on has places for its parts.
"""

import re

from purgatory_course.playing.page import (
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
_PLACE = re.compile(r'<div class="play-slot" data-part="(?P<part>wheel|hunt)"></div>')
_PARTS = {"wheel": wheel_to_change, "hunt": hunt_for_a_defect}


def with_parts_to_play(markdown: str) -> str:
    """The page with its parts, and with their style and script once."""
    first = _PLACE.search(markdown)
    if first is None:
        return markdown
    filled = _PLACE.sub(lambda place: str(_PARTS[place["part"]]()), markdown[first.start() :])
    return f"{markdown[: first.start()]}{play_style()}\n{filled}\n\n{play_script()}"


def with_figures(markdown: str, page: str) -> str:
    """The page with a figure for each case, and with the style and the script once."""
    first = _CASE.search(markdown)
    if first is None:
        return markdown

    def figure(fence: re.Match[str]) -> str:
        run = run_of_case(decode_case(fence["case"], f"{page}: {fence['title']}"))
        lines = ["```jsonl", *fence["case"].rstrip().splitlines(), "```"]
        shown = "\n".join(f"    {line}" for line in lines)
        return f'{viewer(run)}\n\n??? note "The steps as a file, {fence["title"]}"\n\n{shown}'

    start = first.start()
    filled = _CASE.sub(figure, markdown[start:])
    return f"{markdown[:start]}{viewer_style()}\n{filled}\n\n{viewer_script()}"
