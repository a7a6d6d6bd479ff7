"""Contracts of the implementation itself, confirmed over all integers by symbolic execution.

CrossHair runs the real code on integers that are unknown: how a level's clock is set, how a balance
is posted, how a pool is asked. What the code is called with stands in the source of each contract,
as small as it can be; the arithmetic of the model has contracts of its own.
"""

import re
from pathlib import Path

import pytest

from tests.model.symbolic import CONFIRMED, crosshair

LEVEL = '''
from purgatory_impl.wheel import Level


def reach(clock_ms: int, tick_ms: int) -> tuple[int, int]:
    """A level of three buckets whose clock is set.

    pre: tick_ms >= 1
    post: clock_ms < _[1] <= clock_ms + tick_ms
    post: _[1] % tick_ms == 0
    post: _[0] == _[1] + 2 * tick_ms
    """
    level = Level(1, 3, 0)
    level.tick_ms = tick_ms
    level.interval_ms = 3 * tick_ms
    level.turn(clock_ms)
    return level.limit_ms, level.turn_ms
'''

ACCOUNTING = '''
import threading

from purgatory_impl.accounting import ExactAccounting


def posted(pending: int, stale: int, balance: int) -> tuple[int, int]:
    """An accounting to which a balance is posted, while its reaper is awake.

    pre: pending >= 0
    post: _[0] == stale + balance
    post: _[1] == max(pending, pending + stale + balance)
    """
    accounting = ExactAccounting.__new__(ExactAccounting)
    accounting._lock = threading.Lock()
    accounting._asleep = False
    accounting._wake_above = 0
    accounting._pending = pending
    accounting._stale = stale
    accounting.post(balance)
    return accounting.stale, accounting.estimate()
'''

POOL = '''
from purgatory_impl.memory_pool import SimpleMemoryPool


class Still:
    def now_ms(self) -> int:
        return 0


class Pool(SimpleMemoryPool):
    """Makes and remembers no buffers: their sizes would have to be known."""

    def _new_buffer(self, bytes_: int) -> memoryview:
        return memoryview(b"x")

    def _lend(self, buffer: memoryview, size: int) -> None:
        pass


POOLS = {strict: Pool(10, 4, strict=strict, clock=Still()) for strict in (False, True)}


def left(available: int, asked: int, strict: bool) -> int:
    """A pool of ten bytes that lends four at a time and is asked.

    pre: (0 if strict else -3) <= available <= 10 and 1 <= asked <= 4
    post: _ >= (0 if strict else -3)
    post: _ == (available - asked if available >= (asked if strict else 1) else available)
    """
    pool = POOLS[strict]
    pool._available = available
    pool.try_allocate(asked)
    return pool._available
'''

CONTRACTS = {"reach": LEVEL, "posted": ACCOUNTING, "left": POOL}

DEFECTS = {
    "reach": """

def _turn(self: Level, clock_ms: int) -> None:
    own_ms = clock_ms - abs(clock_ms) % self.tick_ms
    self.limit_ms = own_ms + self.interval_ms
    self.turn_ms = own_ms + self.tick_ms


Level.turn = _turn
""",
    "posted": """

def _estimate(self: ExactAccounting) -> int:
    return self._pending + self._stale


ExactAccounting.estimate = _estimate
""",
    "left": """

def _try_allocate(self: Pool, bytes_: int) -> None:
    if self._available >= 1:
        self._available -= bytes_


Pool.try_allocate = _try_allocate
""",
}
"""For each contract a defect that is put in the place of the code: rounding to zero, an estimate
below the pending time-outs, a strict pool that looks at no size."""


@pytest.mark.pure
@pytest.mark.slow
@pytest.mark.parametrize("name", CONTRACTS)
def test_a_contract_is_confirmed_over_all_paths(name: str, tmp_path: Path) -> None:
    """Every postcondition is confirmed over all paths: an exit code of 0 would not say so."""
    (tmp_path / "contracts.py").write_text(CONTRACTS[name], encoding="utf-8")
    report = crosshair("contracts.py", tmp_path)
    lines = [line for line in report.splitlines() if line.strip()]
    assert all(CONFIRMED in line for line in lines), report
    assert len(lines) == len(re.findall(r"^\s*post:", CONTRACTS[name], re.MULTILINE))


@pytest.mark.pure
@pytest.mark.slow
@pytest.mark.parametrize("name", CONTRACTS)
def test_control_a_defect_is_refuted(name: str, tmp_path: Path) -> None:
    (tmp_path / "contracts.py").write_text(CONTRACTS[name] + DEFECTS[name], encoding="utf-8")
    report = crosshair("contracts.py", tmp_path)
    assert f"error: false when calling {name}" in report
