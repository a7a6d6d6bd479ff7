"""Counts the work of single calls of a timer: bytecodes of its code, and comparisons of its data.

A search that is written in Python is seen by its bytecodes. One that is left to a built-in
function, such as ``min`` or ``heappush``, is seen by the comparisons and hashes of names and times.

    python -m purgatory_course.teaching.counting FILE NAME

prints, as a list in JSON, the first call of a timer whose work grows with the tasks.
"""

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

import msgspec

_FEW, _MANY = 8, 1000
"""The numbers of tasks among which the work of a call is counted."""
_MORE_COMPARISONS = 4
"""The comparisons by which calls may differ: a heap of ``_MANY`` makes more of them."""


class Wheel(Protocol):
    """The methods of a wheel whose work is counted."""

    def add(self, task: str, due_ms: int) -> object:
        """Arm a task for a time."""

    def cancel(self, task: str) -> object:
        """Disarm a task before it expires."""

    def advance(self, to_ms: int) -> object:
        """Return the tasks that expire."""


class Work(msgspec.Struct):
    """The work of a call: bytecodes of its code, and comparisons and hashes of its data."""

    bytecodes: int = 0
    comparisons: int = 0

    def is_more_than(self, other: "Work") -> bool:
        """Decide whether this is the work of a search, where the other is that among few."""
        more = self.comparisons > other.comparisons + _MORE_COMPARISONS
        return more or self.bytecodes > 3 * other.bytecodes


class Grown(msgspec.Struct, frozen=True):
    """A call whose work grows with the number of tasks."""

    call: str
    few: Work
    many: Work

    def told(self) -> tuple[str, str, str]:
        """Return the steps, and what was expected and seen, in words."""
        expected = f"the work among {_FEW}: {_in_words(self.few)}"
        return f"{self.call} among {_MANY} tasks", expected, _in_words(self.many)


def _in_words(work: Work) -> str:
    return f"{work.comparisons} comparisons, {work.bytecodes} bytecodes"


_now = Work()
"""The work so far of the call that is under way."""


def _counted(kind: type, *names: str) -> dict[str, Callable[..., Any]]:
    """Return the methods of a kind of data, each of which counts a step of work."""

    def method(name: str) -> Callable[..., Any]:
        plain = getattr(kind, name)

        def counts(*arguments: Any) -> Any:
            _now.comparisons += 1
            return plain(*arguments)

        return counts

    return {name: method(name) for name in names}


_COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__")
_Name: type[str] = type("_Name", (str,), _counted(str, *_COMPARISONS))


_Time: type[int] = type("_Time", (int,), _counted(int, *_COMPARISONS))
"""A time whose comparisons are counted, also after it was rounded or divided."""


def _stays(name: str) -> Callable[..., Any]:
    plain = getattr(int, name)

    def kept(*arguments: Any) -> Any:
        result = plain(*arguments)
        return _Time(result) if isinstance(result, int) else result

    return kept


for _operator in ("add", "sub", "mul", "floordiv", "mod"):
    for _side in ("", "r"):
        setattr(_Time, f"__{_side}{_operator}__", _stays(f"__{_side}{_operator}__"))


def grown(make: Callable[[], Wheel], size: int) -> Grown | None:
    """Return the first call whose work grows with the number of tasks; None where none does."""
    few, many = (_work_of_calls(make, size, tasks) for tasks in (_FEW, _MANY))
    for call, work in many.items():
        if work.is_more_than(few[call]):
            return Grown(call, few[call], work)
    return None


def _work_of_calls(make: Callable[[], Wheel], size: int, tasks: int) -> dict[str, Work]:
    """Return the work of an add, a cancel and an advance, among so many tasks.

    One task expires in the advance. The others are due later, at all other places of the ring, the
    latest first, which is the hardest order for a heap.
    """
    wheel = make()
    names = [_Name(f"t{number}") for number in range(tasks)]
    first, soon, other = _Name("first"), _Name("soon"), names[tasks // 2]
    for number, name in enumerate(names):
        wheel.add(name, _Time(size - 1 - number % (size - 2)))
    wheel.add(first, _Time(1))
    return {
        "an add": _work(lambda: wheel.add(soon, _Time(2))),
        "a cancel": _work(lambda: wheel.cancel(other)),
        "an advance": _work(lambda: wheel.advance(_Time(1))),
    }


def _work(call: Callable[[], object]) -> Work:
    """Return the work of a call."""

    def trace(frame: FrameType, event: str, _: object) -> Any:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        _now.bytecodes += event == "opcode"
        return trace

    _now.bytecodes, _now.comparisons, before = 0, 0, sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return Work(_now.bytecodes, _now.comparisons)


class _OfDelays:
    """A timer of exercise 4.3 as a wheel: its clock stands at 0 while tasks are added."""

    def __init__(self, timer: Any) -> None:
        self._timer = timer

    def add(self, task: str, due_ms: int) -> None:
        self._timer.add(task, due_ms)

    def cancel(self, task: str) -> None:
        self._timer.cancel(task)

    def advance(self, to_ms: int) -> None:
        self._timer.now_ms = to_ms
        expired: list[str] = []
        self._timer.advance(expired.append)


def _main(file: str, name: str) -> None:
    sys.path.append(str(Path(file).parent))
    made = runpy.run_path(file)[name]
    found = grown(lambda: _OfDelays(made(1, 0)), 12)
    told = msgspec.json.encode([found] if found else []).decode()
    sys.stdout.write(f"\n{told}\n")


if __name__ == "__main__":
    _main(*sys.argv[1:])
