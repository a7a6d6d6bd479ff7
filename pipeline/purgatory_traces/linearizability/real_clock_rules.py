"""The rules of one task of a timer on a real clock, for a search.

The expiry of an arming is known as an interval, from the times before and after its add. A task may
run from the early end, rounded to the tick, to the late end plus the declared lateness. When the
timer hands a task over cannot be seen: at any moment from the early end on. So who ends an arming,
by cancelling or adding again, may come too late for it, if that moment may have come before the
call returned; the task then runs all the same. Rules: TIMER-NOT-EARLY, TIMER-LATENESS,
TIMER-EXACTLY-ONCE, TIMER-CANCEL, TIMER-CANCEL-TOO-LATE, TIMER-READD-PENDING.

When a task ran is told by the time of that line alone. A thread may read the time and be stopped
before it gets a number; so that something is overdue is never concluded from another line's time,
except at the end of the run.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from purgatory_judge.expiry_interval import ExpiryInterval
from purgatory_model.overlapping.parts import Part
from purgatory_model.overlapping.sequential_rules import Effect
from purgatory_model.pending_tasks import PendingTasks
from purgatory_model.timer import TimerModel, timer_model
from purgatory_spec.operations import Add, Cancel, RunOne, Shutdown, Wait
from purgatory_spec.outcomes import ran
from purgatory_traces.linearizability.calls import CallRules, Entry, RecordedCall
from purgatory_traces.replay.overlapping.timer.armings import AS_TIMER, Arming
from purgatory_traces.traces.lines import PendingTask, Snapshot, TimerInstance

END = Wait(0)
"""The operation that stands for the end of a run: an overdue task was not run in time."""


@dataclass(frozen=True, slots=True)
class TaskOnRealClock:
    """The state of one task: the present arming, and the armings handed over to the executor."""

    armed: Arming | None = None
    queued: tuple[Arming, ...] = ()
    closed: bool = False


@dataclass(frozen=True, slots=True)
class RealClockRules(CallRules[TaskOnRealClock]):
    """The rules of one task.

    Attributes:
        task: Its name.
        model: Of its timer, which says what an add is refused for.
        interval: How expiries follow from readings of the clock.
        first: What it is like when the history begins.
    """

    task: str
    model: TimerModel[PendingTasks]
    interval: ExpiryInterval
    first: TaskOnRealClock = TaskOnRealClock()

    def initial(self) -> TaskOnRealClock:
        """Return the task when the history begins."""
        return self.first

    def effects(
        self, state: TaskOnRealClock, call: RecordedCall, part: Part
    ) -> Iterator[Effect[TaskOnRealClock]]:
        """Yield the ways in which a call may take effect."""
        match call.operation:
            case Add(delay_ms=delay_ms):
                yield from self._add(state, call, delay_ms)
            case Cancel():
                yield from (Effect(ended) for ended in _ended(state, call))
            case Shutdown():
                yield from (Effect(replace(each, closed=True)) for each in _ended(state, call))
            case RunOne():
                yield from self._run(state, _time_of(call.shown[0]))
            case Wait():
                ended_ms = _time_of(call.called)
                if not any(arming.is_over(ended_ms) for arming in _armings(state)):
                    yield Effect(state)
            case _:
                yield Effect(state)

    def _add(
        self, state: TaskOnRealClock, call: RecordedCall, delay_ms: int
    ) -> Iterator[Effect[TaskOnRealClock]]:
        reason = self.model.refusal(AS_TIMER[state.closed], delay_ms)
        if reason is not None:
            yield Effect(state, raised=reason)
            return
        late_ms = None
        if call.ended is not None:
            late_ms = self.interval.late(_time_of(call.ended), delay_ms)
        armed = Arming(self.interval.early(_time_of(call.called), delay_ms), late_ms)
        for ended in _ended(state, call):
            yield Effect(replace(ended, armed=armed))

    def _run(self, state: TaskOnRealClock, at_ms: int) -> Iterator[Effect[TaskOnRealClock]]:
        """Yield the effects of a run, for an arming handed over before or for the present one."""
        for place, arming in enumerate(state.queued):
            if arming.allows(at_ms, at_ms):
                rest = state.queued[:place] + state.queued[place + 1 :]
                yield Effect(replace(state, queued=rest), (ran(self.task),))
        armed = state.armed
        if armed is not None and armed.allows(at_ms, at_ms):
            yield Effect(replace(state, armed=None), (ran(self.task),))


def _armings(state: TaskOnRealClock) -> Iterator[Arming]:
    yield from state.queued
    if state.armed is not None:
        yield state.armed


def _ended(state: TaskOnRealClock, call: RecordedCall) -> Iterator[TaskOnRealClock]:
    """Yield the states after the arming ended, by the call or by an earlier hand-over.

    An arming that was overdue when the call began must have been handed over.
    """
    armed = state.armed
    if armed is None or not armed.is_over(_time_of(call.called)):
        yield replace(state, armed=None)
    if armed is None:
        return
    if call.ended is None or armed.may_come_by(_time_of(call.ended)):
        yield replace(state, armed=None, queued=tuple(sorted((*state.queued, armed), key=repr)))


def _time_of(entry: Entry) -> int:
    """Return the time of a line, which a line of a run on a real clock must have."""
    if entry.at_ms is None:
        raise NoTime(entry.seq)
    return entry.at_ms


class NoTime(Exception):
    """A line says no time; ``seq`` is its number."""

    def __init__(self, seq: int) -> None:
        super().__init__(seq)
        self.seq = seq


def real_clock_rules(
    task: str, instance: TimerInstance, lateness_ms: int, snapshot: Snapshot | None
) -> RealClockRules:
    """Return the rules of a task of a run on a real clock."""
    configuration, profile = instance.configuration, instance.profile
    interval = ExpiryInterval(configuration.tick_ms, profile.rounding, lateness_ms)
    rules = RealClockRules(task, timer_model(configuration, profile), interval)
    if snapshot is None:
        return rules
    pending: dict[str, PendingTask] = {each.task: each for each in snapshot.tasks}
    armed = None
    if task in pending:
        told = pending[task]
        armed = Arming(interval.early(told.early_ms), interval.late(told.late_ms))
    queued = tuple(Arming(0, None) for name in snapshot.queued if name == task)
    return replace(rules, first=TaskOnRealClock(armed, queued, snapshot.closed))
