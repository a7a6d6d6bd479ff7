"""What a check found, summed up."""

import pytest

from purgatory_pipeline.replay.overlapping_rules import RULES_ON_A_WALL_CLOCK
from purgatory_pipeline.rows import CoverageRow, QuarantineRow, Row, VerdictRow
from purgatory_pipeline.summary import MOST_REASONS, Summary, general
from purgatory_pipeline.summary_words import why
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import requirements

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


def shown(component: Component, *rules: str) -> tuple[set[str], set[str], int]:
    """The rules put to the test, those that never were, and how many others there are."""
    row = GOOD._replace(component=component.value)
    summary = summed(row, *(CoverageRow("a", rule, 1) for rule in rules))
    visited, never = summary.rules_of(component)
    return {each.id for each in visited}, {each.id for each in never}, summary.others_of(component)


def test_rules_are_put_to_the_test_or_never() -> None:
    rows = (CoverageRow("a", "TIMER-CANCEL", 2), CoverageRow("b", "TIMER-CANCEL", 3))
    summary = summed(GOOD, *rows)
    assert summary.seen_components == [Component.TIMER]
    visited, never = summary.rules_of(Component.TIMER)
    assert [rule.id for rule in visited] == ["TIMER-CANCEL"]
    assert summary.visits["TIMER-CANCEL"] == 5
    assert "TIMER-CANCEL" not in {rule.id for rule in never}
    assert len(visited) + len(never) + summary.others_of(Component.TIMER) == 40


def test_where_nothing_was_put_to_the_test_every_rule_never_was() -> None:
    visited, never, others = shown(Component.TIMER)
    assert (len(visited), len(never), others) == (0, 40, 0)


@pytest.mark.parametrize(
    ("component", "rules"),
    [
        (Component.TIMER, ("TIMER-NOT-EARLY", "TIMER-LATENESS")),
        (Component.PURGATORY, ("PURGATORY-NOT-LOST", "PURGATORY-TIME-OUT")),
        (Component.MEMORY_POOL, ("POOL-NON-STRICT", "POOL-BOUND")),
    ],
)
def test_of_runs_on_a_real_clock_no_rule_is_missed_that_cannot_be_judged_there(
    component: Component, rules: tuple[str, ...]
) -> None:
    """
    Given runs that put nothing to the test but what is judged on a real clock
    When it is told what never was
    Then that is what could have been there, and no rule that needs an observable or a wheel
    """
    visited, never, others = shown(component, *rules)
    assert visited == set(rules)
    assert never <= RULES_ON_A_WALL_CLOCK[component]
    assert never
    assert others == len(requirements(component)) - len(never) - len(visited)


OF_WHEELS = [
    rule.id
    for rule in requirements(Component.TIMER)
    if rule.condition == "`structure is timing_wheel`"
]


def test_what_a_run_shows_of_its_profile_decides_which_rules_apply() -> None:
    """
    Given runs on a manual clock, of timers that are wheels or anything else
    When it is told what was never put to the test
    Then rules for wheels are among that only where another rule for wheels was put to it
    """
    _, never, others = shown(Component.TIMER, "TIMER-IDLE-ADVANCE")
    assert "TIMER-CANCEL" in never
    assert never.isdisjoint({*OF_WHEELS, "TIMER-SIZE", "TIMER-LATENESS"})
    assert others > len(OF_WHEELS) > 1
    _, never, _ = shown(Component.TIMER, "TIMER-IDLE-ADVANCE", OF_WHEELS[0])
    assert never >= set(OF_WHEELS[1:])


def test_of_pools_the_rules_of_their_own_admission_apply() -> None:
    _, never, _ = shown(Component.MEMORY_POOL, "POOL-STRICT", "POOL-BOUND")
    assert never.isdisjoint({"POOL-NON-STRICT", "POOL-UNBOUNDED-GRANTS"})
    assert {"POOL-RELEASE", "POOL-REFUSAL"} <= never


def test_declared_deviations_are_counted_by_runs() -> None:
    summary = summed(GOOD._replace(deviated=("POOL-BOUND",)), GOOD._replace(run="z"))
    assert summary.deviated == {"POOL-BOUND": 1}
    assert summary.exit_code == 0
