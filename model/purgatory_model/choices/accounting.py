"""Other accountings: the exact count, amortised purges, purges that come when they like."""

from collections.abc import Iterator, Mapping
from functools import partial

from purgatory_model.call import Branch
from purgatory_model.choices.inline_executor import InlineExecutor
from purgatory_model.purgatory_state import PurgatoryState
from purgatory_model.replacing import replace
from purgatory_model.step import Expectation
from purgatory_spec.operations import Advance, Elapse, Shutdown
from purgatory_spec.outcomes import Event, Value
from purgatory_spec.profiles import Accounting, PurgatoryObservable, PurgeDue
from purgatory_spec.reasons import Reason


class AnyAccounting(InlineExecutor):
    """A purgatory that counts and purges by the choices of its profile."""

    def observe(self, state: PurgatoryState) -> Mapping[str, Value]:
        """Return the declared observables; the estimate is free where the accounting is."""
        observed = super().observe(state)
        if self.profile.accounting is not Accounting.ANY:
            return observed
        estimate = PurgatoryObservable.ESTIMATE.value
        return {name: value for name, value in observed.items() if name != estimate}

    def estimate(self, state: PurgatoryState) -> int:
        """Return the estimated total of operations, by the accounting.

        Rules: PURGATORY-ESTIMATE-PROPOSAL, PURGATORY-ESTIMATE-EXACT.
        """
        if self.profile.accounting is Accounting.PROPOSAL:
            return super().estimate(state)
        return state.pending + state.stale_entries

    def interval(self, live: int) -> int:
        """Return how much may be stale beside so much that lives. Rules: PURGATORY-PURGE-START."""
        interval = super().interval(live)
        if self.profile.purge_due is PurgeDue.AMORTISED:
            return max(interval, live // 2)
        return interval

    def purge_is_due(self, state: PurgatoryState) -> bool:
        """Decide whether there is more than the interval to purge. Rules: PURGATORY-PURGE-START."""
        match self.profile.accounting:
            case Accounting.PROPOSAL:
                return super().purge_is_due(state)
            case Accounting.EXACT:
                stale = state.stale_entries
            case Accounting.ANY:
                # What is still to run is not known to be stale, so that no purge is asked for.
                stale = 0 if state.timer.queue else len(state.stale_operations)
        return stale > self.interval(state.live_entries)

    def purged(self, state: PurgatoryState) -> PurgatoryState:
        """Drop the entries of completed operations. Rules: PURGATORY-PURGE-REMOVES."""
        purged = super().purged(state)
        if self.profile.accounting is Accounting.PROPOSAL:
            return purged
        return replace(purged, estimate=0)

    def _counted(self, branch: Branch) -> Branch:
        """Count an operation, in the proposal's accounting alone."""
        if self.profile.accounting is not Accounting.PROPOSAL:
            return branch
        return super()._counted(branch)

    def _timer_expectations(
        self,
        state: PurgatoryState,
        operation: Advance | Elapse | Shutdown,
        seen: tuple[Event, ...] | None,
    ) -> Iterator[Expectation[PurgatoryState]]:
        """Let an advance purge where it likes: by its accounting, refused, or after shutdown.

        Rules: PURGATORY-PURGE-START, PURGATORY-SHUTDOWN-DROPS, PURGATORY-EXECUTOR-REFUSES.
        """
        likes = state.closed or self.profile.accounting is Accounting.ANY
        for expectation in super()._timer_expectations(state, operation, seen):
            if likes and isinstance(operation, Advance):
                yield self._purging(expectation)
            yield expectation
            if expectation.rejected is Reason.REFUSED:
                refused = expectation.complete(())
                kept = replace(state, timer=refused.timer)
                yield replace(expectation, complete=partial(_unpurged, kept))

    def _purging(self, expectation: Expectation[PurgatoryState]) -> Expectation[PurgatoryState]:
        """Expect the same, and a purge after it."""
        complete = expectation.complete
        return replace(expectation, complete=lambda events: self.purged(complete(events)))


def _unpurged(state: PurgatoryState, _events: tuple[Event, ...]) -> PurgatoryState:
    return state
