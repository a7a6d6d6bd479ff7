"""Looks at operations, and time-outs that are kept until they would have been due.

A list holds an operation, and so does its time-out. A heap that deletes lazily keeps the entry of a
time-out that was cancelled or moved until an advance comes to its due tick.
"""

from purgatory_model.call import Branch, Branches
from purgatory_model.choices.accounting import AnyAccounting
from purgatory_model.choices.timers import AnyTimer
from purgatory_model.pending_tasks import Store
from purgatory_model.purgatory_state import PurgatoryState
from purgatory_spec import profiles
from purgatory_spec.operations import Operation, Reachable


class LazyTimeOuts(AnyAccounting):
    """A purgatory that may keep the entry of a time-out which was cancelled."""

    timer: AnyTimer[Store]

    def may_hold(self, state: PurgatoryState, name: str) -> bool:
        """Decide whether an operation may be held. Rules: PURGATORY-RELEASES."""
        return name in state.distinct or self.timer.may_hold(state.timer, name)

    def _branches(self, begun: Branch, operation: Operation) -> Branches:
        """Carry out a call, or look at an operation."""
        if not isinstance(operation, Reachable):
            return super()._branches(begun, operation)
        may_hold = self.may_hold(begun.state.between_calls(), operation.task)
        return (begun.returns(None if may_hold else False),)

    def _add(self, branch: Branch, name: str, keys: tuple[str, ...]) -> Branches:
        """Add an operation whose time-out may be kept once it is cancelled."""
        return super()._add(self._keeping(branch, name), name, keys)

    def _watch_completed(self, branch: Branch, name: str, keys: tuple[str, ...]) -> Branches:
        """Watch a completed operation, whose time-out may be armed and cancelled."""
        return super()._watch_completed(self._keeping(branch, name), name, keys)

    def _keeping(self, branch: Branch, name: str) -> Branch:
        """Keep the entry of the time-out, whether it is armed before the last try or after it."""
        if not self.configuration.time_outs or self._rejects_delay(branch, name):
            return branch
        timer = branch.state.timer
        due_tick = self.timer.due_tick_of(timer, branch.operation(name).delay_ms)
        return branch.with_timer(self.timer.kept(timer, name, due_tick))


def timer_profile(profile: profiles.PurgatoryProfile) -> profiles.TimerProfile:
    """Return the profile of the purgatory's timer: stepped, so that every hand-over is an event."""
    asks = profiles.PurgatoryFeature.REACHABLE in profile.features
    return profiles.TimerProfile(
        rounding=profile.rounding,
        same_tick_order=profile.same_tick_order,
        executor=profiles.Executor.STEPPED,
        structure=profile.structure,
        already_due=profile.already_due,
        negative_delay=profile.negative_delay,
        release_cancelled=profile.release_cancelled,
        largest_delay_ms=profiles.LARGEST_LONG,
        features=frozenset({profiles.Feature.REACHABLE}) if asks else frozenset(),
    )
