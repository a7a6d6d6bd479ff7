"""The judge of a run: some order of its calls has to be allowed, and then nothing may be left.

The search for an order is that of ``purgatory trace linearize``, so that the same is asked of a run
here and of a run that a system has written down. A refuted run is put down to a rule by the judges
of traces whose calls overlap, where they find one, and else by the call that cannot be explained.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from purgatory_conformance.describing.steps import describe_operation
from purgatory_lab.scheduling.errors import CheckFailed
from purgatory_lab.scheduling.strangers.programs import AT_REST, LOOK
from purgatory_model.memory_pool import rule_of_admission
from purgatory_model.overlapping.interleaving import Called, Happened
from purgatory_spec import operations as op
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import EventKind, Value
from purgatory_spec.profiles import (
    Clock,
    Configuration,
    MemoryPoolConfiguration,
    MemoryPoolProfile,
    Profile,
    PurgatoryConfiguration,
    PurgatoryProfile,
    TimerConfiguration,
    TimerProfile,
    component_of,
)
from purgatory_traces.errors import PipelineError
from purgatory_traces.linearizability.calls import Entry, thread_of_line
from purgatory_traces.linearizability.checker import Answered, Finding, check_run
from purgatory_traces.linearizability.traced_history import TracedHistory
from purgatory_traces.linearizability.words import Words
from purgatory_traces.replay.judge import Finding as TraceFinding
from purgatory_traces.replay.overlapping.follower import Follower
from purgatory_traces.replay.overlapping.memory_pool.follower import MemoryPoolFollower
from purgatory_traces.replay.overlapping.purgatory.follower import PurgatoryFollower
from purgatory_traces.replay.overlapping.timer.follower import TimerFollower
from purgatory_traces.traces.lines import (
    Begin,
    Instance,
    ManualClock,
    MemoryPoolInstance,
    PurgatoryInstance,
    TimerInstance,
    WallClock,
)

_RUN: Final = "run"


class RuleBroken(CheckFailed):
    """A run breaks a rule."""

    def __init__(self, rule: str, words: str) -> None:
        super().__init__(f"{rule}: {words}")
        self.rule = rule
        self._words = words

    def besides(self, facts: Sequence[str]) -> "RuleBroken":
        """Return the same with further facts of the run."""
        return RuleBroken(self.rule, "; ".join((self._words, *facts)))


class Judge:
    """Judges the runs of one program; a history that came before is known.

    Attributes:
        begin: The first line of each run, as a trace would have it.
    """

    def __init__(self, configuration: Configuration, profile: Profile) -> None:
        self.begin = _begin(configuration, profile)
        self._component = component_of(profile)
        self._known: dict[tuple[object, ...], RuleBroken | None] = {}

    def __call__(
        self, entries: Sequence[Entry], shown: Mapping[str, Value], looked: Mapping[str, Value]
    ) -> RuleBroken | None:
        """Return the broken rule of a run; None if there is none.

        Args:
            entries: Calls, events and returns.
            shown: The observables after the closing calls.
            looked: Those of a purgatory before, when nothing is under way.
        """
        history = tuple((entry.event, entry.at_ms) for entry in entries)
        if history not in self._known:
            self._known[history] = self._refuted(entries)
        return self._known[history] or _armed(entries, looked) or self._left(entries, shown)

    def rule_of_call(self, operation: Operation) -> str:
        """Return the rule that a call breaks that never returns, or raises what it must not."""
        configuration = self.begin.instance.configuration
        if isinstance(operation, op.Allocate) and isinstance(
            configuration, MemoryPoolConfiguration
        ):
            return rule_of_admission(configuration)
        return _RULES_OF_CALLS[type(operation)]

    def _left(self, entries: Sequence[Entry], shown: Mapping[str, Value]) -> RuleBroken | None:
        declared = {each.value for each in self.begin.instance.profile.observables}
        if _is_shut_down(entries):
            declared -= {"size"}  # of what was dropped, or not: either is right
        for name, (expected, rule) in AT_REST[self._component].items():
            if name in declared and name in shown and shown[name] != expected:
                words = f"when all is over {name} is {shown[name]}, and not {expected}"
                return RuleBroken(rule, words)
        return None

    def _refuted(self, entries: Sequence[Entry]) -> RuleBroken | None:
        last_ms = entries[-1].at_ms if entries else None
        history = TracedHistory(_RUN, self.begin, entries=list(entries), ended_ms=last_ms)
        finding = check_run(history)
        if finding.answered is Answered.INCONCLUSIVE:
            raise CheckFailed(f"the run could not be judged: {finding.reason}")
        if finding.answered is Answered.LINEARIZABLE:
            return None
        return self._blamed(entries) or RuleBroken(self._rule_of(finding), _words(finding))

    def _blamed(self, entries: Sequence[Entry]) -> RuleBroken | None:
        """Return what the judge of traces on a real clock finds; None if it finds nothing."""
        try:
            found = _found(self.begin, entries)
        except (PipelineError, ValueError):
            return None
        if found is None:
            return None
        rule = "TIMER-EXACTLY-ONCE" if found.rule == "TIMER-LATENESS" else found.rule
        where = f"{found.thread} in “{found.operation}”: " if found.thread else ""
        return RuleBroken(rule, f"{where}expected {found.expected}; seen {found.seen}")

    def _rule_of(self, finding: Finding) -> str:
        """Return the rule of the call that cannot be explained."""
        share = finding.shares[0]
        entry, refutation = share.unexplained, share.refutation
        assert entry is not None
        assert refutation is not None
        event = entry.event
        if isinstance(event, Happened):
            return _RULES_OF_EVENTS[event.event.kind]
        called = [
            each.event.operation
            for each in share.entries
            if isinstance(each.event, Called)
            and each.event.thread == event.thread
            and each.seq <= entry.seq
        ]
        answers = [answer for each in refutation.answers.values() for answer in each]
        if isinstance(called[-1], op.Release) and any(answer.raised for answer in answers):
            return "POOL-RELEASE-AGAIN"
        if isinstance(called[-1], op.Advance | op.RunOne) and _is_shut_down(share.entries):
            return "TIMER-SHUTDOWN-DROPS"
        return self.rule_of_call(called[-1])


def _is_shut_down(entries: Sequence[Entry]) -> bool:
    """Decide whether somebody has shut the timer down."""
    return any(isinstance(getattr(each.event, "operation", None), op.Shutdown) for each in entries)


def _armed(entries: Sequence[Entry], looked: Mapping[str, Value]) -> RuleBroken | None:
    """Return the broken rule if another number of operations is in the timer than wait.

    Rules: PURGATORY-TIMER-LEFT, PURGATORY-COUNTS-WHEN-QUIET.
    """
    events = [entry.event for entry in entries]
    looks = (place for place, event in enumerate(events) if getattr(event, "operation", 0) is LOOK)
    before = events[: next(looks, 0)]
    called = [event.operation for event in before if isinstance(event, Called)]
    if not looked or any(isinstance(operation, op.CancelForKey) for operation in called):
        return None
    waiting = {operation.operation for operation in called if isinstance(operation, op.Watch)}
    for event in before:
        if isinstance(event, Happened) and event.event.kind is EventKind.COMPLETED:
            waiting.discard(event.event.task)
    for name in ("timer_size", "pending"):
        if name in looked and looked[name] != len(waiting):
            words = f"{name} is {looked[name]}, and {len(waiting)} operations wait"
            return RuleBroken("PURGATORY-TIMER-LEFT", words)
    return None


_RULES_OF_CALLS: Final[Mapping[type[Operation], str]] = {
    op.Add: "TIMER-EXACTLY-ONCE",
    op.Cancel: "TIMER-CANCEL",
    op.Elapse: "TIMER-NOT-LATE",
    op.Advance: "TIMER-NOT-LATE",
    op.RunOne: "TIMER-EXACTLY-ONCE",
    op.Wait: "TIMER-NOT-LATE",
    op.Shutdown: "TIMER-SHUTDOWN-DROPS",
    op.Watch: "PURGATORY-WATCH-WAITS",
    op.Check: "PURGATORY-NOT-LOST",
    op.Satisfy: "PURGATORY-NOT-LOST",
    op.Force: "PURGATORY-FORCE",
    op.CancelForKey: "PURGATORY-CANCEL-RESULT",
    op.Release: "POOL-RELEASE",
}

_RULES_OF_EVENTS: Final[Mapping[EventKind, str]] = {
    EventKind.EXPIRED: "TIMER-EXACTLY-ONCE",
    EventKind.RAN: "TIMER-EXACTLY-ONCE",
    EventKind.TRIED: "PURGATORY-COMPLETED-NOT-TRIED",
    EventKind.COMPLETED: "PURGATORY-EXACTLY-ONCE",
    EventKind.TIMED_OUT: "PURGATORY-TIME-OUT",
}


def _begin(configuration: Configuration, profile: Profile) -> Begin:
    clock: ManualClock | WallClock = ManualClock()
    instance: Instance
    match configuration, profile:
        case TimerConfiguration(), TimerProfile():
            instance = TimerInstance(configuration, profile)
            if profile.clock is Clock.WALL:
                clock = WallClock(profile.lateness_ms)
        case PurgatoryConfiguration(), PurgatoryProfile():
            instance = PurgatoryInstance(configuration, profile)
        case MemoryPoolConfiguration(), MemoryPoolProfile():
            instance = MemoryPoolInstance(configuration, profile)
        case _:
            raise ValueError(f"threads do not share a {component_of(profile).value} here")
    return Begin(run=_RUN, seq=0, instance=instance, clock=clock)


def _found(begin: Begin, entries: Sequence[Entry]) -> TraceFinding | None:
    """Return what the follower of traces on a real clock finds in a history.

    On a manual clock a reading is not known while the clock is moved: it lies between those of the
    calls that have moved it and of those that have begun to.
    """
    follower = _follower(begin)
    calls: dict[str, tuple[Operation, Any]] = {}
    first_ms = last_ms = 0
    for entry in entries:
        event = entry.event
        if entry.at_ms is not None:
            first_ms = last_ms = entry.at_ms
        found: TraceFinding | None = None
        operation: Operation | None = None
        if isinstance(event, Called):
            operation = event.operation
            if isinstance(operation, op.Advance | op.Elapse):
                last_ms = max(last_ms, operation.to_ms)
            told = op.Wait(0) if isinstance(operation, op.Elapse) else operation
            calls[event.thread] = operation, follower.called(told, first_ms)
        elif isinstance(event, Happened):
            operation, kept = calls.get(event.thread, (None, None))
            found = follower.happened(event.thread, kept, event.event, first_ms, last_ms)
        else:
            operation, kept = calls.pop(event.thread)
            if isinstance(operation, op.Advance | op.Elapse):
                first_ms = max(first_ms, operation.to_ms)
            found = follower.returned(kept, event.result, event.raised, last_ms)
        if found is not None:
            if operation is None:
                return found
            words = describe_operation(operation)
            return dataclasses.replace(found, thread=event.thread, operation=words)
    return follower.ended(last_ms)


def _follower(begin: Begin) -> Follower[Any]:
    clock = begin.clock if isinstance(begin.clock, WallClock) else WallClock(0)
    on_real_clock = msgspec.structs.replace(begin, clock=clock)
    match begin.instance:
        case TimerInstance():
            return TimerFollower(on_real_clock)
        case PurgatoryInstance():
            return PurgatoryFollower(on_real_clock)
        case MemoryPoolInstance():
            return MemoryPoolFollower(on_real_clock)


def _words(finding: Finding) -> str:
    """Return what cannot be explained, and what could have been answered in its place."""
    words = Words(finding)
    share = finding.shares[0]
    entry, refutation = share.unexplained, share.refutation
    assert entry is not None
    assert refutation is not None
    said = [f"no order of the calls explains this: {words.told(share, entry)}"]
    for call in refutation.open_calls:
        answers = refutation.answers.get(call.number, ())
        possible = dict.fromkeys(words.answer(call.operation, each) for each in answers)
        if possible:
            thread = thread_of_line(call.thread)
            said.append(f"{thread} could have answered {' or '.join(possible)}")
    return "; ".join(said)
