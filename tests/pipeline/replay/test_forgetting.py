"""A judge of a trace forgets what is finished: it does not grow, and it says what it gives up."""

import pickle

import msgspec
import pytest

from purgatory_pipeline.replay import RunReplay
from purgatory_pipeline.results.rows import VerdictRow
from purgatory_pipeline.traces.from_cases import encoded
from purgatory_pipeline.traces.lines import TRACED, Begin, DeclaredDeviation, Located
from purgatory_pipeline.traces.parsing import parse
from purgatory_pipeline.traces.synthetic import run_lines as made_up
from purgatory_spec.profiles import Component

from .run_lines import (
    END,
    Plain,
    add,
    advance,
    coverage,
    numbered,
    rows_of,
    step,
    timer_begin,
    verdict_of,
)

DEVIATIONS = {
    Component.TIMER: DeclaredDeviation("TIMER-LARGEST-DELAY", "long_arithmetic"),
    Component.PURGATORY: DeclaredDeviation("PURGATORY-SECOND-TRY-THROWS", "second_try_unarmed"),
    Component.MEMORY_POOL: DeclaredDeviation("POOL-CONSERVATION", "credits_anything"),
}


def sizes(
    component: Component, events: int, places: tuple[int, ...], **of_begin: object
) -> list[int]:
    """The size of the pickled replay behind some lines of a long run."""
    # Twelve hundred lines further a made-up run is in the same phase: as much is live and stale.
    run = RunReplay("r")
    found = []
    for seq, raw in enumerate(made_up("r", component, events)):
        line = raw
        if seq == 0:
            begin = parse(raw)
            assert isinstance(begin, Begin)
            line = encoded(msgspec.structs.replace(begin, **of_begin))
        assert run.take(Located("r", seq, "f", seq + 1, line)) is None
        if seq in places:
            found.append(len(pickle.dumps(run)))
    assert [row.verdict for row in run.finish() if isinstance(row, VerdictRow)] == ["conforms"]
    return found


@pytest.mark.parametrize("declared", [False, True])
@pytest.mark.parametrize("component", TRACED)
def test_a_judge_does_not_grow_with_its_run(component: Component, declared: bool) -> None:
    """Nor does it under a declared deviation."""
    deviations = (DEVIATIONS[component],) if declared else ()
    early, late = sizes(component, 2_402, (1_200, 2_400), deviations=deviations)
    assert late < early * 1.1


@pytest.mark.parametrize("component", TRACED)
def test_a_judge_that_keeps_names_grows(component: Component) -> None:
    """A control: the size is one that shows what is kept."""
    early, late = sizes(component, 1_202, (400, 1_200), keeps_names=True)
    assert late > early * 1.7


@pytest.mark.large
@pytest.mark.parametrize("component", TRACED)
def test_a_judge_does_not_grow_in_200_000_steps(component: Component) -> None:
    found = sizes(component, 200_402, (1_200, 100_800, 200_400))
    assert max(found) < min(found) * 1.1


def verdict_and_rule(*lines: Plain) -> tuple[str, str, int | None]:
    row = verdict_of(numbered(timer_begin(), *lines, END))
    return row.verdict, row.rule, row.seq


def run_one(task: str) -> Plain:
    """The executor runs a task."""
    return step("run_one", [("ran", task)])


def test_a_second_firing_is_one_without_being_pending() -> None:
    fired = add("t", 1), advance(1, "t"), run_one("t")
    assert verdict_and_rule(*fired, advance(2)) == ("conforms", "", None)
    assert verdict_and_rule(*fired, advance(2, "t")) == ("diverges", "TIMER-EXACTLY-ONCE", 4)


def test_a_task_that_fires_although_it_was_cancelled_is_not_pending_either() -> None:
    cancelled = add("t", 1), step("cancel", task="t")
    assert verdict_and_rule(*cancelled, advance(1, "t")) == ("diverges", "TIMER-EXACTLY-ONCE", 3)


def test_a_name_that_comes_again_is_a_new_task() -> None:
    lines = numbered(
        timer_begin(),
        add("t", 1),
        advance(1, "t"),
        run_one("t"),
        add("t", 1),
        step("cancel", task="t"),
        step("cancel", task="t"),
        advance(9),
        END,
    )
    visits = coverage(rows_of(lines))
    assert visits["TIMER-CANCEL"] == visits["TIMER-CANCEL-UNKNOWN"] == 1
    assert not visits.keys() & {"TIMER-READD-FIRED", "TIMER-CANCEL-AGAIN"}
    kept = coverage(rows_of([{**lines[0], "keeps_names": True}, *lines[1:]]))
    assert kept["TIMER-CANCEL-AGAIN"] == kept["TIMER-CANCEL"] == 1
    assert "TIMER-CANCEL-UNKNOWN" not in kept


def test_a_task_that_still_has_to_run_is_not_forgotten() -> None:
    lines = add("t", 1), advance(1, "t"), add("t", 1), run_one("t"), advance(2, "t"), run_one("t")
    assert verdict_and_rule(*lines) == ("conforms", "", None)
    visits = coverage(rows_of(numbered(timer_begin(), *lines, END)))
    assert visits["TIMER-READD-FIRED"] == 2


def purgatory(*lines: Plain) -> list[Plain]:
    """A run of a purgatory."""
    begin: Plain = {
        "kind": "begin",
        "instance": {
            "component": "purgatory",
            "profile": {"observables": ["entries", "timer_size"], "features": ["force"]},
        },
    }
    return numbered(begin, *lines, END)


def shown(entries: int, timer_size: int) -> dict[str, object]:
    return {"observed": {"entries": entries, "timer_size": timer_size}}


def watched(name: str, delay_ms: int = 5) -> Plain:
    tries = [("tried", name), ("tried", name)]
    return step(
        "watch", tries, operation=name, keys=["k"], delay_ms=delay_ms, result=False, **shown(1, 1)
    )


FINISHED = (
    watched("o"),
    step("force", [("completed", "o")], operation="o", result=True, **shown(1, 0)),
    step("check", key="k", result=0, **shown(0, 0)),
)
"""An operation of which nothing is left."""


def test_a_finished_operation_may_be_forced_and_is_completed_already() -> None:
    again = step("force", operation="o", result=False, **shown(0, 0))
    assert verdict_of(purgatory(*FINISHED, again)).verdict == "conforms"
    assert coverage(rows_of(purgatory(*FINISHED, again)))["PURGATORY-FORCE-AGAIN"] == 1


def test_an_unknown_operation_may_be_forced_and_is_new() -> None:
    new = step("force", [("completed", "n")], operation="n", result=True, **shown(0, 0))
    assert verdict_of(purgatory(*FINISHED, new)).verdict == "conforms"
    wrong = step("force", [("completed", "n")], operation="n", result=False, **shown(0, 0))
    row = verdict_of(purgatory(*FINISHED, wrong))
    assert (row.verdict, row.seq) == ("diverges", 4)


def test_a_finished_operation_that_is_completed_again_breaks_exactly_once() -> None:
    again = [("completed", "o")]
    checked = step("check", again, key="k", result=0, **shown(0, 0))
    row = verdict_of(purgatory(*FINISHED, checked))
    assert (row.verdict, row.rule, row.seq) == ("diverges", "PURGATORY-EXACTLY-ONCE", 4)
    expired = step("advance", [("completed", "o"), ("timed_out", "o")], to_ms=9, **shown(0, 0))
    row = verdict_of(purgatory(*FINISHED, expired))
    assert (row.verdict, row.rule, row.seq) == ("diverges", "PURGATORY-EXACTLY-ONCE", 4)


def test_an_operation_that_is_satisfied_before_it_is_watched_is_not_forgotten() -> None:
    satisfied = step("satisfy", operation="o", **shown(0, 0))
    elapsed = step("elapse", to_ms=1, **shown(0, 0))
    tried = [("tried", "o"), ("completed", "o")]
    watch = step("watch", tried, operation="o", keys=["k"], delay_ms=5, result=True, **shown(0, 0))
    assert verdict_of(purgatory(satisfied, elapsed, watch)).verdict == "conforms"


def pool(
    validation: str, *lines: Plain, unbounded: bool = False, zero_request: str = "reject"
) -> list[Plain]:
    """A run of a memory pool."""
    begin: Plain = {
        "kind": "begin",
        "instance": {
            "component": "memory_pool",
            "configuration": {
                "size_bytes": 100,
                "max_single_bytes": 50,
                "unbounded": unbounded,
            },
            "profile": {"release_validation": validation, "zero_request": zero_request},
        },
    }
    return numbered(begin, *lines, END)


GIVEN_BACK = (
    step("allocate", buffer="b", size_bytes=40, result=True),
    step("release", buffer="b"),
)


@pytest.mark.parametrize(
    ("validation", "unbounded", "rejected", "verdict"),
    [
        ("identity", False, {"rejected": "invalid_argument"}, "conforms"),
        ("identity", False, {}, "diverges"),
        ("none", True, {}, "conforms"),
        ("none", False, {}, "incomplete"),
    ],
)
def test_a_buffer_that_is_given_back_again(
    validation: str, unbounded: bool, rejected: dict[str, object], verdict: str
) -> None:
    lines = pool(
        validation, *GIVEN_BACK, step("release", buffer="b", **rejected), unbounded=unbounded
    )
    row = verdict_of(lines)
    assert row.verdict == verdict
    if verdict == "diverges":
        assert row.rule == "POOL-RELEASE-AGAIN"
    if verdict == "incomplete":
        assert row.reason.endswith("'b' is not outstanding: give its size, with release_foreign")


def test_a_name_does_not_stand_for_two_buffers_at_a_time() -> None:
    row = verdict_of(pool("identity", GIVEN_BACK[0], GIVEN_BACK[0]))
    assert row.verdict == "incomplete"
    assert row.reason.endswith("'b' is the name of a buffer that is outstanding already")
    refused = step("allocate", buffer="b", size_bytes=60, rejected="invalid_argument")
    assert verdict_of(pool("identity", GIVEN_BACK[0], refused)).verdict == "conforms"


ANSWERS_TO_NOTHING: dict[str, dict[str, object]] = {
    "reject": {"rejected": "invalid_argument"},
    "refuse": {"result": False},
    "grant": {"result": True},
}


@pytest.mark.parametrize("answered", ANSWERS_TO_NOTHING)
@pytest.mark.parametrize("declared", ANSWERS_TO_NOTHING)
def test_a_request_for_nothing_means_what_the_run_declares(declared: str, answered: str) -> None:
    """The run conforms where the answer is the declared one, and breaks POOL-ZERO-REQUEST else."""
    asked = step("allocate", buffer="n", size_bytes=0, **ANSWERS_TO_NOTHING[answered])
    row = verdict_of(pool("identity", asked, zero_request=declared))
    if declared == answered:
        assert row.verdict == "conforms"
    else:
        assert (row.verdict, row.rule) == ("diverges", "POOL-ZERO-REQUEST")


def test_an_empty_buffer_that_is_given_back_again_is_free() -> None:
    given_back = (
        step("allocate", buffer="n", size_bytes=0, result=True),
        step("release", buffer="n"),
        step("release", buffer="n"),
    )
    assert verdict_of(pool("identity", *given_back, zero_request="grant")).verdict == "conforms"
