"""What is known of names that are done with, when they come again."""

import pytest

from purgatory_pipeline.replay.overlapping.recent_names import MOST_NAMES, RecentNames
from purgatory_pipeline.traces.lines import Begin, PurgatoryInstance, Snapshot, TimerInstance
from purgatory_spec.operations import Add, CancelForKey, Check, Force, Watch
from purgatory_spec.reasons import Reason

from .test_overlapping_purgatory import (
    EXACT,
    PROPOSAL,
    checked,
    completed,
    timed_out,
    tried,
    watched,
)
from .test_overlapping_timer import ran
from .wall_clock import NS_PER_MS, Line, at_once, begin, call, end, judged, returns, rule_of


def test_the_latest_names_are_known_and_that_others_were_forgotten() -> None:
    """Given room for two names: the first is forgotten, and that some are is known from then on."""
    names = RecentNames[str](most=2)
    has_forgotten = []
    for name, fate in (("a", "ran"), ("b", "cancelled"), ("c", "ran")):
        names.put(name, fate)
        has_forgotten.append(names.has_forgotten)
    assert has_forgotten == [False, False, True]
    assert [names.get(name) for name in "abc"] == [None, "cancelled", "ran"]


def test_a_name_that_is_done_with_again_is_the_latest() -> None:
    names = RecentNames[str](most=2)
    for name in "aba":
        names.put(name, "ran")
    assert not names.has_forgotten
    names.put("c", "ran")
    assert [names.get(name) for name in "abc"] == ["ran", None, "ran"]


def test_a_name_that_is_live_again_is_not_forgotten_but_taken() -> None:
    names = RecentNames[str](most=2)
    names.put("a", "ran")
    assert (names.take("a"), names.take("a"), names.get("a")) == ("ran", None, None)
    names.put("b", "ran")
    names.put("c", "ran")
    assert not names.has_forgotten


def test_so_many_names_are_known_by_default() -> None:
    names = RecentNames[bool]()
    has_forgotten = []
    for number in range(MOST_NAMES + 1):
        names.put(str(number), True)
        has_forgotten.append(names.has_forgotten)
    assert has_forgotten == [False] * MOST_NAMES + [True]


def forced(at_ms: int, name: str, *, completes: bool, result: bool) -> list[Line]:
    done = [completed(at_ms, name=name)] if completes else []
    return [call(at_ms, "main", Force(name)), *done, returns(at_ms, "main", result)]


def finished(number: int) -> list[Line]:
    """So many operations that are new, and forced at once."""
    return [
        line
        for each in range(number)
        for line in forced(0, f"o{each}", completes=True, result=True)
    ]


@pytest.mark.parametrize("first", [EXACT, PROPOSAL], ids=["exact", "proposal"])
def test_an_unknown_operation_is_new_as_long_as_none_was_forgotten(first: Begin) -> None:
    """That is wrong, or may be so."""
    answer = forced(0, "unknown", completes=False, result=False)
    assert rule_of(first, [*finished(MOST_NAMES), *answer]) == "PURGATORY-FORCE"
    assert rule_of(first, [*finished(MOST_NAMES + 1), *answer]) is None


def test_an_unknown_operation_that_may_be_old_is_still_judged_by_what_it_does() -> None:
    many = finished(MOST_NAMES + 1)
    assert rule_of(EXACT, [*many, *forced(0, "x", completes=True, result=True)]) is None
    wrong = forced(0, "x", completes=True, result=False)
    assert rule_of(EXACT, [*many, *wrong]) == "PURGATORY-FORCE"
    wrong = forced(0, "x", completes=False, result=True)
    assert rule_of(EXACT, [*many, *wrong]) == "PURGATORY-FORCE"


def test_the_latest_finished_operation_is_known_however_many_there_are() -> None:
    many = finished(MOST_NAMES + 1)
    last, first = f"o{MOST_NAMES}", "o0"
    again = forced(0, last, completes=True, result=True)
    assert rule_of(EXACT, [*many, *again]) == "PURGATORY-EXACTLY-ONCE"
    assert rule_of(EXACT, [*many, *forced(0, first, completes=True, result=True)]) is None
    says_so = forced(0, last, completes=False, result=True)
    assert rule_of(EXACT, [*many, *says_so]) == "PURGATORY-FORCE-AGAIN"


def test_behind_a_snapshot_an_unknown_operation_may_be_old() -> None:
    """That may be so; in a run that is seen from its beginning it is wrong."""
    told = Snapshot(run="run", seq=8, at_ns=NS_PER_MS)
    answer = forced(5, "x", completes=False, result=False)
    assert rule_of(begin(PurgatoryInstance(), seq=7), [told, *answer]) is None
    assert rule_of(PROPOSAL, answer) == "PURGATORY-FORCE"


COMPLETED = [*watched(), *checked(5, completes=True)]
"""An operation that is finished."""
AGAIN = watched(10)


@pytest.mark.parametrize(
    ("behind", "rule"),
    [
        pytest.param([end(500)], None, id="the same one: nothing comes of it"),
        pytest.param([*checked(20, completes=True), end(500)], None, id="another: completed"),
        pytest.param([*timed_out(60), end(500)], None, id="another: times out"),
        pytest.param(
            [*checked(20, completes=True), *timed_out(60)],
            "PURGATORY-EXACTLY-ONCE",
            id="completed twice",
        ),
        pytest.param(timed_out(59), "PURGATORY-TIME-OUT", id="too early"),
    ],
)
@pytest.mark.parametrize("begun", [EXACT, PROPOSAL], ids=["exact", "proposal"])
def test_a_completed_operation_that_is_watched_again_may_be_another(
    begun: Begin, behind: list[Line], rule: str | None
) -> None:
    """It may be the same one, or a new one that is completed once and in time."""
    assert rule_of(begun, [*COMPLETED, *AGAIN, *behind]) == rule


def test_unless_it_is_watched_again_it_is_the_same() -> None:
    """A control: what is right behind a second watch is wrong without it."""
    assert rule_of(EXACT, [*COMPLETED, *timed_out(60)]) == "PURGATORY-EXACTLY-ONCE"
    tries = [*COMPLETED, call(20, "main", Check("k")), tried(20)]
    assert rule_of(EXACT, tries) == "PURGATORY-COMPLETED-NOT-TRIED"


def test_a_cancelled_operation_that_is_watched_again_is_as_new() -> None:
    cancelled = [*watched(), *at_once(5, CancelForKey("k"), ("a",))]
    assert judged(EXACT, [*cancelled, *AGAIN, *timed_out(60), end(500)]) is None
    assert rule_of(EXACT, [*cancelled, *AGAIN, end(500)]) == "PURGATORY-TIME-OUT"
    assert rule_of(EXACT, [*cancelled, *timed_out(60)]) == "PURGATORY-CANCEL-LAST-KEY"


def test_of_an_operation_whose_watch_threw_only_the_worst_is_found() -> None:
    """That may be; that it is completed twice may not."""
    threw: list[Line] = [call(0, "main", Watch("a", ("k",), 50)), tried(0)]
    threw.append(returns(0, "main", None, Reason.THROWN))
    assert judged(EXACT, [*threw, end(500)]) is None
    assert judged(EXACT, [*threw, *watched(5), *checked(9, completes=True), end(500)]) is None
    twice = [*threw, *watched(5), *checked(9, completes=True), *timed_out(70)]
    assert rule_of(EXACT, twice) == "PURGATORY-EXACTLY-ONCE"


def test_a_task_that_ran_and_is_added_again_runs_once_more() -> None:
    timer = begin(TimerInstance())
    once = [*at_once(0, Add("a", 5)), ran(5)]
    assert judged(timer, [*once, *at_once(10, Add("a", 5)), ran(15), end(500)]) is None
    assert rule_of(timer, [*once, *at_once(10, Add("a", 5)), end(500)]) == "TIMER-LATENESS"
    assert rule_of(timer, [*once, ran(15)]) == "TIMER-EXACTLY-ONCE"
