"""The judge of a run whose calls may overlap, on a clock that moves by itself.

Theory of operation. Lines tell of calls, callbacks and returns, in the order in which they
happened; a ``step`` is a call with all that belongs to it. This module keeps the open calls of each
thread, one inside the other where callbacks call, and what time it is. What calls and callbacks
mean is the business of a *follower*, one for each component.

A line's time is read before its number is given out, so it may be a little older than the lines
before it. What is judged by a time is judged by the line's own. That something is *missing* is
said by the latest time of all lines, and only when as much time has passed again as an expiry may
be late: its line may still come.

Observables are not compared: other threads may change them before they are read.

A run must be able to refute what it is said to conform to. A call that is open at the end has no
result that could be wrong. It is wrong itself where the run goes on for long, and neither it nor
any other open call has begun a callback: such calls wait for each other, or for ever. Where
expiries were awaited and the run ends, or shuts down, before any expiry of it could be overdue, no
missing expiry could be told.
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Generic

from purgatory_conformance.describing.steps import describe_operation
from purgatory_conformance.describing.words import joined
from purgatory_spec.operations import Advance, Operation, RunOne, Shutdown, Wait
from purgatory_spec.outcomes import Event, EventKind, Value
from purgatory_spec.reasons import Reason
from purgatory_traces.errors import Unusable
from purgatory_traces.replay.judge import Finding, JudgedLine, Unjudged
from purgatory_traces.replay.overlapping.follower import Follower, Kept
from purgatory_traces.replay.overlapping.recent_names import MOST_NAMES
from purgatory_traces.replay.overlapping.rules import rule_of_open_call
from purgatory_traces.traces.lines import (
    NS_PER_MS,
    Begin,
    Call,
    End,
    Happened,
    Return,
    Snapshot,
    Step,
)

_WITHOUT_THREAD = (Snapshot, End)
_MAY_WAIT = (Advance, RunOne, Shutdown, Wait)
"""Operations that wait for time to pass, for a task to run, or for the running ones to end."""

_LONG = 10
_LEAST_LONG_MS = 500
"""A call is open for long after so many times the lateness, and at least so long, ms."""

_EXPIRIES = (EventKind.EXPIRED, EventKind.RAN, EventKind.TIMED_OUT)


@dataclass(slots=True)
class _OpenCall(Generic[Kept]):
    """An open call of a thread, with what the follower keeps of it.

    ``since_ms`` is when it began. One that ``has_called_back`` may be in a callback for any time.
    ``next_call`` is a call of the same thread with no callback told before.
    """

    operation: Operation
    kept: Kept
    since_ms: int
    has_called_back: bool = False
    next_call: Operation | None = None


@dataclass(slots=True)
class OverlappingJudge(Generic[Kept]):
    """Follows a run of a component by its follower; see ``TraceJudge``."""

    begin: Begin
    follower: Follower[Kept]
    _calls: dict[str, list[_OpenCall[Kept]]] = field(default_factory=dict)
    _latest_ns: dict[str, int] = field(default_factory=dict)
    """The time of each thread's latest line; of ``MOST_NAMES`` threads at the most."""
    _now_ms: int | None = None
    _fresh: bool = True
    _saw_expiry: bool = False

    @property
    def visits(self) -> Counter[str]:
        """Return how often each rule was put to the test so far."""
        return self.follower.visits

    @property
    def deviated(self) -> tuple[str, ...]:
        """Return the declared deviations that were seen so far."""
        return tuple(sorted(self.follower.deviated))

    @property
    def unjudged(self) -> Unjudged:
        """Return the part that could not be judged, if no line follows; see ``TraceJudge``."""
        pending = self.follower.pending_expiries()
        open_calls = sum(map(len, self._calls.values()))
        profile = self.begin.instance.profile
        observables = tuple(sorted(each.value for each in profile.observables))
        return Unjudged(pending, open_calls, observables, self._unrefuted(pending, open_calls))

    def _unrefuted(self, pending: int, open_calls: int) -> str:
        """Return the reason why a rule could not be refuted; empty where each could."""
        if open_calls:
            words = (
                "1 call never returned" if open_calls == 1 else f"{open_calls} calls never returned"
            )
            thread, call = self._first_open_call()
            told = f"{describe_operation(call.operation)!r} in thread {thread!r}"
            if call.next_call is not None:
                told += (
                    f", which called {describe_operation(call.next_call)!r} next, with no "
                    "callback told in between: its return may be lost"
                )
            return f"{words}, so that no result could be wrong: {told}"
        rule = self.follower.expiry_rule
        if pending and not self._saw_expiry and not self.follower.visits[rule]:
            awaited = "1 expiry was" if pending == 1 else f"{pending} expiries were"
            return (
                f"{awaited} awaited, none came, and the run is too short for any to be overdue: "
                f"{rule} could not be refuted"
            )
        return ""

    def _first_open_call(self) -> tuple[str, _OpenCall[Kept]]:
        """Return an open call with its thread: one whose return is lost, or else the first."""
        every = [(thread, call) for thread, calls in self._calls.items() for call in calls]
        return next((each for each in every if each[1].next_call is not None), every[0])

    def take(self, line: JudgedLine) -> Finding | None:
        """Judge one line; see ``TraceJudge``."""
        if isinstance(line, End):
            return self._ended(line)
        if line.at_ns is None:
            raise Unusable("a line on a wall clock needs at_ns")
        self._reject_clock_that_goes_back(line, line.at_ns)
        at_ms = line.at_ns // NS_PER_MS
        match line:
            case Happened(thread=thread, event=kind, task=task, reason=reason):
                self._saw_expiry |= kind in _EXPIRIES
                stack = self._calls.get(thread)
                if stack:
                    stack[-1].has_called_back = True
                finding = self.follower.happened(
                    thread,
                    stack[-1].kept if stack else None,
                    Event(kind, task, reason),
                    at_ms,
                    at_ms,
                )
            case Call(thread=thread, operation=operation):
                finding = self._called(thread, operation, at_ms)
            case Return(thread=thread, result=result, rejected=rejected):
                finding = self._returned(thread, result, rejected, at_ms)
            case Step():
                finding = self._step(line, at_ms)
            case Snapshot():
                finding = self._snapshot(line, at_ms)
        self._fresh = False
        if self._now_ms is None or at_ms > self._now_ms:
            self._now_ms = at_ms
        if finding is None:
            return self.follower.passed(self._now_ms)
        return self._in_words(finding, line)

    def _reject_clock_that_goes_back(self, line: JudgedLine, at_ns: int) -> None:
        """See that the lines of each thread are in the order of their times."""
        if isinstance(line, _WITHOUT_THREAD):
            return
        first_ns = at_ns
        if isinstance(line, Step) and line.called_ns is not None:
            first_ns = line.called_ns
        latest_ns = self._latest_ns
        before_ns = latest_ns.get(line.thread, first_ns)
        if first_ns > at_ns:
            raise Unusable(f"the clock goes back: called at {first_ns}, over at {at_ns}")
        if first_ns < before_ns:
            raise Unusable(
                f"the clock goes back in thread {line.thread!r}: {first_ns} after {before_ns}"
            )
        latest_ns[line.thread] = at_ns
        if len(latest_ns) > MOST_NAMES:
            del latest_ns[next(iter(latest_ns))]

    def _called(self, thread: str, operation: Operation, at_ms: int) -> Finding | None:
        """Follow a call that begins; after a shutdown, no dropped expiry may be overdue."""
        if isinstance(operation, Shutdown):
            finding = self.follower.passed(max(at_ms, self._now_ms or at_ms))
            if finding is not None:
                return finding
        kept = self.follower.called(operation, at_ms)
        stack = self._calls.setdefault(thread, [])
        if stack:
            if not stack[-1].has_called_back:
                stack[-1].next_call = operation
            stack[-1].has_called_back = True
        stack.append(_OpenCall(operation, kept, at_ms))
        return None

    def _returned(
        self, thread: str, result: Value, rejected: Reason | None, at_ms: int
    ) -> Finding | None:
        stack = self._calls.get(thread)
        if not stack:
            raise Unusable(f"thread {thread!r} returns and is in no call")
        call = stack.pop()
        if not stack:
            del self._calls[thread]
        finding = self.follower.returned(call.kept, result, rejected, at_ms)
        if finding is None or finding.operation:
            return finding
        return replace(finding, operation=describe_operation(call.operation))

    def _step(self, line: Step, at_ms: int) -> Finding | None:
        """Follow a whole call, with the events before its beginning."""
        called_ms = at_ms if line.called_ns is None else line.called_ns // NS_PER_MS
        events = [
            (event, called_ms, at_ms) if event.at_ms is None else (event, event.at_ms, event.at_ms)
            for event in line.events
        ]
        for event, first_ms, last_ms in events:
            if last_ms < called_ms:
                finding = self.follower.happened(line.thread, None, event, first_ms, last_ms)
                if finding is not None:
                    return finding
        finding = self._called(line.thread, line.operation, called_ms)
        if finding is not None:
            return finding
        kept = self._calls[line.thread][-1].kept
        for event, first_ms, last_ms in events:
            if last_ms >= called_ms:
                finding = self.follower.happened(line.thread, kept, event, first_ms, last_ms)
                if finding is not None:
                    return finding
        return self._returned(line.thread, line.result, line.rejected, at_ms)

    def _snapshot(self, line: Snapshot, at_ms: int) -> Finding | None:
        if not self._fresh or self.begin.seq == 0:
            return self.follower.compare(line, at_ms)
        for thread, operation, kept in self.follower.resume(line, at_ms):
            # The callback that it may be in is not told.
            call = _OpenCall(operation, kept, at_ms, has_called_back=True)
            self._calls.setdefault(thread, []).append(call)
        return None

    def _ended(self, line: End) -> Finding | None:
        now_ms = self._now_ms
        if line.at_ns is not None and (now_ms is None or line.at_ns // NS_PER_MS > now_ms):
            now_ms = line.at_ns // NS_PER_MS
        if now_ms is None:
            return None
        return self.follower.ended(now_ms) or self._never_returns(now_ms)

    def _never_returns(self, now_ms: int) -> Finding | None:
        """Return a finding where no open call has anything left to wait for.

        A call waits at most for tries and callbacks that are under way, and for other calls. So
        nothing is found where an open call may be in a callback, or has begun not long ago.
        Rules: PURGATORY-NO-CIRCLE.
        """
        waiting = [(thread, calls[-1]) for thread, calls in self._calls.items()]
        if len(waiting) == 1:
            # A thread that was ended leaves such a call, too: others have to go on without it.
            now_ms = self._now_ms if self._now_ms is not None else now_ms
        long_ms = max(_LONG * self.follower.lateness_ms, _LEAST_LONG_MS)
        for _, call in waiting:
            if call.has_called_back or isinstance(call.operation, _MAY_WAIT):
                return None
            if now_ms - call.since_ms <= long_ms:
                return None
        if not waiting:
            return None
        thread, first = waiting[0]
        told = [
            f"{describe_operation(call.operation)!r} in thread {name!r} since {call.since_ms}"
            for name, call in waiting
        ]
        return Finding(
            rule_of_open_call(first.operation),
            "never returns",
            "the call returns: no try and no callback is under way that it could wait for",
            f"at {now_ms} {joined(told)} {'has' if len(told) == 1 else 'have'} not returned",
            describe_operation(first.operation),
            thread,
        )

    def _in_words(self, finding: Finding, line: JudgedLine) -> Finding:
        """Return the finding with its thread and its operation."""
        thread = getattr(line, "thread", "")
        operation = finding.operation
        if not operation and isinstance(line, Step | Call):
            operation = describe_operation(line.operation)
        if not operation and isinstance(line, Happened):
            operation = f"{line.event.value}: {line.task}"
        return replace(finding, operation=operation, thread=finding.thread or thread)
