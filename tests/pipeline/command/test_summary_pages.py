"""The findings of a check, as they stand at a terminal and on a page."""

import html
import io
import re

import pytest
from rich.console import Console

from purgatory_spec.profiles import Component
from purgatory_traces.results.rows import CoverageRow, QuarantineRow, Row, VerdictRow
from purgatory_traces.summary.html import render_page
from purgatory_traces.summary.summary import Summary
from purgatory_traces.summary.terminal import print_summary

GOOD = VerdictRow("a", "s", "timer", "conforms", 10, 10)
TESTED = CoverageRow("a", "TIMER-NOT-EARLY", 4)
IN_TIME = CoverageRow("a", "TIMER-NOT-LATE", 4)
WRONG = VerdictRow(
    "b", "s", "timer", "diverges", 10, 5, 4, "f", 5, "main", "advance to 5", "TIMER-CANCEL", "late"
)
MISSING = "Object missing required field `operation`"


def summed(*rows: Row) -> Summary:
    summary = Summary()
    for row in rows:
        summary.take(row)
    return summary


def printed(*rows: Row, report: str = "") -> str:
    """Return what stands at a wide terminal."""
    console = Console(file=io.StringIO(), width=400)
    print_summary(console, summed(*rows), head="head", results="out", report=report)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def page_of(*rows: Row) -> str:
    """The words of the page, without its marks."""
    page = render_page(summed(*rows), "head")
    return html.unescape(re.sub(r"<style>.*</style>|<[^>]*>", "", page, flags=re.DOTALL))


def test_what_is_wrong_with_a_line_is_told_in_full() -> None:
    aside = QuarantineRow("t.jsonl", 5, "{}", MISSING, "a", 4)
    short = GOOD._replace(run="c", verdict="incomplete", reason=f"line 4 is unusable: {MISSING}")
    text = printed(GOOD, short, aside)
    assert f"  1 line: {MISSING}  first t.jsonl:5 (run a, seq 4)\n" in text
    assert f"  incomplete, 1 run: line 4 is unusable: {MISSING}  first c\n" in text
    words = page_of(GOOD, short, aside)
    assert words.count(MISSING) == 2
    assert "t.jsonl:5 (run a, seq 4)" in words


def test_what_runs_left_open_stands_in_both() -> None:
    left = GOOD._replace(run="c", pending_expiries=2, open_calls=1, uncompared=("size",))
    words = (
        "Left open: 2 expiries were not overdue yet, 1 call was open, "
        "size was not compared in 1 run"
    )
    assert words in printed(GOOD, left)
    assert f"{words}." in page_of(GOOD, left)
    assert "Left open" not in printed(GOOD) + page_of(GOOD)


def test_where_lines_differ_the_first_is_told_in_full() -> None:
    aside = [QuarantineRow("t", n, "{", f"cut off in column {n}") for n in (3, 8)]
    short = GOOD._replace(verdict="incomplete", reason="line 2 is missing")
    other = short._replace(run="z", reason="line 7 is missing")
    text = printed(short, other, *aside)
    assert "  2 lines: cut off in column …\n    first t:3: cut off in column 3\n" in text
    assert "  incomplete, 2 runs: line … is missing\n    first a: line 2 is missing\n" in text
    words = page_of(short, other, *aside)
    assert "cut off in column …" in words
    assert "t:3:cut off in column 3" in words
    assert "a: line 2 is missing" in words


def test_a_file_is_no_line() -> None:
    empty = [QuarantineRow(name, 0, "", "the file is empty") for name in "ef"]
    text = printed(*empty)
    assert "In quarantine: 2 files that could not be used" in text
    assert "  2 files: the file is empty  first e\n" in text
    assert "line" not in text[text.index("In quarantine") : text.index("nothing was judged")]
    assert "2 files could not be used." in page_of(*empty)


def test_a_broken_rule_is_shown_as_such() -> None:
    text = printed(GOOD, WRONG, TESTED)
    assert "timer: 2 of 42 rules put to the test" in text
    assert "TIMER-CANCEL" not in re.findall(r"[\w-]+", text[text.index("never: ") :])
    page = render_page(summed(GOOD, WRONG, TESTED), "head")
    (row,) = re.findall(r"<tr[^>]*><th scope=\"row\"><code>TIMER-CANCEL</code>.*</tr>", page)
    assert "✗ broken in 1 run" in row
    assert "never" not in row


@pytest.mark.parametrize(
    ("report", "where"),
    [
        ("out/report.html", "in the report"),
        ("", "on the page that `purgatory trace check --html` writes"),
    ],
)
def test_rules_that_are_not_named_are_on_the_page(report: str, where: str) -> None:
    _, never = summed(GOOD).rules_of(Component.TIMER)
    text = printed(GOOD, report=report)
    assert f"and {len(never) - 12} more, {where}\n" in text
    assert all(rule.id in page_of(GOOD) for rule in never)


@pytest.mark.parametrize(("report", "where"), [("out/report.html", "report"), ("", "tables")])
def test_reasons_that_are_not_shown_are_said_to_be_elsewhere(report: str, where: str) -> None:
    aside = [QuarantineRow("t", n + 1, "", f"{'x' * (n + 1)} is wrong") for n in range(9)]
    assert f"  1 further reason: see the {where}\n" in printed(*aside, report=report)
    assert "further" not in printed(*aside[:8], report=report)
    words = page_of(*aside)
    assert all(row.reason in words for row in aside)


def test_times_have_a_unit() -> None:
    units = "Times are in milliseconds, on the clock of the run."
    assert units in printed(WRONG)
    assert units in page_of(WRONG)
    assert units not in printed(GOOD, TESTED)
    assert units not in page_of(GOOD, TESTED)


def test_the_headline_says_that_no_rule_was_put_to_the_test() -> None:
    said = "… inconclusive: nothing diverges, but no rule of the timer was put to the test\n"
    assert said in printed(GOOD)
    assert "exit code 4\n" in printed(GOOD)
    assert "✓ conformant: " in printed(GOOD, TESTED, IN_TIME)


def test_the_name_of_a_file_is_not_broken_inside() -> None:
    """Break lines behind a slash and between words; a very long name may be broken."""
    long = "x" * 80
    aside = [QuarantineRow(f"a-b/c-d.{end}", 1, "", f"{end} is wrong") for end in ("gz", long)]
    page = render_page(summed(*aside), "head")
    assert '<span class="word">a-b/</span><wbr><span class="word">c-d.gz:1</span>' in page
    assert f"<wbr><span>c-d.{long}:1</span>" in page


def test_the_text_of_a_rule_is_set_and_not_marked() -> None:
    wrong = WRONG._replace(component="purgatory", rule="PURGATORY-TIME-OUT")
    page = render_page(summed(wrong), "head")
    text = page[page.index("<summary>The rule") : page.index('<div class="example">')]
    assert "<code>" in text
    assert "`" not in text
    assert "](" not in text
