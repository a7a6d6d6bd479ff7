"""A counterexample as one HTML page that loads nothing else: no script, no font, no picture."""

from dataclasses import dataclass

from purgatory_conformance.reporting.pages import page_template
from purgatory_model.claims.narrative import Narrative, NarrativeStep


@dataclass(frozen=True, slots=True)
class _Row:
    """A step with the counts changed, and whether the step belongs to the repeating part."""

    step: NarrativeStep
    changed: frozenset[str]
    repeats: bool


def render_narrative(narrative: Narrative) -> str:
    """The story as a page in one file."""
    last = narrative.steps[-1].number
    return page_template("narrative.html.jinja").render(
        narrative=narrative,
        rows=_rows(narrative),
        last=last,
        stutters=narrative.loop == last,
    )


def _rows(narrative: Narrative) -> list[_Row]:
    rows: list[_Row] = []
    before = narrative.steps[0].counts
    for step in narrative.steps:
        changed = {name for name, value in step.counts.items() if before.get(name) != value}
        repeats = narrative.loop is not None and step.number > narrative.loop
        rows.append(_Row(step, frozenset(changed), repeats))
        before = step.counts
    return rows
