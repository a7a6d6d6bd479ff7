"""Measures are judged, too: a planted fault gives an error, and the peer goes on."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from purgatory_lab.benchmarks.python_peer.asyncio_timer import AsyncioMeasures
from purgatory_lab.benchmarks.python_peer.designs import Design, MeasuredPurgatory
from purgatory_lab.benchmarks.python_peer.draws import VIRTUAL
from purgatory_lab.benchmarks.python_peer.memory_measures import memory_of_purgatory
from purgatory_lab.benchmarks.python_peer.new_design import EXACT
from purgatory_lab.benchmarks.python_peer.new_design import NumberedRequest as NewNumbered
from purgatory_lab.benchmarks.python_peer.new_design import Request as NewRequest
from purgatory_lab.benchmarks.python_peer.old_design import OLD
from purgatory_lab.benchmarks.python_peer.old_design import NumberedRequest as OldNumbered
from purgatory_lab.benchmarks.python_peer.old_design import Request as OldRequest
from purgatory_lab.benchmarks.python_peer.pause_measure import pause
from purgatory_lab.benchmarks.python_peer.peers import Measure, Peer
from purgatory_lab.benchmarks.python_peer.purgatory_measures import PurgatoryMeasures
from purgatory_lab.benchmarks.python_peer.timer_measures import TimerMeasures
from purgatory_lab.benchmarks.python_peer.timers import HEAP, MeasuredTimer, TimerKind
from purgatory_lab.benchmarks.python_peer.workload import workload
from tests.lab.benchmarks.python_peer.asking import said


def answers(measure: Measure, **keys: object) -> list[dict[str, Any]]:
    """Return what a peer says that is asked the same twice, and then something else."""
    line = json.dumps({"measure": "tested", **keys})
    peer = Peer("tested", "1", None, {"tested": measure})
    return said(peer, line, line, '{"measure":"other"}')[1:]


def error_of(measure: Measure, **keys: object) -> str:
    first, second, other = answers(measure, **keys)
    assert set(first) == set(second) == {"error"}
    assert other == {"error": "tested does not offer 'other'"}
    assert isinstance(first["error"], str)
    return first["error"]


class NewLost(NewRequest):
    """Never completes; says that it has."""

    def try_complete(self) -> bool:
        return False


class NewTwice(NewRequest):
    def on_complete(self) -> None:
        self.completions += 2


class OldLost(OldRequest):
    def try_complete(self) -> bool:
        return False


class OldTwice(OldRequest):
    def on_complete(self) -> None:
        self.completions += 2


def no_numbers(*_: object) -> Any:
    raise AssertionError("this measure has no numbered requests")


NEVER = "operations that were never completed: expected 0, seen 20"
AGAIN = "operations that were completed again: expected 0, seen 20"


@pytest.mark.parametrize(
    ("honest", "planted", "error"),
    [
        (EXACT, NewLost, NEVER),
        (EXACT, NewTwice, AGAIN),
        (OLD, OldLost, NEVER),
        (OLD, OldTwice, AGAIN),
    ],
)
@pytest.mark.parametrize("measure", ["purgatory", "event"])
def test_a_purgatory_that_completes_wrongly(
    honest: Design, planted: Callable[[int, int], Any], error: str, measure: str
) -> None:
    design = Design(honest.purgatory, planted, no_numbers)
    measures = PurgatoryMeasures(design)
    assert error_of(getattr(measures, measure), operations=20, keys=3) == error


class NewNumberedTwice(NewNumbered):
    def on_complete(self) -> None:
        self.record.completions[self.number] += 1 + (self.number == 3)


class NewNumberedNever(NewNumbered):
    def on_complete(self) -> None:
        self.record.completions[self.number] += self.number != 3


class OldNumberedTwice(OldNumbered):
    def on_complete(self) -> None:
        self.record.completions[self.number] += 1 + (self.number == 3)


class NewNumberedUncounted(NewNumbered):
    def on_expiration(self) -> None:
        self.record.expired += 2


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.parametrize(
    ("honest", "planted", "error"),
    [
        (EXACT, NewNumberedTwice, "requests that were completed again: expected 0, seen 1"),
        (OLD, OldNumberedTwice, "requests that were completed again: expected 0, seen 1"),
        (EXACT, NewNumberedNever, "requests that were never completed: expected 0, seen 1"),
    ],
)
def test_a_workload_that_completes_wrongly(
    honest: Design, planted: Callable[..., Any], error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What never is completed is waited for; the others are decided after 0.2 s.
    monkeypatch.setattr("purgatory_lab.benchmarks.python_peer.workload._PATIENCE_S", 2.0)
    design = replace(honest, numbered_request=planted)
    measure = partial(workload, {"planted": design})
    assert error_of(measure, operations=20) == error


@pytest.mark.verify
@pytest.mark.slow
def test_a_workload_whose_counts_do_not_agree() -> None:
    design = replace(EXACT, numbered_request=NewNumberedUncounted)
    error = error_of(partial(workload, {"planted": design}), operations=50, case="high")
    assert error.startswith("completed and expired together: expected 50, seen ")


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.parametrize("honest", [EXACT, OLD])
def test_a_workload_has_the_purge_interval_that_is_asked_for(honest: Design) -> None:
    seen: list[int] = []

    def purgatory(*, purge_interval: int = -1) -> MeasuredPurgatory:
        seen.append(purge_interval)
        return honest.purgatory(purge_interval=purge_interval)

    measure = partial(workload, {"noting": replace(honest, purgatory=purgatory)})
    asked: Sequence[dict[str, object]] = ({"purge_interval": 25_000}, {})
    for keys in asked:
        assert [each.get("error") for each in answers(measure, operations=20, **keys)[:2]] == [
            None,
            None,
        ]
    assert seen == [25_000, 25_000, 1000, 1000]


class NewNumberedFails(NewNumbered):
    def on_complete(self) -> None:
        raise ValueError("planned")


@pytest.mark.verify
@pytest.mark.slow
def test_a_workload_whose_second_thread_fails() -> None:
    design = replace(EXACT, numbered_request=NewNumberedFails)
    error = error_of(partial(workload, {"planted": design}), operations=20)
    assert error == "the completer failed: ValueError('planned')"


@contextmanager
def _planted_timer(change: Callable[[MeasuredTimer], MeasuredTimer]) -> Iterator[MeasuredTimer]:
    with HEAP["virtual"].open() as timer:
        yield change(timer)


def planted_kind(change: Callable[[MeasuredTimer], MeasuredTimer]) -> TimerKind:
    return TimerKind(partial(_planted_timer, change), VIRTUAL, VIRTUAL)


def runs_twice(timer: MeasuredTimer) -> MeasuredTimer:
    def add(callback: Callable[[], object], delay_ms: int) -> object:
        return timer.add(lambda: (callback(), callback()), delay_ms)

    return replace(timer, add=add)


def runs_none(timer: MeasuredTimer) -> MeasuredTimer:
    return replace(timer, add=lambda callback, delay_ms: timer.add(int, delay_ms))


def leaves_all(timer: MeasuredTimer) -> MeasuredTimer:
    return replace(timer, lead_to_end=lambda: None)


def cancels_none(timer: MeasuredTimer) -> MeasuredTimer:
    return replace(timer, cancel=lambda handle: True)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (runs_twice, "tasks that ran: expected 20, seen 40"),
        (runs_none, "tasks that ran: expected 20, seen 0"),
        (leaves_all, "timers left: expected 0, seen 20"),
    ],
)
def test_a_timer_that_expires_wrongly(
    change: Callable[[MeasuredTimer], MeasuredTimer], error: str
) -> None:
    assert error_of(TimerMeasures(planted_kind(change)).expire, operations=20) == error


@pytest.mark.parametrize(("measure", "seen"), [("hot", 25), ("fifo", 25), ("random", 25)])
def test_a_timer_that_does_not_cancel(measure: str, seen: int) -> None:
    measures = TimerMeasures(planted_kind(cancels_none))
    error = error_of(getattr(measures, measure), operations=20, pending=5)
    assert error == f"timers pending: expected 5, seen {seen}"


def test_tasks_of_asyncio_that_do_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purgatory_lab.benchmarks.python_peer.asyncio_timer._PATIENCE_S", 0.1)
    monkeypatch.setattr("purgatory_lab.benchmarks.python_peer.costs.Tally.ran", lambda self: None)
    error = error_of(AsyncioMeasures(virtual=True).expire, operations=20)
    assert error == "tasks that ran: expected 20, seen 0"


@pytest.mark.verify
@pytest.mark.slow
def test_timers_that_do_not_fall_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purgatory_lab.benchmarks.python_peer.pause_measure._PATIENCE_S", 0.1)
    error = error_of(partial(pause, HEAP["virtual"].open), operations=1000, pending=3)
    assert error == "timers left: expected 0, seen 3"


def test_timers_that_take_too_long_to_add(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purgatory_lab.benchmarks.python_peer.pause_measure._SPARE_MS", -50)
    error = error_of(partial(pause, HEAP["virtual"].open), operations=1000, pending=3)
    assert error.startswith("the timers were added ")


def test_memory_of_operations_that_are_not_watched() -> None:
    class Completes(OldRequest):
        def try_complete(self) -> bool:
            return self.force_complete()

    design = replace(OLD, request=Completes)
    error = error_of(partial(memory_of_purgatory, design), pending=10)
    assert error == "entries: expected 330, seen 0"


def test_what_a_measure_raises_is_answered() -> None:
    def fails(_: object) -> Any:
        raise MemoryError("planned")

    assert error_of(fails) == "MemoryError: planned"
