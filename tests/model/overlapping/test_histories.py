"""The histories of programs: each once, counted; and what is no answer."""

import pytest

from purgatory_model.overlapping.histories import (
    LimitReached,
    NeverOver,
    count_histories,
    histories,
)
from purgatory_model.overlapping.programs import Programmed
from purgatory_spec.operations import Allocate

from ..concurrent_pools import asks, pool, programmed


def test_the_histories_of_two_requests_are_these() -> None:
    """They are those in which one of them has it, and the other is refused after that."""
    shared = Programmed(pool(1, 1, 2), {"t1": (Allocate("t1", 1),), "t2": (Allocate("t2", 1),)})
    found = list(histories(shared))
    first, one_has, one_not = asks("t1", 1)
    second, two_has, two_not = asks("t2", 1)
    assert set(found) == {
        (first, one_has, second, two_not),
        (first, second, one_has, two_not),
        (first, second, two_has, one_not),
        (second, first, one_has, two_not),
        (second, first, two_has, one_not),
        (second, two_has, first, one_not),
    }
    assert len(found) == count_histories(shared) == 6


def test_a_program_that_cannot_be_followed_is_told() -> None:
    """The call is told; nothing comes out empty."""
    never = Programmed(pool(1, 1, 1), {"t1": (Allocate("t1", 1), Allocate("t1", 1))})
    message = r"thread 't1' never gets to call Allocate\(buffer='t1', size_bytes=1\)"
    with pytest.raises(NeverOver, match=message):
        list(histories(never))
    with pytest.raises(NeverOver, match=message):
        count_histories(never)


def test_a_state_that_never_settles_is_told() -> None:
    never = Programmed(pool(1, 1, 1), {"t1": (Allocate("t1", 1),)}, settled=lambda _: False)
    with pytest.raises(NeverOver, match="the state never becomes one in which a run may be over"):
        list(histories(never))


def test_too_much_is_told() -> None:
    """There is an error that says what to do, and no part of an answer."""
    runs = programmed(pool(2, 2, 2), (1, 2), (2, 1))
    with pytest.raises(LimitReached, match=r"more than 20 .* shorten them"):
        count_histories(runs, limit=20)
    with pytest.raises(LimitReached, match="more than 2000 beginnings of histories"):
        list(histories(runs, limit=2000))


def test_histories_without_end_are_told() -> None:
    """Given threads without a program, which may call on for ever: there is an error."""
    with pytest.raises(NeverOver, match="histories without end"):
        count_histories(Programmed(pool(1, 1, 1), {}))
