"""A timer in plain code, whose calls take effect at one instant each."""

# A task has an expiry by the reading at the instant at which it is armed. Whoever advances the
# timer hands what is due to the executor, which is never recalled. The pauses of the two together
# are shorter than the declared lateness, so that a run of this timer is right by construction.

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from purgatory_model.pending_tasks import PendingTasks
from purgatory_model.timer import TimerState, timer_model
from purgatory_spec.operations import Add, Advance, Cancel, Shutdown
from purgatory_spec.outcomes import EventKind
from purgatory_spec.profiles import NegativeDelay, Rounding, TimerConfiguration, TimerProfile
from purgatory_spec.reasons import Reason
from purgatory_traces.traces.lines import PendingTask, Snapshot, TimerInstance

from .machine import NS_PER_MS, RUN, Machine, Script, Thread, Workers


class TimerFault(Enum):
    """The faults of a timer with one task, or in one call."""

    EARLY = "runs early"
    LATE = "runs late, beyond the declared lateness"
    TWICE = "runs twice"
    LOST = "never runs"
    SURVIVES_CANCEL = "is cancelled and runs"
    SURVIVES_MOVE = "is added anew and runs at its former time as well"
    NEVER_ADDED = "runs and was never added"
    SURVIVES_SHUTDOWN = "runs after shutdown"
    TAKEN_WHEN_CLOSED = "is taken after shutdown"
    REFUSED_WHEN_OPEN = "is refused before shutdown"
    WRONG_NEGATIVE = "a negative delay is taken, or refused, against the profile"
    WRONG_LARGEST = "a delay that is too large is taken"
    CANCEL_REFUSED = "a cancel is refused"
    SNAPSHOT_FORGETS = "a snapshot leaves out what is armed"
    SNAPSHOT_INVENTS = "a snapshot tells of what is not armed"


class Armed(NamedTuple):
    """A task in the timer: its expiry before rounding and after, ms."""

    asked_ms: int
    expiry_ms: int


@dataclass(frozen=True)
class TimerPlan:
    """The kind of timer, and the users of it."""

    threads: int = 3
    calls: int = 25
    """Of each thread."""
    names: int = 4
    """Tasks that all threads use, besides those of their own."""
    tick_ms: int = 1
    wheel_size: int = 20
    rounding: Rounding = Rounding.DOWN
    negative_delay: NegativeDelay = NegativeDelay.ALREADY_DUE
    largest_delay_ms: int = 1000
    lateness_ms: int = 20
    lag_ns: int = 40_000
    """The longest time that a thread may hold a reading before it writes its line, ns."""
    has_reaper: bool = True
    """True if a thread of the timer's own advances it; otherwise a user's does, by calls."""
    shuts_down: bool = False
    ends_abruptly: bool = False
    """True if the run ends with tasks that are pending."""


@dataclass
class SimulatedTimer:
    """One timer of a plan, with what is armed and what waits for the executor."""

    machine: Machine
    plan: TimerPlan
    armed: dict[str, Armed] = field(default_factory=dict)
    queued: list[str] = field(default_factory=list)
    wrong: dict[str, TimerFault] = field(default_factory=dict)
    """The tasks with which something is done wrong."""
    closed: bool = False
    workers: Workers = field(init=False)
    inside: Callable[[Thread], Script] | None = None
    """Returns the calls that a task makes as it runs, if it makes any."""

    def __post_init__(self) -> None:
        self.workers = Workers(self.machine)

    def add(self, thread: Thread, task: str, delay_ms: int) -> Script:
        """Arm a task. Rules: TIMER-ROUNDING, TIMER-READD-PENDING, TIMER-SHUTDOWN-CLOSED."""
        machine, fault = self.machine, self.wrong.get(task)
        yield from thread.calls(Add(task, delay_ms))
        yield machine.pause(300_000)
        refused = self._refusal(delay_ms)
        refusal_faults = (TimerFault.REFUSED_WHEN_OPEN, TimerFault.WRONG_NEGATIVE)
        if fault in refusal_faults and refused is None:
            negative = fault is TimerFault.WRONG_NEGATIVE
            answer = Reason.INVALID_ARGUMENT if negative else Reason.CLOSED
            yield from thread.returns(rejected=answer, wrong=True)
            return
        if refused is not None and fault is None:
            yield machine.pause(300_000)
            yield from thread.returns(rejected=refused)
            return
        if fault is TimerFault.SURVIVES_MOVE and task in self.armed:
            self.start_run(task, self.armed[task].expiry_ms)
        self._arm(task, delay_ms)
        yield machine.pause(300_000)
        yield from thread.returns(wrong=refused is not None)
        if fault in (TimerFault.LOST, TimerFault.LATE):
            machine.plant(overdue_ms=self.latest_ms(delay_ms))

    def _refusal(self, delay_ms: int) -> Reason | None:
        """Return what the model says of an add at this instant."""
        model = timer_model(self.instance.configuration, self.instance.profile)
        return model.refusal(TimerState(0, PendingTasks(), closed=self.closed), delay_ms)

    @property
    def instance(self) -> TimerInstance:
        """Return what it says it is."""
        assert isinstance(self.machine.instance, TimerInstance)
        return self.machine.instance

    def _arm(self, task: str, delay_ms: int) -> None:
        plan, fault = self.plan, self.wrong.get(task)
        asked_ms = self.machine.now_ms + delay_ms
        ticks = asked_ms // plan.tick_ms
        if plan.rounding is Rounding.UP and asked_ms % plan.tick_ms:
            ticks += 1
        armed = Armed(asked_ms, ticks * plan.tick_ms)
        late_ms = plan.lateness_ms + plan.tick_ms + 3
        if fault is TimerFault.EARLY:
            self.start_run(task, armed.expiry_ms - late_ms)
        elif fault is TimerFault.LATE:
            self.start_run(task, armed.expiry_ms + late_ms)
        elif fault is not TimerFault.LOST:
            self.armed[task] = armed

    def latest_ms(self, delay_ms: int) -> int:
        """The last reading at which a task may run whose add has returned in the last line."""
        at_ns = self.machine.lines[-1].at_ns
        assert at_ns is not None
        latest_ms = at_ns // NS_PER_MS + delay_ms
        if self.plan.rounding is Rounding.UP:
            latest_ms += -latest_ms % self.plan.tick_ms
        return latest_ms + self.plan.lateness_ms

    def start_run(self, task: str, at_ms: int) -> None:
        """Let a task run at a time at which it must not."""

        def work(thread: Thread) -> Script:
            yield from self.machine.until(at_ms)
            yield from thread.shows(EventKind.RAN, task, at_once=self.machine.plant)

        self.workers.start(work)

    def cancel(self, thread: Thread, task: str) -> Script:
        """Disarm a task; what was handed over runs. Rules: TIMER-CANCEL."""
        machine, fault = self.machine, self.wrong.get(task)
        yield from thread.calls(Cancel(task))
        yield machine.pause(300_000)
        if fault is not TimerFault.SURVIVES_CANCEL:
            self.armed.pop(task, None)
        yield machine.pause(300_000)
        if fault is TimerFault.CANCEL_REFUSED:
            yield from thread.returns(rejected=Reason.UNKNOWN_NAME, wrong=True)
        else:
            yield from thread.returns()

    def shutdown(self, thread: Thread) -> Script:
        """Drop what is armed, take nothing more. Rules: TIMER-SHUTDOWN-DROPS."""
        yield from thread.calls(Shutdown())
        yield self.machine.pause(300_000)
        self.closed = True
        self.armed = {
            task: armed
            for task, armed in self.armed.items()
            if self.wrong.get(task) is TimerFault.SURVIVES_SHUTDOWN
        }
        yield self.machine.pause(300_000)
        yield from thread.returns()

    def advance(self, thread: Thread) -> Script:
        """A user's thread advances the timer, and runs what is due."""
        yield from thread.calls(Advance(self.machine.now_ms))
        for task in self._hand_over():
            yield self.machine.pause(2_000)
            yield from self._run(task, thread)
        yield from thread.returns()

    def reap(self, goes_on: Callable[[], bool]) -> Script:
        """A thread of the timer's own advances it again and again, late as it may be."""
        most_ns = self.plan.lateness_ms * NS_PER_MS * 4 // 10
        while goes_on():
            yield self.machine.pause(most_ns)
            for task in self._hand_over():
                self.workers.start(lambda thread, task=task: self._work(task, thread))  # type: ignore[misc]

    def _work(self, task: str, thread: Thread) -> Script:
        yield self.machine.pause(self.plan.lateness_ms * NS_PER_MS * 4 // 10)
        yield from self._run(task, thread)

    def _hand_over(self) -> list[str]:
        """Take what is due out of the timer, into the executor's queue."""
        due = [name for name, armed in self.armed.items() if armed.expiry_ms <= self.machine.now_ms]
        for task in list(due):
            del self.armed[task]
            if self.wrong.get(task) is TimerFault.TWICE:
                due.append(task)
        self.queued += due
        return due

    def _run(self, task: str, thread: Thread) -> Script:
        yield from thread.shows(EventKind.RAN, task, at_once=lambda: self._leave_queue(task))
        if self.inside is not None and self.machine.source.random() < 0.1:
            yield from self.inside(thread)

    def _leave_queue(self, task: str) -> None:
        fault = self.wrong.get(task)
        is_second = fault is TimerFault.TWICE and self.queued.count(task) == 1
        if is_second or fault in (TimerFault.SURVIVES_CANCEL, TimerFault.SURVIVES_SHUTDOWN):
            self.machine.plant()
        self.queued.remove(task)

    def snapshot(self, *, without: str = "", with_: str = "") -> None:
        """Write down what is live, at this instant."""
        told = {name: each for name, each in self.armed.items() if name != without}
        tasks = [PendingTask(name, each.asked_ms, each.asked_ms) for name, each in told.items()]
        if with_:
            later_ms = self.machine.now_ms + 30
            tasks.append(PendingTask(with_, later_ms, later_ms))
        if without or with_:
            self.machine.plant()
        self.machine.lines.append(
            Snapshot(
                run=RUN,
                seq=self.machine.seq,
                at_ns=self.machine.now_ns,
                tasks=tuple(tasks),
                queued=tuple(self.queued),
                calls=self.machine.calls(),
                closed=self.closed,
            )
        )


def timer_of(seed: int, plan: TimerPlan) -> SimulatedTimer:
    """A timer of a plan on a machine of its own."""
    configuration = TimerConfiguration(plan.tick_ms, plan.wheel_size)
    profile = TimerProfile(
        rounding=plan.rounding,
        negative_delay=plan.negative_delay,
        largest_delay_ms=plan.largest_delay_ms,
    )
    instance = TimerInstance(configuration, profile)
    machine = Machine(seed, instance, plan.lateness_ms, plan.lag_ns)
    return SimulatedTimer(machine, plan)
