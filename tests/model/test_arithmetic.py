"""The integer arithmetic, confirmed over all integers by symbolic execution."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purgatory_model import arithmetic
from purgatory_model.arithmetic import (
    bucket_index,
    ceiling_to,
    floor_to,
    level_end,
    level_of,
    tick_of_level,
    usable_buckets,
)

from .symbolic import CONFIRMED, crosshair

CONTRACTS = ("floor_to", "ceiling_to", "bucket_index", "level_end", "usable_buckets", "is_covered")

WRONG = '''
def floor_towards_zero(time: int, tick: int) -> int:
    """Rounds as a language does whose remainder has the sign of the number.

    pre: tick >= 1
    post: _ <= time < _ + tick
    """
    return time - (abs(time) % tick) * (1 if time >= 0 else -1)
'''


@pytest.mark.slow
@pytest.mark.parametrize("name", CONTRACTS)
def test_contract_is_confirmed_over_all_paths(name: str) -> None:
    """Every postcondition is confirmed over all paths: an exit code of 0 would not say so."""
    report = crosshair(f"purgatory_model.arithmetic.{name}")
    lines = [line for line in report.splitlines() if line.strip()]
    assert lines, report
    assert all(CONFIRMED in line for line in lines), report
    docstring = getattr(arithmetic, name).__doc__
    assert len(lines) == len(re.findall(r"^\s*post:", docstring, re.MULTILINE))


@pytest.mark.slow
def test_control_a_wrong_contract_is_refuted(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    report = crosshair("wrong.py", tmp_path)
    assert CONFIRMED not in report
    assert "error: false when calling floor_towards_zero" in report


def test_rounding_at_and_around_zero() -> None:
    """Down and up go to the multiples on either side."""
    assert [floor_to(t, 10) for t in (-11, -10, -9, 0, 9, 10)] == [-20, -10, -10, 0, 0, 10]
    assert [ceiling_to(t, 10) for t in (-11, -10, -9, 0, 1, 10)] == [-10, -10, 0, 0, 10, 10]


def test_levels_of_the_default_wheel() -> None:
    """19, 399 and 7999 are the last ones of their levels."""
    edges = (1, 19, 20, 399, 400, 7999, 8000)
    assert [level_of(d, 0, 1, 20) for d in edges] == [1, 1, 2, 2, 3, 3, 4]
    assert [tick_of_level(level, 1, 20) for level in (1, 2, 3)] == [1, 20, 400]


@given(
    st.integers(-(10**6), 10**6),
    st.integers(1, 50),
    st.integers(2, 30),
    st.integers(1, 10**7),
)
def test_a_task_is_covered_by_its_level_and_by_none_below(
    own_clock: int, tick: int, size: int, ahead: int
) -> None:
    """Its level covers it, the level below does not, and it never lands in the present bucket."""
    own_clock = floor_to(own_clock, tick)
    due_tick = own_clock + tick * (1 + ahead // tick)
    level = level_of(due_tick, own_clock, tick, size)
    level_tick = tick_of_level(level, tick, size)
    assert due_tick < level_end(own_clock, level_tick, size)
    bucket = floor_to(due_tick, level_tick)
    assert bucket > floor_to(own_clock, level_tick)
    assert bucket_index(bucket, level_tick, size) != bucket_index(own_clock, level_tick, size)
    assert usable_buckets(own_clock, level_tick, size) == size - 1
    if level > 1:
        below = tick_of_level(level - 1, tick, size)
        assert due_tick >= level_end(own_clock, below, size)
