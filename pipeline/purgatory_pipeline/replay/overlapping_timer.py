"""Follows a timer on a real clock, task by task: what one task does binds no other.

An expiry is an interval, from the readings before and after the add. Never early is a MUST,
lateness is a SHOULD. An arming that is ended when it may already have been handed over leaves both
open: one run of it in its time is right, and none is. See ``timer_armings``.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from purgatory_model.pending_tasks import PendingTasks
from purgatory_model.timer import TimerState, timer_model
from purgatory_pipeline.errors import Unusable
from purgatory_pipeline.replay.deadlines import Deadlines
from purgatory_pipeline.replay.judge import Finding
from purgatory_pipeline.replay.overlapping_judge import lateness_ms
from purgatory_pipeline.replay.passing_rules import PassingRules
from purgatory_pipeline.replay.recent_names import RecentNames
from purgatory_pipeline.replay.timer_armings import (
    Arming,
    FollowedTask,
    Interval,
    Situation,
    TimerCall,
)
from purgatory_pipeline.trace_lines import Begin, Snapshot, TimerInstance
from purgatory_spec.operations import (
    Add,
    Advance,
    Cancel,
    Operation,
    RunOne,
    Shutdown,
    Wait,
    operation_name,
)
from purgatory_spec.outcomes import Event, EventKind, Value
from purgatory_spec.reasons import Reason

_ALWAYS_VISITED = ("TIMER-NOT-EARLY", "TIMER-NOT-LATE", "TIMER-LATENESS", "TIMER-EXACTLY-ONCE")


class _OtherCall(NamedTuple):
    """An open call that concerns no task by name."""

    operation: Operation
    began_closed: bool


class _Fate(NamedTuple):
    """What became of a task that is done with: the rules that ended its arming, whether it ran."""

    ended_by: frozenset[str]
    ran: bool


@dataclass(slots=True)
class TimerFollower:
    """Follows a timer; see ``Follower``."""

    begin: Begin
    instance: TimerInstance
    visits: Counter[str] = field(default_factory=Counter)
    deviated: set[str] = field(default_factory=set)
    _interval: Interval = field(init=False)
    _variants: dict[str, str] = field(init=False)
    _tasks: dict[str, FollowedTask] = field(default_factory=dict)
    _recent: RecentNames[_Fate] = field(default_factory=RecentNames)
    _deadlines: Deadlines = field(default_factory=Deadlines)
    _passing: PassingRules = field(default_factory=PassingRules)
    _number: int = 0
    _closing: bool = False
    _closed: bool = False
    _number_when_closed: int = 0

    def __post_init__(self) -> None:
        """Nothing is armed."""
        configuration, profile = self.instance.configuration, self.instance.profile
        late = lateness_ms(self.begin)
        self._interval = Interval(configuration.tick_ms, profile.rounding, late)
        self._variants = {each.variant: each.rule for each in self.begin.deviations}

    def called(self, operation: Operation, at_ms: int) -> TimerCall | _OtherCall:
        """A call begins; see ``Follower``."""
        match operation:
            case Add(task, delay_ms):
                early_ms = self._interval.early(at_ms, delay_ms)
                return self._opened(task, at_ms, delay_ms, early_ms)
            case Cancel(task):
                return self._opened(task, at_ms, None, 0)
            case Shutdown():
                if not self._closing:
                    self._closing = True
                    for followed in self._tasks.values():
                        followed.drop(None)
            case Advance() | RunOne() | Wait():
                pass
            case _:
                raise Unusable(f"a timer on a wall clock has no {operation_name(operation)}")
        return _OtherCall(operation, self._closed)

    def happened(
        self,
        thread: str,
        call: TimerCall | _OtherCall | None,
        event: Event,
        first_ms: int,
        last_ms: int,
    ) -> Finding | None:
        """A task is handed over or runs. Rules: TIMER-NOT-EARLY, TIMER-EXACTLY-ONCE."""
        followed = self._tasks.get(event.task)
        if event.kind is EventKind.EXPIRED:
            if followed is None or not any(a.early_ms <= last_ms for a in followed.armings()):
                return self._wrong_run(event.task, followed, first_ms, last_ms)
            return None
        if event.kind is EventKind.REJECTED:
            return None
        if event.kind is not EventKind.RAN:
            raise Unusable(f"a task of a timer is never {event.kind.value}")
        ran = None if followed is None else followed.run(first_ms, last_ms)
        if followed is None or ran is None:
            return self._wrong_run(event.task, followed, first_ms, last_ms)
        followed.ran = True
        of_present_arming, rules = ran
        if of_present_arming:
            self.visits.update(_ALWAYS_VISITED)
            self.visits.update(rules)
            if self._interval.tick_ms > 1:
                self.visits["TIMER-ROUNDING"] += 1
        self._forget_if_idle(event.task, followed)
        return None

    def returned(
        self,
        call: TimerCall | _OtherCall,
        result: Value,
        rejected: Reason | None,
        at_ms: int,
    ) -> Finding | None:
        """A call returns; see ``Follower``."""
        if isinstance(call, _OtherCall):
            return self._other_returned(call, rejected, at_ms)
        followed = self._tasks[call.task]
        if call.delay_ms is None:
            finding = self._cancelled(call, followed, rejected, at_ms)
        else:
            finding = self._added(call, call.delay_ms, followed, rejected, at_ms)
        self._forget_if_idle(call.task, followed)
        return finding

    def passed(self, now_ms: int) -> Finding | None:
        """What should have run by now, and its line should have come. Rules: TIMER-LATENESS."""
        self._passing.pass_to(now_ms, self.visits)
        if self._deadlines.is_crowded(len(self._tasks)):
            self._deadlines.rebuild(self._waited_for())
        for task in self._deadlines.before(now_ms):
            finding = self._overdue(task, now_ms - self._interval.lateness_ms, now_ms)
            if finding is not None:
                return finding
        return None

    def ended(self, now_ms: int) -> Finding | None:
        """What should have run by the end: no line comes any more."""
        for _, task in sorted(self._waited_for()):
            finding = self._overdue(task, now_ms, now_ms)
            if finding is not None:
                return finding
        self._passing.pass_to(now_ms, self.visits)
        return None

    def resume(
        self, snapshot: Snapshot, now_ms: int
    ) -> list[tuple[str, Operation, TimerCall | _OtherCall]]:
        """Begin with what a snapshot says; calls that were open may have taken effect before."""
        late = self._interval.lateness_ms
        for pending in snapshot.tasks:
            arming = Arming(
                self._interval.early(pending.early_ms, 0),
                max(self._interval.late(pending.late_ms, 0), now_ms + late),
                self._next_number(),
            )
            self._tasks[pending.task] = FollowedTask([Situation(arming)])
            self._wait_for(arming, pending.task)
        for task in snapshot.queued:
            arming = Arming(now_ms, now_ms + late, self._next_number())
            followed = self._tasks.setdefault(task, FollowedTask())
            followed.situations = [
                each._replace(ended=(*each.ended, arming)) for each in followed.situations
            ]
            self._wait_for(arming, task)
        self._closing = self._closed = snapshot.closed
        calls = [
            (call.thread, call.operation, self.called(call.operation, call.at_ns // 1_000_000))
            for call in snapshot.calls
        ]
        for _, _, opened in calls:
            if isinstance(opened, TimerCall):
                self._may_be_over(opened)
        return calls

    def compare(self, snapshot: Snapshot, now_ms: int) -> Finding | None:
        """A snapshot in the middle must hold what is certainly armed, and nothing else."""
        told = {pending.task for pending in snapshot.tasks}
        told.update(snapshot.queued)
        told.update(
            call.operation.task for call in snapshot.calls if isinstance(call.operation, Add)
        )
        for task in sorted(self._tasks.keys() - told):
            followed = self._tasks[task]
            owed = [each.armed for each in followed.situations if not followed.calls]
            if owed and all(each is not None and each.early_ms > now_ms for each in owed):
                return _finding(
                    "TIMER-EXACTLY-ONCE", "snapshot", f"{task} is armed", f"{task} is not", task
                )
        for task in sorted(told - self._tasks.keys()):
            return _finding(
                "TIMER-EXACTLY-ONCE", "snapshot", f"{task} is not armed", f"{task} is", task
            )
        return None

    def _opened(self, task: str, at_ms: int, delay_ms: int | None, early_ms: int) -> TimerCall:
        followed = self._tasks.get(task)
        if followed is None:
            followed = self._tasks[task] = FollowedTask()
            fate = self._recent.take(task)
            if fate is not None:
                followed.ended_by, followed.ran = fate
        rules = frozenset[str]() if delay_ms is None else _rules_of_add(followed, delay_ms)
        call = TimerCall(self._next_number(), task, at_ms, delay_ms, early_ms, rules)
        followed.calls[call.number] = call
        return call

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    def _added(
        self,
        call: TimerCall,
        delay_ms: int,
        followed: FollowedTask,
        rejected: Reason | None,
        at_ms: int,
    ) -> Finding | None:
        """An add returns. Rules: TIMER-SHUTDOWN-CLOSED, TIMER-LARGEST-DELAY."""
        allowed = self._refusals(call, delay_ms)
        if rejected not in allowed and not self._is_declared_loss(rejected, allowed):
            followed.take_no_effect(call)
            return _wrong_rejection(delay_ms, allowed, rejected)
        if rejected is not None:
            self._visit_refusal(rejected)
            followed.take_no_effect(call)
            return None
        if allowed == {Reason.CLOSED}:
            self.deviated.add(self._variants["taken_after_shutdown"])
            followed.take_no_effect(call)
            return None
        self._end_arming(followed, at_ms, frozenset({"TIMER-READD-PENDING"}))
        followed.ended_by = frozenset()
        late_ms = self._interval.late(at_ms, delay_ms)
        followed.take_effect(call, late_ms, at_ms, optional=self._closing)
        self._deadlines.put(late_ms + self._interval.lateness_ms, call.task)
        return None

    def _cancelled(
        self, call: TimerCall, followed: FollowedTask, rejected: Reason | None, at_ms: int
    ) -> Finding | None:
        """A cancel returns. Rules: TIMER-CANCEL, TIMER-CANCEL-AGAIN, TIMER-CANCEL-FIRED."""
        if rejected is not None:
            followed.take_no_effect(call)
            return _finding("TIMER-CANCEL", "rejection", "accepted", f"rejected: {rejected.value}")
        if followed.situations[0].armed is None:
            known = "TIMER-CANCEL-FIRED" if followed.ran else "TIMER-CANCEL-UNKNOWN"
            self.visits["TIMER-CANCEL-AGAIN" if followed.ended_by else known] += 1
        self._end_arming(followed, at_ms, frozenset({"TIMER-CANCEL"}))
        followed.take_effect(call, 0, at_ms)
        return None

    def _end_arming(self, followed: FollowedTask, at_ms: int, rules: frozenset[str]) -> None:
        """Remember by which rules the arming that a call ends must not run."""
        armed = followed.situations[0].armed
        if armed is None:
            return
        followed.ended_by = rules
        if armed.early_ms > at_ms and armed.late_ms is not None:
            self._passing.put(armed.late_ms, rules)

    def _other_returned(
        self, call: _OtherCall, rejected: Reason | None, at_ms: int
    ) -> Finding | None:
        if isinstance(call.operation, Shutdown):
            if rejected is not None:
                return _finding(
                    "TIMER-SHUTDOWN-AGAIN", "rejection", "accepted", f"rejected: {rejected.value}"
                )
            if call.began_closed:
                self.visits["TIMER-SHUTDOWN-AGAIN"] += 1
            self.visits["TIMER-SHUTDOWN-DROPS"] += 1
            if not self._closed:
                self._closed = True
                self._number_when_closed = self._number
                for task, followed in list(self._tasks.items()):
                    followed.ended_by = frozenset({"TIMER-SHUTDOWN-DROPS"})
                    if not followed.calls:
                        followed.drop(at_ms)
                    self._forget_if_idle(task, followed)
            return None
        if rejected is None or (rejected is Reason.CLOSED and self._closing):
            return None
        return _finding(
            "TIMER-IDLE-ADVANCE", "rejection", "accepted", f"rejected: {rejected.value}"
        )

    def _refusals(self, call: TimerCall, delay_ms: int) -> frozenset[Reason | None]:
        """What the model says of an add, before and after a shutdown that it overlaps."""
        if not self._closing and 0 <= delay_ms <= self.instance.profile.largest_delay_ms:
            return _ACCEPTED
        model = timer_model(self.instance.configuration, self.instance.profile)
        allowed: set[Reason | None] = set()
        if not self._closed or call.number <= self._number_when_closed:
            allowed.add(model.refusal(_OPEN, delay_ms))
        if self._closing:
            allowed.add(model.refusal(_SHUT, delay_ms))
        return frozenset(allowed)

    def _is_declared_loss(self, rejected: Reason | None, allowed: frozenset[Reason | None]) -> bool:
        """Whether an add is taken after shutdown, as it is declared."""
        taken = rejected is None and allowed == {Reason.CLOSED}
        return taken and "taken_after_shutdown" in self._variants

    def _visit_refusal(self, rejected: Reason) -> None:
        self.visits[_RULES_OF_REFUSALS[rejected]] += 1

    def _wrong_run(
        self, task: str, followed: FollowedTask | None, first_ms: int, last_ms: int
    ) -> Finding:
        """A task ran that must not: too early, too late, or without being pending."""
        seen = f"{task} ran at {last_ms}"
        armings = [] if followed is None else sorted(followed.armings(), key=lambda a: a.early_ms)
        for arming in armings:
            if last_ms < arming.early_ms:
                expected = f"{task} not before {arming.early_ms}"
                also = () if followed is None else tuple(sorted(followed.ended_by))
                return _finding("TIMER-NOT-EARLY", "early", expected, seen, also=also)
        for arming in armings:
            if arming.late_ms is not None and first_ms > arming.late_ms:
                expected = f"{task} not after {arming.late_ms}"
                return _finding("TIMER-LATENESS", "late", expected, seen)
        ended_by = frozenset[str]() if followed is None else followed.ended_by
        fate = self._recent.get(task)
        if followed is None and fate is not None:
            ended_by = fate.ended_by
        rule = min(ended_by, default="TIMER-EXACTLY-ONCE")
        if self._closed and rule == "TIMER-EXACTLY-ONCE" and (fate is None or not fate.ran):
            rule = "TIMER-SHUTDOWN-DROPS"
        return _finding(
            rule, "ran", f"no run of {task}: it is not pending", seen, also=_others(rule)
        )

    def _overdue(self, task: str, over_ms: int, now_ms: int) -> Finding | None:
        """Whether a task should have run by a reading in any case. Rules: TIMER-LATENESS."""
        followed = self._tasks.get(task)
        if followed is None:
            return None
        overdue = followed.pass_to(over_ms)
        if overdue is not None:
            return _finding(
                "TIMER-LATENESS",
                "late",
                f"{task} not after {overdue.late_ms}",
                f"{task} has not run by {now_ms}",
                f"run of {task}",
                also=("TIMER-NOT-LATE", "TIMER-EXACTLY-ONCE"),
            )
        self._forget_if_idle(task, followed)
        return None

    def _wait_for(self, arming: Arming, task: str) -> None:
        if arming.late_ms is not None:
            self._deadlines.put(arming.late_ms + self._interval.lateness_ms, task)

    def _waited_for(self) -> list[tuple[int, str]]:
        """All that is still waited for, with its latest time."""
        return [
            (arming.late_ms + self._interval.lateness_ms, task)
            for task, followed in self._tasks.items()
            for arming in followed.armings()
            if arming.late_ms is not None
        ]

    def _may_be_over(self, call: TimerCall) -> None:
        """A call that was open at a snapshot may have taken effect before it."""
        followed = self._tasks[call.task]
        followed.situations += [
            each._replace(taken=each.taken | {call.number}) for each in followed.situations
        ]

    def _forget_if_idle(self, task: str, followed: FollowedTask) -> None:
        if followed.is_idle and self._tasks.pop(task, None) is not None:
            self._recent.put(task, _Fate(followed.ended_by, followed.ran))


_ACCEPTED: frozenset[Reason | None] = frozenset({None})
_OPEN = TimerState(0, PendingTasks())
_SHUT = TimerState(0, PendingTasks(), closed=True)

_RULES_OF_REFUSALS = {
    Reason.CLOSED: "TIMER-SHUTDOWN-CLOSED",
    Reason.TOO_LARGE: "TIMER-LARGEST-DELAY",
    Reason.INVALID_ARGUMENT: "TIMER-NEGATIVE-DELAY",
}


def _rules_of_add(followed: FollowedTask, delay_ms: int) -> frozenset[str]:
    """The rules that are put to the test when the task runs."""
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


_NO_RULES: frozenset[str] = frozenset()


def _wrong_rejection(
    delay_ms: int, allowed: frozenset[Reason | None], rejected: Reason | None
) -> Finding:
    """An add that is rejected, or not, against the rules."""
    expected = " or ".join(sorted(_words(reason) for reason in allowed))
    blamed = next((reason for reason in allowed if reason is not None), rejected)
    rule = "TIMER-NOT-LATE"
    if rejected is Reason.CLOSED and blamed is not Reason.CLOSED:
        rule = "TIMER-SHUTDOWN-CLOSED"
    elif delay_ms < 0 and blamed is not Reason.CLOSED:
        rule = "TIMER-NEGATIVE-DELAY"
    elif blamed in _RULES_OF_REFUSALS and blamed is not Reason.INVALID_ARGUMENT:
        rule = _RULES_OF_REFUSALS[blamed]
    return _finding(rule, "rejection", expected, _words(rejected))


def _words(reason: Reason | None) -> str:
    return "accepted" if reason is None else f"rejected: {reason.value}"


def _others(rule: str) -> tuple[str, ...]:
    return () if rule == "TIMER-EXACTLY-ONCE" else ("TIMER-EXACTLY-ONCE",)


def _finding(
    rule: str,
    kind: str,
    expected: str,
    seen: str,
    operation: str = "",
    also: tuple[str, ...] = (),
) -> Finding:
    return Finding(rule, kind, expected, seen, operation, also=also)
