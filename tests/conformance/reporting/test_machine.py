"""The reports for machines: they say what the verdict says, and stay well formed."""

import json
import re
from xml.etree import ElementTree as ET

import msgspec
import pytest

from purgatory_conformance.reporting.machine import render_badge, render_junit, render_markdown
from purgatory_conformance.reporting.results import FailureLine, Results
from purgatory_conformance.running.campaign import Verdict

from .conftest import DEVIATIONS, MakeResults, never_expires

_SEEN = DEVIATIONS[0]


def _concluded(results: Results, verdict: Verdict, **changes: object) -> Results:
    footer = msgspec.structs.replace(
        results.footer, verdict=verdict.value, exit_code=verdict.exit_code, why="because"
    )
    return msgspec.structs.replace(results, footer=footer, **changes)


def _with_state(results: Results, rule: str, state: str) -> Results:
    rules = tuple(
        msgspec.structs.replace(line, state=state) if line.id == rule else line
        for line in results.rules
    )
    assert rules != results.rules
    return msgspec.structs.replace(results, rules=rules)


def _suite(results: Results) -> ET.Element:
    (suite,) = ET.fromstring(render_junit([results]))
    return suite


def _case(suite: ET.Element, rule: str) -> ET.Element:
    (case,) = [c for c in suite.iter("testcase") if c.attrib["name"].split()[0] == rule]
    return case


def _counts(suite: ET.Element) -> tuple[int, int, int, int]:
    tests, failures, errors, skipped = (
        int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")
    )
    for kind, count in (("failure", failures), ("error", errors), ("skipped", skipped)):
        assert len(list(suite.iter(kind))) == count
    assert len(list(suite.iter("testcase"))) == tests
    return tests, failures, errors, skipped


def test_junit_has_a_passing_case_for_each_rule_that_held(good_results: Results) -> None:
    suite = _suite(good_results)

    assert _counts(suite) == (len(good_results.rules), 0, 0, 0)
    for rule in good_results.rules:
        case = _case(suite, rule.id)
        assert case.attrib["name"] == f"{rule.id} ({rule.level}): {rule.title}"
        assert [child.tag for child in case] == ["system-out"]
    properties = {p.attrib["name"]: p.attrib["value"] for p in suite.iter("property")}
    assert properties["verdict"] == "conformant"
    assert properties["seed"] == "1"


def test_junit_fails_where_a_rule_is_broken_and_tells_the_case(broken_results: Results) -> None:
    suite = _suite(broken_results)

    broken = {rule.id for rule in broken_results.rules if rule.state == "broken"}
    few = [rule for rule in broken_results.rules if rule.state == "too few"]
    assert few
    assert _counts(suite) == (len(broken_results.rules), len(broken), 0, len(few))
    for cause in broken_results.causes:
        (failure,) = _case(suite, cause.rule)
        assert failure.attrib["message"] == f"expected {cause.expected}, seen {cause.seen}"
        assert f"purgatory replay {cause.replay}" in (failure.text or "")
        assert "<- diverges" in (failure.text or "")
    (skipped,) = _case(suite, few[0].id)
    assert skipped.tag == "skipped"
    assert "at least 20 are needed" in skipped.attrib["message"]


def test_junit_has_an_error_where_too_few_visits_decide(good_results: Results) -> None:
    results = _with_state(good_results, "TIMER-SIZE", "too few")
    results = _with_state(results, "TIMER-SHUTDOWN-CLOSED", "too few")

    must = _suite(_concluded(results, Verdict.INCONCLUSIVE))

    assert _counts(must)[1:] == (0, 1, 1)
    assert [child.tag for child in _case(must, "TIMER-SIZE")] == ["error"]
    assert [child.tag for child in _case(must, "TIMER-SHUTDOWN-CLOSED")] == ["skipped"]


def test_junit_passes_a_declared_deviation_and_says_so(good_results: Results) -> None:
    results = msgspec.structs.replace(
        _with_state(good_results, "TIMER-SIZE", "deviates"), deviations=(_SEEN,)
    )

    suite = _suite(_concluded(results, Verdict.CONFORMANT_WITH_DEVIATIONS))

    assert _counts(suite)[1:] == (0, 0, 0)
    (out,) = _case(suite, "TIMER-SIZE")
    assert out.tag == "system-out"
    assert "deviates as declared (a_variant) in 4 cases: because X-1" in (out.text or "")
    assert "replay file: deviations/size.jsonl" in (out.text or "")


def test_junit_fails_where_a_declared_deviation_was_not_seen(good_results: Results) -> None:
    unseen = msgspec.structs.replace(_SEEN, cases=0)

    suite = _suite(_concluded(good_results, Verdict.NOT_CONFORMANT, deviations=(unseen,)))

    assert _counts(suite)[1:] == (1, 0, 0)
    (failure,) = _case(suite, "TIMER-SIZE")
    assert "withdraw the declaration" in failure.attrib["message"]


def test_junit_has_an_error_where_the_subject_gave_no_answer(good_results: Results) -> None:
    failure = FailureLine("crashed", "exit code 137", '{"id":9}', "", "one\ntwo\n")

    unseen = msgspec.structs.replace(_SEEN, cases=0)

    suite = _suite(
        _concluded(good_results, Verdict.SUBJECT_FAILED, failures=(failure,), deviations=(unseen,))
    )

    assert _counts(suite)[1:] == (0, 1, 0)
    (error,) = suite.iter("error")
    assert error.attrib["message"] == "the subject crashed: exit code 137"
    assert (error.text or "").split("\n") == ['{"id":9}', "one", "two"]


@pytest.mark.parametrize("verdict", list(Verdict))
def test_junit_fails_exactly_where_the_exit_code_does(
    verdict: Verdict, good_results: Results
) -> None:
    _, failures, errors, skipped = _counts(_suite(_concluded(good_results, verdict)))

    assert (failures + errors > 0) == (verdict.exit_code != 0)
    assert skipped == 0


def test_junit_holds_any_name(make_results: MakeResults) -> None:
    for name in ("<&>\"'", "]]>", "\x00\x1b[31m", "\ud800"):
        results = make_results(never_expires(name))
        results = msgspec.structs.replace(
            results, failures=(FailureLine("crashed", name, name, name, name),)
        )

        text = render_junit([results])

        ET.fromstring(text.encode("utf-8"))


def test_markdown_has_verdict_causes_and_rules(broken_results: Results) -> None:
    text = render_markdown([broken_results])

    assert text.startswith("## ✗ not conformant: ")
    for number, cause in enumerate(broken_results.causes, start=1):
        assert f"### ✗ {cause.rule} (MUST): " in text
        assert f"Cause {number} of {len(broken_results.causes)}: " in text
        assert f"- expected: `{cause.expected}`\n- seen: `{cause.seen}`" in text
        assert f"```text\npurgatory replay {cause.replay}\n```" in text
    rows = [line for line in text.splitlines() if line.startswith("| ") and "TIMER-" in line]
    assert len(rows) == len(broken_results.rules)
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {6}


def test_markdown_of_a_conformant_subject_is_a_verdict_and_a_table(good_results: Results) -> None:
    text = render_markdown([good_results])

    assert text.startswith("## ✓ conformant: timer of purgatory\\_impl ")
    assert f"{len(good_results.rules)} rules: ✓ held {len(good_results.rules)}</summary>" in text
    assert "###" not in text


def test_markdown_tells_of_more_causes_deviations_failures_and_the_hint(
    eventful_results: Results,
) -> None:
    (cause,) = eventful_results.causes
    failure = FailureLine("wrote garbage", "no JSON", "", "hello `there`", "")
    results = msgspec.structs.replace(eventful_results, causes=(cause,) * 5, failures=(failure,))

    text = render_markdown([results])

    assert text.count("### ✗ ") == 3
    assert text.count(f"- ✗ **{cause.rule}**: 3 cases, expected `{cause.expected}`, seen ") == 2
    assert "failed in 2 of 5 repetitions." in text
    see = "docs/findings.md\\#a-pool-that-grows"
    assert f"**Hint:** all 41 failing cases pass under rounding up; see {see}." in text
    assert "```text\n[[deviation]]\n```" in text
    assert "- ≠ **TIMER-SIZE**, as `a_variant`: shown by 4 cases. because X-1" in text
    assert "- ≠ **TIMER-SPAN**, as `other`: ✗ **not seen**" in text
    assert "```text\nhello `there`\n```" in text


def test_markdown_holds_any_name(make_results: MakeResults) -> None:
    name = "`|`<b>```"
    results = make_results(never_expires(name), why="a | b <script> *c*")

    text = render_markdown([results])

    assert "a \\| b \\<script\\> \\*c\\*" in text
    assert "````text\n  1  add '`|`<b>```', delay 5 ms  -> no event\n" in text
    assert "- expected: ```` `|`<b>``` expired ````" in text


@pytest.mark.parametrize("verdict", list(Verdict))
def test_the_badge_says_the_verdict_in_a_colour_of_its_own(
    verdict: Verdict, good_results: Results
) -> None:
    badge = json.loads(render_badge([_concluded(good_results, verdict)]))

    assert badge["schemaVersion"] == 1
    rules = len(good_results.rules)
    assert badge["message"] == f"{verdict.value} · {rules} of {rules} rules held · suite 0.1.0"
    blue = badge["color"] in ("0072b2", "56b4e9")
    assert blue == (verdict.exit_code == 0)
    assert set(badge) == {"schemaVersion", "label", "message", "color"}


def test_the_badge_counts_rules_and_tells_deviations_apart(
    good_results: Results, broken_results: Results
) -> None:
    held = f"{broken_results.rules_held} of {len(broken_results.rules)} rules held"
    words = f"not conformant · {held} · suite 0.1.0"
    assert json.loads(render_badge([broken_results]))["message"] == words

    plain = json.loads(render_badge([good_results]))["color"]
    declared = _concluded(good_results, Verdict.CONFORMANT_WITH_DEVIATIONS, deviations=(_SEEN,))
    assert json.loads(render_badge([declared]))["color"] != plain
