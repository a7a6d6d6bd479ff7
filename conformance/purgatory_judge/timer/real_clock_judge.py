"""The judge of a timer on a real clock: expiries are judged as intervals.

A task added between two readings has an expiry between them plus its delay. It may run from the
early end, rounded down to the tick, to the late end plus the declared lateness. What ran is known
from the events' own readings. Never early is a MUST, lateness is a SHOULD.

An arming that is ended when it may already have run leaves both open: one run of it is right, and
none is. Where a run may be that of either arming of a task, it is taken for that of the present
one; so a fault may be overlooked there, but none is invented.

A size is read at some instant between the end of its step and the begin of the next one. A task
counts in it whose run cannot be due before that begin. A task whose run may be due counts or not;
so does a task whose run is told with the size, with a reading at the end of the step or later.
Where every task counts, the size is exact, and the rule about it is visited.
"""

from dataclasses import dataclass, field

from purgatory_judge.expiry_interval import ExpiryInterval
from purgatory_judge.judgement import Divergence, Judgement
from purgatory_judge.timer.divergent_step import rule_of_sign
from purgatory_spec.operations import Add, Cancel, Operation
from purgatory_spec.outcomes import Event, EventKind, Outcome, Value
from purgatory_spec.profiles import Observable, TimerConfiguration, TimerProfile


@dataclass(frozen=True, slots=True)
class _Interval:
    """The interval in which an armed task may run: from ``early_ms`` to ``late_ms``."""

    early_ms: int
    late_ms: int
    off_tick: bool
    rules: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Reading:
    """A size, and when each task may leave that was armed as it was read."""

    size: Value
    leaving_ms: tuple[int, ...]


@dataclass(slots=True)
class RealClockJudge:
    """Follows one case. After a divergence it must not be used further."""

    configuration: TimerConfiguration
    profile: TimerProfile
    _armed: dict[str, _Interval] = field(default_factory=dict)
    _doubtful: dict[str, list[_Interval]] = field(default_factory=dict)
    _passing: list[tuple[_Interval, frozenset[str]]] = field(default_factory=list)
    """Armings that were ended in time, and the rules that hold once their time has passed."""
    _ended: dict[str, frozenset[str]] = field(default_factory=dict)
    _ran: set[str] = field(default_factory=set)
    _reading: _Reading | None = None

    @property
    def deviated(self) -> Divergence | None:
        """Return None: deviations are judged on the manual clock."""
        return None

    @property
    def state(self) -> object:
        """Return the armed tasks, for reports."""
        return dict(self._armed)

    def step(self, operation: Operation, outcome: Outcome) -> Judgement:
        """Judge a step: first the runs before its end, then the overdue tasks."""
        judgement = Judgement()
        if outcome.called_ms is None or outcome.returned_ms is None:
            judgement.divergence = self._divergence(
                operation, outcome, "TIMER-LATENESS", "form", "called_ms and returned_ms", "neither"
            )
            return judgement
        if outcome.rejected is not None:
            of_sign = rule_of_sign(operation.delay_ms) if isinstance(operation, Add) else None
            rule = of_sign or "TIMER-NOT-LATE"
            judgement.divergence = self._divergence(
                operation, outcome, rule, "rejection", "accepted", "rejected"
            )
            return judgement
        judgement.divergence = self._size(operation, outcome, judgement.visited)
        if judgement.divergence:
            return judgement
        before = [e for e in outcome.events if (e.at_ms or 0) < outcome.called_ms]
        after = [e for e in outcome.events if e not in before]
        for event in before:
            judgement.divergence = self._ran_event(operation, outcome, event, judgement.visited)
            if judgement.divergence:
                return judgement
        self._apply(operation, outcome, judgement.visited)
        for event in after:
            judgement.divergence = self._ran_event(operation, outcome, event, judgement.visited)
            if judgement.divergence:
                return judgement
        judgement.divergence = self._overdue(operation, outcome)
        for interval, rules in self._passing:
            if interval.late_ms < outcome.returned_ms:
                judgement.visited.update(rules)
        self._passing = [p for p in self._passing if p[0].late_ms >= outcome.returned_ms]
        if Observable.SIZE in self.profile.observables:
            leaving = [interval.early_ms for interval in self._armed.values()]
            returned_ms = outcome.returned_ms
            leaving += [e.at_ms for e in after if e.at_ms is not None and e.at_ms >= returned_ms]
            size = outcome.observed.get(Observable.SIZE.value)
            self._reading = _Reading(size, tuple(leaving))
        return judgement

    def _size(self, operation: Operation, outcome: Outcome, visited: set[str]) -> Divergence | None:
        """Judge the size that was read after the step before, by the begin of this one.

        Rules: TIMER-SIZE.
        """
        reading, by_ms = self._reading, outcome.called_ms
        if reading is None or by_ms is None:
            return None
        most = len(reading.leaving_ms)
        least = sum(early_ms > by_ms for early_ms in reading.leaving_ms)
        if reading.size in range(least, most + 1) and type(reading.size) is int:
            visited.update({"TIMER-SIZE"} if least == most else ())
            return None
        wanted = f"size = {most}" if least == most else f"size from {least} to {most}"
        seen = f"size = {reading.size}, read after the step before"
        return self._divergence(operation, outcome, "TIMER-SIZE", "size", wanted, seen)

    def _apply(self, operation: Operation, outcome: Outcome, visited: set[str]) -> None:
        assert outcome.called_ms is not None
        assert outcome.returned_ms is not None
        match operation:
            case Add(task, delay_ms):
                self._end(task, outcome.returned_ms, frozenset({"TIMER-READD-PENDING"}))
                rules = self._rules(task, delay_ms)
                self._ended.pop(task, None)
                self._armed[task] = self._interval(outcome, delay_ms, rules)
            case Cancel(task):
                if task not in self._armed:
                    known = "TIMER-CANCEL-FIRED" if task in self._ran else "TIMER-CANCEL-UNKNOWN"
                    visited.add("TIMER-CANCEL-AGAIN" if task in self._ended else known)
                self._end(task, outcome.returned_ms, frozenset({"TIMER-CANCEL"}))
            case _:
                pass

    def _rules(self, task: str, delay_ms: int) -> frozenset[str]:
        rules = set()
        if delay_ms == 0:
            rules.add("TIMER-ZERO-DELAY")
        if delay_ms < 0:
            rules.add("TIMER-NEGATIVE-DELAY")
        if delay_ms <= 0:
            rules.add("TIMER-ALREADY-DUE")
        if "TIMER-CANCEL" in self._ended.get(task, ()):
            rules.add("TIMER-READD-CANCELLED")
        elif task in self._ended:
            rules.add("TIMER-READD-PENDING")
        elif task in self._ran:
            rules.add("TIMER-READD-FIRED")
        return frozenset(rules)

    def _interval(self, outcome: Outcome, delay_ms: int, rules: frozenset[str]) -> _Interval:
        assert outcome.called_ms is not None
        assert outcome.returned_ms is not None
        tick_ms = self.configuration.tick_ms
        interval = ExpiryInterval(tick_ms, self.profile.rounding, self.profile.lateness_ms)
        early_ms = interval.early(outcome.called_ms, delay_ms)
        late_ms = interval.late(outcome.returned_ms, delay_ms)
        return _Interval(early_ms, late_ms, tick_ms > 1, rules)

    def _end(self, task: str, now_ms: int, rules: frozenset[str]) -> None:
        interval = self._armed.pop(task, None)
        if interval is None:
            return
        self._ended[task] = rules
        if interval.early_ms <= now_ms:
            self._doubtful.setdefault(task, []).append(interval)
        else:
            self._passing.append((interval, rules))

    def _ran_event(
        self, operation: Operation, outcome: Outcome, event: Event, visited: set[str]
    ) -> Divergence | None:
        if event.kind is not EventKind.RAN or event.at_ms is None:
            return self._divergence(
                operation, outcome, "TIMER-EXACTLY-ONCE", "form", "ran with at_ms", str(event)
            )
        task = event.task
        interval = self._armed.get(task)
        doubtful = [d for d in self._doubtful.get(task, []) if event.at_ms >= d.early_ms]
        if doubtful and (interval is None or event.at_ms < interval.early_ms):
            self._doubtful[task].remove(doubtful[0])
            self._ran.add(task)
            return None
        if interval is None:
            rule = min(self._ended.get(task, frozenset({"TIMER-EXACTLY-ONCE"})))
            return self._divergence(
                operation, outcome, rule, "ran", "no run of " + task, f"{task} ran"
            )
        if event.at_ms < interval.early_ms:
            return self._divergence(
                operation,
                outcome,
                "TIMER-NOT-EARLY",
                "early",
                f"{task} not before {interval.early_ms}",
                f"{task} ran at {event.at_ms}",
            )
        if event.at_ms > interval.late_ms:
            return self._late(operation, outcome, task, interval, f"ran at {event.at_ms}")
        del self._armed[task]
        self._ran.add(task)
        visited.update(("TIMER-NOT-EARLY", "TIMER-NOT-LATE", "TIMER-LATENESS"))
        visited.update(("TIMER-EXACTLY-ONCE", *interval.rules))
        if interval.off_tick:
            visited.add("TIMER-ROUNDING")
        return None

    def _overdue(self, operation: Operation, outcome: Outcome) -> Divergence | None:
        assert outcome.returned_ms is not None
        for task, interval in self._armed.items():
            if outcome.returned_ms > interval.late_ms:
                return self._late(operation, outcome, task, interval, "has not run")
        return None

    def _late(
        self, operation: Operation, outcome: Outcome, task: str, interval: _Interval, seen: str
    ) -> Divergence:
        return self._divergence(
            operation,
            outcome,
            "TIMER-LATENESS",
            "late",
            f"{task} not after {interval.late_ms}",
            f"{task} {seen} (returned at {outcome.returned_ms})",
        )

    def _divergence(
        self,
        operation: Operation,
        outcome: Outcome,
        rule: str,
        kind: str,
        expected: str,
        seen: str,
    ) -> Divergence:
        return Divergence(rule, kind, expected, seen, operation, outcome)
