"""Delays that callers give: integers of any type, and ``timedelta``."""

from collections.abc import Callable
from datetime import timedelta

import pytest

import purgatory_impl as impl
from purgatory_impl.event_loops import AwaitedOperation

Taker = Callable[[impl.Delay], int]


def as_a_delay_of_a_timer(delay: impl.Delay) -> int:
    return impl.Timer(clock=impl.VirtualClock()).add(print, delay)._expiry_ms


TAKERS: list[Taker] = [
    as_a_delay_of_a_timer,
    lambda delay: impl.DelayedOperation(delay).delay_ms,
    lambda delay: impl.CallableOperation(bool, delay).delay_ms,
    lambda delay: AwaitedOperation(lambda: None, delay).delay_ms,
]
NAMES = ["timer", "operation", "callables", "awaited"]


@pytest.mark.parametrize("taker", TAKERS, ids=NAMES)
def test_a_timedelta_is_so_many_milliseconds(taker: Taker) -> None:
    assert taker(timedelta(minutes=1, milliseconds=5)) == taker(60_005) == 60_005


@pytest.mark.parametrize("taker", TAKERS, ids=NAMES)
def test_a_timedelta_is_not_rounded(taker: Taker) -> None:
    """Given a timedelta of one and a half milliseconds: it is refused, and the refusal shows it."""
    with pytest.raises(impl.InvalidDelay, match=r"timedelta\(microseconds=1500\)"):
        taker(timedelta(microseconds=1500))


def test_a_negative_timedelta_is_negative() -> None:
    assert impl.DelayedOperation(timedelta(milliseconds=-3)).delay_ms == -3
    with pytest.raises(impl.InvalidDelay):
        impl.DelayedOperation(timedelta(microseconds=-1))
