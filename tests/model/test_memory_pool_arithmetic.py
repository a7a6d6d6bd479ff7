"""The memory pool's arithmetic, confirmed over all integers by symbolic execution."""

import inspect
import re
from pathlib import Path

import pytest

from purgatory_model import memory_pool_arithmetic
from purgatory_model.memory_pool_arithmetic import (
    bound,
    is_granted,
    is_sound,
    least_available,
    release_keeps_it_sound,
    request_keeps_it_sound,
)

from .symbolic import CONFIRMED, crosshair

CONTRACTS = [
    function
    for _, function in inspect.getmembers(memory_pool_arithmetic, inspect.isfunction)
    if function.__module__ == memory_pool_arithmetic.__name__
]

STRICT_IGNORES_SIZE = '''
from purgatory_model.memory_pool_arithmetic import is_legal, is_sound


def request_keeps_it_sound(
    available: int, outstanding: int, asked: int, size: int, max_single: int
) -> bool:
    """A strict pool that grants while anything is left.

    pre: 1 <= max_single <= size and is_legal(asked, max_single)
    pre: is_sound(available, outstanding, size, max_single, True)
    post: _
    """
    debit = asked if available >= 1 else 0
    return is_sound(available - debit, outstanding + debit, size, max_single, True)
'''

ONE_BYTE_LESS = '''
from purgatory_model.memory_pool_arithmetic import bound, is_sound


def is_below_the_bound(available: int, outstanding: int, size: int, max_single: int) -> bool:
    """A sound pool has less outstanding than the bound.

    pre: 1 <= max_single <= size and is_sound(available, outstanding, size, max_single, False)
    post: _
    """
    return outstanding <= bound(size, max_single, False) - 1
'''

CREDITS_ANYTHING = '''
from purgatory_model.memory_pool_arithmetic import is_sound


def release_keeps_it_sound(
    available: int, outstanding: int, released: int, size: int, max_single: int, strict: bool
) -> bool:
    """What is credited need not have been outstanding.

    pre: 1 <= max_single <= size and released >= 0
    pre: is_sound(available, outstanding, size, max_single, strict)
    post: _
    """
    left = max(outstanding - released, 0)
    return is_sound(available + released, left, size, max_single, strict)
'''


@pytest.mark.slow
@pytest.mark.parametrize("function", CONTRACTS, ids=lambda function: function.__name__)
def test_contract_is_confirmed_over_all_paths(function: object) -> None:
    """Every postcondition is confirmed over all paths: an exit code of 0 would not say so."""
    name, docstring = getattr(function, "__name__", ""), inspect.getdoc(function) or ""
    report = crosshair(f"purgatory_model.memory_pool_arithmetic.{name}")
    lines = [line for line in report.splitlines() if line.strip()]
    assert lines, report
    assert all(CONFIRMED in line for line in lines), report
    assert len(lines) == len(re.findall(r"^\s*post:", docstring, re.MULTILINE)) >= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "name"),
    [
        (STRICT_IGNORES_SIZE, "request_keeps_it_sound"),
        (ONE_BYTE_LESS, "is_below_the_bound"),
        (CREDITS_ANYTHING, "release_keeps_it_sound"),
    ],
)
def test_control_a_wrong_pool_is_refuted(source: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(source, encoding="utf-8")
    report = crosshair("wrong.py", tmp_path)
    assert CONFIRMED not in report
    assert f"error: false when calling {name}" in report


def test_admission_at_its_edges() -> None:
    """A strict pool grants what it has, a non-strict one anything while a byte is left."""
    edges = ((10, 10), (10, 11), (1, 40), (0, 1), (-39, 1))
    assert [is_granted(left, asked, strict=True) for left, asked in edges] == [True] + [False] * 4
    assert [is_granted(left, asked, strict=False) for left, asked in edges] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_the_bound_of_kafka_s_example() -> None:
    """They are 139 and -39 where it is not strict, 100 and 0 where it is."""
    assert (bound(100, 40, strict=False), least_available(40, strict=False)) == (139, -39)
    assert (bound(100, 40, strict=True), least_available(40, strict=True)) == (100, 0)
    assert is_sound(-39, 139, 100, 40, strict=False)
    assert not is_sound(-40, 140, 100, 40, strict=False)
    assert request_keeps_it_sound(1, 99, 40, 100, 40, strict=False)
    assert release_keeps_it_sound(-39, 139, 40, 100, 40, strict=False)
