"""The findings of a check, summed up."""

import pytest

from purgatory_spec.profiles import Component
from purgatory_spec.requirements import requirements
from purgatory_traces.replay.overlapping.rules import RULES_ON_A_WALL_CLOCK
from purgatory_traces.results.rows import CoverageRow, QuarantineRow, Row, VerdictRow
from purgatory_traces.summary.reasons import MOST_REASONS, general
from purgatory_traces.summary.summary import Summary
from purgatory_traces.summary.words import not_judgeable, why

GOOD = VerdictRow("a", "s", "timer", "conforms", 10, 10)
WRONG = VerdictRow(
    "b", "s", "timer", "diverges", 10, 5, 4, "f", 5, rule="TIMER-CANCEL", kind="expired"
)
SHORT = VerdictRow("c", "s", "timer", "incomplete", 10, 5, reason="line 5 is missing")
OPEN = VerdictRow("d", "s", "timer", "inconclusive", 10, 5, reason="too many states are possible")
TESTED = CoverageRow("a", "TIMER-CANCEL", 1)
EMPTY = QuarantineRow("e", 0, "", "the file is empty")
ASIDE = QuarantineRow("f", 7, "{", "not JSON, or cut off: in column 2")


def summed(*rows: Row, most_examples: int = 1) -> Summary:
    summary = Summary(most_examples)
    for row in rows:
        summary.take(row)
    return summary


@pytest.mark.parametrize(
    ("rows", "code", "headline", "words"),
    [
        ([GOOD, TESTED], 0, "conformant", "1 run, 10 lines, each allowed by the rules"),
        ([WRONG], 1, "not conformant", "1 run of 1, 1 cause"),
        ([GOOD, WRONG, SHORT, OPEN, ASIDE], 1, "not conformant", "1 run of 4, 1 cause"),
        ([GOOD, SHORT, TESTED], 4, "inconclusive", "nothing diverges, but 1 run incomplete"),
        ([GOOD, OPEN, TESTED], 4, "inconclusive", "nothing diverges, but 1 run inconclusive"),
        ([GOOD, ASIDE, TESTED], 4, "inconclusive", "nothing diverges, but 1 line set aside"),
        ([GOOD, EMPTY, TESTED], 4, "inconclusive", "nothing diverges, but 1 file set aside"),
        (
            [GOOD, SHORT, ASIDE, EMPTY, EMPTY],
            4,
            "inconclusive",
            "nothing diverges, but 1 run incomplete, 1 line and 2 files set aside; "
            "no rule of the timer was put to the test",
        ),
        (
            [],
            4,
            "nothing was judged",
            "there is no file whose name ends in .jsonl, .jsonl.gz or .parquet",
        ),
        (
            [ASIDE, EMPTY],
            4,
            "nothing was judged",
            "there is no run in the files, but 1 line and 1 file that could not be used",
        ),
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


def test_where_no_rule_was_put_to_the_test_nothing_is_known() -> None:
    pool = GOOD._replace(run="p", component="memory_pool")
    summary = summed(GOOD)
    assert (summary.exit_code, summary.headline) == (4, "inconclusive")
    assert why(summary) == "nothing diverges, but no rule of the timer was put to the test"
    summary = summed(GOOD, pool)
    assert why(summary).endswith("no rule of the timer and the memory pool was put to the test")
    summary = summed(GOOD, pool, TESTED)
    assert (summary.exit_code, summary.untested) == (4, [Component.MEMORY_POOL])
    summary = summed(GOOD, pool, TESTED, CoverageRow("p", "POOL-BOUND", 1))
    assert (summary.exit_code, summary.untested) == (0, [])


def test_a_rule_that_is_broken_was_put_to_the_test() -> None:
    deviates = GOOD._replace(deviated=("TIMER-ROUNDING",))
    summary = summed(WRONG, deviates, CoverageRow("a", "TIMER-NOT-EARLY", 1))
    tested, never = summary.rules_of(Component.TIMER)
    assert {rule.id for rule in tested} == {"TIMER-CANCEL", "TIMER-ROUNDING", "TIMER-NOT-EARLY"}
    assert {"TIMER-CANCEL", "TIMER-ROUNDING"}.isdisjoint(rule.id for rule in never)
    assert (summary.broken["TIMER-CANCEL"], summary.visits["TIMER-CANCEL"]) == (1, 0)


def test_a_broken_rule_that_is_not_visited_on_a_real_clock_brings_no_others() -> None:
    component, held = Component.PURGATORY, CoverageRow("a", "PURGATORY-TIME-OUT", 1)
    of_check = "PURGATORY-CHECK-ORDER"
    assert of_check not in RULES_ON_A_WALL_CLOCK[component]
    wrong = WRONG._replace(component=component.value, rule=of_check)
    tested, never = summed(wrong, held).rules_of(component)
    assert {rule.id for rule in tested} == {of_check, held.rule}
    assert never
    assert {rule.id for rule in never} <= RULES_ON_A_WALL_CLOCK[component]


def test_reasons_that_differ_in_values_and_numbers_alone_are_one() -> None:
    assert general("line 5 of `a` is 'x' or \"y\"") == "line … of `a` is … or …"
    assert general("seq is -4; it counts from 0") == "seq is …; it counts from …"
    rows = [SHORT._replace(run=str(n), reason=f"line {n} is missing") for n in range(5)]
    lines = [ASIDE._replace(line=n + 1, reason=f"cut off in column {n}") for n in range(7)]
    summary = summed(*rows, *lines)
    (short,), (aside,) = summary.unfinished, summary.aside
    assert (short.example.verdict, short.words, short.rows) == (
        "incomplete",
        "line … is missing",
        5,
    )
    assert (short.example.run, short.example.reason) == ("0", "line 0 is missing")
    assert (aside.words, aside.example.line, aside.rows) == ("cut off in column …", 1, 7)


@pytest.mark.parametrize(
    "reason",
    [
        "Object missing required field `operation`",
        "Expected `int`, got `str` - at `$.operation.delay_ms`",
        "Invalid value 'explode' - at `$.operation.op`",
        "seq is -4; it counts from 0",
        "the column seq is int32, not int64",
        "the line is longer than 1048576 bytes; this is how it begins",
    ],
)
def test_a_reason_that_all_rows_have_is_told_in_full(reason: str) -> None:
    lines = [ASIDE._replace(line=number, reason=reason) for number in (1, 2)]
    runs = [SHORT._replace(run=str(number), reason=reason) for number in (1, 2)]
    summary = summed(*lines, *runs)
    assert [(each.words, each.rows) for each in summary.aside] == [(reason, 2)]
    assert [(each.words, each.rows) for each in summary.unfinished] == [(reason, 2)]


def test_lines_that_lack_different_keys_have_different_reasons() -> None:
    reasons = [f"Object missing required field `{key}`" for key in ("run", "seq", "run")]
    lines = [ASIDE._replace(line=n, reason=each) for n, each in enumerate(reasons, start=1)]
    assert [(each.words, each.rows) for each in summed(*lines).aside] == [
        ("Object missing required field `run`", 2),
        ("Object missing required field `seq`", 1),
    ]


def test_files_are_not_counted_among_lines() -> None:
    summary = summed(ASIDE, EMPTY, EMPTY, EMPTY._replace(line=3))
    assert (summary.lines_aside, summary.files_aside) == (2, 2)
    assert [(each.example.line, each.rows) for each in summary.aside] == [(0, 2), (7, 1), (3, 1)]


def test_however_many_reasons_there_are_few_are_told_apart() -> None:
    def word(number: int) -> str:
        return "".join(chr(ord("a") + int(digit)) for digit in str(number))

    rows = [SHORT._replace(run=str(n), reason=word(n)) for n in range(3 * MOST_REASONS)]
    lines = [ASIDE._replace(line=n + 1, reason=word(n)) for n in range(3 * MOST_REASONS)]
    summary = summed(*rows, *lines)
    assert len(summary.unfinished) == len(summary.aside) == MOST_REASONS + 1
    assert summary.unfinished[0].rows == summary.aside[0].rows == 2 * MOST_REASONS
    assert summary.unfinished[0].words == summary.aside[0].words == "other reasons"


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
    assert len(visited) + len(never) + summary.others_of(Component.TIMER) == 42


def test_where_nothing_was_put_to_the_test_every_rule_never_was() -> None:
    visited, never, others = shown(Component.TIMER)
    assert (len(visited), len(never), others) == (0, 42, 0)


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
    visited, never, others = shown(component, *rules)
    assert visited == set(rules)
    assert never <= RULES_ON_A_WALL_CLOCK[component]
    assert never
    assert others == len(requirements(component)) - len(never) - len(visited)


OF_WHEELS = [
    rule.id
    for rule in requirements(Component.TIMER)
    if rule.condition == "`structure is delay_queue_wheel`"
]


def test_what_a_run_shows_of_its_profile_decides_which_rules_apply() -> None:
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
    summary = summed(GOOD._replace(deviated=("POOL-BOUND",)), GOOD._replace(run="z"), TESTED)
    assert summary.deviated == {"POOL-BOUND": 1}
    assert summary.exit_code == 0


def test_what_runs_left_open_is_told() -> None:
    summary = Summary()
    summary.take(GOOD)
    assert not_judgeable(summary) == ""
    summary.take(GOOD._replace(pending_expiries=1, uncompared=("size",)))
    summary.take(GOOD._replace(open_calls=2))
    assert not_judgeable(summary) == (
        "1 expiry was not overdue yet, 2 calls were open, size was not compared in 1 run"
    )
