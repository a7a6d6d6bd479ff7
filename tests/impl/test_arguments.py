"""Delays that callers give: integers of any type, and ``timedelta``."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from purgatory_impl import (
    CallableOperation,
    Delay,
    DelayedOperation,
    InvalidDelay,
    Timer,
    VirtualClock,
)
from purgatory_impl.event_loops import AwaitedOperation

Taker = Callable[[Delay], int]


def as_a_delay_of_a_timer(delay: Delay) -> int:
    return Timer(clock=VirtualClock()).add(print, delay)._expiry_ms


TAKERS: list[Taker] = [
    as_a_delay_of_a_timer,
    lambda delay: DelayedOperation(delay).delay_ms,
    lambda delay: CallableOperation(bool, delay).delay_ms,
    lambda delay: AwaitedOperation(lambda: None, delay).delay_ms,
]
NAMES = ["timer", "operation", "callables", "awaited"]


@pytest.mark.parametrize("taker", TAKERS, ids=NAMES)
def test_a_timedelta_is_so_many_milliseconds(taker: Taker) -> None:
    assert taker(timedelta(minutes=1, milliseconds=5)) == taker(60_005) == 60_005


@pytest.mark.parametrize("taker", TAKERS, ids=NAMES)
def test_a_timedelta_is_not_rounded(taker: Taker) -> None:
    """Given a timedelta of one and a half milliseconds: it is refused, and the refusal shows it."""
    with pytest.raises(InvalidDelay, match=r"timedelta\(microseconds=1500\)"):
        taker(timedelta(microseconds=1500))


def test_a_negative_timedelta_is_negative() -> None:
    assert DelayedOperation(timedelta(milliseconds=-3)).delay_ms == -3
    with pytest.raises(InvalidDelay):
        DelayedOperation(timedelta(microseconds=-1))
