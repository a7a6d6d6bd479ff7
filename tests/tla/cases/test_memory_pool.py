"""Behaviours of the memory pool as operations with outcomes."""

from typing import Any

from purgatory_spec.operations import Allocate, Release, ReleaseForeign
from purgatory_spec.profiles import MemoryPoolConfiguration
from purgatory_spec.reasons import Reason
from purgatory_tla.cases import memory_pool
from purgatory_tla.cases.behaviours import Constants
from purgatory_tla.cases.predictions import Driven
from purgatory_tla.values.values import function

from .made_traces import behaviour

Step = tuple[tuple[object, ...], dict[str, Any]]


def drive(*steps: Step, features: str = "{}") -> Driven:
    first = {"available": 5, "pc": function({"t1": "idle", "t2": "idle"})}
    constants = Constants({"Features": features, "MaxSingle": "3"})
    return memory_pool.drive(behaviour(first, *steps), constants)


def at(one: str, other: str, available: int) -> dict[str, Any]:
    return {"available": available, "pc": function({"t1": one, "t2": other})}


def test_calls_take_effect_in_the_order_of_their_swaps() -> None:
    made = drive(
        (("Ask", "t1", 2), at("read", "idle", 5)),
        (("Read", "t1"), at("swap", "idle", 5)),
        (("Ask", "t2", 3), at("swap", "read", 5)),
        (("Read", "t2"), at("swap", "swap", 5)),
        (("Swap", "t2"), at("swap", "holds", 2)),
        (("FailToSwap", "t1"), at("read", "holds", 2)),
        (("Read", "t1"), at("swap", "holds", 2)),
        (("Swap", "t1"), at("holds", "holds", 0)),
        (("Release", "t2"), at("holds", "idle", 3)),
    )
    assert made.configuration == MemoryPoolConfiguration(5, 3)
    assert [each.operation for each in made.predictions] == [
        Allocate("b1", 3),
        Allocate("b2", 2),
        Release("b1"),
    ]
    assert [each.steps for each in made.predictions] == [(3, 4, 5), (1, 2, 6, 7, 8), (9,)]
    assert [each.outcome.observed["available_bytes"] for each in made.predictions] == [2, 0, 3]
    assert [each.outcome.observed["out_of_memory"] for each in made.predictions] == [
        False,
        True,
        False,
    ]


def test_a_refusal_takes_effect_when_the_count_is_read() -> None:
    made = drive(
        (("Ask", "t2", 3), at("idle", "read", 5)),
        (("Read", "t2"), at("idle", "swap", 5)),
        (("Swap", "t2"), at("idle", "holds", 0)),
        (("Ask", "t1", 1), at("read", "holds", 0)),
        (("Read", "t1"), at("refuse", "holds", 0)),
        (("Release", "t2"), at("refuse", "idle", 5)),
        (("Refuse", "t1"), at("idle", "idle", 5)),
    )
    refused = made.predictions[1]
    assert refused.operation == Allocate("b2", 1)
    assert refused.outcome.result is False
    assert refused.outcome.observed["available_bytes"] == 0
    assert [type(each.operation) for each in made.predictions] == [Allocate, Allocate, Release]


def test_a_call_that_is_decided_is_told_though_it_has_not_returned() -> None:
    made = drive(
        (("Ask", "t1", 0), at("reject", "idle", 5)), (("Ask", "t2", 3), at("reject", "read", 5))
    )
    assert [each.outcome.rejected for each in made.predictions] == [Reason.INVALID_ARGUMENT]
    assert (made.driven, made.length) == (1, 2)


def test_releases_of_what_is_not_outstanding_are_told() -> None:
    made = drive(
        (("Ask", "t1", 3), at("read", "idle", 5)),
        (("Read", "t1"), at("swap", "idle", 5)),
        (("Swap", "t1"), at("holds", "idle", 2)),
        (("Release", "t1"), at("idle", "idle", 5)),
        (("ReleaseAgain", "t1"), at("disown", "idle", 5)),
        (("ReleaseForeign", "t2", 2), at("disown", "disown", 5)),
        (("Disown", "t1"), at("idle", "disown", 5)),
        (("Disown", "t2"), at("idle", "idle", 5)),
        features='{"identity"}',
    )
    again, foreign = made.predictions[2:]
    assert again.operation == Release("b1")
    assert foreign.operation == ReleaseForeign(2)
    assert again.outcome.rejected is foreign.outcome.rejected is Reason.INVALID_ARGUMENT
    assert "release_again" in again.needs
    assert "release_foreign" in foreign.needs


def test_a_buffer_that_cannot_be_created_is_not_driven() -> None:
    made = drive(
        (("Ask", "t1", 3), at("read", "idle", 5)),
        (("Read", "t1"), at("swap", "idle", 5)),
        (("Swap", "t1"), at("holds", "idle", 2)),
        (("LoseBuffer", "t1"), at("idle", "idle", 2)),
    )
    assert made.stopped is not None
    assert made.stopped.step == 4
