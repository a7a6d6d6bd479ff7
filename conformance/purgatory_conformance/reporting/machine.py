"""Reports for machines and for the places that show them: JUnit, Markdown, a badge."""

import json
import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from purgatory_conformance.describing.steps import describe_profile
from purgatory_conformance.describing.words import (
    STATE_SYMBOLS,
    counted,
    describe_implementation,
    noun,
    printable,
    shortened,
)
from purgatory_conformance.reporting.answers import Answer, Kind, answers_of
from purgatory_conformance.reporting.results import Results, worst
from purgatory_conformance.reporting.story import Story, all_rules, state_counts, stories

_BLUE, _LIGHT_BLUE, _ORANGE, _GREY = "0072b2", "56b4e9", "d55e00", "767676"
_CAUSES_IN_FULL = 3
_MOST_LETTERS = 1000


_TALLIES = {Kind.FAILURE: "failures", Kind.ERROR: "errors", Kind.SKIPPED: "skipped"}


def render_junit(results: Sequence[Results]) -> str:
    """Return the results as JUnit XML, a test suite for each component, a test case for each rule.

    There are failures or errors exactly where the exit code is not zero.
    """
    root = ET.Element("testsuites", name=f"purgatory {printable(results[0].header.subject)}")
    root.extend([_test_suite(each) for each in results])
    for attribute in ("tests", *_TALLIES.values()):
        root.set(attribute, str(sum(int(suite.get(attribute, "0")) for suite in root)))
    root.set("time", f"{sum(each.footer.seconds for each in results):.3f}")
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _test_suite(results: Results) -> ET.Element:
    name = f"purgatory {noun(results.component)} {printable(results.header.subject)}"
    suite = ET.Element("testsuite", name=name)
    properties = ET.SubElement(suite, "properties")
    for name, value in _facts(results):
        ET.SubElement(properties, "property", name=name, value=value)
    answers = answers_of(results)
    for answer in answers:
        _add_case(suite, answer, f"purgatory.{results.component.value}")
    for kind, attribute in _TALLIES.items():
        suite.set(attribute, str(sum(answer.kind is kind for answer in answers)))
    suite.set("tests", str(len(answers)))
    suite.set("time", f"{results.footer.seconds:.3f}")
    return suite


def _add_case(suite: ET.Element, answer: Answer, class_name: str) -> None:
    case = ET.SubElement(suite, "testcase", name=answer.name, classname=class_name)
    if answer.kind is Kind.PASSED:
        ET.SubElement(case, "system-out").text = answer.text
    else:
        found = ET.SubElement(case, answer.kind.value, message=answer.message)
        found.text = answer.text or None


def _facts(results: Results) -> list[tuple[str, str]]:
    header, footer = results.header, results.footer
    declared = "not known"
    if results.has_profile:
        declared = describe_profile(header.profile)
    return [
        ("verdict", printable(footer.verdict)),
        ("why", printable(footer.why)),
        ("implementation", describe_implementation(header.implementation)),
        ("profile", declared),
        ("suite", printable(header.suite)),
        ("suite version", printable(header.suite_words)),
        ("seed", str(header.seed)),
        ("cases", str(footer.cases)),
        ("steps", str(footer.steps)),
        *(() if results.failures else (("rules", _held([results])),)),
        *(("refused", line.words) for line in results.refusals),
    ]


def render_markdown(results: Sequence[Results]) -> str:
    """Return the results as Markdown, for a pull request or the summary of a build."""
    return "\n".join(_component_in_markdown(each) for each in results)


def _component_in_markdown(results: Results) -> str:
    header, footer = results.header, results.footer
    name = _plain(describe_implementation(header.implementation))
    whom = f"{noun(header.component)} of {name}" if results.has_profile else name
    lines = [
        f"## {footer.symbol} {_plain(footer.verdict)}: {whom}",
        "",
        _plain(footer.why),
        "",
        f"Subject {_code(header.subject)}, {_plain(header.suite)} suite, version "
        f"{_plain(header.suite_words)}, seed {header.seed}: {footer.generated}.",
        "",
    ]
    if results.refusals:
        lines += ["Refused:", ""]
        lines += [f"- {_plain(line.words)}" for line in results.refusals]
        lines += [""]
    if results.not_compared:
        lines += [f"{results.not_compared}.", ""]
    told = stories(results)
    for number, story in enumerate(told[:_CAUSES_IN_FULL], start=1):
        lines += [*_cause_in_markdown(story, number, len(told)), ""]
    if len(told) > _CAUSES_IN_FULL:
        lines += [_more(story) for story in told[_CAUSES_IN_FULL:]] + [""]
    for failure in results.failures:
        lines += [
            f"### The subject {_plain(failure.kind)}",
            "",
            _plain(failure.explanation),
            "",
            *_fenced([shortened(printable(failure.received), _MOST_LETTERS)]),
            "",
        ]
    lines += [*_deviations_in_markdown(results), *_rules_in_markdown(results)]
    return "\n".join(lines).rstrip() + "\n"


def _cause_in_markdown(story: Story, number: int, of: int) -> list[str]:
    answers = [f"{_plain(story.answers)}.", ""] if story.answers else []
    command = ["", *_fenced([story.command])] if story.command else []
    hints: list[str] = [f"- {_plain(story.also)}"] if story.also else []
    for hint in story.hints:
        see = f"; see {_plain(hint.finding)}" if hint.finding else ""
        hints += ["", f"**Hint:** {_plain(hint.words)}{see}."]
        hints += (
            ["", *_fenced([printable(p) for p in hint.paste.split("\n")])] if hint.paste else []
        )
    return [
        f"### ✗ {story.rule} ({story.level}): {_plain(story.title)}",
        "",
        *(f"{paragraph}\n" for paragraph in story.text[:1]),
        f"Cause {number} of {of}: {counted(story.cases, 'failing case')}. The simplest, on a "
        f"{story.configuration}:",
        "",
        *answers,
        *_fenced([step.line for step in story.steps]),
        "",
        f"- expected: {_code(story.expected)}",
        f"- seen: {_code(story.seen)}",
        *hints,
        *command,
    ]


def _more(story: Story) -> str:
    command = f", {_code(story.command)}" if story.command else ""
    return (
        f"- ✗ **{story.rule}**: {counted(story.cases, 'case')}, expected {_code(story.expected)}, "
        f"seen {_code(story.seen)}{command}"
    )


def _deviations_in_markdown(results: Results) -> list[str]:
    lines = []
    for line in results.deviations:
        why = " ".join(_plain(words) for words in (line.reason, line.issue) if words)
        seen = f"shown by {counted(line.cases, 'case')}" if line.cases else "✗ **not seen**"
        lines.append(
            f"- {STATE_SYMBOLS['deviates']} **{line.rule}**, as {_code(line.variant)}: {seen}"
            f"{f'. {why}' if why else ''} (replay file: {_code(line.replay)})"
        )
    return ["### Declared deviations", "", *lines, ""] if lines else []


def _rules_in_markdown(results: Results) -> list[str]:
    rules = all_rules(results)
    if not rules:
        return []
    counts = [f"{symbol} {state} {number}" for symbol, state, number in state_counts(rules)]
    rows = [
        f"| {rule.symbol} {rule.state} | {rule.id} | {rule.level} "
        f"| {rule.visits} | {_plain(rule.title)} |"
        for rule in rules
    ]
    return [
        f"<details><summary>{counted(len(rules), 'rule')}: {', '.join(counts)}</summary>",
        "",
        "| state | rule | level | visits | states that |",
        "|---|---|---|---:|---|",
        *rows,
        "",
        "</details>",
    ]


def _plain(words: str) -> str:
    """Return words in which nothing is taken for Markdown or HTML."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&])", r"\\\1", printable(words))


def _code(words: str) -> str:
    """Return words as code, whatever backticks they hold."""
    words = printable(words)
    fence = "`" * (_longest_backticks(words) + 1)
    pad = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{fence}{pad}{words}{pad}{fence}"


def _fenced(lines: list[str]) -> list[str]:
    """Return lines as a block of code; none where all are empty."""
    fence = "`" * max(_longest_backticks("\n".join(lines)) + 1, 3)
    return [f"{fence}text", *lines, fence] if any(lines) else []


def _longest_backticks(words: str) -> int:
    return max((len(run) for run in re.findall("`+", words)), default=0)


def _held(results: Sequence[Results]) -> str:
    """Return the number of rules that held, for example ``35 of 38 rules held``."""
    rules = sum(len(each.rules) for each in results)
    return f"{sum(each.rules_held for each in results)} of {counted(rules, 'rule')} held"


def render_badge(results: Sequence[Results]) -> str:
    """Return the verdict as the JSON that a badge service reads (shields.io, endpoint schema 1).

    The verdict is that of the worst component; the numbers are sums over all components.
    """
    decisive = worst(results).footer
    facts = [decisive.verdict]
    declared = sum(len(each.deviations) for each in results)
    if declared and decisive.exit_code == 0:
        facts = [f"conformant with {counted(declared, 'declared deviation')}"]
    if any(each.rules for each in results) and not any(each.failures for each in results):
        facts.append(_held(results))
    facts.append(f"suite {results[0].header.suite_version}")
    deviates = any(each.deviations for each in results)
    colors = {0: _LIGHT_BLUE if deviates else _BLUE, 4: _GREY}
    names = ", ".join(noun(each.component) for each in results)
    badge = {
        "schemaVersion": 1,
        "label": f"purgatory {names}" if len(results) == 1 else "purgatory-spec",
        "message": " · ".join(printable(fact) for fact in facts),
        "color": colors.get(decisive.exit_code, _ORANGE),
    }
    return json.dumps(badge, ensure_ascii=False, indent=2) + "\n"
