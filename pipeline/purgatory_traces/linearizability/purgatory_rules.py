"""The rules of one delayed operation of a purgatory, for a search.

A purgatory is explained operation by operation, by the parts that its rules divide calls into
(PURGATORY-OVERLAPPING-CALLS). The rules leave open when a watch arms the time-out; an operation has
to be explained by one of ``System.rules``.

Where operations leave all lists as they complete, a cancellation may find them or not: nobody sees
when they have left. On a manual clock time is left out. On a real clock nobody sees the timer hand
over, nor a purge. A purge may happen at any moment, a hand-over from the earliest time on
(``time_outs``); who disarms an operation later than that may come too late, so that it times out
all the same (TIMER-CANCEL-TOO-LATE). Where the executor runs in the caller's thread, the call that
hands over also runs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from purgatory_model.overlapping.calls import OverlappedOperation, OverlappingCalls
from purgatory_model.overlapping.parts import WHOLE, Part, Stage
from purgatory_model.overlapping.sequential_rules import Effect
from purgatory_spec.operations import CancelForKey, Operation, RunOne
from purgatory_spec.outcomes import EventKind
from purgatory_spec.profiles import CheckDrops, Executor, PurgatoryProfile
from purgatory_traces.linearizability.calls import CallRules, RecordedCall
from purgatory_traces.linearizability.operation_shares import OperationShares
from purgatory_traces.linearizability.share import Share
from purgatory_traces.linearizability.time_outs import TimeOuts, may_time_out_in
from purgatory_traces.replay.overlapping.purgatory.operation_monitor import System
from purgatory_traces.snapshots.delayed_operation import delayed_operation
from purgatory_traces.traces.lines import WaitingOperation


@dataclass(frozen=True, slots=True)
class OperationCalls(CallRules[OverlappedOperation]):
    """The rules of one operation, with what a trace does not show.

    Attributes:
        rules: The rules of calls that overlap.
        executor: Where an expired operation runs.
        real_clock: Whether the timer and the purge cannot be seen at work.
        leaves_lists: Whether an operation leaves all lists as it completes.
        first: What it is like when the history begins.
        earliest_ms: When it may be handed over at the earliest; None where that is unknown.
    """

    rules: OverlappingCalls
    executor: Executor
    real_clock: bool
    leaves_lists: bool
    first: OverlappedOperation
    earliest_ms: int | None = None

    def initial(self) -> OverlappedOperation:
        """Return the operation when the history begins."""
        return self.first

    def effects(
        self, state: OverlappedOperation, call: RecordedCall, part: Part
    ) -> Iterator[Effect[OverlappedOperation]]:
        """Yield the ways in which a part of a call may take effect."""
        if part.inside:
            yield from self._run_inside(state, part)
            return
        for before in self._before(state, call, part):
            for effect in self.rules.effects(before, call.operation, part):
                if effect.state.queued > state.queued and not self._may_time_out_in(call):
                    continue
                yield self._as_shown(effect, call.operation)
                if before.armed and self._comes_too_late(effect.state, call):
                    queued = replace(effect.state, queued=effect.state.queued + 1)
                    yield self._as_shown(replace(effect, state=queued), call.operation)

    def _comes_too_late(self, after: OverlappedOperation, call: RecordedCall) -> bool:
        """Decide whether a just disarmed operation may have been handed over before."""
        disarmed = not after.armed and not after.completed and not after.queued
        return disarmed and self.real_clock and self._may_time_out_in(call)

    def _may_time_out_in(self, call: RecordedCall) -> bool:
        return may_time_out_in(call, self.earliest_ms)

    def _before(
        self, state: OverlappedOperation, call: RecordedCall, part: Part
    ) -> Iterator[OverlappedOperation]:
        """Yield the states to which unseen steps may lead before a part takes effect."""
        yield state
        if part != WHOLE:
            return
        operation = call.operation
        may_have_left = self.real_clock or self.leaves_lists
        if isinstance(operation, CancelForKey) and state.completed and may_have_left:
            left = tuple(each for each in state.entries if each != operation.key)
            yield replace(state, entries=left)
        may_run = isinstance(operation, RunOne) and self._may_time_out_in(call)
        if may_run and state.armed and self.real_clock:
            yield replace(state, armed=False, queued=state.queued + 1)

    def _as_shown(
        self, effect: Effect[OverlappedOperation], operation: Operation
    ) -> Effect[OverlappedOperation]:
        """Return the effect as this executor shows it; inline, a handed over operation runs."""
        if self.executor is Executor.STEPPED:
            return effect
        shown = tuple(event for event in effect.events if event.kind is not EventKind.EXPIRED)
        handed_over = len(shown) < len(effect.events)
        if handed_over and self.executor is Executor.INLINE:
            run = Part(Stage.WHOLE, inside=True, following=effect.then)
            return replace(effect, events=shown, then=run)
        return replace(effect, events=shown)

    def _run_inside(
        self, state: OverlappedOperation, part: Part
    ) -> Iterator[Effect[OverlappedOperation]]:
        """Run what the call has handed over, and then go on with the call, if it is not over."""
        own = part._replace(inside=False, following=None)
        for effect in self.rules.effects(state, RunOne(), own):
            if own == WHOLE and effect.state == state:
                continue
            after = part.following
            if effect.then is not None:
                after = effect.then._replace(inside=True, following=part.following)
            yield replace(effect, then=after)


def operation_share(
    name: str, profile: PurgatoryProfile, operations: OperationShares
) -> Share[OverlappedOperation]:
    """Return the share of one delayed operation.

    Args:
        name: The operation.
        profile: What the purgatory declares.
        operations: The run.
    """
    history = operations.history
    assert history.begin is not None
    entries = operations.of(name)
    waiting = (each for each in history.waiting if each.operation == name)
    first = delayed_operation(
        next(waiting, WaitingOperation(name)),
        closed=history.snapshot is not None and history.snapshot.closed,
    )
    earliest_ms = TimeOuts(history).earliest_ms(name, entries)
    calls = (
        OperationCalls(
            rules,
            profile.executor,
            real_clock=history.is_on_real_clock,
            leaves_lists=profile.check_drops is CheckDrops.EVERYWHERE,
            first=first,
            earliest_ms=earliest_ms,
        )
        for rules in System.of(history.begin, profile).rules(name)
    )
    return Share(name, entries, tuple(calls))
