"""Runs of a simulated timer: what its users do, and the scenes in which something goes wrong."""

# A fault is planted with a task of its own, which no other thread names, in the midst of whatever
# the others do. So nothing overlaps that could explain it.

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from purgatory_spec.profiles import NegativeDelay, Rounding

from .machine import Script, Thread
from .timer import SimulatedTimer, TimerFault, TimerPlan, timer_of

Scene: TypeAlias = Callable[["TimerRun", Thread], Script]


@dataclass
class TimerRun:
    """The users of one timer."""

    timer: SimulatedTimer
    scene: Scene | None = None
    snapshots: int = 0
    users: int = 0
    _names: int = 0
    _own: list[str] = field(default_factory=list)

    def run(self) -> None:
        """Let all threads do what they do."""
        machine, plan = self.timer.machine, self.timer.plan
        at = machine.source.randrange(plan.threads), machine.source.randrange(plan.calls)
        if plan.shuts_down:
            at = at[0], plan.calls - 1
        self.timer.inside = self._inside
        for index in range(plan.threads):
            turn = at[1] if index == at[0] else None
            self.users += 1
            machine.start(self._user(Thread(machine, f"user {index}"), turn))
        if plan.has_reaper:
            machine.start(self.timer.reap(lambda: True))
        else:
            machine.start(self._advance_for_ever(Thread(machine, "advancer")))
        machine.start(self._tell())
        machine.run(self._goes_on)

    def _goes_on(self) -> bool:
        if self.users or self.timer.plan.ends_abruptly:
            return self.users > 0
        return bool(self.timer.armed or self.timer.queued)

    def fresh(self, fault: TimerFault | None = None) -> str:
        """A name that was never used, perhaps one with which something goes wrong."""
        self._names += 1
        name = f"task {self._names}"
        if fault is not None:
            self.timer.wrong[name] = fault
        return name

    def _user(self, thread: Thread, scene_at: int | None) -> Script:
        for turn in range(self.timer.plan.calls):
            yield self.timer.machine.pause(2_000_000)
            if turn == scene_at and self.scene is not None:
                yield from self.scene(self, thread)
            elif turn == scene_at and self.timer.plan.shuts_down:
                yield from self.timer.shutdown(thread)
            else:
                yield from self.call(thread)
        self.users -= 1

    def call(self, thread: Thread) -> Script:
        """Some call: most are adds, and many name a task that other threads name, too."""
        source, timer = self.timer.machine.source, self.timer
        shared = [f"shared {number}" for number in range(timer.plan.names)]
        if source.random() < 0.35:
            yield from timer.cancel(thread, source.choice([*shared, *self._own[-6:]]))
            return
        if source.random() < 0.5:
            task = source.choice(shared)
        else:
            task = self.fresh()
            self._own.append(task)
        delay_ms = source.choice((0, source.randrange(60), source.randrange(5, 200)))
        if source.random() < 0.05:
            delay_ms = source.choice((-1, -7, timer.plan.largest_delay_ms + 1))
        yield from timer.add(thread, task, delay_ms)

    def _inside(self, thread: Thread) -> Script:
        """Make the calls of a running task."""
        yield self.timer.machine.pause(10_000)
        yield from self.call(thread)

    def _advance_for_ever(self, thread: Thread) -> Script:
        while True:
            yield self.timer.machine.pause(self.timer.plan.lateness_ms * 400_000)
            yield from self.timer.advance(thread)

    def _tell(self) -> Script:
        for _ in range(self.snapshots):
            yield self.timer.machine.pause(40_000_000)
            self.timer.snapshot()


def _wait(run: TimerRun, after_ms: int) -> Script:
    """Wait for longer than anything of a delay may take, or for as long as it just may not take."""
    plan, machine = run.timer.plan, run.timer.machine
    least_ms = after_ms + plan.lateness_ms + 2 * plan.tick_ms + 3
    yield from machine.until(machine.now_ms + least_ms + machine.source.choice((0, 3 * 60)))


def _one_task(fault: TimerFault) -> Scene:
    """A task is added and goes wrong by itself."""

    def scene(run: TimerRun, thread: Thread) -> Script:
        plan = run.timer.plan
        delay_ms = 2 * plan.lateness_ms + 2 * plan.tick_ms + run.timer.machine.source.randrange(40)
        yield from run.timer.add(thread, run.fresh(fault), delay_ms)
        yield from _wait(run, delay_ms + plan.lateness_ms + plan.tick_ms + 3)

    return scene


def _survives_cancel(run: TimerRun, thread: Thread) -> Script:
    """A task is cancelled long before it is due."""
    task = run.fresh(TimerFault.SURVIVES_CANCEL)
    delay_ms = run.timer.plan.tick_ms + run.timer.machine.source.randrange(10, 60)
    yield from run.timer.add(thread, task, delay_ms)
    yield run.timer.machine.pause(5_000_000)
    yield from run.timer.cancel(thread, task)
    yield from _wait(run, delay_ms)


def _survives_move(run: TimerRun, thread: Thread) -> Script:
    """A task is moved to much earlier or much later."""
    task = run.fresh(TimerFault.SURVIVES_MOVE)
    plan, source = run.timer.plan, run.timer.machine.source
    soon_ms = 10 + plan.tick_ms + source.randrange(20)
    late_ms = soon_ms + plan.lateness_ms + 3 * plan.tick_ms + 10
    delays = source.choice(((soon_ms, late_ms), (late_ms, soon_ms)))
    for delay_ms in delays:
        yield from run.timer.add(thread, task, delay_ms)
        yield run.timer.machine.pause(2_000_000)
    yield from _wait(run, late_ms)


def _never_added(run: TimerRun, thread: Thread) -> Script:
    run.timer.start_run(run.fresh(), run.timer.machine.now_ms)
    yield from _wait(run, 0)


def _survives_shutdown(run: TimerRun, thread: Thread) -> Script:
    delay_ms = run.timer.plan.tick_ms + run.timer.machine.source.randrange(10, 60)
    yield from run.timer.add(thread, run.fresh(TimerFault.SURVIVES_SHUTDOWN), delay_ms)
    yield from run.timer.shutdown(thread)
    yield from _wait(run, delay_ms)


def _taken_when_closed(run: TimerRun, thread: Thread) -> Script:
    yield from run.timer.shutdown(thread)
    yield from run.timer.add(thread, run.fresh(TimerFault.TAKEN_WHEN_CLOSED), 5)


def _refused_when_open(run: TimerRun, thread: Thread) -> Script:
    yield from run.timer.add(thread, run.fresh(TimerFault.REFUSED_WHEN_OPEN), 5)


def _wrong_negative(run: TimerRun, thread: Thread) -> Script:
    yield from run.timer.add(thread, run.fresh(TimerFault.WRONG_NEGATIVE), -5)


def _wrong_largest(run: TimerRun, thread: Thread) -> Script:
    too_large_ms = run.timer.plan.largest_delay_ms + 1
    yield from run.timer.add(thread, run.fresh(TimerFault.WRONG_LARGEST), too_large_ms)


def _cancel_refused(run: TimerRun, thread: Thread) -> Script:
    task = run.fresh(TimerFault.CANCEL_REFUSED)
    yield from run.timer.add(thread, task, 5)
    yield from run.timer.cancel(thread, task)


def _snapshot_forgets(run: TimerRun, thread: Thread) -> Script:
    task = run.fresh()
    plan = run.timer.plan
    yield from run.timer.add(thread, task, 40 + plan.tick_ms + plan.lateness_ms)
    yield run.timer.machine.pause(5_000_000)
    run.timer.snapshot(without=task)


def _snapshot_invents(run: TimerRun, thread: Thread) -> Script:
    yield run.timer.machine.pause(5_000_000)
    run.timer.snapshot(with_=run.fresh())


SCENES: dict[TimerFault, tuple[Scene, set[str]]] = {
    TimerFault.EARLY: (_one_task(TimerFault.EARLY), {"TIMER-NOT-EARLY"}),
    TimerFault.LATE: (_one_task(TimerFault.LATE), {"TIMER-LATENESS"}),
    TimerFault.TWICE: (_one_task(TimerFault.TWICE), {"TIMER-EXACTLY-ONCE"}),
    TimerFault.LOST: (_one_task(TimerFault.LOST), {"TIMER-EXACTLY-ONCE", "TIMER-LATENESS"}),
    TimerFault.SURVIVES_CANCEL: (_survives_cancel, {"TIMER-CANCEL"}),
    TimerFault.SURVIVES_MOVE: (_survives_move, {"TIMER-NOT-EARLY", "TIMER-EXACTLY-ONCE"}),
    TimerFault.NEVER_ADDED: (_never_added, {"TIMER-EXACTLY-ONCE"}),
    TimerFault.SURVIVES_SHUTDOWN: (_survives_shutdown, {"TIMER-SHUTDOWN-DROPS"}),
    TimerFault.TAKEN_WHEN_CLOSED: (_taken_when_closed, {"TIMER-SHUTDOWN-CLOSED"}),
    TimerFault.REFUSED_WHEN_OPEN: (_refused_when_open, {"TIMER-SHUTDOWN-CLOSED"}),
    TimerFault.WRONG_NEGATIVE: (_wrong_negative, {"TIMER-NEGATIVE-DELAY"}),
    TimerFault.WRONG_LARGEST: (_wrong_largest, {"TIMER-LARGEST-DELAY"}),
    TimerFault.CANCEL_REFUSED: (_cancel_refused, {"TIMER-CANCEL"}),
    TimerFault.SNAPSHOT_FORGETS: (_snapshot_forgets, {"TIMER-EXACTLY-ONCE"}),
    TimerFault.SNAPSHOT_INVENTS: (_snapshot_invents, {"TIMER-EXACTLY-ONCE"}),
}
"""The play of each fault, and the rules, one of which a verdict has to name for it."""


def drawn_plan(seed: int) -> TimerPlan:
    """A plan that a seed stands for."""
    source = random.Random(seed)
    lateness_ms = source.choice((3, 5, 20, 50))
    return TimerPlan(
        threads=source.randint(2, 8),
        calls=source.randint(5, 30),
        names=source.randint(1, 5),
        tick_ms=source.choice((1, 1, 3, 10, 50)),
        wheel_size=source.choice((2, 20)),
        rounding=source.choice((Rounding.DOWN, Rounding.UP)),
        negative_delay=source.choice(list(NegativeDelay)),
        lateness_ms=lateness_ms,
        lag_ns=source.choice((0, 40_000, lateness_ms * 50_000)),
        has_reaper=source.random() < 0.7,
        shuts_down=source.random() < 0.3,
        ends_abruptly=source.random() < 0.3,
    )


def simulated_timer(
    seed: int, plan: TimerPlan, scene: Scene | None = None, *, snapshots: int = 0
) -> SimulatedTimer:
    """A timer after its run; its machine has the lines."""
    timer = timer_of(seed, plan)
    TimerRun(timer, scene, snapshots).run()
    return timer
