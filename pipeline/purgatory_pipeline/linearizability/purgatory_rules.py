"""The rules of one delayed operation of a purgatory, for a search.

A purgatory is explained operation by operation, by the parts that its rules divide calls into
(PURGATORY-OVERLAPPING-CALLS). The rules leave open when a watch arms the time-out, so there are
several statements of them; a run has to be explained by one.

On a manual clock time is left out. On a real clock nobody sees the timer hand over, nor a purge. A
purge may happen at any moment, a hand-over from the earliest time on (``time_outs``); who disarms
an operation later than that may come too late, so that it times out all the same
(TIMER-CANCEL-TOO-LATE). Where the executor runs in the caller's thread, the call that hands over
also runs.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeAlias, TypeVar

from purgatory_model.overlapping.calls import OverlappedOperation, OverlappingCalls
from purgatory_model.overlapping.exact_calls import CountedOperation, OverlappingExactCalls
from purgatory_model.overlapping.parts import WHOLE, Part, Stage
from purgatory_model.overlapping.sequential_rules import Effect, Rules
from purgatory_pipeline.linearizability.calls import Entry, RecordedCall
from purgatory_pipeline.linearizability.share import Share
from purgatory_pipeline.linearizability.time_outs import TimeOuts, may_time_out_in
from purgatory_pipeline.snapshots.delayed_operation import counted_operation, listed_operation
from purgatory_pipeline.traces.lines import Snapshot, WaitingOperation
from purgatory_spec.operations import CancelForKey, Operation, RunOne
from purgatory_spec.outcomes import EventKind
from purgatory_spec.profiles import Accounting, Executor

Watched = TypeVar("Watched", OverlappedOperation, CountedOperation)

OperationShare: TypeAlias = Share[OverlappedOperation] | Share[CountedOperation]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of the rules.

    Attributes:
        words: It in words.
        share_of: The share of an operation, by its name and what of a history concerns it.
    """

    words: str
    share_of: Callable[[str, Sequence[Entry]], OperationShare]


@dataclass(frozen=True, slots=True)
class OperationCalls(Generic[Watched]):
    """The rules of one operation, with what a trace does not show.

    Attributes:
        rules: The rules of calls that overlap.
        executor: Where an expired operation runs.
        real_clock: Whether the timer and the purge cannot be seen at work.
        first: What it is like when the history begins.
        earliest_ms: When it may be handed over at the earliest; None where that is unknown.
    """

    rules: Rules[Watched]
    executor: Executor
    real_clock: bool
    first: Watched
    earliest_ms: int | None = None

    def initial(self) -> Watched:
        """The operation when the history begins."""
        return self.first

    def effects(self, state: Watched, call: RecordedCall, part: Part) -> Iterator[Effect[Watched]]:
        """The ways in which a part of a call may take effect."""
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

    def _comes_too_late(self, after: Watched, call: RecordedCall) -> bool:
        """Whether an operation that a call has just disarmed may have been handed over before."""
        disarmed = not after.armed and not after.completed and not after.queued
        return disarmed and self.real_clock and self._may_time_out_in(call)

    def _may_time_out_in(self, call: RecordedCall) -> bool:
        return may_time_out_in(call, self.earliest_ms)

    def _before(self, state: Watched, call: RecordedCall, part: Part) -> Iterator[Watched]:
        """The states in which unseen steps may leave the operation before a part takes effect."""
        yield state
        if not self.real_clock:
            return
        operation = call.operation
        if isinstance(operation, CancelForKey) and part == WHOLE and state.completed:
            yield _purged(state, operation.key)
        may_run = isinstance(operation, RunOne) and self._may_time_out_in(call)
        if may_run and part == WHOLE and state.armed:
            yield replace(state, armed=False, queued=state.queued + 1)

    def _as_shown(self, effect: Effect[Watched], operation: Operation) -> Effect[Watched]:
        """The effect as this executor shows it; what a call hands over inline it then runs."""
        if self.executor is Executor.STEPPED:
            return effect
        shown = tuple(event for event in effect.events if event.kind is not EventKind.EXPIRED)
        handed_over = len(shown) < len(effect.events)
        if handed_over and self.executor is Executor.INLINE:
            run = Part(Stage.WHOLE, inside=True, following=effect.then)
            return replace(effect, events=shown, then=run)
        return replace(effect, events=shown)

    def _run_inside(self, state: Watched, part: Part) -> Iterator[Effect[Watched]]:
        """Run what the call has handed over, and then go on with the call, if it is not over."""
        own = part._replace(inside=False, following=None)
        for effect in self.rules.effects(state, RunOne(), own):
            if own == WHOLE and effect.state == state:
                continue
            after = part.following
            if effect.then is not None:
                after = effect.then._replace(inside=True, following=part.following)
            yield replace(effect, then=after)


def _purged(state: Watched, key: str) -> Watched:
    """Without its entries under a key."""
    if isinstance(state, CountedOperation):
        return replace(state, entries=tuple(each for each in state.entries if each != key))
    return replace(state, entries=state.entries - {key})


def statements(
    accounting: Accounting,
    executor: Executor,
    *,
    real_clock: bool,
    any_key_takes_time_out: bool,
    counts_entries: bool,
    snapshot: Snapshot | None = None,
    time_outs: TimeOuts = TimeOuts(),  # noqa: B008
) -> tuple[Statement, ...]:
    """The statements of the rules that a run may be explained by, the likeliest first.

    Args:
        accounting: What the profile declares.
        executor: Where an expired operation runs.
        real_clock: Whether the run is on one.
        any_key_takes_time_out: Whether that deviation is declared.
        counts_entries: Whether an operation is watched again, or twice under one key, which only
            the exact accounting's rules speak of.
        snapshot: What is live where the run begins, if it begins in the middle.
        time_outs: When operations may time out at the earliest.
    """
    closed = snapshot is not None and snapshot.closed
    waiting = {} if snapshot is None else {each.operation: each for each in snapshot.operations}

    def statement(
        words: str,
        rules_of: Callable[[str], Rules[Watched]],
        first_of: Callable[[WaitingOperation, bool], Watched],
    ) -> Statement:
        def share_of(name: str, entries: Sequence[Entry]) -> Share[Watched]:
            first = first_of(waiting.get(name, WaitingOperation(name)), closed)
            earliest_ms = time_outs.earliest_ms(name, entries)
            calls = OperationCalls(rules_of(name), executor, real_clock, first, earliest_ms)
            return Share(name, entries, calls)

        return Statement(words, share_of)

    def arming(name: str, *, first: bool) -> OverlappingCalls:
        return OverlappingCalls(name, first, any_key_takes_time_out)

    counted = statement("the exact accounting", OverlappingExactCalls, counted_operation)
    if counts_entries:
        return (counted,)
    listed = (
        statement("the time-out armed last", partial(arming, first=False), listed_operation),
        statement("the time-out armed first", partial(arming, first=True), listed_operation),
    )
    return (counted, *listed) if accounting is Accounting.EXACT else (*listed, counted)
