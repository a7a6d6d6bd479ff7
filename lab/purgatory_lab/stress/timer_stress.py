"""A round on a timer, and the checks at the end, when all is quiet.

Threads arm tasks of their own, fight over some that they share, cancel, advance beside the reaper,
look on, and in some rounds close. Tasks fail, arm themselves and others again, and cancel.

Every arming ends in one way: the task ran, a cancel took it, an add moved it, or closing dropped
it. None ran early, and no two at once.
"""

from __future__ import annotations

import random
import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from purgatory_impl import Timer, TimerClosed, TimerTask
from purgatory_lab.stress.harness import (
    Before,
    Kind,
    LogErrors,
    Round,
    counted_log_errors,
    judge_leaks,
    run_together,
    wait_until,
)
from purgatory_lab.stress.operations import FINALISED, FINALISER_FAILED, Log, Planned

_SHARED: Final = 8
_LONG_MS: Final = 10**6
_DELAYS_MS: Final = (-1, 0, 1, 3, 10, 30, 30, _LONG_MS)

ARMED: Final = "armed"
MOVED: Final = "moved"
CANCELLED: Final = "cancelled"
RAN: Final = "ran"
RAISED: Final = "raised"
DROPPED: Final = "dropped"
REFUSED: Final = "add refused"

_COUNTED: Final = (ARMED, MOVED, CANCELLED, RAN, RAISED, DROPPED, REFUSED, FINALISED)


@dataclass(frozen=True)
class TimerLoad:
    """The load of each thread in a round.

    Attributes:
        tasks: Tasks that each of the arming threads makes.
        fights: The number of steps of each thread that fights over the shared tasks.
    """

    tasks: int = 150
    fights: int = 300


@dataclass(eq=False)
class TaskRecord(Log):
    """The record of one task, kept when the task itself is gone.

    Attributes:
        name: The task.
        due_ms: When its armings are due; appended to, so that threads lose none of each other's.
        delay_ms: Of its last arming.
    """

    name: str
    due_ms: list[int] = field(default_factory=list)
    delay_ms: int = 0

    @property
    def open_armings(self) -> int:
        """Return the number of armings that have not ended; below zero if one has ended twice."""
        ended = (MOVED, CANCELLED, RAN, DROPPED)
        return self.count(ARMED) - sum(self.count(what) for what in ended)

    def __str__(self) -> str:
        """Return the task, and its log."""
        return f"{self.name}\n{self.lines()}"


class Noted(TimerTask):
    """A task that records runs, drops and the finalisation.

    A dropped task hears of it from the timer; a finaliser uses the timer, where no circle keeps the
    task for the collector.
    """

    def __init__(
        self,
        record: TaskRecord,
        round_: TimerRound,
        during: Callable[[Noted], object],
        in_a_circle: bool,
    ) -> None:
        super().__init__()
        self.record = record
        self._round = round_
        self._during = during
        self._myself = self if in_a_circle else None

    def run(self) -> None:
        """Note it, then do as planned."""
        self.record.note(RAN)
        self._round.judge_run(self.record)
        self._during(self)

    def _dropped(self) -> None:
        self.record.note(DROPPED)

    def __del__(self) -> None:
        """Note the finalisation, and use the timer where its lock is free: else this would hang."""
        self.record.note(FINALISED)
        try:
            if self._myself is None and not self._round.result.findings:
                self._round.timer.cancel(self)
        except BaseException as failure:
            self.record.note(FINALISER_FAILED)
            self.record.note(repr(failure))


class TimerRound:
    """The threads of a round, with the timer and the tasks that they share."""

    def __init__(self, seed: int, closing: bool, load: TimerLoad, result: Round) -> None:
        self.seed = seed
        self.closing = closing
        self.load = load
        self.result = result
        self.timer = Timer(wheel_size=4)
        self.records: list[TaskRecord] = []
        self._running = 0
        self.shared = [self._new_task(f"shared task {number}") for number in range(_SHARED)]

    def run(self, patience_s: float) -> bool:
        """Run all threads; whether every thread has ended."""
        bodies: dict[str, Callable[[], Iterator[None]]] = {
            "armer 1": partial(self._arm_own, 1),
            "armer 2": partial(self._arm_own, 2),
            "armer 3": partial(self._arm_own, 3),
            "fighter 1": partial(self._fight, 1),
            "fighter 2": partial(self._fight, 2),
            "fighter 3": partial(self._fight, 3),
            "advancer": self._advance,
            "onlooker": self._look_on,
        }
        if self.closing:
            bodies["closer"] = self._close
        return run_together(bodies, self.result, patience_s)

    def arm(self, task: Noted, delay_ms: int) -> None:
        """Add a task, and note whether that has moved it."""
        task.record.due_ms.append(self.timer.clock.now_ms() + max(0, delay_ms))
        task.record.delay_ms = delay_ms
        try:
            moved, waits = self.timer._add_quietly(task, delay_ms)
        except TimerClosed:
            task.record.note(REFUSED)
            return
        task.record.note(ARMED)
        if moved:
            task.record.note(MOVED)
        if not waits:
            self.timer._executor.wake()

    def cancel(self, task: Noted) -> None:
        """Cancel a task, and note whether that has taken it."""
        if task.cancel():
            task.record.note(CANCELLED)

    def judge_run(self, record: TaskRecord) -> None:
        """Judge a task as it runs: not before its time, and none beside it.

        Rules: TIMER-NOT-EARLY, TIMER-EXECUTOR-ORDER.
        """
        now_ms = self.timer.clock.now_ms()
        if not record.due_ms or now_ms < min(record.due_ms):
            due = f"due at {min(record.due_ms)}" if record.due_ms else "never armed"
            self.result.find(Kind.ORDER, f"ran at {now_ms}, {due}: {record}")
        if threading.current_thread().name != "purgatory-executor":
            self.result.find(Kind.ORDER, f"ran in another thread than the executor's: {record}")

    def forget_shared(self) -> None:
        """Hold no task any more."""
        self.shared = []

    def _arm_own(self, thread: int) -> Iterator[None]:
        chance = random.Random(f"{self.seed} arm {thread}")
        kept: list[Noted] = []
        for number in range(self.load.tasks):
            task = self._new_task(f"task {number} of armer {thread}", chance)
            self.arm(task, chance.choice(_DELAYS_MS))
            kept.append(task)
            if chance.random() < 0.5:
                self.cancel(kept.pop(chance.randrange(len(kept))))
            del task
            yield

    def _fight(self, thread: int) -> Iterator[None]:
        chance = random.Random(f"{self.seed} fight {thread}")
        for _ in range(self.load.fights):
            task = chance.choice(self.shared)
            if chance.random() < 0.5:
                self.arm(task, chance.choice(_DELAYS_MS))
            else:
                self.cancel(task)
            yield

    def _advance(self) -> Iterator[None]:
        for _ in range(self.load.fights):
            self.timer.advance()
            yield

    def _look_on(self) -> Iterator[None]:
        for _ in range(self.load.fights):
            counts = (self.timer.size, self.timer.queued_buckets, self.timer.levels - 1)
            if min(counts) < 0:
                self.result.find(Kind.COUNT, f"size, queued buckets, levels - 1 are {counts}")
            yield

    def _close(self) -> Iterator[None]:
        while len(self.records) < self.load.tasks:
            yield
        self.timer.close()

    def _new_task(self, name: str, chance: random.Random | None = None) -> Noted:
        record = TaskRecord(name)
        self.records.append(record)
        if chance is None:
            return Noted(record, self, _nothing, in_a_circle=False)
        acts = (_nothing, _nothing, _raise, self._again, self._another)
        return Noted(record, self, chance.choice(acts), in_a_circle=chance.random() < 0.5)

    def _again(self, task: Noted) -> None:
        """Arm the running task once more, seldom far ahead."""
        if task.record.count(ARMED) < 3:
            self.arm(task, task.record.count(ARMED))

    def _another(self, task: Noted) -> None:
        """Arm and cancel shared tasks, from inside a task."""
        number = len(task.record.name) % _SHARED
        if self.shared:
            self.arm(self.shared[number], 2)
            self.cancel(self.shared[number - 1])


def timer_round(seed: int, closing: bool, load: TimerLoad, patience_s: float) -> Round:
    """Run one round and judge it; the arguments are those of ``purgatory_round``."""
    result = Round()
    before = Before()
    with counted_log_errors() as errors:
        run = TimerRound(seed, closing, load, result)
        if run.run(patience_s):
            # Judging itself waits that long.
            run_together({"judge": partial(_judge, run, patience_s)}, result, 1.5 * patience_s)
    records, round_ = run.records, weakref.ref(run)
    run.forget_shared()
    del run
    if not result.findings:
        _judge_log(records, errors, result)
        judge_leaks({"the round with its timer": round_}, before, result)
        for record in records:
            if record.count(FINALISED) != 1:
                result.find(Kind.LEAK, f"finalised {record.count(FINALISED)} times: {record}")
    result.counts = {"task": len(records)}
    result.counts |= {what: sum(record.count(what) for record in records) for what in _COUNTED}
    return result


def _judge(run: TimerRound, patience_s: float) -> Iterator[None]:
    """Judge in an order where nothing hides what went wrong before; then close."""
    if not run.closing and not run.result.findings:
        for task in run.shared:
            run.arm(task, 1)
        yield
        _judge_runs(run, patience_s)
        yield
    run.timer.close()
    for record in run.records:
        if record.open_armings:
            expected = "none is left once the timer is closed"
            run.result.find(Kind.COUNT, f"{record.open_armings} armings, {expected}: {record}")
    left = (run.timer.size, run.timer.queued_buckets)
    run.result.expect(Kind.COUNT, "size and queued buckets of the closed timer", (0, 0), left)


def _judge_runs(run: TimerRound, patience_s: float) -> None:
    """Judge that due tasks have run, and that the others are as many as the timer says.

    Rules: TIMER-EXACTLY-ONCE, TIMER-NOT-LATE, TIMER-SIZE.
    """

    def owed() -> list[TaskRecord]:
        return [each for each in run.records if each.open_armings and each.delay_ms < _LONG_MS]

    if not wait_until(lambda: not owed(), patience_s):
        run.result.find(Kind.TIME_OUT_LOST, f"{len(owed())} tasks; the first: {owed()[0]}")
    waiting = sum(record.open_armings for record in run.records)
    run.result.expect(Kind.COUNT, "size", waiting, run.timer.size)


def _judge_log(records: list[TaskRecord], errors: LogErrors, result: Round) -> None:
    """Judge that failures alone were logged, and that no finaliser has failed.

    Rules: TIMER-THROWING-TASK.
    """
    raised = sum(record.count(RAISED) for record in records)
    result.expect(Kind.COUNT, "failures of tasks that were logged", raised, errors.of_tasks)
    if errors.others:
        result.find(Kind.RAISED, "\n".join(errors.others))
    for record in records:
        if record.has(FINALISER_FAILED):
            result.find(Kind.RAISED, str(record))


def _nothing(task: Noted) -> None:
    """Do nothing."""


def _raise(task: Noted) -> None:
    task.record.note(RAISED)
    raise Planned
