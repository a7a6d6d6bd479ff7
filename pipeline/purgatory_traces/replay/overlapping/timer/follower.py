"""Follows a timer on a real clock, task by task: what one task does binds no other.

An expiry is an interval, from the readings before and after the add. Never early is a MUST,
lateness is a SHOULD. A call takes effect at some instant between its beginning and its return. An
arming that is ended when it may already have been handed over leaves both open: one run of it in
its time is right, and none is. See ``armings``.

A task is followed from the first call that names it until no further event is possible. Then only
its fate is kept.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from purgatory_judge.components import narrowed
from purgatory_model.pending_tasks import PendingTasks
from purgatory_model.timer import TimerModel, timer_model
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Event, EventKind, Value
from purgatory_spec.reasons import Reason
from purgatory_traces.errors import Unusable
from purgatory_traces.replay.judge import Finding
from purgatory_traces.replay.overlapping.expiries import ExpiryFollower
from purgatory_traces.replay.overlapping.recent_names import RecentNames
from purgatory_traces.replay.overlapping.timer import blame
from purgatory_traces.replay.overlapping.timer.armings import (
    AS_TIMER,
    Arming,
    Fate,
    FollowedTask,
    Ran,
    Situation,
    TimerCall,
)
from purgatory_traces.traces.lines import NS_PER_MS, PendingTask, Snapshot, TimerInstance

_VISITED_IN_TIME = frozenset({"TIMER-NOT-LATE", "TIMER-LATENESS"})
_NO_RULES = frozenset[str]()
_ACCEPTED: frozenset[Reason | None] = frozenset({None})
_ALWAYS_CLOSED: frozenset[Reason | None] = frozenset({Reason.CLOSED})


class OtherCall(NamedTuple):
    """An open call that concerns no task by name."""

    operation: op.Operation
    began_closed: bool


@dataclass(slots=True)
class TimerFollower(ExpiryFollower[TimerCall | OtherCall]):
    """Follows a timer; see ``Follower``.

    Attributes:
        model: Says what an add is refused for.
        tasks: The followed tasks, by name.
        recent: The ends of forgotten tasks.
        number: The number of the latest call or arming.
        number_when_closed: ``number`` when the first shutdown returned.
    """

    model: TimerModel[PendingTasks] = field(init=False)
    tasks: dict[str, FollowedTask] = field(default_factory=dict)
    recent: RecentNames[Fate] = field(default_factory=RecentNames)
    number: int = 0
    number_when_closed: int = 0

    expiry_rule: ClassVar[str] = "TIMER-NOT-LATE"

    def __post_init__(self) -> None:
        ExpiryFollower.__post_init__(self)
        instance = narrowed(self.begin.instance, TimerInstance)
        self.model = timer_model(instance.configuration, instance.profile)

    # What is waited for

    @property
    def live(self) -> int:
        """Return the number of tasks that are followed."""
        return len(self.tasks)

    @property
    def awaited(self) -> int:
        """Return the number of tasks that have to run."""
        return sum(each.has_to_run for each in self.tasks.values())

    def waited_for(self) -> Iterator[tuple[int, str]]:
        """Yield the latest time of each arming, with its task."""
        for task, followed in self.tasks.items():
            for arming in followed.armings():
                if arming.late_ms is not None:
                    yield arming.late_ms, task

    def overdue(self, name: str, over_ms: int, now_ms: int) -> Finding | None:
        """Return a finding if a task should have run by a reading. Rules: TIMER-LATENESS."""
        followed = self.tasks.get(name)
        if followed is None:
            return None
        overdue = followed.pass_to(over_ms)
        if overdue is not None:
            return blame.of_overdue(name, overdue, now_ms, self.interval.lateness_ms)
        self._forget_if_idle(name, followed)
        return None

    def _forget_if_idle(self, task: str, followed: FollowedTask) -> None:
        """Forget a task of which nothing more can come."""
        if followed.is_idle and self.tasks.pop(task, None) is not None:
            self.recent.put(task, Fate(followed.ended_by, followed.ran))

    # Calls

    def called(self, operation: op.Operation, at_ms: int) -> TimerCall | OtherCall:
        """Follow a call that begins; see ``Follower``."""
        if isinstance(operation, op.Add):
            task, delay_ms = operation.task, operation.delay_ms
            return self._opened(task, at_ms, delay_ms, self.interval.early(at_ms, delay_ms))
        if isinstance(operation, op.Cancel):
            return self._opened(operation.task, at_ms, None, 0)
        if isinstance(operation, op.Shutdown):
            self._shutdown_called(at_ms)
        elif not isinstance(operation, op.Advance | op.RunOne | op.Wait):
            raise Unusable(f"a timer on a wall clock has no {op.operation_name(operation)}")
        return OtherCall(operation, self.closed)

    def _opened(self, task: str, at_ms: int, delay_ms: int | None, early_ms: int) -> TimerCall:
        self.excuse(task, at_ms)
        followed = self.tasks.get(task)
        if followed is None:
            followed = self.tasks[task] = FollowedTask()
            fate = self.recent.take(task)
            if fate is not None:
                followed.ended_by, followed.ran = fate
        rules = _NO_RULES if delay_ms is None else _rules_of_add(followed, delay_ms)
        call = TimerCall(self._next_number(), task, at_ms, delay_ms, early_ms, rules)
        followed.calls[call.number] = call
        return call

    def _next_number(self) -> int:
        """Return a fresh number for an add."""
        self.number += 1
        return self.number

    def _shutdown_called(self, at_ms: int) -> None:
        """Note that no arming need run any more. Rules: TIMER-SHUTDOWN-DROPS."""
        if not self.begins_to_close():
            return
        for name, followed in self.tasks.items():
            if followed.is_due(at_ms):
                self.cut_off.add(name)
            followed.drop(None)

    def returned(
        self, call: TimerCall | OtherCall, result: Value, rejected: Reason | None, at_ms: int
    ) -> Finding | None:
        """Follow a call that returns; see ``Follower``."""
        if isinstance(call, OtherCall):
            return self._other_returned(call, rejected, at_ms)
        followed = self.tasks[call.task]
        if call.delay_ms is None:
            finding = self._cancelled(call, followed, rejected, at_ms)
        else:
            finding = self._added(call, call.delay_ms, followed, rejected, at_ms)
        self._forget_if_idle(call.task, followed)
        return finding

    def _added(
        self,
        call: TimerCall,
        delay_ms: int,
        followed: FollowedTask,
        rejected: Reason | None,
        at_ms: int,
    ) -> Finding | None:
        """Follow an add's return. Rules: TIMER-SHUTDOWN-CLOSED, TIMER-LARGEST-DELAY."""
        allowed = self._refusals(call, delay_ms)
        taken_and_lost = rejected is None and allowed == _ALWAYS_CLOSED
        is_lost = taken_and_lost and self.deviates("taken_after_shutdown")
        if rejected is not None or rejected not in allowed:
            followed.take_no_effect(call)
            if rejected not in allowed and not is_lost:
                return blame.of_add(delay_ms, allowed, rejected)
            for arming in followed.armings():  # which it has not ended, and may be overdue
                if arming.late_ms is not None:
                    self.wait_for(arming.late_ms, call.task)
            if rejected is not None and None not in allowed:  # or it could have been taken as well
                self.visits[blame.RULES_OF_REFUSALS[rejected]] += 1
            return None
        self._end_arming(followed, at_ms, frozenset({"TIMER-READD-PENDING"}))
        followed.ended_by = _NO_RULES
        late_ms = self.interval.late(at_ms, delay_ms)
        followed.take_effect(call, late_ms, at_ms, optional=self.closing)
        self.wait_for(late_ms, call.task)
        return None

    def _refusals(self, call: TimerCall, delay_ms: int) -> frozenset[Reason | None]:
        """Return the model's answers to an add, before and after a shutdown that it overlaps."""
        if not self.closing and 0 <= delay_ms <= self.model.profile.largest_delay_ms:
            return _ACCEPTED
        allowed: set[Reason | None] = set()
        if not self.closed or call.number <= self.number_when_closed:
            allowed.add(self.model.refusal(AS_TIMER[False], delay_ms))
        if self.closing:
            allowed.add(self.model.refusal(AS_TIMER[True], delay_ms))
        return frozenset(allowed)

    def _cancelled(
        self, call: TimerCall, followed: FollowedTask, rejected: Reason | None, at_ms: int
    ) -> Finding | None:
        """Follow a cancel's return. Rules: TIMER-CANCEL, TIMER-CANCEL-AGAIN, TIMER-CANCEL-FIRED."""
        if rejected is not None:
            followed.take_no_effect(call)
            return blame.of_rejection("TIMER-CANCEL", rejected)
        situation = followed.situations[0]
        if situation.armed is None and call.number not in situation.taken:
            unarmed = "TIMER-CANCEL-FIRED" if followed.ran else "TIMER-CANCEL-UNKNOWN"
            self.visits["TIMER-CANCEL-AGAIN" if followed.ended_by else unarmed] += 1
        self._end_arming(followed, at_ms, frozenset({"TIMER-CANCEL"}))
        followed.take_effect(call, 0, at_ms)
        return None

    def _end_arming(self, followed: FollowedTask, at_ms: int, rules: frozenset[str]) -> None:
        """Remember by which rules the arming that a call ends must not run."""
        armed = followed.situations[0].armed
        if armed is None:
            return
        followed.ended_by = rules
        if not armed.may_come_by(at_ms) and armed.late_ms is not None:
            self.passing.put(armed.late_ms, rules)

    def _other_returned(
        self, call: OtherCall, rejected: Reason | None, at_ms: int
    ) -> Finding | None:
        if isinstance(call.operation, op.Shutdown):
            if rejected is not None:
                return blame.of_rejection("TIMER-SHUTDOWN-AGAIN", rejected)
            if call.began_closed:
                self.visits["TIMER-SHUTDOWN-AGAIN"] += 1
            self.visits["TIMER-SHUTDOWN-DROPS"] += 1
            self._shut(at_ms)
            return None
        if rejected is None or (rejected is Reason.CLOSED and self.closing):
            return None
        return blame.of_rejection("TIMER-IDLE-ADVANCE", rejected)

    def _shut(self, at_ms: int) -> None:
        """Drop the armed tasks. Rules: TIMER-SHUTDOWN-DROPS."""
        if self.closed:
            return
        self.closed = True
        self.number_when_closed = self.number
        for task, followed in list(self.tasks.items()):
            followed.ended_by = frozenset({"TIMER-SHUTDOWN-DROPS"})
            if not followed.calls:
                followed.drop(at_ms)
            self._forget_if_idle(task, followed)

    # Runs

    def happened(
        self,
        thread: str,
        call: TimerCall | OtherCall | None,
        event: Event,
        first_ms: int,
        last_ms: int,
    ) -> Finding | None:
        """Follow a hand-over or a run. Rules: TIMER-NOT-EARLY, TIMER-EXACTLY-ONCE."""
        followed = self.tasks.get(event.task)
        if event.kind is EventKind.EXPIRED:
            if followed is None or not any(a.may_come_by(last_ms) for a in followed.armings()):
                return self._blame_run(event.task, followed, first_ms, last_ms)
            return None
        if event.kind is EventKind.REJECTED:
            return None
        if event.kind is not EventKind.RAN:
            raise Unusable(f"a task of a timer is never {event.kind.value}")
        ran = None if followed is None else followed.run(first_ms, last_ms)
        if followed is None or ran is None:
            return self._blame_run(event.task, followed, first_ms, last_ms)
        followed.ran = True
        self.cut_off.discard(event.task)
        self._visit_run(event.task, ran)
        self._forget_if_idle(event.task, followed)
        return None

    def _visit_run(self, task: str, ran: Ran) -> None:
        """Count the rules that another run, or none, would have refuted."""
        arming = ran.arming
        if arming is None:
            return
        if ran.is_only:
            self.visits["TIMER-EXACTLY-ONCE"] += 1
            if arming.is_ahead:
                self.visits["TIMER-NOT-EARLY"] += 1
                if self.interval.tick_ms > 1:
                    self.visits["TIMER-ROUNDING"] += 1
        if ran.had_to_come and arming.late_ms is not None:
            self.has_come(task, arming.late_ms, _VISITED_IN_TIME | arming.rules)

    def _blame_run(
        self, task: str, followed: FollowedTask | None, first_ms: int, last_ms: int
    ) -> Finding:
        fate = self.recent.get(task)
        return blame.of_run(task, followed, fate, first_ms, last_ms, is_closed=self.closed)

    # Snapshots

    def resume(
        self, snapshot: Snapshot, now_ms: int
    ) -> list[tuple[str, op.Operation, TimerCall | OtherCall]]:
        """Begin with what a snapshot says; calls that were open may have taken effect before."""
        late = self.interval.lateness_ms
        for pending in snapshot.tasks:
            late_ms = max(self.interval.late(pending.late_ms), now_ms + late)
            early_ms = self.interval.early(pending.early_ms)
            number, is_ahead = self._next_number(), early_ms > now_ms
            arming = Arming(early_ms, late_ms, number, is_ahead=is_ahead)
            self.tasks[pending.task] = FollowedTask([Situation(arming)])
            self.wait_for(late_ms, pending.task)
        for task in snapshot.queued:
            # Its run may have been read before the snapshot, by as much as a line may come later.
            arming = Arming(now_ms - late, now_ms + late, self._next_number())
            followed = self.tasks.setdefault(task, FollowedTask())
            followed.situations = [
                each._replace(ended=(*each.ended, arming)) for each in followed.situations
            ]
            self.wait_for(now_ms + late, task)
        self.closing = self.closed = snapshot.closed
        calls = [
            (each.thread, each.operation, self.called(each.operation, each.at_ns // NS_PER_MS))
            for each in snapshot.calls
        ]
        self.number_when_closed = self.number
        for _, _, opened in calls:
            if isinstance(opened, TimerCall):
                self.tasks[opened.task].may_have_taken_effect(opened)
        return calls

    def compare(self, snapshot: Snapshot, now_ms: int) -> Finding | None:
        """Compare a middle snapshot with the tasks that are certainly armed.

        It tells what is the case when its line is written, which is later than its reading by as
        much as any line's.
        """
        if snapshot.closed and not self.closing:
            return blame.of_closed_snapshot(is_closed=False)
        if self.closed and not snapshot.closed:
            return blame.of_closed_snapshot(is_closed=True)
        told = {pending.task for pending in snapshot.tasks}
        told.update(snapshot.queued)
        calls = (call.operation for call in snapshot.calls)
        told.update(operation.task for operation in calls if isinstance(operation, op.Add))
        latest_ms = now_ms + self.interval.lateness_ms
        for task in sorted(self.tasks.keys() - told):
            followed = self.tasks[task]
            owed = [each.armed for each in followed.situations if not followed.calls]
            if owed and all(each is not None and each.early_ms > latest_ms for each in owed):
                return blame.of_snapshot(task, is_armed=True)
        for task in sorted(told - self.tasks.keys()):
            return blame.of_snapshot(task, is_armed=False)
        # While it shuts down nobody knows what is dropped already.
        return None if self.closing else self._compare_times(snapshot, latest_ms)

    def _compare_times(self, snapshot: Snapshot, latest_ms: int) -> Finding | None:
        """Compare a snapshot's times of tasks without open calls with their situations."""
        queued = Counter(snapshot.queued)
        pending = {each.task: each for each in snapshot.tasks}
        for task in sorted(pending.keys() | queued.keys()):
            followed = self.tasks[task]
            if followed.calls:
                continue
            if not any(
                self._may_stand(each, pending.get(task), queued[task], latest_ms)
                for each in followed.situations
            ):
                return blame.of_told_times(task, pending.get(task), queued[task], followed)
        return None

    def _may_stand(
        self, situation: Situation, pending: PendingTask | None, queued: int, latest_ms: int
    ) -> bool:
        """Decide whether a task may be pending as told, or not, and so often in the queue."""
        handed_over = list(situation.ended)
        armed = situation.armed
        if pending is None and armed is not None:
            handed_over.append(armed)
        elif pending is not None and (armed is None or not self._is_of(armed, pending)):
            return False
        return sum(each.may_come_by(latest_ms) for each in handed_over) >= queued

    def _is_of(self, armed: Arming, pending: PendingTask) -> bool:
        """Decide whether an arming may have the expiry that a snapshot tells."""
        if self.interval.early(pending.late_ms) < armed.early_ms:
            return False
        return armed.late_ms is None or self.interval.late(pending.early_ms) <= armed.late_ms


def _rules_of_add(followed: FollowedTask, delay_ms: int) -> frozenset[str]:
    """Return the rules that are put to the test when the task runs."""
    rules = set()
    if delay_ms == 0:
        rules.add("TIMER-ZERO-DELAY")
    if delay_ms < 0:
        rules.add("TIMER-NEGATIVE-DELAY")
    if delay_ms <= 0:
        rules.add("TIMER-ALREADY-DUE")
    if followed.situations[0].armed is not None:
        rules.add("TIMER-READD-PENDING")
    elif "TIMER-CANCEL" in followed.ended_by:
        rules.add("TIMER-READD-CANCELLED")
    elif followed.ended_by:
        rules.add("TIMER-READD-PENDING")
    elif followed.ran:
        rules.add("TIMER-READD-FIRED")
    return frozenset(rules) if rules else _NO_RULES
