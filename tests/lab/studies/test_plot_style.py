"""Plots: where the names of lines are written."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from purgatory_lab.studies.plot_style import Line, Panel, draw

TITLE = "a title"
NAMES = ("first", "second", "third", "fourth")
LABEL_HEIGHT = 8.0
"""Of the letters, in the units of the file."""


@pytest.mark.parametrize("end", [0.0, 5.0, 10.0])
def test_names_of_lines_that_meet_are_apart_and_not_above_the_axes(
    end: float, tmp_path: Path
) -> None:
    lines = [Line(name, [0.0, 1.0], [10.0, end]) for name in NAMES]
    panel = Panel(TITLE, "x", "y", lines, "linear", "linear")
    draw([panel], tmp_path / "plot.svg")
    written = re.findall(
        r'<text[^>]* y="([\d.]+)"[^>]*>([^<]*)</text>', (tmp_path / "plot.svg").read_text("utf-8")
    )
    heights = {text.split()[-1]: float(y) for y, text in written}
    # In such a file y grows downwards; a text's y is that of its base.
    names = sorted(heights[name] for name in NAMES)
    assert all(lower - upper >= LABEL_HEIGHT for upper, lower in pairwise(names))
    assert names[0] - LABEL_HEIGHT >= 0
    assert names[0] > heights["title"]
