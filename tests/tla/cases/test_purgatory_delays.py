"""Delays chosen afterwards, so that exactly those operations expire that a behaviour names."""

import pytest

from purgatory_model.overlapping.interleaving import Step
from purgatory_tla.cases.behaviours import Move, TlaState
from purgatory_tla.cases.calls import Call
from purgatory_tla.cases.predictions import CannotDrive
from purgatory_tla.cases.purgatory.delays import FAR_MS, Timing, chosen_timing


def call(kind: str, *operations: int, action: str = "Expire") -> Call:
    """A call whose steps have these operations as their arguments."""
    nowhere = TlaState({"operation": {}})
    made = Call(kind, complete=True)
    for number, operation in enumerate(operations or (0,), start=1):
        made.moves.append(Move(number, Step(action, ("t", operation)), nowhere, nowhere))
    return made


def timing(*calls: Call) -> Timing:
    return chosen_timing(calls, "Expire")


def test_what_expires_together_is_due_in_the_order_of_its_runs() -> None:
    found = timing(
        call("watch", 1),
        call("watch", 2),
        call("watch", 3),
        call("advance", 1, 2),
        call("run", 2),
        call("run", 1),
    )
    assert found.delays == {1: 2, 2: 1, 3: FAR_MS}
    assert found.readings == {3: 2}
    assert found.expired == {3: (2, 1)}


def test_an_advance_without_an_expiry_goes_on_by_one() -> None:
    idle = call("advance", 0, action="ReadEstimate")
    found = timing(idle, call("watch", 1), idle, call("advance", 1))
    assert found.readings == {0: 1, 2: 2, 3: 3}
    assert found.delays == {1: 2}


def test_the_executor_takes_what_has_waited_longest() -> None:
    with pytest.raises(CannotDrive, match="takes operation 2, and 1 has waited longest"):
        timing(
            call("watch", 1),
            call("watch", 2),
            call("advance", 1),
            call("advance", 2),
            call("run", 2),
        )


def test_an_operation_keeps_its_delay_when_it_is_watched_again() -> None:
    idle = call("advance", 0, action="ReadEstimate")
    again = (call("watch", 1), call("advance", 1), call("run", 1), call("watch", 1))
    assert timing(*again, call("advance", 1)).delays == {1: 1}
    with pytest.raises(CannotDrive, match="operation 1 would need two delays"):
        timing(*again, idle, call("advance", 1))


def test_an_operation_may_not_be_due_before_it_is_watched_again() -> None:
    idle = call("advance", 0, action="ReadEstimate")
    with pytest.raises(CannotDrive, match="operation 1 would be due before"):
        timing(call("watch", 1), idle, idle, call("watch", 1), call("advance", 1))
