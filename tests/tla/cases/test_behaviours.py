"""Behaviours of history modules, read as moves."""

import pytest

from purgatory_model.overlapping.interleaving import Step
from purgatory_tla.cases.behaviours import Constants, TlaState, behaviour_of
from purgatory_tla.errors import UnexpectedOutput
from purgatory_tla.values.itf import make_state, make_trace
from purgatory_tla.values.values import function, sequence

from .made_traces import behaviour


def test_each_label_is_a_move_between_the_states_around_it() -> None:
    read = behaviour({"now": 0}, (("Elapse",), {"now": 1}), (("Advance", 3), {"now": 3}))
    assert [(move.number, move.step) for move in read.moves] == [
        (1, Step("Elapse")),
        (2, Step("Advance", (3,))),
    ]
    assert [move.before.read("now", int) for move in read.moves] == [0, 1]
    assert [move.after.read("now", int) for move in read.moves] == [1, 3]
    assert read.moves[1].integer(0) == 3


def test_a_behaviour_may_end_with_a_label() -> None:
    states = [
        make_state({}, {"now": 0, "step": ()}),
        make_state({}, {"now": 1, "step": ("Elapse",)}),
    ]
    assert len(behaviour_of(make_trace(states, None, {})).moves) == 1


def test_a_behaviour_without_labels_is_refused() -> None:
    states = [make_state({}, {"now": 0}), make_state({}, {"now": 1})]
    with pytest.raises(UnexpectedOutput, match="no variable step"):
        behaviour_of(make_trace(states, None, {}))


def test_an_argument_of_another_kind_is_refused() -> None:
    (move,) = behaviour({"now": 0}, (("Advance", 3), {})).moves
    with pytest.raises(UnexpectedOutput, match="step 1, Advance, has no int as argument 2"):
        move.integer(1)


def test_values_are_read_as_what_they_are_declared_to_be() -> None:
    state = TlaState(
        {"due": function({"a": 3}), "queue": sequence(["a", "b"]), "buckets": frozenset({(3, 1)})}
    )
    assert state.read("due", dict[str, int]) == {"a": 3}
    assert state.read("queue", list[str]) == ["a", "b"]
    assert state.read("buckets", frozenset[tuple[int, int]]) == {(3, 1)}
    with pytest.raises(UnexpectedOutput, match="queue is not what was expected"):
        state.read("queue", list[int])
    with pytest.raises(UnexpectedOutput, match="no variable now"):
        state.read("now", int)


def test_constants_are_read_from_the_configuration() -> None:
    constants = Constants({"Keys": '{"a", "b"}', "Tick": "2", "Start": "<- BelowZero"})
    assert constants.read("Keys", frozenset[str]) == {"a", "b"}
    assert constants.read("Tick", int) == 2
    assert constants.operator("Start") == "BelowZero"
    assert constants.operator("Tick") == ""
    for name in ("Start", "Last"):
        with pytest.raises(UnexpectedOutput, match=f"does not write out a value of {name}"):
            constants.read(name, int)
