"""The summary of a check at a terminal; the verdict stands in the last lines."""

from rich.console import Console

from purgatory_conformance.reporting.terminal_page import TerminalPage
from purgatory_conformance.reporting.words import noun, printable
from purgatory_pipeline.rows import Verdict
from purgatory_pipeline.summary import Cause, Summary
from purgatory_pipeline.summary_words import (
    HEADLINE_SIGNS,
    VERDICT_SIGNS,
    call_of,
    clipped,
    grouped,
    lines_of,
    place_of_divergence,
    place_of_line,
    runs_of,
    why,
)
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import requirement

_GOOD = "bold #2a8fd6"
_BAD = "bold #d9720b"
_FAINT = "dim"
_STYLES = {Verdict.CONFORMS.value: "#2a8fd6", Verdict.DIVERGES.value: _BAD}

_MOST_CAUSES = 10
_MOST_REASONS = 8
_MOST_NAMES = 12


def print_summary(
    console: Console, summary: Summary, *, head: str, results: str, report: str = ""
) -> None:
    """Print what a check found.

    Args:
        console: Where to print. Colours, width and signs follow what it can show.
        summary: What was found.
        head: A line that says what was checked and how.
        results: Where the tables are.
        report: Where the page is; empty where there is none.
    """
    page = TerminalPage(console)
    page.say((head, _FAINT))
    _print_counts(page, summary)
    _print_causes(page, summary)
    _print_unfinished(page, summary)
    _print_aside(page, summary)
    _print_coverage(page, summary)
    _print_deviations(page, summary)
    page.gap()
    sign = HEADLINE_SIGNS[summary.exit_code]
    style = _BAD if summary.exit_code else _GOOD
    page.say((f"{sign} {summary.headline}", style), f": {why(summary)}")
    page.verbatim(f"tables  {results}")
    if report:
        page.verbatim(f"report  {report}")
    page.say(f"exit code {summary.exit_code}")


def _print_counts(page: TerminalPage, summary: Summary) -> None:
    page.gap()
    widest = max(len(grouped(count)) for count in summary.verdicts.values())
    for verdict, count in summary.verdicts.items():
        style = _STYLES.get(verdict, "") if count else _FAINT
        words = f"{VERDICT_SIGNS[verdict]} {verdict:<13}"
        page.say((words, style), (f"{grouped(count):>{widest}}", style))


def _print_causes(page: TerminalPage, summary: Summary) -> None:
    causes = summary.causes
    for number, (cause, runs) in enumerate(causes[:_MOST_CAUSES], start=1):
        page.gap()
        page.say(
            (f"{number}. {cause.rule}", _BAD),
            f" {cause.kind}, {runs_of(runs)}",
            (f"  {_title(cause.rule)}", _FAINT),
            hang=3,
        )
        _print_examples(page, cause)
    if len(causes) > _MOST_CAUSES:
        page.gap()
        left = sum(runs for _, runs in causes[_MOST_CAUSES:])
        page.say(f"{len(causes) - _MOST_CAUSES} further causes, {runs_of(left)}: see the tables")


def _print_examples(page: TerminalPage, cause: Cause) -> None:
    for row in cause.examples:
        page.say(place_of_divergence(row), indent=3, hang=5)
        for label, words in (
            ("call", call_of(row)),
            ("expected", row.expected),
            ("seen", row.seen),
        ):
            if words:
                page.say((f"{label:<9}", _FAINT), clipped(words), indent=5, hang=14)


def _print_unfinished(page: TerminalPage, summary: Summary) -> None:
    unfinished = summary.unfinished
    if not unfinished:
        return
    page.gap()
    page.say("Not judged to the end", indent=0)
    for each, runs in unfinished[:_MOST_REASONS]:
        words = f"{each.verdict}, {runs_of(runs)}: {clipped(each.reason)}"
        page.say(words, (f"  first {printable(each.example.run)}", _FAINT), indent=2, hang=4)
    if len(unfinished) > _MOST_REASONS:
        page.say(f"{len(unfinished) - _MOST_REASONS} further reasons: see the tables", indent=2)


def _print_aside(page: TerminalPage, summary: Summary) -> None:
    aside = summary.aside
    if not aside:
        return
    page.gap()
    page.say(f"In quarantine: {lines_of(summary.quarantined)} that could not be used")
    for each, lines in aside[:_MOST_REASONS]:
        words = f"{lines_of(lines)}: {clipped(each.reason)}"
        page.say(words, (f"  first {place_of_line(each.example)}", _FAINT), indent=2, hang=4)
    if len(aside) > _MOST_REASONS:
        page.say(f"{len(aside) - _MOST_REASONS} further reasons: see the tables", indent=2)


def _print_coverage(page: TerminalPage, summary: Summary) -> None:
    if not summary.seen_components:
        return
    page.gap()
    for component in summary.seen_components:
        _print_rules(page, summary, component)


def _print_rules(page: TerminalPage, summary: Summary, component: Component) -> None:
    visited, never = summary.rules_of(component)
    others = summary.others_of(component)
    total = len(visited) + len(never) + others
    page.say(f"{noun(component)}: {len(visited)} of {total} rules put to the test")
    if never:
        names = ", ".join(rule.id for rule in never[:_MOST_NAMES])
        more = f" and {len(never) - _MOST_NAMES} more" if len(never) > _MOST_NAMES else ""
        page.say((f"never: {names}{more}", _FAINT), indent=2, hang=4)
    if others and visited:
        page.say((f"{others} others need what such runs do not show", _FAINT), indent=2, hang=4)


def _print_deviations(page: TerminalPage, summary: Summary) -> None:
    for rule, runs in sorted(summary.deviated.items()):
        page.say(f"declared deviation from {rule}: seen in {runs_of(runs)}")


def _title(rule: str) -> str:
    try:
        return requirement(rule).title
    except KeyError:
        return ""
