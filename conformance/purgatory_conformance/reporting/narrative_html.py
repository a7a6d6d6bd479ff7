"""A counterexample as one HTML page that loads nothing else: no font, no picture, no library."""

import math
from dataclasses import dataclass

from purgatory_conformance.reporting.pages import page_template
from purgatory_conformance.viewing.markup import viewer, viewer_script, viewer_style
from purgatory_conformance.viewing.runs import Run, run_of_narrative
from purgatory_model.claims.narrative import Narrative, NarrativeStep

_MOST_LETTERS = 12
"""A longer count is broken into lines, so that its column stays narrow."""

_LETTER_REM, _CELL_REM, _STEP_REM, _WORDS_REM, _MARGINS_REM = 0.57, 1.2, 3.5, 9, 2.5
"""The widths on the page, rem: a letter and a padding of a cell, about, two columns, margins."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A step with the counts changed, and whether the step belongs to the repeating part."""

    step: NarrativeStep
    changed: frozenset[str]
    repeats: bool


def render_narrative(narrative: Narrative, run: Run | None = None) -> str:
    """Return the story as a page in one file, with a viewer of the states or of the story."""
    run = run or run_of_narrative(narrative)
    last = narrative.steps[-1].number
    return page_template("narrative.html.jinja").render(
        narrative=narrative,
        rows=_rows(narrative),
        last=last,
        wordy=wordy_counts(narrative),
        actor_rem=actor_rem(narrative),
        least_rem=least_rem(narrative),
        stutters=narrative.loop == last,
        viewer_script=viewer_script(),
        viewed=viewer_style() + viewer(run) + viewer_script(),
    )


def wordy_counts(narrative: Narrative) -> frozenset[str]:
    """Return the counts that are words, too long for one line of a column."""
    return frozenset(name for name in narrative.counts if _longest(name, narrative) > _MOST_LETTERS)


def actor_rem(narrative: Narrative) -> int:
    """Return the least width of the column of an actor, in rem: of many actors it is narrow."""
    return 11 if len(narrative.actors) < 4 else 8


def least_rem(narrative: Narrative) -> int:
    """Return the width of a page, in rem, below which the rows of its table are stacked."""
    wordy = wordy_counts(narrative)
    counts = sum(
        _WORDS_REM if name in wordy else _LETTER_REM * _longest(name, narrative) + _CELL_REM
        for name in narrative.counts
    )
    actors = actor_rem(narrative) * len(narrative.actors)
    return math.ceil(_STEP_REM + actors + counts + _WORDS_REM + _MARGINS_REM)


def _longest(name: str, narrative: Narrative) -> int:
    """Return the most letters of a count, its name among them."""
    values = (step.counts.get(name, "") for step in narrative.steps)
    return max(len(name), *(len(value) for value in values))


def _rows(narrative: Narrative) -> list[_Row]:
    rows: list[_Row] = []
    before = narrative.steps[0].counts
    for step in narrative.steps:
        changed = {name for name, value in step.counts.items() if before.get(name) != value}
        repeats = narrative.loop is not None and step.number > narrative.loop
        rows.append(_Row(step, frozenset(changed), repeats))
        before = step.counts
    return rows
