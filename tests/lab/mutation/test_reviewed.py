"""A run is wrong where somebody survives unreviewed, where a reviewed one dies, and below 90 %."""

from pathlib import Path

import msgspec
import pytest

pytest.importorskip("cosmic_ray")

from purgatory_lab.mutation.mutants import Mutant
from purgatory_lab.mutation.reviewed import (
    Equivalents,
    Kind,
    Reviewed,
    Scope,
    as_shipped,
    as_users_run,
    problems,
    read_reviewed,
    settled_before,
    with_earlier,
)
from purgatory_lab.mutation.runner import End, Result
from purgatory_lab.mutation.scope import IMPORT

ROOT = Path(__file__).parents[3]
REVIEWED = ROOT / "lab" / "purgatory_lab" / "mutation" / "survivors.toml"
PAGE = ROOT / "docs" / "reference" / "mutation.md"
IMPLEMENTATION = ROOT / "impl" / "purgatory_impl"

LISTED = Reviewed("wheel", "place", "a < b", ("a <= b",), Kind.VISIBLE, "free")
SMALL = "bundled_subject, purgatory, CHUNK 2"
EQUIVALENT = Reviewed("wheel", "place", "a < b", ("b > a",), Kind.EQUIVALENT, "the same")


def result(mutated: str, end: End, stage: str = IMPORT) -> Result:
    return Result(Mutant("wheel", "place", "Less", 3, "a < b", mutated, ""), end, "", stage)


def killed(count: int) -> list[Result]:
    return [result(f"a < b + {number}", End.JUDGED) for number in range(count)]


def test_a_run_with_reviewed_survivors_alone_is_right() -> None:
    results = [*killed(9), result("a <= b", End.SURVIVED)]

    assert problems(results, [LISTED], ["wheel"]) == []


def test_a_survivor_that_nobody_has_reviewed_is_wrong() -> None:
    results = [*killed(20), result("a == b", End.SURVIVED)]

    (problem,) = problems(results, [], ["wheel"])

    assert problem.splitlines() == [
        "survives without a reason: wheel:3 in place (Less)",
        "    - a < b",
        "    + a == b",
    ]


def test_a_reviewed_one_that_does_not_survive_is_wrong() -> None:
    results = [*killed(20), result("a <= b", End.TIMED_OUT)]

    (problem,) = problems(results, [LISTED], ["wheel"])

    assert problem.startswith("reviewed as a survivor, but does not survive: wheel, place")
    assert problems(results, [LISTED], ["bucket"]) == []


def test_too_small_a_share_is_wrong() -> None:
    results = [*killed(8), result("a <= b", End.SURVIVED)]

    assert problems(results, [LISTED], ["wheel"], 0.9) == [
        "as users run the suite, 88.9% of the mutants in scope are killed that are not equivalent, "
        "less than 90%"
    ]
    assert problems(results, [LISTED], ["wheel"], 0.8) == []


def test_an_equivalent_survivor_counts_neither_as_killed_nor_as_to_be_killed() -> None:
    results = [*killed(9), result("a <= b", End.SURVIVED), result("b > a", End.SURVIVED)]
    equivalents = Equivalents.of([LISTED, EQUIVALENT])

    assert problems(results, [LISTED, EQUIVALENT], ["wheel"], 0.9) == []
    assert equivalents.others(results) == results[:-1]
    assert equivalents.others([result("b > a", End.JUDGED)]) == [result("b > a", End.JUDGED)]


def test_a_run_on_an_earlier_one_judges_what_a_better_suite_may_kill() -> None:
    reaper = Mutant("timer", "Timer._reap", "Less", 3, "a < b", "pass", "")
    earlier = [
        result("1", End.JUDGED, "bundled_subject, purgatory"),
        result("2", End.JUDGED, SMALL),
        result("a <= b", End.SURVIVED),
        Result(reaper, End.SURVIVED, ""),
        result("3", End.SURVIVED),
        result("pair", End.JUDGED),
        result("pair", End.SURVIVED),
    ]
    more = [result(name, End.SURVIVED).mutant for name in ("new", "1")]
    mutants = [*(each.mutant for each in earlier), *more]

    kept, rest = settled_before(mutants, earlier, [LISTED])

    assert [each.mutant.mutated for each in kept] == ["a <= b", "pass", "pair"]
    assert [each.mutated for each in rest] == ["1", "2", "3", "pair", "new", "1"]


def test_a_kill_with_smaller_constants_stays_where_the_trials_as_shipped_kill_nothing() -> None:
    earlier = [
        result("1", End.JUDGED, SMALL),
        result("2", End.JUDGED, SMALL),
        result("3", End.JUDGED, "bundled_inline_subject, timer"),
        result("4", End.SURVIVED),
    ]
    now = [result("1", End.RAISED), *(result(name, End.SURVIVED) for name in "234")]

    assert with_earlier(now, earlier) == [now[0], earlier[1], *now[2:]]


def test_a_scope_is_a_part_of_the_one_before() -> None:
    places = (("timer", "Timer._reap"), ("depletion", "DrySpells.percent"), ("wheel", "place"))
    results = [
        Result(Mutant(module, definition, "Less", 3, "a < b", "pass", ""), End.SURVIVED, "")
        for module, definition in places
    ]

    assert [len(scope.of(results)) for scope in Scope] == [3, 2, 1]
    reviewed = [Reviewed("wheel", "place", "a < b", ("pass",), Kind.VISIBLE, "free")]
    assert problems(results, reviewed, ["wheel", "timer", "depletion"], 0.0) == []


def test_what_a_further_trial_kills_is_not_killed_as_users_run_the_suite() -> None:
    results = [
        result("1", End.NOT_IMPORTED),
        result("2", End.JUDGED, "bundled_subject, purgatory"),
        result("3", End.JUDGED, SMALL),
        result("4", End.SURVIVED, "bundled_subject, purgatory"),
        result("5", End.JUDGED, "bundled_inline_subject, timer"),
    ]

    assert [as_users_run(each) for each in results] == [True, True, False, False, False]
    assert [as_shipped(each) for each in results] == [True, True, False, False, True]


ENTRY = 'module = "w"\ndefinition = ""\nline = "l"\n'


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('module = "wheel"', "missing required field `definition`"),
        (f'{ENTRY}mutated = ["m"]\nkind = "visible"\nreason = " "', "matching regex"),
        (f'{ENTRY}mutated = ["m", "m"]\nkind = "visible"\nreason = "r"', "twice"),
        (f'{ENTRY}mutated = ["m"]\nkind = "odd"\nreason = "r"', "odd"),
    ],
)
def test_a_faulty_list_is_refused(text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "survivors.toml"
    path.write_text(f"[[survivors]]\n{text}\n", encoding="utf-8")

    with pytest.raises((ValueError, msgspec.ValidationError), match=complaint):
        read_reviewed(path)


@pytest.mark.parametrize("entry", read_reviewed(REVIEWED), ids=lambda each: each.line)
def test_a_reviewed_line_is_still_there(entry: Reviewed) -> None:
    source = (IMPLEMENTATION / f"{entry.module}.py").read_text(encoding="utf-8")

    assert entry.line in {line.strip() for line in source.splitlines()}
    assert entry.reason in PAGE.read_text(encoding="utf-8")
