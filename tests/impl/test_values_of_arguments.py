"""Every public argument given every kind of value: one table of outcomes, for both builds."""

# ``values_of_arguments.toml`` has for each argument the outcome of each value: the error's class,
# or ``taken``. ``python tests/impl/test_values_of_arguments.py`` writes it anew; read what has
# changed before you keep it.

import tomllib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import purgatory_impl as impl

OUTCOMES = Path(__file__).with_name("values_of_arguments.toml")


class Whole:
    """An integer that is not Python's, as those of NumPy are."""

    def __index__(self) -> int:
        return 3


class Waits(impl.DelayedOperation):
    """Is completed by force or by its time-out alone."""

    def try_complete(self) -> bool:
        return False


class Bench:
    """The objects that are called, without a thread."""

    def __init__(self) -> None:
        self.clock = impl.VirtualClock()
        self.timer = impl.Timer(clock=self.clock, executor=impl.SteppedExecutor())
        self.purgatory: impl.Purgatory[Any] = impl.Purgatory(timer=self.timer)
        self.pool = impl.SimpleMemoryPool(100, 100)
        self.leaky = impl.LeakDetectingMemoryPool(100, 100)
        self.task = impl.CallableTask(int)
        self.timer.add(self.task, 5)
        self.buffer = self.pool.try_allocate(10)
        self.purgatory.try_complete_else_watch(Waits(5), ["k"])

    def counts(self) -> tuple[int, ...]:
        """Return the counts that a refused call leaves as they are."""
        purgatory, timer = self.purgatory, self.timer
        counted = (purgatory.entries, purgatory.pending, purgatory.stale, purgatory.keys)
        return (*counted, timer.size, self.pool.available_bytes, self.leaky.available_bytes)


Call = Callable[[Bench, Any], object]

ARGUMENTS: dict[str, Call] = {
    "Timer tick_ms": lambda _, value: impl.Timer(
        tick_ms=value, clock=impl.VirtualClock(), reaper=False
    ),
    "Timer wheel_size": lambda _, value: impl.Timer(
        wheel_size=value, clock=impl.VirtualClock(), executor=impl.InlineExecutor()
    ),
    "Timer.add task": lambda bench, value: bench.timer.add(value, 5),
    "Timer.add delay_ms": lambda bench, value: bench.timer.add(int, value),
    "Timer.add delay_ms of a pending task": lambda bench, value: bench.timer.add(bench.task, value),
    "Timer.cancel task": lambda bench, value: bench.timer.cancel(value),
    "CallableTask call": lambda _, value: impl.CallableTask(value),
    "DelayedOperation delay_ms": lambda _, value: Waits(value),
    "CallableOperation try_complete": lambda _, value: impl.CallableOperation(value, 5),
    "CallableOperation delay_ms": lambda _, value: impl.CallableOperation(bool, value),
    "Purgatory purge_interval": lambda bench, value: impl.Purgatory(
        purge_interval=value, timer=bench.timer
    ),
    "Purgatory accounting": lambda bench, value: impl.Purgatory(
        accounting=value, timer=bench.timer
    ),
    "Purgatory purge_due": lambda bench, value: impl.Purgatory(purge_due=value, timer=bench.timer),
    "Purgatory.try_complete_else_watch operation": (
        lambda bench, value: bench.purgatory.try_complete_else_watch(value, ["k"])
    ),
    "Purgatory.try_complete_else_watch keys": (
        lambda bench, value: bench.purgatory.try_complete_else_watch(Waits(5), value)
    ),
    "Purgatory.check_and_complete key": (
        lambda bench, value: bench.purgatory.check_and_complete(value)
    ),
    "Purgatory.cancel_for_key key": lambda bench, value: bench.purgatory.cancel_for_key(value),
    "Purgatory.abandon operation": lambda bench, value: bench.purgatory.abandon(value),
    "SimpleMemoryPool size_bytes": lambda _, value: impl.SimpleMemoryPool(value, 1),
    "SimpleMemoryPool max_single_bytes": lambda _, value: impl.SimpleMemoryPool(100, value),
    "SimpleMemoryPool.try_allocate bytes_": lambda bench, value: bench.pool.try_allocate(value),
    "SimpleMemoryPool.release buffer": lambda bench, value: bench.pool.release(value),
    "LeakDetectingMemoryPool.try_allocate bytes_": (
        lambda bench, value: bench.leaky.try_allocate(value)
    ),
    "LeakDetectingMemoryPool.release buffer": lambda bench, value: bench.leaky.release(value),
}

VALUES: dict[str, object] = {
    "None": None,
    "True": True,
    "zero": 0,
    "minus one": -1,
    "seven": 7,
    "two to the 70": 2**70,
    "an index": Whole(),
    "one and a half": 1.5,
    "not a number": float("nan"),
    "a text": "k",
    "bytes": b"k",
    "an empty list": [],
    "a list": ["k"],
    "a dictionary": {"k": 1},
    "a set": {"k"},
    "an object": object(),
    "a class": int,
    "a timedelta": timedelta(milliseconds=2),
    "a part of a millisecond": timedelta(microseconds=5),
    "a view of other memory": memoryview(bytearray(3)),
}


def outcome(argument: str, value: str) -> str:
    """Return the outcome of a call in words; a call that is refused has changed no count."""
    bench = Bench()
    before = bench.counts()
    refusal: Exception | None = None
    try:
        ARGUMENTS[argument](bench, VALUES[value])
    except Exception as error:
        refusal = error
    if refusal is None:
        return "taken"
    assert bench.counts() == before, f"refused with {refusal!r}, and yet counts differ"
    assert str(refusal), f"{type(refusal).__name__} says nothing"
    return type(refusal).__name__


def expected() -> dict[str, dict[str, str]]:
    """The table."""
    return tomllib.loads(OUTCOMES.read_text(encoding="utf-8"))


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_every_value_of_an_argument_has_its_outcome(argument: str) -> None:
    """It is taken or refused as the table has it, in either build."""
    assert {value: outcome(argument, value) for value in VALUES} == expected()[argument]


def test_the_table_is_of_these_arguments_and_holds_refusals_enough() -> None:
    """Given the table: it has every argument, and 160 misuses and more."""
    table = expected()
    assert set(table) == set(ARGUMENTS)
    assert sum(each != "taken" for row in table.values() for each in row.values()) >= 160


def main() -> None:
    """Write the table."""
    lines = ["# The outcome of each value, argument by argument: test_values_of_arguments.py.\n"]
    for argument in ARGUMENTS:
        lines.append(f'\n["{argument}"]\n')
        lines += [f'"{value}" = "{outcome(argument, value)}"\n' for value in VALUES]
    OUTCOMES.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
