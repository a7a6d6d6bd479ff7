"""Names that are done with, and the knowledge of them when they come again."""

import pytest

from purgatory_spec.operations import Force
from purgatory_traces.replay.overlapping.recent_names import MOST_NAMES, RecentNames
from purgatory_traces.traces.lines import Begin

from .test_overlapping_purgatory import EXACT, PROPOSAL, completed, watched
from .wall_clock import Line, call, returns, rule_of


def test_the_latest_names_are_known_and_that_others_were_forgotten() -> None:
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


AGAIN = watched(10)
