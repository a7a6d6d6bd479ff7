"""The summary of a check at a terminal; the verdict stands in the last lines."""

from rich.console import Console

from purgatory_conformance.describing.words import counted, noun, printable
from purgatory_conformance.reporting.terminal_page import TerminalPage
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import known_requirement
from purgatory_traces.results.rows import RunVerdict
from purgatory_traces.summary.reasons import Alike, AnyRow
from purgatory_traces.summary.summary import Cause, Summary
from purgatory_traces.summary.words import (
    HEADLINE_SIGNS,
    UNITS,
    VERDICT_SIGNS,
    call_of,
    clipped,
    grouped,
    not_judgeable,
    place_of_divergence,
    place_of_line,
    runs_of,
    set_aside,
    so_many,
    why,
)

_GOOD = "bold #2a8fd6"
_BAD = "bold #d9720b"
_FAINT = "dim"
_STYLES = {RunVerdict.CONFORMS.value: "#2a8fd6", RunVerdict.DIVERGES.value: _BAD}

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
        report: The path of the page; empty without a page.
    """
    page = TerminalPage(console)
    page.say((head, _FAINT))
    _print_counts(page, summary)
    _print_causes(page, summary)
    _print_unfinished(page, summary, report)
    _print_aside(page, summary, report)
    _print_coverage(page, summary, report)
    _print_deviations(page, summary)
    _print_not_judgeable(page, summary)
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
    if causes:
        page.gap()
        page.say((UNITS, _FAINT))


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


def _print_not_judgeable(page: TerminalPage, summary: Summary) -> None:
    words = not_judgeable(summary)
    if words:
        page.say((f"Left open: {words}", _FAINT), indent=0, hang=2)


def _print_unfinished(page: TerminalPage, summary: Summary, report: str) -> None:
    unfinished = summary.unfinished
    if not unfinished:
        return
    page.gap()
    page.say("Not judged to the end", indent=0)
    for each in unfinished[:_MOST_REASONS]:
        what = f"{each.example.verdict}, {runs_of(each.rows)}"
        _print_reason(page, what, each, printable(each.example.run))
    _print_further(page, len(unfinished), report)


def _print_aside(page: TerminalPage, summary: Summary, report: str) -> None:
    aside = summary.aside
    if not aside:
        return
    page.gap()
    page.say(f"In quarantine: {set_aside(summary)} that could not be used")
    for each in aside[:_MOST_REASONS]:
        what = so_many(each.example, each.rows)
        _print_reason(page, what, each, place_of_line(each.example))
    _print_further(page, len(aside), report)


def _print_reason(page: TerminalPage, what: str, each: Alike[AnyRow], place: str) -> None:
    """Print the reason that some rows share, and the place of the first row."""
    words = f"{what}: {clipped(each.words)}"
    if not each.differ:
        page.say(words, (f"  first {place}", _FAINT), indent=2, hang=4)
        return
    page.say(words, indent=2, hang=4)
    page.say((f"first {place}: ", _FAINT), clipped(each.example.reason), indent=4, hang=6)


def _print_further(page: TerminalPage, reasons: int, report: str) -> None:
    """Print the number of further reasons, and the place that lists them."""
    left = reasons - _MOST_REASONS
    if left > 0:
        where = "report" if report else "tables"
        page.say(f"{counted(left, 'further reason')}: see the {where}", indent=2)


def _print_coverage(page: TerminalPage, summary: Summary, report: str) -> None:
    if not summary.seen_components:
        return
    page.gap()
    for component in summary.seen_components:
        _print_rules(page, summary, component, report)


def _print_rules(page: TerminalPage, summary: Summary, component: Component, report: str) -> None:
    tested, never = summary.rules_of(component)
    others = summary.others_of(component)
    total = len(tested) + len(never) + others
    page.say(f"{noun(component)}: {len(tested)} of {total} rules put to the test")
    if never:
        names = ", ".join(rule.id for rule in never[:_MOST_NAMES])
        more = _more(len(never) - _MOST_NAMES, report)
        page.say((f"never: {names}{more}", _FAINT), indent=2, hang=4)
    if others and tested:
        page.say((f"no run of this kind tests the {others} others", _FAINT), indent=2, hang=4)


def _more(left: int, report: str) -> str:
    """Return the number of further names in words, and the place that lists them."""
    if left <= 0:
        return ""
    where = "in the report" if report else "on the page that `purgatory trace check --html` writes"
    return f" and {left} more, {where}"


def _print_deviations(page: TerminalPage, summary: Summary) -> None:
    for rule, runs in sorted(summary.deviated.items()):
        page.say(f"declared deviation from {rule}: seen in {runs_of(runs)}")


def _title(rule: str) -> str:
    known = known_requirement(rule)
    return known.title if known else ""
