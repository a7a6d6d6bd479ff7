"""The judge of a run whose calls follow one another, on a manual clock.

Theory of operation. Each step is judged by the judge that the conformance suite has for the
component. That one is made to forget what is finished, so that it does not grow with the run; where
the first line says that names are kept, it remembers everything, as in a case of the suite. What
cannot be a step of the instance, whatever the instance does (an operation that its component does
not have, a clock that goes back, a name that stands for two live objects), makes the line unusable:
it tells something about whoever wrote the trace, and nothing about the instance.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, get_args

import msgspec

from purgatory_conformance.describing.steps import describe_operation
from purgatory_judge.case_judge import CaseJudge, Deviation
from purgatory_judge.components import narrowed
from purgatory_judge.judgement import Divergence, TooManyStates
from purgatory_judge.registry import judged
from purgatory_model.memory_pool import MemoryPoolState
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.outcomes import Event, Outcome
from purgatory_traces.errors import Undecided, Unusable
from purgatory_traces.replay.judge import Finding, JudgedLine, Unjudged
from purgatory_traces.snapshots.snapshots import mismatch, profile_after_snapshot, state_of
from purgatory_traces.traces.lines import (
    Begin,
    End,
    Instance,
    MemoryPoolInstance,
    Snapshot,
    Step,
    TimerInstance,
)

_OPERATIONS: Final = {
    profiles.Component.TIMER: frozenset(get_args(op.TimerOperation)) - {op.Wait},
    profiles.Component.PURGATORY: frozenset(get_args(op.PurgatoryOperation)),
    profiles.Component.MEMORY_POOL: frozenset(get_args(op.MemoryPoolOperation)),
}
_OBSERVABLES: Final = frozenset(
    each.value
    for observables in (
        profiles.Observable,
        profiles.PurgatoryObservable,
        profiles.MemoryPoolObservable,
    )
    for each in observables
)


@dataclass(slots=True)
class SequentialJudge:
    """Follows a run by the judge that the conformance suite has for its component; see above.

    It can be pickled between any two lines.
    """

    begin: Begin
    visits: Counter[str] = field(default_factory=Counter)
    _component: profiles.Component = field(init=False)
    _judge: CaseJudge = field(init=False)
    _knows_nothing: bool = field(init=False)
    """True if the run begins in the middle, and the snapshot is still to come."""

    def __post_init__(self) -> None:
        """Begin with a fresh instance, or be ready for a snapshot.

        Raises:
            Unusable: there is no model of such an instance.
        """
        self._component = profiles.component_of(self.begin.instance.configuration)
        self._judge = self._judge_of(self.begin.instance.profile, None)
        self._knows_nothing = self.begin.seq != 0

    @property
    def deviated(self) -> tuple[str, ...]:
        """Return the declared deviation that was seen, if any."""
        divergence = self._judge.deviated
        return () if divergence is None else (divergence.rule,)

    @property
    def unjudged(self) -> Unjudged:
        """Return nothing unjudged: a step is judged as a whole, and tells its expiries itself."""
        return Unjudged()

    def take(self, line: JudgedLine) -> Finding | None:
        """Judge one line; see ``TraceJudge``."""
        try:
            match line:
                case Step():
                    return self._step(line)
                case End():
                    return None
                case Snapshot():
                    return self._snapshot(line)
        except TooManyStates:
            raise Undecided("too many states are possible") from None
        except RecursionError:
            raise Undecided("callbacks call each other too deeply to be followed") from None
        raise Unusable("calls that overlap cannot be judged on a manual clock")

    def _judge_of(self, profile: profiles.Profile, state: object) -> CaseJudge:
        begin = self.begin
        deviations = tuple(Deviation(each.rule, each.variant, "") for each in begin.deviations)
        try:
            judge = judged(self._component).judge(
                begin.instance.configuration,
                _on_a_manual_clock(profile, begin.instance),
                deviations,
                forgetful=not begin.keeps_names,
                state=state,
            )
        except ValueError as problem:
            raise Unusable(str(problem)) from None
        return narrowed(judge, CaseJudge)

    def _snapshot(self, line: Snapshot) -> Finding | None:
        """Begin with what a snapshot tells, or compare it with what is known."""
        instance = self.begin.instance
        if self._knows_nothing:
            self._judge = self._judge_of(profile_after_snapshot(instance), state_of(line, instance))
            self._knows_nothing = False
            return None
        if self._judge.deviated is not None:
            return None  # what is believed of an instance that deviates is no fact about it
        found = mismatch(line, instance, self._judge.states)
        if found is None:
            return None
        return Finding(found.rule, "snapshot", found.expected, found.seen, "snapshot")

    def _step(self, line: Step) -> Finding | None:
        self._reject_impossible(line)
        outcome = Outcome(line.result, line.rejected, _without_times(line.events), line.observed)
        try:
            judgement = self._judge.step(line.operation, outcome)
        except ValueError as problem:
            raise Unusable(str(problem)) from None
        self.visits.update(judgement.visited)
        if judgement.divergence is None:
            return None
        return self._finding(line, judgement.divergence)

    def _reject_impossible(self, line: Step) -> None:
        """See that the line can be a step of the instance, whatever that does."""
        operation = line.operation
        if type(operation) not in _OPERATIONS[self._component]:
            name, component = op.operation_name(operation), self._component.value.replace("_", " ")
            raise Unusable(f"a {component} on a manual clock has no operation {name}")
        if self._component is profiles.Component.MEMORY_POOL:
            self._reject_impossible_buffer(line, narrowed(self._judge.state, MemoryPoolState))

    def _reject_impossible_buffer(self, line: Step, state: MemoryPoolState) -> None:
        """Check that a name stands for one buffer, and that a returned buffer is known."""
        match line.operation:
            case op.Allocate(buffer) if line.result is True and buffer in state.held:
                raise Unusable(f"{buffer!r} is the name of a buffer that is outstanding already")
            case op.Release(buffer) if buffer not in state.held and not self.begin.keeps_names:
                instance = narrowed(self.begin.instance, MemoryPoolInstance)
                by_size = instance.profile.release_validation is profiles.ReleaseValidation.NONE
                if by_size and not instance.configuration.unbounded:
                    raise Unusable(
                        f"{buffer!r} is not outstanding: give its size, with release_foreign"
                    )

    def _finding(self, line: Step, divergence: Divergence) -> Finding:
        missing = divergence.kind in _OBSERVABLES and divergence.kind not in line.observed
        if missing:
            raise Unusable(f"{divergence.kind} is missing, which the first line says is observed")
        return Finding(
            rule=divergence.rule,
            kind=divergence.kind,
            expected=divergence.expected,
            seen=divergence.seen,
            operation=describe_operation(line.operation),
            thread=line.thread,
            also=divergence.also,
        )


def _on_a_manual_clock(profile: profiles.Profile, instance: Instance) -> profiles.Profile:
    if isinstance(instance, TimerInstance):
        return msgspec.structs.replace(profile, clock=profiles.Clock.MANUAL)
    return profile


def _without_times(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """Return the events without their times, which tell nothing on a manual clock."""
    if all(event.at_ms is None for event in events):
        return events
    return tuple(Event(event.kind, event.task, event.reason) for event in events)
