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

_GOOD = "bold #2a8fd6"
_BAD = "bold #d9720b"
_FAINT = "dim"
_STATE_STYLES = {
    "held": "#2a8fd6",
    "broken": _BAD,
    "deviates": "#d9720b",
    "doubtful": _BAD,
    "too few": _FAINT,
}

_CAUSES_IN_FULL = 3
_MOST_STEPS = 14
_MOST_TOO_FEW = 8
_MOST_ERROR_LINES = 10
_MOST_LETTERS = 400
_WIDEST_OPERATION = 36


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
            page.verbatim(f"{label:<8}{path}")


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


def _print_rules(page: TerminalPage, results: Results) -> None:
    """Print all rules where all is well; else the others, and how many held."""
    rules = all_rules(results)
    shown = rules
    if results.footer.exit_code != 0:
        shown = tuple(rule for rule in rules if rule.state in ("broken", "deviates", "doubtful"))
        few = tuple(rule for rule in rules if rule.state == "too few")
        if len(few) <= _MOST_TOO_FEW or not (results.causes or results.failures):
            shown, few = (*shown, *few), ()
    else:
        few = ()
    if shown:
        width = max(len(rule.id) for rule in shown)
        page.cropped(
            (f"{'state':<11}{'rule':<{width}}  {'level':<6} {'visits':>6}  states that", _FAINT)
        )
    for rule in shown:
        _print_rule(page, rule, width)
    if few:
        page.say(
            (f"{STATE_SYMBOLS['too few']} {'too few':<9}", _FAINT),
            f"{len(few)} rules were visited fewer than {few[0].minimum} times, too seldom "
            "for a verdict (the report lists them)",
            hang=11,
        )
    if len(shown) < len(rules):
        page.say(
            (f"{STATE_SYMBOLS['held']} {'held':<9}", _STATE_STYLES["held"]),
            f"{results.rules_held} of {counted(len(rules), 'rule')}",
            hang=11,
        )
    if rules:
        page.gap()


def _print_rule(page: TerminalPage, rule: RuleLine, width: int) -> None:
    style = _STATE_STYLES.get(rule.state, "")
    page.cropped(
        (f"{rule.symbol or ' '} {rule.state:<9}", style),
        f"{rule.id:<{width}}  {rule.level:<6} {rule.visits:>6}  {rule.title}",
    )


def _print_deviations(page: TerminalPage, results: Results) -> None:
    if not results.deviations:
        return
    page.say(("Declared deviations", "bold"))
    for line in results.deviations:
        symbol = STATE_SYMBOLS["deviates"]
        shown = f"shown by {counted(line.cases, 'case')}"
        seen: Part = (shown if line.cases else "not seen", "" if line.cases else _BAD)
        page.say(f"{symbol} {line.rule}, as {printable(line.variant)}: ", seen, indent=2, hang=4)
        why = ", ".join(printable(words) for words in (line.reason, line.issue) if words)
        if why:
            page.say(why, indent=4)
        page.verbatim(f"replay file: {printable(line.replay)}", indent=4)
    page.gap()


def _print_cause(page: TerminalPage, story: Story, number: int, of: int) -> None:
    head = f"── cause {number} of {of} "
    page.say((head + "─" * (page.width - len(head)), _FAINT))
    level = f" ({story.level})" if story.level else ""
    page.say((f"✗ broken  {story.rule}", _BAD), f"{level}: {story.title}", hang=2)
    for paragraph in story.text[:1]:
        styles = {"code": "bold", "emphasis": "italic"}
        page.say(*((w, styles.get(kind, "")) for kind, w in spans(paragraph)), indent=2)
    page.gap()
    page.say(f"{counted(story.cases, 'failing case')}; the simplest found, from {story.source}:")
    if story.answers:
        page.say((story.answers, _BAD), indent=2)
    page.say(f"a {story.configuration}", indent=2, hang=2)
    _print_steps(page, story.steps)
    page.gap()
    page.say(f"{'expected':<16}", (story.expected, _GOOD), indent=2, hang=18)
    page.say(f"{'seen':<16}", (story.seen, _BAD), indent=2, hang=18)
    if story.before:
        page.say(f"{'state before':<16}{story.before}", indent=2, hang=18)
    if story.after:
        page.say(f"{'expected after':<16}{story.after}", indent=2, hang=18)
    if story.legend:
        page.say(f"{'':<16}{story.legend}", indent=2, hang=18)
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


def _print_steps(page: TerminalPage, steps: tuple[ToldStep, ...]) -> None:
    left_out = max(len(steps) - _MOST_STEPS, 0)
    if left_out:
        page.say(f"… {counted(left_out, 'step')} before these, all in the replay file", indent=4)
    shown = list(islice(steps, left_out, None))
    widest = min(_WIDEST_OPERATION, page.width // 2 - 4)
    width = min(max((len(step.operation) for step in shown), default=0), widest)
    for step in shown:
        mark: Part = ("✗", _BAD) if step.diverges else " "
        number = f" {step.number:>2}  "
        outcome: tuple[Part, ...] = (f"→ {step.outcome}",)
        if step.diverges:
            outcome += (("  ← diverges", _BAD),)
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
            ("✗ ", _BAD),
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
    head = f"── subject failure {number} of {of} "
    page.say((head + "─" * (page.width - len(head)), _FAINT))
    page.say((f"! the subject {printable(failure.kind)}", _BAD), hang=2)
    page.say(printable(failure.explanation), indent=2)
    for label, words in (("request", failure.asked), ("received", failure.received)):
        if words:
            page.say(f"{label:<10}{printable(shortened(words, _MOST_LETTERS))}", indent=2, hang=12)
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
    return _GOOD if results.footer.exit_code == 0 else _BAD


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
    page.cropped((head, _FAINT))
    for each, verdict, row in zip(results, verdicts, rows, strict=True):
        name = f"{noun(each.component):<{longest}}"
        page.cropped(name, (f"{verdict:<{widest}}", _style(each)), numbers(row))


def _table_row(results: Results) -> tuple[str, ...]:
    """Return rules as held/applicable, then the other counts."""
    footer = results.footer
    return f"{results.rules_held}/{len(results.rules)}", str(footer.cases), str(footer.steps)
