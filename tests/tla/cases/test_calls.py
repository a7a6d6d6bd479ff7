"""Calls that interleave, and an order in which they do not."""

import pytest

from purgatory_model.overlapping.interleaving import Step
from purgatory_tla.cases.behaviours import Move, TlaState
from purgatory_tla.cases.calls import Call, Entangled, Touched, before, serial_order


def call(kind: str, *steps: tuple[int, str, str], complete: bool = True) -> Call:
    """A call of steps: number, cells read, cells changed, separated by commas."""
    nowhere = TlaState({})
    made = Call(kind, complete=complete)
    for number, reads, changes in steps:
        made.moves.append(Move(number, Step(kind), nowhere, nowhere))
        made.touched.append(Touched(_cells(reads), _cells(changes)))
    return made


def _cells(text: str) -> frozenset[str]:
    return frozenset(each.strip() for each in text.split(",") if each.strip())


def order(*calls: Call) -> list[str]:
    return [each.kind for each in serial_order(calls)]


def test_calls_that_touch_nothing_in_common_keep_their_order() -> None:
    first = call("first", (1, "", "list k1 1"), (3, "", "list k2 1"))
    second = call("second", (2, "", "list k1 2"), (4, "count", ""))
    assert order(first, second) == ["first", "second"]


def test_a_call_comes_before_one_that_changes_what_it_has_read() -> None:
    changes = call("changes", (1, "", ""), (3, "", "count"))
    reads = call("reads", (2, "count", ""))
    assert order(changes, reads) == ["reads", "changes"]


def test_a_large_cell_holds_the_small_ones() -> None:
    reads = call("reads", (2, "list k1", ""))
    changes = call("changes", (1, "", "list k1 1"), (3, "", "list k1 2"))
    with pytest.raises(Entangled) as found:
        order(changes, reads)
    assert found.value.step == 3


def test_names_that_begin_alike_are_different_cells() -> None:
    reads = call("reads", (2, "list k1", ""))
    changes = call("changes", (1, "", "list k10 1"), (3, "", "list k10 2"))
    assert order(changes, reads) == ["changes", "reads"]


def test_reading_twice_what_nobody_changes_entangles_nothing() -> None:
    one = call("one", (1, "count", ""), (3, "count", ""))
    other = call("other", (2, "count", ""), (4, "count", ""))
    assert order(one, other) == ["one", "other"]


def test_a_call_without_an_end_is_left_out_with_all_that_follow_it() -> None:
    unfinished = call("unfinished", (1, "", "count"), complete=False)
    follower = call("follower", (2, "count", "list k1 1"))
    further = call("further", (3, "list k1", ""))
    free = call("free", (4, "", "timer 1"))
    assert order(unfinished, follower, further, free) == ["free"]


def test_a_call_may_be_cut() -> None:
    whole = call("whole", (2, "", ""), (4, "", ""))
    assert [move.number for move in before(whole, 3).moves] == [2]
    assert not before(whole, 3).complete
    assert before(whole, 1).moves == []
    assert before(whole, 4).complete
