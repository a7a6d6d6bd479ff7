"""The purgatory: delayed operations wait under keys for an event or for their time-out.

Theory of operation. An operation that is watched is an entry in the list of each of its keys, and a
task of the purgatory's timer, which is the timer's model. Calls are made one at a time; callbacks
make further calls in the middle of one (``purgatory_calls``). An advance is the timer's: what is
due joins the executor's queue, and running the head of that queue is a step of its own. After an
advance comes the purge, where the accounting calls for one.

With an executor that runs *inline*, what a step has handed over is run at the end of that step, in
the order of the queue; in an advance that is before the test for a purge. An advance hands over the
tasks of each tick, the ticks in their order. The order inside a tick is left open until the turn of
each task, so that an observed order is followed and not looked for among all. Operations handed
over meanwhile run behind these tasks.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Generic

from purgatory_model.call import Branch, Branches, begin, distinct, pruned
from purgatory_model.pending_tasks import AnyStore, Store
from purgatory_model.purgatory_calls import Calls
from purgatory_model.purgatory_state import OperationState, PurgatoryState
from purgatory_model.replacing import replace
from purgatory_model.step import Expectation, accepted, possible
from purgatory_model.timer import TimerModel, TimerState
from purgatory_model.timing_wheel import declared_timer_model
from purgatory_model.watcher_lists import swept, without_order
from purgatory_spec.operations import (
    Advance,
    CancelForKey,
    Check,
    Elapse,
    Force,
    Operation,
    RunOne,
    Satisfy,
    Shutdown,
    Watch,
    operation_name,
)
from purgatory_spec.outcomes import Event, Outcome, Value
from purgatory_spec.profiles import (
    LARGEST_LONG,
    Accounting,
    CheckDrops,
    CheckOrder,
    Executor,
    PurgatoryConfiguration,
    PurgatoryObservable,
    PurgatoryProfile,
    PurgeDue,
    TimerProfile,
)
from purgatory_spec.reasons import Reason

Groups = tuple[frozenset[str], ...]


def run_all(branch: Branch[AnyStore], calls: Calls[AnyStore]) -> Branches[AnyStore]:
    """Run everything that is due; the result or exception of the call stays the same.

    Args:
        branch: A call that has come to its end, with what an advance hands over.
        calls: How to run one.
    """
    ended: list[Branch[AnyStore]] = []
    running: Branches[AnyStore] = (branch,)
    while running:
        going: list[Branch[AnyStore]] = []
        for each in running:
            if each.due or each.state.timer.queue:
                going += _run_next(each, calls)
            else:
                ended.append(replace(each, result=branch.result, raised=branch.raised))
        running = pruned(going)
    return pruned(ended)


def _run_next(branch: Branch[AnyStore], calls: Calls[AnyStore]) -> Iterator[Branch[AnyStore]]:
    """Run one operation: any of the first tick, or the head of the queue.

    Rules: PURGATORY-LOST-EXPIRY.
    """
    group = branch.due[0] if branch.due else frozenset[str]()
    lost = [name for name in group if branch.operation(name).completed]
    if lost:  # their runs do nothing and show nothing, so that one order stands for all
        for name in lost:
            branch = branch.without_due(name)
        yield branch
        return
    for name in sorted(group):
        yield from calls.run(branch.without_due(name), name)
    if branch.state.timer.queue:
        yield from calls.run_one(branch)


__all__ = ["OperationState", "PurgatoryModel", "PurgatoryState", "purgatory_model"]

_MEANINGLESS_AFTER_SHUTDOWN = frozenset(
    {PurgatoryObservable.TIMER_SIZE, PurgatoryObservable.PENDING, PurgatoryObservable.ESTIMATE}
)


@dataclass(frozen=True, slots=True)
class _End(Generic[AnyStore]):
    """How a call came to its end."""

    state: PurgatoryState[AnyStore]
    events: tuple[Event, ...]
    result: Value
    raised: Reason | None
    callback_timer_size: int | None = None


@dataclass(frozen=True, slots=True)
class PurgatoryModel(Generic[AnyStore]):
    """A purgatory of a configuration and a profile, over a timer.

    ``variants`` names known faults that are followed instead of the rules, see
    ``claims.purgatory_variants``.
    """

    configuration: PurgatoryConfiguration
    profile: PurgatoryProfile
    timer: TimerModel[AnyStore]
    variants: frozenset[str] = frozenset()

    def initial(self) -> PurgatoryState[AnyStore]:
        """The state of a purgatory that was just made."""
        return PurgatoryState(self.timer.initial())

    def accept(
        self, state: PurgatoryState[AnyStore], operation: Operation, outcome: Outcome
    ) -> frozenset[PurgatoryState[AnyStore]]:
        """The states in which an observed outcome leaves it; empty means divergence."""
        return accepted(self.expectations(state, operation, outcome.events), outcome)

    def successors(
        self, state: PurgatoryState[AnyStore], operation: Operation
    ) -> Iterator[tuple[Outcome, PurgatoryState[AnyStore]]]:
        """Every outcome of an operation with the state after it; for small instances."""
        return possible(self.expectations(state, operation))

    def expectations(
        self,
        state: PurgatoryState[AnyStore],
        operation: Operation,
        seen: tuple[Event, ...] | None = None,
    ) -> tuple[Expectation[PurgatoryState[AnyStore]], ...]:
        """The ways in which an operation may go.

        Args:
            state: The state before.
            operation: What is asked.
            seen: The events that were observed, if any were: only what agrees with them is looked
                for, and where nothing does a few ways that come near.

        Raises:
            ValueError: the clock would go back, or the operation is none of a purgatory's.
        """
        if isinstance(operation, Advance | Elapse | Shutdown):
            return tuple(self._timer_expectations(state, operation, seen))
        branches = self._branches(begin(state, seen), operation)
        ends = distinct(end for branch in branches for end in self._ends(branch, ()))
        return tuple(self._expectation(end) for end in ends)

    def observe(self, state: PurgatoryState[AnyStore]) -> Mapping[str, Value]:
        """The declared observables by name; those of timer and estimate are free after shutdown.

        Rules: PURGATORY-ENTRIES, PURGATORY-EMPTY-LISTS, PURGATORY-TIMER-SIZE, PURGATORY-PENDING,
        PURGATORY-ESTIMATE-PROPOSAL, PURGATORY-ESTIMATE-EXACT, PURGATORY-SHUTDOWN-DROPS.
        """
        shown = self.profile.observables - {PurgatoryObservable.CALLBACK_TIMER_SIZE}
        if self.profile.accounting is Accounting.ANY:
            shown -= {PurgatoryObservable.ESTIMATE}
        if state.closed:
            shown -= _MEANINGLESS_AFTER_SHUTDOWN
        estimate = PurgatoryObservable.ESTIMATE
        return {
            each.value: self.estimate(state) if each is estimate else state.count(each)
            for each in PurgatoryObservable
            if each in shown
        }

    def estimate(self, state: PurgatoryState[AnyStore]) -> int:
        """The estimated total of operations.

        Rules: PURGATORY-ESTIMATE-PROPOSAL, PURGATORY-ESTIMATE-EXACT.
        """
        if self.profile.accounting is Accounting.PROPOSAL:
            return state.estimate
        return state.pending + state.stale_entries

    def interval(self, live: int) -> int:
        """How much may be stale beside so much that lives. Rules: PURGATORY-PURGE-START."""
        interval = self.configuration.purge_interval
        if self.profile.purge_due is PurgeDue.AMORTISED:
            return max(interval, live // 2)
        return interval

    def purge_is_due(self, state: PurgatoryState[AnyStore]) -> bool:
        """Whether there is more than the interval to purge. Rules: PURGATORY-PURGE-START."""
        if self.profile.accounting is Accounting.PROPOSAL:
            return state.estimate - state.timer_size > self.interval(state.timer_size)
        if self.profile.accounting is Accounting.EXACT:
            stale = state.stale_entries
        else:
            stale = 0 if state.timer.queue else len(state.stale_operations)
        return stale > self.interval(state.live_entries)

    def purged(self, state: PurgatoryState[AnyStore]) -> PurgatoryState[AnyStore]:
        """The state after a purge.

        Rules: PURGATORY-PURGE-REMOVES, PURGATORY-ESTIMATE-PROPOSAL, PURGATORY-STALE-ENTRIES,
        PURGATORY-STALE-OPERATIONS.
        """
        proposal = self.profile.accounting is Accounting.PROPOSAL
        return replace(
            state,
            lists=swept(state.lists, state.completed),
            estimate=state.timer_size if proposal else 0,
        )

    def _timer_expectations(
        self,
        state: PurgatoryState[AnyStore],
        operation: Advance | Elapse | Shutdown,
        seen: tuple[Event, ...] | None,
    ) -> Iterator[Expectation[PurgatoryState[AnyStore]]]:
        """What the timer does, and after an advance the purge.

        Rules: PURGATORY-TIME-OUT, PURGATORY-SHUTDOWN-DROPS, PURGATORY-SHUTDOWN-AGAIN.
        """
        for expectation in self.timer.expectations(state.timer, operation):
            if self.profile.executor is Executor.STEPPED:
                for purge in self._purges(state, operation):
                    yield self._handed_over(state, operation, expectation, purge)
                continue
            handed = tuple(frozenset(e.task for e in group) for group in expectation.groups)
            begun = begin(state, seen).with_timer(expectation.complete(()))
            ended = replace(begun, raised=expectation.rejected)
            for end in self._ends(ended, handed):
                after = self._closed_by(operation, end.state)
                for purge in self._purges(after, operation):
                    yield self._expectation(replace(end, state=self._purged_if(after, purge)))

    def _handed_over(
        self,
        state: PurgatoryState[AnyStore],
        operation: Operation,
        expectation: Expectation[TimerState[AnyStore]],
        purge: bool | None,
    ) -> Expectation[PurgatoryState[AnyStore]]:
        """What the timer does with a stepped executor: it hands over, in one of several orders."""

        def complete(events: tuple[Event, ...]) -> PurgatoryState[AnyStore]:
            after = replace(state, timer=expectation.complete(events))
            return self._purged_if(self._closed_by(operation, after), purge)

        def observe(state: PurgatoryState[AnyStore]) -> Mapping[str, Value]:
            return {**self.observe(state), **self._observed_in_callback(state, None)}

        return Expectation(expectation.groups, complete, observe, rejected=expectation.rejected)

    def _closed_by(
        self, operation: Operation, state: PurgatoryState[AnyStore]
    ) -> PurgatoryState[AnyStore]:
        return replace(state, closed=True) if isinstance(operation, Shutdown) else state

    def _purges(
        self, state: PurgatoryState[AnyStore], operation: Operation
    ) -> tuple[bool | None, ...]:
        """Whether an operation purges; None where the accounting decides.

        Rules: PURGATORY-PURGE-START, PURGATORY-SHUTDOWN-DROPS.
        """
        if not isinstance(operation, Advance):
            return (False,)
        if state.closed:
            return (True, False)
        return (True, None) if self.profile.accounting is Accounting.ANY else (None,)

    def _purged_if(
        self, state: PurgatoryState[AnyStore], purge: bool | None
    ) -> PurgatoryState[AnyStore]:
        due = self.purge_is_due(state) if purge is None else purge
        return self.purged(state) if due else state

    def _ends(self, branch: Branch[AnyStore], handed: Groups) -> Iterator[_End[AnyStore]]:
        """The ends of a call, once an inline executor has run what was handed over."""
        calls = self._calls
        ended: tuple[Branch[AnyStore], ...] = (branch,)
        if self.profile.executor is Executor.INLINE:
            ended = run_all(replace(branch, due=handed), calls)
        if any(each.waiting for each in ended):
            ended = tuple(end for each in ended for end in calls.go_on(each))
        for each in ended:
            if each.lost:
                continue
            state = self._left(each.state.between_calls())
            if self.profile.check_order is CheckOrder.FREE:
                state = replace(state, lists=without_order(state.lists))
            size = each.callback_timer_size
            yield _End(state, each.events, each.result, each.raised, size)

    def _left(self, state: PurgatoryState[AnyStore]) -> PurgatoryState[AnyStore]:
        """What is left when a call has ended where operations leave all lists as they complete.

        In the middle of the call nothing shows whether they have left.

        Rules: PURGATORY-CHECK-DROPS.
        """
        if self.profile.check_drops is not CheckDrops.EVERYWHERE or not state.stale_entries:
            return state
        return replace(state, lists=swept(state.lists, state.completed))

    @property
    def _calls(self) -> Calls[AnyStore]:
        return Calls(self.configuration, self.profile, self.timer, self.variants)

    def _branches(
        self, begun: Branch[AnyStore], operation: Operation
    ) -> tuple[Branch[AnyStore], ...]:
        """The branches of a call; all but a watch are open after shutdown as before.

        Rules: PURGATORY-SHUTDOWN-COMPLETES.
        """
        calls = self._calls
        match operation:
            case Watch(name, keys, delay_ms, script):
                return calls.watch(begun.introduce(name, delay_ms, script), name, keys)
            case Check(key):
                return calls.check(begun, key)
            case CancelForKey(key):
                return calls.cancel_for_key(begun, key)
            case Force(name):
                return calls.force(begun.introduce(name), name)
            case Satisfy(name):
                return (begun.introduce(name).satisfied(name),)
            case RunOne():
                return calls.run_one(begun)
            case _:
                raise ValueError(f"a purgatory has no operation {operation_name(operation)}")

    def _expectation(self, end: _End[AnyStore]) -> Expectation[PurgatoryState[AnyStore]]:
        groups = tuple(frozenset({event}) for event in end.events)
        size = end.callback_timer_size

        def observe(state: PurgatoryState[AnyStore]) -> Mapping[str, Value]:
            return {**self.observe(state), **self._observed_in_callback(state, size)}

        return Expectation(groups, lambda _: end.state, observe, end.result, end.raised)

    def _observed_in_callback(
        self, state: PurgatoryState[AnyStore], size: int | None
    ) -> Mapping[str, Value]:
        """The timer's size in the last ``on_complete`` of a step, None where there was none.

        Compared with a stepped executor alone: what an inline executor is still to run may be in
        the timer or not. Rules: PURGATORY-CALLBACK-ORDER.
        """
        observable = PurgatoryObservable.CALLBACK_TIMER_SIZE
        stepped = self.profile.executor is Executor.STEPPED
        if observable not in self.profile.observables or not stepped or state.closed:
            return {}
        return {observable.value: size}


def timer_profile(profile: PurgatoryProfile) -> TimerProfile:
    """The profile of the purgatory's timer: stepped, so that every hand-over is an event."""
    return TimerProfile(
        rounding=profile.rounding,
        same_tick_order=profile.same_tick_order,
        executor=Executor.STEPPED,
        structure=profile.structure,
        already_due=profile.already_due,
        negative_delay=profile.negative_delay,
        largest_delay_ms=LARGEST_LONG,
    )


def purgatory_model(
    configuration: PurgatoryConfiguration,
    profile: PurgatoryProfile,
    variants: frozenset[str] = frozenset(),
) -> PurgatoryModel[Store]:
    """The model of a purgatory.

    Raises:
        ValueError: the executor has threads of its own, whose order no model predicts.
    """
    if profile.executor is Executor.THREAD:
        raise ValueError("a purgatory is judged with a stepped or an inline executor")
    timer = declared_timer_model(configuration.timer, timer_profile(profile))
    return PurgatoryModel(configuration, profile, timer, variants)
