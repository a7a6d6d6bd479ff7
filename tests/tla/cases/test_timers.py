"""Behaviours of the timer and the wheel as operations with outcomes."""

import pytest

from purgatory_spec.operations import Add, Advance, Cancel, Elapse, RunOne, Shutdown
from purgatory_spec.outcomes import Outcome, expired, ran
from purgatory_spec.profiles import NegativeDelay, Rounding, TimerConfiguration, TimerProfile
from purgatory_spec.reasons import Reason
from purgatory_tla.cases import timer, timing_wheel
from purgatory_tla.cases.behaviours import Constants
from purgatory_tla.values.values import function, sequence

from .made_traces import behaviour

CONSTANTS = Constants({"Features": "{}", "Tick": "1", "WheelSize": "2", "LargestDelay": "99"})
FIRST = {
    "now": 0,
    "due": function({}),
    "queue": sequence([]),
    "closed": False,
    "ownClock": 0,
    "levels": 1,
    "buckets": frozenset(),
}


def test_the_wheel_predicts_what_its_states_say() -> None:
    both = {"due": function({"a": 1, "b": 1})}
    made = timing_wheel.drive(
        behaviour(
            FIRST,
            (("Insert", "a", 1), {"due": function({"a": 1}), "buckets": frozenset({(1, 1)})}),
            (("Insert", "b", 1), both),
            (
                ("Advance", 1),
                {
                    "now": 1,
                    "due": function({}),
                    "queue": sequence(["b", "a"]),
                    "ownClock": 1,
                    "buckets": frozenset(),
                },
            ),
            (("RunOne",), {"queue": sequence(["a"])}),
        ),
        CONSTANTS,
    )
    assert made.configuration == TimerConfiguration(wheel_size=2)
    assert [each.operation for each in made.predictions] == [
        Add("a", 1),
        Add("b", 1),
        Advance(1),
        RunOne(),
    ]
    advance, run = made.predictions[2:]
    assert advance.outcome == Outcome(
        True,
        events=(expired("b"), expired("a")),
        observed={
            "levels": 1,
            "next_expiry_ms": None,
            "queued": 2,
            "queued_buckets": 0,
            "size": 0,
            "wheel_clock_ms": 1,
        },
    )
    assert advance.groups == (2,)
    assert run.outcome.events == (ran("b"),)
    assert (made.driven, made.length, made.stopped) == (4, 4, None)


def test_what_is_optional_is_needed_where_it_is_used() -> None:
    pending = {"due": function({"a": 1}), "buckets": frozenset({(1, 1)})}
    made = timing_wheel.drive(
        behaviour(
            FIRST,
            (("Insert", "a", 1), pending),
            (("Cancel", "a"), {"due": function({})}),
            (("Insert", "a", 1), pending),
            (("Insert", "a", 3), {"due": function({"a": 3})}),
            (("Elapse",), {"now": 1}),
        ),
        CONSTANTS,
    )
    assert [each.operation for each in made.predictions[1::3]] == [Cancel("a"), Elapse(1)]
    assert [set(each.needs) for each in made.predictions] == [
        set(),
        {"cancel"},
        {"readd"},
        {"readd", "change_delay"},
        {"elapse"},
    ]


def test_after_shutdown_the_queue_alone_is_predicted() -> None:
    made = timer.drive(
        behaviour(
            {**FIRST, "queue": sequence(["a"])},
            (("Shutdown",), {"closed": True}),
            (("Advance", 2), {"now": 2}),
            (("Refuse", "b", 1), {}),
        ),
        CONSTANTS,
    )
    shutdown, advance, refused = made.predictions
    assert shutdown.operation == Shutdown()
    assert "answer" in advance.free
    assert refused.outcome.rejected is Reason.CLOSED
    assert {tuple(each.outcome.observed.items()) for each in made.predictions} == {(("queued", 1),)}


@pytest.mark.parametrize(("delay", "free"), [(0, True), (-3, True), (1, False)])
def test_the_abstract_timer_leaves_open_when_a_due_task_expires(delay: int, free: bool) -> None:
    pending = {"due": function({"a": delay})}
    made = timer.drive(behaviour(FIRST, (("AddPending", "a", delay), pending)), CONSTANTS)
    assert bool(made.predictions[0].either) is free


def test_a_bound_of_the_module_alone_cannot_be_driven() -> None:
    made = timer.drive(
        behaviour(FIRST, (("Elapse",), {"now": 1}), (("Refuse", "a", 5), {})), CONSTANTS
    )
    assert len(made.predictions) == 1
    assert made.stopped is not None
    assert made.stopped.step == 2
    assert "too large in the module alone" in made.stopped.reason


def test_the_features_of_the_module_are_choices_of_the_profile() -> None:
    features = Constants({**CONSTANTS.texts, "Features": '{"rounds-up", "rejects-negative"}'})
    made = timer.drive(behaviour(FIRST, (("Refuse", "a", -1), {})), features)
    assert isinstance(made.profile, TimerProfile)
    assert made.profile.rounding is Rounding.UP
    assert made.profile.negative_delay is NegativeDelay.REJECT
    assert made.predictions[0].outcome.rejected is Reason.INVALID_ARGUMENT
