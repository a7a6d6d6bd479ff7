"""The report for people at a terminal: the verdict, and for each cause of failure a screenful."""

from collections.abc import Iterator, Sequence
from itertools import islice

from rich.console import Console

from purgatory_conformance.describing.steps import describe_profile
from purgatory_conformance.describing.words import (
    STATE_SYMBOLS,
    counted,
    describe_implementation,
    noun,
    printable,
    shortened,
    spans,
)
from purgatory_conformance.reporting.results import FailureLine, Results, RuleLine
from purgatory_conformance.reporting.story import Story, ToldStep, all_rules, stories
from purgatory_conformance.reporting.terminal_page import Part, TerminalPage

GOOD = "bold #2a8fd6"
BAD = "bold #d9720b"
_FAINT = "dim"
_STATE_STYLES = {
    "held": "#2a8fd6",
    "broken": BAD,
    "deviates": "#d9720b",
    "doubtful": BAD,
    "too few": _FAINT,
}

_CAUSES_IN_FULL = 3
_MOST_STEPS = 14
_MOST_ERROR_LINES = 10
_MOST_LETTERS = 400
_WIDEST_OPERATION = 36
_STATE_WIDTH = 11
_LEAST_TITLE = 18
"""The least room for the titles of rules in a column of their own, in letters."""


def print_results(
    console: Console, results: Sequence[Results], *, results_path: str, report_path: str
) -> None:
    """Print what a check found, component after component; the verdict stands in the last lines.

    Args:
        console: Where to print. Colours, width and symbols follow what it can show.
        results: What to print, for each component.
        results_path: The path of the results file; empty without a file.
        report_path: The path of the HTML report; empty without a report.
    """
    page = TerminalPage(console)
    for each in results:
        _print_component(page, each)
        if len(results) > 1:
            page.gap()
    if len(results) > 1:
        _print_table(page, results)
    for label, path in (("results", results_path), ("report", report_path)):
        if path:
            page.verbatim(f"{label:<8}{path}" if page.aligned else f"{label}  {path}")


def _print_component(page: TerminalPage, results: Results) -> None:
    _print_head(page, results)
    _print_rules(page, results)
    _print_deviations(page, results)
    told = stories(results)
    for number, story in enumerate(told[:_CAUSES_IN_FULL], start=1):
        _print_cause(page, story, number, len(told))
    _print_other_causes(page, told[_CAUSES_IN_FULL:])
    for number, failure in enumerate(results.failures, start=1):
        _print_failure(page, failure, number, len(results.failures))
    _print_verdict(page, results)


def _print_head(page: TerminalPage, results: Results) -> None:
    header, footer = results.header, results.footer
    page.say(
        (printable(header.subject), "bold"),
        f"  {describe_implementation(header.implementation)}",
    )
    if results.has_profile:
        declared = describe_profile(header.profile)
        page.say(f"{noun(header.component)}: {declared}", hang=2)
    else:
        page.say("what it declares is not known", hang=2)
    page.say(
        f"{header.suite} suite, version {header.suite_words}, seed {header.seed} · "
        f"{footer.was_run}",
        hang=2,
    )
    page.gap()


_WORST_FIRST = ("broken", "doubtful", "deviates", "too few")


def _print_rules(page: TerminalPage, results: Results) -> None:
    """Print all rules where all is well; else the others, the broken first, and how many held."""
    rules = all_rules(results)
    shown = rules
    few: tuple[RuleLine, ...] = ()
    failed = bool(results.causes or results.failures)
    if results.footer.exit_code != 0:
        others = (rule for rule in rules if rule.state in _WORST_FIRST)
        shown = tuple(sorted(others, key=lambda rule: _WORST_FIRST.index(rule.state)))
        if failed:  # what could not be tested behind a failure is no news
            few = tuple(rule for rule in shown if rule.state == "too few")
            shown = tuple(rule for rule in shown if rule.state != "too few")
    if shown:
        width = max(len(rule.id) for rule in shown)
        _print_rule(page, ("state", _FAINT), ("rule", "level", "visits", "states that"), width)
    for rule in shown:
        state = (f"{rule.symbol or ' '} {rule.state}", _STATE_STYLES.get(rule.state, ""))
        _print_rule(page, state, (rule.id, rule.level, str(rule.visits), rule.title), width)
    if few:
        _print_row(
            page,
            (f"{STATE_SYMBOLS['too few']} too few", _FAINT),
            f"{len(few)} rules were visited fewer than {few[0].minimum} times, too seldom "
            "for a verdict (the report lists them)",
        )
    if len(shown) < len(rules) and not results.failures:
        _print_row(
            page,
            (f"{STATE_SYMBOLS['held']} held", _STATE_STYLES["held"]),
            f"{results.rules_held} of {counted(len(rules), 'rule')}",
        )
    if rules:
        page.gap()


def _print_rule(
    page: TerminalPage, state: tuple[str, str], cells: tuple[str, str, str, str], width: int
) -> None:
    """Print a line of the table of rules; a title without room goes on below its beginning."""
    rule, level, visits, title = cells
    if page.aligned:
        words, hang = f"{rule:<{width}}  {level:<6} {visits:>6}  {title}", width + 28
        hang = hang if page.width - hang > _LEAST_TITLE else _STATE_WIDTH
    else:
        words, hang = "  ".join(cells), 0
    _print_row(page, state, words, hang)


def _print_row(
    page: TerminalPage, state: tuple[str, str], words: str, hang: int = _STATE_WIDTH
) -> None:
    name, style = state
    shown = f"{name:<{_STATE_WIDTH}}" if page.aligned else f"{name}  "
    page.say((shown, style), words, hang=hang)


def _print_deviations(page: TerminalPage, results: Results) -> None:
    if not results.deviations:
        return
    page.say(("Declared deviations", "bold"))
    for line in results.deviations:
        symbol = STATE_SYMBOLS["deviates"]
        shown = f"shown by {counted(line.cases, 'case')}"
        seen: Part = (shown if line.cases else "not seen", "" if line.cases else BAD)
        page.say(f"{symbol} {line.rule}, as {printable(line.variant)}: ", seen, indent=2, hang=4)
        why = ", ".join(printable(words) for words in (line.reason, line.issue) if words)
        if why:
            page.say(why, indent=4)
        page.verbatim(f"replay file: {printable(line.replay)}", indent=4)
    page.gap()


def _print_cause(page: TerminalPage, story: Story, number: int, of: int) -> None:
    page.ruled(f"── cause {number} of {of}", _FAINT)
    level = f" ({story.level})" if story.level else ""
    page.say((f"✗ broken  {story.rule}", BAD), f"{level}: {story.title}", hang=2)
    for paragraph in story.text[:2]:
        styles = {"code": "bold", "emphasis": "italic"}
        page.say(*((w, styles.get(kind, "")) for kind, w in spans(paragraph)), indent=2)
    page.gap()
    page.say(f"{counted(story.cases, 'failing case')}; the simplest found, from {story.source}:")
    if story.answers:
        page.say((story.answers, BAD), indent=2)
    page.say(f"a {story.configuration}", indent=2, hang=2)
    print_steps(page, story.steps)
    page.gap()
    page.labelled("expected", (story.expected, GOOD), width=16, indent=2)
    page.labelled("seen", (story.seen, BAD), width=16, indent=2)
    if story.before:
        page.labelled("state before", story.before, width=16, indent=2)
    if story.after:
        page.labelled("expected after", story.after, width=16, indent=2)
    if story.legend:
        page.labelled("", story.legend, width=16, indent=2)
    page.gap()
    if story.also:
        page.say(story.also, indent=2, hang=4)
        page.gap()
    _print_hints(page, story)
    if story.command:
        page.verbatim(story.command, "bold", indent=2)
        page.gap()


def _print_hints(page: TerminalPage, story: Story) -> None:
    """Print the hints for declarations, each with the lines to paste."""
    for hint in story.hints:
        page.say(("hint  ", "bold"), printable(hint.words), indent=2, hang=8)
        for line in hint.paste.split("\n") if hint.paste else ():
            page.verbatim(printable(line), indent=8)
        if hint.finding:
            page.say(f"see {hint.finding}", indent=8)
        page.gap()


def print_steps(page: TerminalPage, steps: tuple[ToldStep, ...]) -> None:
    """Print the steps of a case below each other; of a long case its last ones."""
    left_out = max(len(steps) - _MOST_STEPS, 0)
    if left_out:
        page.say(f"… {counted(left_out, 'step')} before these, all in the replay file", indent=4)
    shown = list(islice(steps, left_out, None))
    widest = min(_WIDEST_OPERATION, page.width // 2 - 4)
    width = min(max((len(step.operation) for step in shown), default=0), widest)
    for step in shown:
        mark: Part = ("✗", BAD) if step.diverges else " "
        number = f" {step.number:>2}  "
        outcome: tuple[Part, ...] = (f"→ {step.outcome}",)
        if step.diverges:
            outcome += (("  ← diverges", BAD),)
        if not page.aligned:
            page.say(mark, number, f"{step.operation}  ", *outcome, indent=2)
            continue
        if len(step.operation) <= width:
            page.say(
                mark, number, f"{step.operation:<{width}}  ", *outcome, indent=2, hang=width + 12
            )
        else:
            page.say(mark, number, step.operation, indent=2, hang=10)
            page.say(*outcome, indent=10, hang=12)


def _print_other_causes(page: TerminalPage, others: tuple[Story, ...]) -> None:
    if not others:
        return
    page.say((f"{counted(len(others), 'more cause')}", "bold"))
    for story in others:
        answers = f" ({story.answers})" if story.answers else ""
        page.say(
            ("✗ ", BAD),
            f"{story.rule}: {counted(story.cases, 'case')}, expected {story.expected}, "
            f"seen {story.seen}{answers}",
            indent=2,
            hang=4,
        )
        for hint in story.hints:
            page.say(("hint  ", "bold"), printable(hint.words), indent=4, hang=10)
        if story.command:
            page.verbatim(story.command, indent=4)
    page.gap()


def _print_failure(page: TerminalPage, failure: FailureLine, number: int, of: int) -> None:
    page.ruled(f"── subject failure {number} of {of}", _FAINT)
    page.say((f"! the subject {printable(failure.kind)}", BAD), hang=2)
    page.say(printable(failure.explanation), indent=2)
    for label, words in (("request", failure.asked), ("received", failure.received)):
        if words:
            page.labelled(label, printable(shortened(words, _MOST_LETTERS)), width=10, indent=2)
    if failure.standard_error.strip():
        page.say("its last lines on standard error:", indent=2)
        for line in _last_lines(failure.standard_error):
            page.say(("│ ", _FAINT), printable(shortened(line, _MOST_LETTERS)), indent=4, hang=6)
    page.gap()


def _last_lines(text: str) -> Iterator[str]:
    lines = text.rstrip().split("\n")
    for line in lines[-_MOST_ERROR_LINES:]:
        yield line.rstrip("\r").expandtabs(4)


def _print_verdict(page: TerminalPage, results: Results) -> None:
    footer = results.footer
    if results.refusals:
        page.say(("Refused", "bold"))
        for line in results.refusals:
            page.say(line.words, indent=2, hang=4)
        page.gap()
    if results.not_compared:
        page.say(results.not_compared, hang=2)
    page.say(
        (f"{footer.symbol} {printable(footer.verdict)}", _style(results)),
        f": {printable(footer.why)}",
        hang=2,
    )


def _style(results: Results) -> str:
    return GOOD if results.footer.exit_code == 0 else BAD


_COLUMNS = ("held", "cases", "steps")
_MOST_USUAL = "memory pool"
"""The table of the most usual components has one width."""


def _print_table(page: TerminalPage, results: Sequence[Results]) -> None:
    """Print all components below each other, with the number of their rules that held."""
    rows = [_table_row(each) for each in results]
    widths = [max(len(row[i]) for row in (_COLUMNS, *rows)) for i in range(len(_COLUMNS))]
    verdicts = [f"{each.footer.symbol} {printable(each.footer.verdict)}" for each in results]
    widest = max(map(len, verdicts))

    def numbers(row: Sequence[str]) -> str:
        return "".join(f"  {cell:>{width}}" for cell, width in zip(row, widths, strict=True))

    longest = 2 + max(
        len(name) for name in (_MOST_USUAL, *(noun(each.component) for each in results))
    )
    head = f"{'component':<{longest}}{'verdict':<{widest}}{numbers(_COLUMNS)}"
    page.say((head if page.aligned else "  ".join(("component", "verdict", *_COLUMNS)), _FAINT))
    for each, verdict, row in zip(results, verdicts, rows, strict=True):
        if not page.aligned:
            page.say(noun(each.component), "  ", (verdict, _style(each)), "  ", "  ".join(row))
            continue
        name = f"{noun(each.component):<{longest}}"
        page.say(name, (f"{verdict:<{widest}}", _style(each)), numbers(row))


def _table_row(results: Results) -> tuple[str, ...]:
    """Return rules as held/applicable, then the other counts."""
    footer = results.footer
    # What held before a subject gave no answer is no verdict.
    held = "-" if results.failures else f"{results.rules_held}/{len(results.rules)}"
    return held, str(footer.cases), str(footer.steps)
