"""The concurrent purgatory, asked for one call at a time that nothing interrupts."""

# What comes of it has the face of a sequential model: an operation, and every outcome that it may
# have with the state after it. So it can be laid beside ``purgatory``, which states the same
# behaviour without threads.
#
# The clock is left out of the concurrent purgatory. An advance may hand over any operations that
# are in the timer, in any order; then it purges, if a purge is due. The executor's queue has no
# order, so running one runs any that is queued. In both cases what a purgatory with a clock and a
# queue does is one of the outcomes.

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations

from purgatory_model.concurrent.exact.instance import EXECUTOR, TIMER, ExactInstance
from purgatory_model.concurrent.exact.model import ConcurrentExact
from purgatory_model.concurrent.exact.state import ExactState
from purgatory_model.overlapping.interleaving import (
    Called,
    Happened,
    History,
    Returned,
    Step,
    thread_of,
)
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Event, Outcome, Value
from purgatory_spec.profiles import PurgatoryObservable


@dataclass(frozen=True, slots=True)
class ExactAlone:
    """The concurrent purgatory of an instance, without interleaving."""

    # Needs a thread for each call that is asked for. Results are kept and lists are in order,
    # whatever the instance says.
    instance: ExactInstance

    @property
    def model(self) -> ConcurrentExact:
        """The concurrent model."""
        return ConcurrentExact(replace(self.instance, programs=True, ordered=True))

    def initial(self) -> ExactState:
        """Nothing has been watched and no event has happened."""
        return self.model.initial()

    def successors(
        self, state: ExactState, operation: op.Operation
    ) -> Iterator[tuple[Outcome, ExactState]]:
        """Every outcome of an operation that nothing interrupts; none where it cannot be called."""
        # A check has the event of its key happen first; see ``satisfied_by``.
        if isinstance(operation, op.Advance):
            yield from self._advanced(state)
            return
        thread = self._thread(operation)
        for step, after in self._steps(state, thread):
            history = self.model.history(state, step, after)
            called = [event.operation for event in history if isinstance(event, Called)]
            if called and _same_call(called[-1], operation):
                for ended, whole in self._to_the_end(after, thread, history):
                    yield _outcome(whole, thread, self.observe(ended)), ended

    def satisfied_by(self, state: ExactState, key: str) -> tuple[str, ...]:
        """The operations whose condition the next event of a key makes true."""
        count = min(state.events[key] + 1, self.instance.max_events)
        happened = replace(state, events=state.events.set(key, count))
        return tuple(
            str(number)
            for number in state.operations
            if self.instance.condition(happened, number)
            and not self.instance.condition(state, number)
        )

    def observe(self, state: ExactState) -> Mapping[str, Value]:
        """The counts by the names of the observables."""
        return {
            PurgatoryObservable.ENTRIES.value: state.entries,
            PurgatoryObservable.KEYS.value: sum(bool(bag) for bag in state.lists.values()),
            PurgatoryObservable.STALE_ENTRIES.value: state.stale_entries,
            PurgatoryObservable.STALE_OPERATIONS.value: len(state.distinct & state.completed),
            PurgatoryObservable.TIMER_SIZE.value: len(state.timer),
            PurgatoryObservable.QUEUED.value: len(state.queue),
            PurgatoryObservable.PENDING.value: state.pending,
            PurgatoryObservable.ESTIMATE.value: state.estimate,
        }

    def _advanced(self, state: ExactState) -> Iterator[tuple[Outcome, ExactState]]:
        """Hand over, then purge if a purge is due."""
        # Rules: PURGATORY-TIME-OUT, PURGATORY-PURGE-START.
        waiting = sorted(state.timer)
        for count in range(len(waiting) + 1):
            for order in permutations(waiting, count):
                handed = self._handed_over(state, order)
                if handed is None:
                    continue
                events, after = handed
                for purged in self._purged(after):
                    yield Outcome(events=events, observed=self.observe(purged)), purged

    def _handed_over(
        self, state: ExactState, order: tuple[int, ...]
    ) -> tuple[tuple[Event, ...], ExactState] | None:
        """The state after operations have expired in this order, None where they cannot."""
        events: tuple[Event, ...] = ()
        for number in order:
            wanted = Step("Expire", (TIMER, number))
            found = [after for step, after in self._steps(state, TIMER) if step == wanted]
            if not found:
                return None
            events += _happened(self.model.history(state, wanted, found[0]), TIMER)
            state = found[0]
        return events, state

    def _purged(self, state: ExactState) -> Iterator[ExactState]:
        purgers = self.instance.purgers[:1]
        begun = [(after, purger) for purger in purgers for _, after in self._steps(state, purger)]
        if not begun:
            yield state
        for after, purger in begun:
            for ended, _ in self._to_the_end(after, purger, ()):
                yield ended

    def _to_the_end(
        self, state: ExactState, thread: str, history: History
    ) -> Iterator[tuple[ExactState, History]]:
        """The ends of a call that is under way, with everything that could be seen of it."""
        if state.threads[thread].stage == "idle":
            yield state, history
            return
        for step, after in self._steps(state, thread):
            seen = self.model.history(state, step, after)
            yield from self._to_the_end(after, thread, (*history, *seen))

    def _steps(self, state: ExactState, thread: str) -> Iterator[tuple[Step, ExactState]]:
        return (each for each in self.model.steps(state) if thread_of(each[0]) == thread)

    def _thread(self, operation: op.Operation) -> str:
        """The thread that makes such calls."""
        threads: tuple[str, ...]
        match operation:
            case op.Watch():
                threads = self.instance.callers
            case op.Check():
                threads = self.instance.completers
            case op.CancelForKey():
                threads = self.instance.cancellers
            case op.Force():
                threads = self.instance.forcers
            case op.RunOne():
                threads = (EXECUTOR,)
            case _:
                threads = ()
        if not threads:
            raise ValueError(f"no thread of the instance calls {op.operation_name(operation)}")
        return threads[0]


def _same_call(called: op.Operation, wanted: op.Operation) -> bool:
    """Decide whether a call is the wanted one; the concurrent model knows no delays or scripts."""
    if isinstance(called, op.Watch) and isinstance(wanted, op.Watch):
        return (called.operation, called.keys) == (wanted.operation, wanted.keys)
    return called == wanted


def _outcome(history: History, thread: str, observed: Mapping[str, Value]) -> Outcome:
    """Return the outcome of a call from its history: events of its own thread alone."""
    returned = [event for event in history if isinstance(event, Returned)][-1]
    return Outcome(
        result=returned.result,
        rejected=returned.raised,
        events=_happened(history, thread),
        observed=observed,
    )


def _happened(history: History, thread: str) -> tuple[Event, ...]:
    events = (event for event in history if isinstance(event, Happened))
    return tuple(event.event for event in events if event.thread == thread)
