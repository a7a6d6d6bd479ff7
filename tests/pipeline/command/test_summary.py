"""What a check found, summed up."""

import pytest

from purgatory_pipeline.rows import CoverageRow, QuarantineRow, Row, VerdictRow
from purgatory_pipeline.summary import MOST_REASONS, Summary, general
from purgatory_pipeline.summary_words import why
from purgatory_spec.profiles import Component

GOOD = VerdictRow("a", "s", "timer", "conforms", 10, 10)
WRONG = VerdictRow(
    "b", "s", "timer", "diverges", 10, 5, 4, "f", 5, rule="TIMER-CANCEL", kind="expired"
)
SHORT = VerdictRow("c", "s", "timer", "incomplete", 10, 5, reason="line 5 is missing")
OPEN = VerdictRow("d", "s", "timer", "inconclusive", 10, 5, reason="too many states are possible")
ASIDE = QuarantineRow("f", 7, "{", "not JSON, or cut off: in column 2")


def summed(*rows: Row, most_examples: int = 1) -> Summary:
    summary = Summary(most_examples)
    for row in rows:
        summary.take(row)
    return summary


@pytest.mark.parametrize(
    ("rows", "code", "headline", "words"),
    [
        ([GOOD], 0, "conformant", "1 run, 10 lines, each allowed by the rules"),
        ([WRONG], 1, "not conformant", "1 run of 1, 1 cause"),
        ([GOOD, WRONG, SHORT, OPEN, ASIDE], 1, "not conformant", "1 run of 4, 1 cause"),
        ([GOOD, SHORT], 4, "inconclusive", "nothing diverges, but 1 run incomplete"),
        ([GOOD, OPEN], 4, "inconclusive", "nothing diverges, but 1 run inconclusive"),
        ([GOOD, ASIDE], 4, "inconclusive", "nothing diverges, but 1 line set aside"),
        ([], 4, "nothing was judged", "there is no run in the files"),
        ([ASIDE], 4, "nothing was judged", "there is no run in the files"),
    ],
)
def test_the_exit_code_follows_from_the_rows(
    rows: list[Row], code: int, headline: str, words: str
) -> None:
    summary = summed(*rows)
    assert (summary.exit_code, summary.headline, why(summary)) == (code, headline, words)


def test_causes_are_counted_and_the_commonest_comes_first() -> None:
    others = [WRONG._replace(run=run, kind="twice") for run in "xyz"]
    summary = summed(WRONG, *others, most_examples=2)
    assert [(cause.rule, cause.kind, runs) for cause, runs in summary.causes] == [
        ("TIMER-CANCEL", "twice", 3),
        ("TIMER-CANCEL", "expired", 1),
    ]
    assert [row.run for row in summary.causes[0][0].examples] == ["x", "y"]


def test_reasons_that_differ_in_names_and_numbers_alone_are_one() -> None:
    assert general("line 5 of `a` is 'x' or \"y\"") == "line … of … is … or …"
    rows = [SHORT._replace(run=str(n), reason=f"line {n} is missing") for n in range(5)]
    lines = [ASIDE._replace(line=n, reason=f"cut off in column {n}") for n in range(7)]
    summary = summed(*rows, *lines)
    assert [(each.verdict, each.reason, runs) for each, runs in summary.unfinished] == [
        ("incomplete", "line … is missing", 5)
    ]
    assert summary.unfinished[0][0].example.run == "0"
    assert [(each.reason, each.example.line, count) for each, count in summary.aside] == [
        ("cut off in column …", 0, 7)
    ]


def test_however_many_reasons_there_are_few_are_told_apart() -> None:
    def word(number: int) -> str:
        return "".join(chr(ord("a") + int(digit)) for digit in str(number))

    rows = [SHORT._replace(run=str(n), reason=word(n)) for n in range(3 * MOST_REASONS)]
    lines = [ASIDE._replace(line=n, reason=word(n)) for n in range(3 * MOST_REASONS)]
    summary = summed(*rows, *lines)
    assert len(summary.unfinished) == len(summary.aside) == MOST_REASONS + 1
    assert summary.unfinished[0][1] == summary.aside[0][1] == 2 * MOST_REASONS
    assert summary.unfinished[0][0].reason == summary.aside[0][0].reason == "other reasons"


def test_rules_are_put_to_the_test_or_never() -> None:
    summary = summed(GOOD, CoverageRow("a", "TIMER-CANCEL", 2), CoverageRow("b", "TIMER-CANCEL", 3))
    assert summary.seen_components == [Component.TIMER]
    visited, never = summary.rules_of(Component.TIMER)
    assert [rule.id for rule in visited] == ["TIMER-CANCEL"]
    assert summary.visits["TIMER-CANCEL"] == 5
    assert len(never) > 30
    assert "TIMER-CANCEL" not in {rule.id for rule in never}


def test_declared_deviations_are_counted_by_runs() -> None:
    summary = summed(GOOD._replace(deviated=("POOL-BOUND",)), GOOD._replace(run="z"))
    assert summary.deviated == {"POOL-BOUND": 1}
    assert summary.exit_code == 0
