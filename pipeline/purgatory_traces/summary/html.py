"""The summary of a check as one page that loads nothing: no script, no font, no picture."""

from dataclasses import dataclass

from purgatory_conformance.describing.words import Span, noun, paragraphs, spans
from purgatory_conformance.reporting.pages import page_template
from purgatory_spec.requirements import Requirement, known_requirement
from purgatory_traces.summary.summary import Cause, Summary
from purgatory_traces.summary.words import (
    HEADLINE_SIGNS,
    UNITS,
    VERDICT_SIGNS,
    call_of,
    clipped,
    grouped,
    lines_of,
    not_judgeable,
    place_of_divergence,
    place_of_line,
    runs_of,
    set_aside,
    so_many,
    why,
)
from purgatory_traces.version import MODEL_VERSION

PAGE = "report.html"
"""The name of its file."""

_MOST_CAUSES = 100


@dataclass(frozen=True, slots=True)
class _ShownCause:
    """A cause with the text of its rule."""

    cause: Cause
    runs: int
    title: str
    level: str
    text: list[list[Span]]
    other_rules: list[str]


@dataclass(frozen=True, slots=True)
class _Tested:
    """A rule that was put to the test: how often it held, and in how many runs it did not."""

    rule: Requirement
    visits: int
    broken: int
    deviated: int


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules of a component, as far as the runs put them to the test."""

    name: str
    tested: list[_Tested]
    never: list[Requirement]
    others: int
    """The number of rules that no run of this kind tests."""


def render_page(summary: Summary, head: str) -> str:
    """Return the page of the summary.

    Args:
        summary: What was found.
        head: A line that says what was checked and how.
    """
    causes = summary.causes
    return page_template("trace_check.html.jinja", "purgatory_traces").render(
        head=head,
        headline=summary.headline,
        sign=HEADLINE_SIGNS[summary.exit_code],
        good=summary.exit_code == 0,
        why=why(summary),
        exit_code=summary.exit_code,
        summary=summary,
        counts=[(VERDICT_SIGNS[name], name, runs) for name, runs in summary.verdicts.items()],
        causes=[_shown(cause, runs) for cause, runs in causes[:_MOST_CAUSES]],
        further_causes=max(0, len(causes) - _MOST_CAUSES),
        unfinished=summary.unfinished,
        left_open=not_judgeable(summary),
        aside=summary.aside,
        rules=_rules(summary),
        model_version=MODEL_VERSION,
        grouped=grouped,
        runs_of=runs_of,
        lines_of=lines_of,
        set_aside=set_aside(summary),
        so_many=so_many,
        units=UNITS,
        clipped=clipped,
        place_of_line=place_of_line,
        place_of_divergence=place_of_divergence,
        call_of=call_of,
    )


def _shown(cause: Cause, runs: int) -> _ShownCause:
    others = sorted({rule for row in cause.examples for rule in row.also})
    rule = known_requirement(cause.rule)
    if rule is None:
        return _ShownCause(cause, runs, "", "", [], others)
    text = [spans(each) for each in paragraphs(rule.told)]
    return _ShownCause(cause, runs, rule.title, rule.level.value, text, others)


def _rules(summary: Summary) -> list[_Rules]:
    shown: list[_Rules] = []
    for component in summary.seen_components:
        tested, never = summary.rules_of(component)
        rows = [_tested(summary, rule) for rule in tested]
        shown.append(_Rules(noun(component), rows, never, summary.others_of(component)))
    return shown


def _tested(summary: Summary, rule: Requirement) -> _Tested:
    counts = (summary.visits[rule.id], summary.broken[rule.id], summary.deviated[rule.id])
    return _Tested(rule, *counts)
