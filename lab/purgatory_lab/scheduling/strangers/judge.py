"""The judge of a run: some order of its calls has to be allowed, and then nothing may be left.

The search for an order is that of ``purgatory trace linearize``, so that the same is asked of a run
here and of a run that a system has written down. A refuted run is put down to a rule by the judges
of traces whose calls overlap, where they find one, and else by the call that cannot be explained.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from purgatory_conformance.describing.steps import describe_operation
from purgatory_lab.scheduling.errors import CheckFailed
from purgatory_lab.scheduling.strangers.programs import AT_REST
from purgatory_model.overlapping.interleaving import Called, Happened, Returned
from purgatory_spec import operations as op
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Value
from purgatory_spec.profiles import (
    Clock,
    Component,
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
from purgatory_traces.linearizability.calls import Entry
from purgatory_traces.linearizability.checker import Answered, Finding, check_run
from purgatory_traces.linearizability.traced_history import TracedHistory
from purgatory_traces.linearizability.words import Words
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


class Judge:
    """Judges the runs of one program; a history that came before is known.

    Attributes:
        begin: The first line of each run, as a trace would have it.
    """

    def __init__(self, configuration: Configuration, profile: Profile) -> None:
        self.begin = _begin(configuration, profile)
        self._component = component_of(profile)
        self._known: dict[tuple[object, ...], RuleBroken | None] = {}

    def __call__(self, entries: Sequence[Entry], shown: Mapping[str, Value]) -> RuleBroken | None:
        """Return the broken rule of a run; None if there is none.

        Args:
            entries: Calls, events and returns.
            shown: The observables after the closing calls.
        """
        history = tuple((entry.event, entry.at_ms) for entry in entries)
        if history not in self._known:
            self._known[history] = self._refuted(entries)
        return self._known[history] or self._left(shown)

    def _left(self, shown: Mapping[str, Value]) -> RuleBroken | None:
        for name, (expected, rule) in AT_REST[self._component].items():
            if name in shown and shown[name] != expected:
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
        words = "; ".join(Words(finding).details())
        return RuleBroken(_followed(self.begin, entries) or _rule_of(finding), words)


def rule_of_call(operation: Operation) -> str:
    """Return the rule that a call breaks that never returns, or raises what it must not."""
    return _RULES_OF_CALLS[type(operation)]


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
    op.Allocate: "POOL-NON-STRICT",
    op.Release: "POOL-RELEASE",
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


def _followed(begin: Begin, entries: Sequence[Entry]) -> str:
    """Return the rule that the judge of traces on a real clock names; empty if it finds none."""
    return ""


def _rule_of(finding: Finding) -> str:
    """Return the rule of the call that cannot be explained."""
    share = finding.shares[0]
    entry = share.unexplained
    assert entry is not None
    event = entry.event
    if isinstance(event, Called):
        return rule_of_call(event.operation)
    if isinstance(event, Happened):
        return "TIMER-EXACTLY-ONCE"
    assert isinstance(event, Returned)
    called = [
        each.event.operation
        for each in share.entries
        if isinstance(each.event, Called) and each.event.thread == event.thread
        and each.seq < entry.seq
    ]
    return rule_of_call(called[-1])
