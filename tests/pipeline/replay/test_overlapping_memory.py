"""The memory of the judges of overlapping calls does not grow with the run."""

import gc
from collections.abc import Callable, Iterator, Sized
from dataclasses import fields, is_dataclass
from itertools import count

import msgspec
import pytest

from purgatory_spec.operations import Add, Cancel, CancelForKey, Check, Force
from purgatory_traces.replay.judge import TraceJudge
from purgatory_traces.replay.overlapping.purgatory.operation_monitor import memories
from purgatory_traces.replay.overlapping.recent_names import RecentNames
from purgatory_traces.replay.run_replay import judge_of
from purgatory_traces.traces.lines import Begin, TimerInstance

from .test_overlapping_purgatory import EXACT, PROPOSAL, completed, timed_out, tried, watched
from .test_overlapping_timer import ran
from .wall_clock import Line, at_once, begin, call, returns

EARLY, LATE = 20_000, 50_000
"""Numbers of lines: by the first of them all that is bounded by a number is full."""

SLACK = 60
"""By so many entries what is kept may differ: it does not stand at the same place of a turn."""


def kept(value: object) -> int:
    """Return how many entries there are in the tables of a judge, and in those inside them."""
    if isinstance(value, str | bytes | int | float | type(None)):
        return 0
    if is_dataclass(value) and not isinstance(value, type):
        return sum(kept(getattr(value, each.name)) for each in fields(value))
    if isinstance(value, msgspec.Struct):
        return sum(map(kept, msgspec.structs.astuple(value)))
    if isinstance(value, dict):
        return len(value) + sum(map(kept, value.values()))
    if isinstance(value, list | tuple | set | frozenset):
        return len(value) + sum(map(kept, value))
    return len(value) if isinstance(value, Sized) else 0


def timer_lines() -> Iterator[Line]:
    """Tasks that run, are cancelled in time or too late, are added again; adds that overlap."""
    for turn in count():
        at_ms, name = 10 * turn, f"task {turn}"
        yield call(at_ms, "t1", Add(name, 5))
        yield call(at_ms, "t2", Add("often", 5))
        yield returns(at_ms, "t2")
        yield returns(at_ms, "t1")
        if turn % 3 == 1:
            yield from at_once(at_ms + 1, Cancel(name))
        yield ran(at_ms + 5, "often")
        if turn % 3 == 2:
            yield from at_once(at_ms + 5, Cancel(name))
        else:
            yield from () if turn % 3 == 1 else (ran(at_ms + 6, name),)


def purgatory_lines() -> Iterator[Line]:
    """Operations under a few keys: checked, forced, cancelled, timed out; calls overlap."""
    for turn in count():
        name, at_ms, keys = f"o{turn}", 60 * turn, (f"k{turn % 5}", f"own {turn}")
        yield from watched(at_ms, keys, name)
        yield call(at_ms, "t2", Check(keys[0]))
        yield tried(at_ms, "t2", name)
        if turn % 4 == 0:
            yield completed(at_ms, "t2", name)
            yield returns(at_ms, "t2", 1)
            continue
        yield returns(at_ms, "t2", 0)
        if turn % 4 == 1:
            yield from at_once(at_ms, CancelForKey(keys[0]), (name,))
            yield from at_once(at_ms, CancelForKey(keys[1]), (name,))
        elif turn % 4 == 2:
            yield call(at_ms, "t2", Force(name))
            yield completed(at_ms, "t2", name)
            yield returns(at_ms, "t2", True)
        else:
            yield from timed_out(at_ms + 50, name=name)


LINES: dict[str, tuple[Begin, Callable[[], Iterator[Line]]]] = {
    "timer": (begin(TimerInstance()), timer_lines),
    "purgatory, exact": (EXACT, purgatory_lines),
    "purgatory, proposal": (PROPOSAL, purgatory_lines),
}


def objects() -> int:
    """Return how many objects there are in the process that may hold others."""
    gc.collect()
    return len(gc.get_objects())


def judged_to(judge: TraceJudge, lines: Iterator[Line], number: int) -> None:
    for _ in range(number):
        assert judge.take(next(lines)) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", LINES)
def test_as_much_is_kept_after_50_000_lines_as_after_20_000(name: str) -> None:
    first, lines_of = LINES[name]
    judge, lines = judge_of(first), lines_of()
    judged_to(judge, lines, EARLY)
    early, early_objects, early_memories = kept(judge), objects(), memories()
    judged_to(judge, lines, LATE - EARLY)
    late, late_objects, late_memories = kept(judge), objects(), memories()
    assert early > 1000
    assert abs(late - early) <= SLACK
    assert late_objects - early_objects <= 10 * SLACK
    assert late_memories == early_memories


@pytest.mark.slow
@pytest.mark.parametrize("name", LINES)
def test_were_no_name_forgotten_much_more_would_be_kept(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Control the test above: what is counted is what is kept."""
    monkeypatch.setattr(RecentNames, "put", _keep)
    first, lines_of = LINES[name]
    judge, lines = judge_of(first), lines_of()
    judged_to(judge, lines, EARLY // 2)
    early = kept(judge)
    judged_to(judge, lines, EARLY // 2)
    assert kept(judge) - early > 10 * SLACK


def _keep(names: RecentNames[object], name: str, fate: object) -> None:
    """Remember a name for ever."""
    names._fates[name] = fate


def open_for_ever() -> Iterator[Line]:
    """Tasks that are armed for a long time: they are live."""
    for turn in count():
        yield from at_once(turn, Add(f"task {turn}", 10**9))


def test_what_is_live_is_kept() -> None:
    """Control the test above: tables grow where more becomes live."""
    judge, lines = judge_of(begin(TimerInstance())), open_for_ever()
    judged_to(judge, lines, 2000)
    early = kept(judge)
    judged_to(judge, lines, 2000)
    assert kept(judge) > early + 1000
