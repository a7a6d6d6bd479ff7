"""Whole calls of the concurrent purgatory in the proposal's order, one at a time."""

# A call that nothing interrupts is what the sequential purgatory (``purgatory``) has as one step.
# Both must say the same of it: results, events, and the counts after it. Where they put things
# differently, it is said here, and nowhere else:
#
# - The concurrent model has no clock; which operation is due is left to chance. Here the clock and
#   the due times are kept beside it, and decide what an ``Advance`` hands over, tick by tick.
# - The reaper's hand-over and its test for a purge are steps of their own; an ``Advance`` is all
#   hand-overs that are due, then one pass. A purge so belongs to an advance, as in the sequential
#   model.
# - The executor's queue has no order in the concurrent model; here it is kept in the order of the
#   hand-overs, and ``RunOne`` takes its head.
# - Whether an operation can be completed depends on the events of its keys, there on ``Satisfy`` of
#   the operation. An *event* is therefore ``Satisfy`` of each operation that can be completed from
#   then on, and then ``Check`` of the key.
# - Empty lists stay in the concurrent model; they are not counted as keys.
# - Operations are handed in by their numbers, and each is watched under all keys.

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import TypeAlias

from immutables import Map

from purgatory_model.concurrent.proposal.model import ConcurrentProposal
from purgatory_model.concurrent.proposal.state import EXECUTOR, REAPER, Entries, ProposalState
from purgatory_model.overlapping.interleaving import (
    Happened,
    HistoryEvent,
    Returned,
    Step,
    thread_of,
)
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Outcome, Value
from purgatory_spec.profiles import PurgatoryObservable


@dataclass(frozen=True, slots=True)
class Moment:
    """A state between two calls, with what the concurrent model leaves to chance."""

    state: ProposalState  # every thread is idle
    now_ms: int = 0
    due_ms: Map[int, int] = Map()
    queue: Entries = ()  # of the executor, in the order of the hand-overs


@dataclass(frozen=True, slots=True)
class _Run:
    """The part of a call that was done so far, and the events that could be seen of it."""

    moment: Moment
    history: tuple[HistoryEvent, ...] = ()


_Begins: TypeAlias = Callable[[Step], bool]


@dataclass(frozen=True, slots=True)
class WholeCalls:
    """A purgatory whose calls are run to their end; its instance must be one for programs."""

    model: ConcurrentProposal

    def __post_init__(self) -> None:
        """Reject an instance in which calls do not remember their results."""
        if not (self.model.instance.programs and self.model.instance.ordered):
            raise ValueError("whole calls need an instance with 'programs' and 'ordered'")

    def initial(self) -> Moment:
        """A purgatory that was just made; the clock reads 0."""
        return Moment(self.model.initial())

    def event(self, moment: Moment, key: str) -> tuple[tuple[op.Satisfy, ...], Moment]:
        """An event on a key, without the check of it: what it satisfies, and the moment after."""
        instance, before = self.model.instance, moment.state
        after = replace(before, events=before.events.set(key, before.events[key] + 1))
        satisfied = tuple(
            op.Satisfy(str(number))
            for number in range(1, len(instance.thresholds) + 1)
            if instance.may_complete(after, number) and not instance.may_complete(before, number)
        )
        return satisfied, replace(moment, state=after)

    def outcomes(self, moment: Moment, operation: op.Operation) -> Iterator[tuple[Outcome, Moment]]:
        """Return the outcomes of a call, each with the moment after it, equal ones once."""
        for run in dict.fromkeys(self._runs(moment, operation)):
            yield self._outcome(run), run.moment

    def _runs(self, moment: Moment, operation: op.Operation) -> Iterator[_Run]:
        match operation:
            case op.Watch(delay_ms=delay_ms) if operation == self._next_watch(moment, delay_ms):
                for run in self._whole(_Run(moment), self._first_try):
                    yield replace(run, moment=_armed(run.moment, delay_ms))
            case op.Check(key) | op.CancelForKey(key):
                action = "Check" if isinstance(operation, op.Check) else "CancelForKey"
                begins = Step(action, (self.model.instance.completers[0], key))
                for run in self._whole(_Run(moment), begins.__eq__):
                    yield replace(run, moment=_disarmed(run.moment))
            case op.Advance(to_ms):
                yield from self._advance(replace(moment, now_ms=to_ms))
            case op.RunOne():
                yield from self._run_one(moment)
            case _:
                raise ValueError(f"this model does not have {operation}")

    def _next_watch(self, moment: Moment, delay_ms: int) -> op.Watch:
        number = moment.state.begun + 1
        return op.Watch(str(number), self.model.instance.keys, delay_ms)

    def _first_try(self, step: Step) -> bool:
        caller = self.model.instance.callers[0]
        return step.action.startswith("FirstTry") and thread_of(step) == caller

    def _advance(self, moment: Moment) -> Iterator[_Run]:
        """Hand over due time-outs, tick by tick and in any order inside one; then make the pass."""
        for handed in _orders(moment):
            runs = [_Run(moment)]
            for number in handed:
                begins = Step("Advance", (REAPER, number))
                runs = [after for run in runs for after in self._whole(run, begins.__eq__)]
            for run in runs:
                queued = replace(_disarmed(run.moment), queue=(*moment.queue, *handed))
                yield from self._whole(_Run(queued, run.history), _begins_pass)

    def _run_one(self, moment: Moment) -> Iterator[_Run]:
        """The head of the queue, or nothing."""
        if not moment.queue:
            yield _Run(moment)
            return
        head, *behind = moment.queue
        begins = Step("TakeExpired", (EXECUTOR, head))
        yield from self._whole(_Run(replace(moment, queue=tuple(behind))), begins.__eq__)

    def _whole(self, run: _Run, begins: _Begins) -> Iterator[_Run]:
        """Yield the runs of a step that begins something, until its thread is idle again."""
        for step, after in self.model.steps(run.moment.state):
            if begins(step):
                yield from self._finished(self._taken(run, step, after), thread_of(step))

    def _finished(self, run: _Run, thread: str) -> Iterator[_Run]:
        if thread not in self.model.busy(run.moment.state):
            yield run
            return
        for step, after in self.model.steps(run.moment.state):
            if thread_of(step) == thread:
                yield from self._finished(self._taken(run, step, after), thread)

    def _taken(self, run: _Run, step: Step, after: ProposalState) -> _Run:
        seen = self.model.history(run.moment.state, step, after)
        return _Run(replace(run.moment, state=after), (*run.history, *seen))

    def _outcome(self, run: _Run) -> Outcome:
        events = tuple(each.event for each in run.history if isinstance(each, Happened))
        results = [each.result for each in run.history if isinstance(each, Returned)]
        return Outcome(
            result=results[-1] if results else None, events=events, observed=observed(run.moment)
        )


def observed(moment: Moment) -> Mapping[str, Value]:
    """The observables of the sequential model, read off a state between two calls."""
    state = moment.state
    lists = state.lists.values()
    entries = [number for each in lists for number in each]
    counts: dict[PurgatoryObservable, int] = {
        PurgatoryObservable.ENTRIES: len(entries),
        PurgatoryObservable.KEYS: sum(bool(each) for each in lists),
        PurgatoryObservable.STALE_ENTRIES: sum(number in state.completed for number in entries),
        PurgatoryObservable.STALE_OPERATIONS: len(state.stale),
        PurgatoryObservable.TIMER_SIZE: len(state.timer),
        PurgatoryObservable.QUEUED: len(state.queue),
        PurgatoryObservable.PENDING: state.pending,
        PurgatoryObservable.ESTIMATE: state.estimate,
    }
    return {each.value: count for each, count in counts.items()}


def _begins_pass(step: Step) -> bool:
    return step.action == "ReadEstimate"


def _armed(moment: Moment, delay_ms: int) -> Moment:
    """With the due time of what a call has added to the timer."""
    number = moment.state.begun
    if number not in moment.state.timer:
        return moment
    return replace(moment, due_ms=moment.due_ms.set(number, moment.now_ms + delay_ms))


def _disarmed(moment: Moment) -> Moment:
    """Without the due times of what is no longer in the timer."""
    timer = moment.state.timer
    kept = {number: due for number, due in moment.due_ms.items() if number in timer}
    return replace(moment, due_ms=Map(kept))


def _orders(moment: Moment) -> Iterator[Entries]:
    """The orders in which an advance may hand over what is due."""
    ticks: dict[int, list[int]] = {}
    for number, due in sorted(moment.due_ms.items()):
        if due <= moment.now_ms:
            ticks.setdefault(due, []).append(number)
    for blocks in product(*(permutations(ticks[tick]) for tick in sorted(ticks))):
        yield tuple(number for block in blocks for number in block)
