"""Time-outs that run within the call of an advance or a watch, in its thread.

What a step has handed over is run at the end of that step, in the order of the queue; in an advance
that is before the test for a purge. An advance hands over the tasks of each tick, the ticks in
their order. The order inside a tick is left open until the turn of each task, so that an observed
order is followed and not looked for among all. Operations handed over meanwhile run behind these
tasks.

So does an advance whose executor refuses time-outs, where the caller runs them; what waits in the
executor's queue stays there.
"""

from collections.abc import Iterator, Mapping

from purgatory_model.call import Branch, Branches, and_then, begin, pruned
from purgatory_model.choices.watches import AnyWatches
from purgatory_model.kafka_timer import TimerState
from purgatory_model.pending_tasks import Store
from purgatory_model.purgatory_faces import End
from purgatory_model.purgatory_state import PurgatoryState
from purgatory_model.replacing import replace
from purgatory_model.step import Expectation, TooManyBranches
from purgatory_spec.operations import Add, Advance, Elapse, Shutdown
from purgatory_spec.outcomes import Event, EventKind, Value
from purgatory_spec.profiles import Executor, RefusedTask, SevereThrow


class InlineExecutor(AnyWatches):
    """A purgatory whose executor is stepped, or runs inline."""

    @property
    def _is_stepped(self) -> bool:
        return self.profile.executor is Executor.STEPPED

    @property
    def _is_inline(self) -> bool:
        return self.profile.executor is Executor.INLINE

    def _timer_expectations(
        self,
        state: PurgatoryState,
        operation: Advance | Elapse | Shutdown,
        seen: tuple[Event, ...] | None,
    ) -> Iterator[Expectation[PurgatoryState]]:
        """Run what the timer hands over, and only then purge.

        Raises:
            TooManyBranches: a callback arms what is due, which the executor refuses as well.

        Rules: PURGATORY-TIME-OUT, PURGATORY-EXECUTOR-REFUSES.
        """
        refused = isinstance(operation, Advance) and operation.refuse
        caller_runs = self.profile.refused_task is RefusedTask.CALLER_RUNS
        if self._is_stepped and not (refused and caller_runs):
            yield from super()._timer_expectations(state, operation, seen)
            return
        if isinstance(operation, Advance):
            operation = Advance(operation.to_ms)
        for expectation in self.timer.expectations(state.timer, operation):
            due = tuple(frozenset(e.task for e in group) for group in expectation.groups)
            begun = begin(state, seen).with_timer(expectation.complete(()))
            for end in self._ends(replace(begun, raised=expectation.rejected, due=due)):
                if any(event.kind is EventKind.EXPIRED for event in end.events):
                    raise TooManyBranches
                after = replace(end, state=self._after(operation, end.state))
                yield replace(self._expectation(after), observe=self.observe)

    def _ends(self, branch: Branch) -> Iterator[End]:
        """End a call, once an inline executor has run what was handed over."""
        for each in self._run_all(branch) if branch.due or self._is_inline else (branch,):
            yield from super()._ends(each)

    def run(self, branch: Branch, name: str) -> Branches:
        """Run a time-out; a severe exception may reach the caller of ``run_one``.

        Rules: PURGATORY-EXPIRY-THROWS.
        """
        ran = super().run(branch, name)
        if not self._is_stepped or self.profile.severe_throw is SevereThrow.AS_ORDINARY:
            return ran
        ended = and_then(self.force(branch, name), lambda forced: self._expire(forced, name))
        return (*ran, *(each for each in ended if each.is_severe))

    def _run_all(self, branch: Branch) -> Branches:
        """Run everything that is due; the result or exception of the call stays the same."""
        ended: list[Branch] = []
        running: Branches = (branch.returns(None),)  # no callback sees the call's own exception
        while running:
            going: list[Branch] = []
            for each in running:
                if each.due or (self._is_inline and each.state.timer.queue):
                    going += self._run_next(each)
                else:
                    ended.append(_ended_as(branch, each))
            running = pruned(going)
        return pruned(ended)

    def _run_next(self, branch: Branch) -> Iterator[Branch]:
        """Run one operation: any of the first tick, or the head of the queue.

        Rules: PURGATORY-LOST-EXPIRY.
        """
        group = branch.due[0] if branch.due else frozenset[str]()
        lost = [name for name in group if branch.operation(name).completed]
        if lost:  # their runs do nothing and show nothing, so that one order stands for all
            for name in lost:
                branch = _without_due(branch, name)
            yield branch
            return
        for name in sorted(group):
            yield from self.run(_without_due(branch, name), name)
        if self._is_inline and branch.state.timer.queue:
            yield from self.run_one(branch)

    def _add_time_out(self, branch: Branch, add: Add) -> Iterator[Branch]:
        """Add a time-out; one that is due may have been handed over, or be withdrawn."""
        for before in _perhaps_withdrawn(branch, add.task):
            yield from super()._add_time_out(before, add)

    def _taken(self, branch: Branch, name: str) -> Iterator[Branch]:
        """Disarm an operation; its time-out may have been handed over, or be withdrawn."""
        for before in _perhaps_withdrawn(branch, name):
            yield from super()._taken(before, name)

    def _armed(
        self, branch: Branch, name: str, expectation: Expectation[TimerState[Store]]
    ) -> Iterator[Branch]:
        """Follow the timer; what is due already runs now, or when the call has ended."""
        if self._is_stepped:
            yield from super()._armed(branch, name, expectation)
            return
        events = tuple(event for group in expectation.groups for event in group)
        yield branch.with_timer(expectation.complete(events))
        if events:
            at_once = branch.returns(None).with_timer(expectation.complete(()))
            yield from (_ended_as(branch, ran) for ran in self.run(at_once, name))

    def _observe_step(self, size: int | None, state: PurgatoryState) -> Mapping[str, Value]:
        """Leave the timer's size in a callback out: what is still to run may be in it or not."""
        return super()._observe_step(size, state) if self._is_stepped else self.observe(state)


def _ended_as(call: Branch, ran: Branch) -> Branch:
    """Return what has run inside a call, ended as the call itself."""
    return replace(ran, result=call.result, raised=call.raised, is_severe=call.is_severe)


def _perhaps_withdrawn(branch: Branch, name: str) -> Iterator[Branch]:
    """Leave what the executor is still to run as it is, or withdraw an operation from it."""
    yield branch
    if any(name in group for group in branch.due):
        yield _without_due(branch, name)


def _without_due(branch: Branch, name: str) -> Branch:
    """Return the branch with an operation that is no longer due."""
    return replace(branch, due=tuple(left for group in branch.due if (left := group - {name})))
