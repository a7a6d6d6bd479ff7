"""Watches that do not try first, arm before they try again, or refuse a negative delay."""

from purgatory_model.call import Branch, Branches, and_then, pruned
from purgatory_model.choices.meanwhile import CallsMeanwhile
from purgatory_model.kafka_purgatory import appended
from purgatory_spec.outcomes import tried
from purgatory_spec.profiles import FirstTry, NegativeDelay
from purgatory_spec.reasons import Reason


class AnyWatches(CallsMeanwhile):
    """A purgatory that tries, arms and refuses by the choices of its profile."""

    def watch(self, branch: Branch, name: str, keys: tuple[str, ...]) -> Branches:
        """Watch an operation, one that is completed already in ways of its own."""
        refused = self._refusal(branch, keys) is not None
        if branch.operation(name).completed and not refused:
            return self._watch_completed(branch, name, keys)
        return self._watch_open(branch, name, keys)

    def _watch_open(self, branch: Branch, name: str, keys: tuple[str, ...]) -> Branches:
        """Try to complete an operation, else watch it; or watch it before any try.

        Rules: PURGATORY-WATCH-FIRST-TRY.
        """
        if self._refusal(branch, keys) is not None:
            return super().watch(branch, name, keys)
        if self.profile.first_try is FirstTry.NONE:
            return self._add(branch, name, keys)
        watched = super().watch(branch, name, keys)
        if self._rejects_delay(branch, name):
            # The delay may be refused before the first try as well as after it.
            return pruned((branch.raises(Reason.INVALID_ARGUMENT), *watched))
        return watched

    def _rejects_delay(self, branch: Branch, name: str) -> bool:
        """Decide whether the delay of an operation is negative and refused."""
        rejects = self.profile.negative_delay is NegativeDelay.REJECT
        return rejects and branch.operation(name).delay_ms < 0

    def _watch_completed(self, branch: Branch, name: str, keys: tuple[str, ...]) -> Branches:
        """Try a completed operation never, once or twice. Rules: PURGATORY-WATCH-COMPLETED."""
        tries_twice = self.profile.first_try is FirstTry.BEFORE_WATCHING
        branches = [self._counted(branch).returns(False)]
        for first in self.attempt(branch, name):
            if first.raised is not None:
                branches.append(first)
                continue
            branches.append(self._counted(first))
            if tries_twice:
                branches += self.attempt(self._counted(first), name)
        return pruned(branches)

    def _add(self, branch: Branch, name: str, keys: tuple[str, ...]) -> Branches:
        """Append to the lists and try again; arm before that, in between or after it.

        Rules: PURGATORY-WATCH-SECOND-TRY, PURGATORY-WATCH-WAITS, PURGATORY-SECOND-TRY-THROWS.
        """
        if self._rejects_delay(branch, name):
            return (branch.raises(Reason.INVALID_ARGUMENT),)
        armed_after = super()._add(branch, name, keys)
        if self._only_waits(branch, name, armed_after):
            return armed_after
        counted = self._counted(branch)
        added = appended(counted, name, keys)
        # What is completed by now may be appended or not, and tried or not.
        if branch.operation(name).completed:
            untried = (counted.returns(False), added.returns(False))
            return pruned((*untried, *armed_after, *self.attempt(added, name)))
        # The time-out may be armed behind the lists or in front of them; run at once, it may have
        # completed the operation before that is appended.
        armed_before = [*self._arm(added, name)]
        for armed in self._arm(counted, name):
            armed_before.append(appended(armed, name, keys))
            if armed.operation(name).completed:
                armed_before.append(armed)
        tried_after = and_then(armed_before, lambda armed: self._try_again(armed, name))
        return pruned((*armed_after, *tried_after))

    def _only_waits(self, branch: Branch, name: str, armed: Branches) -> bool:
        """Decide whether a second try told nothing but itself, so that it may come at any time."""
        operation = branch.operation(name)
        acts = operation.tries < len(operation.script.on_try)
        if acts or branch.waiting or operation.completed or len(armed) != 1:
            return False
        return armed[0].result is False and armed[0].events == (*branch.events, tried(name))

    def _try_again(self, branch: Branch, name: str) -> Branches:
        """Make the second try, which is free where a time-out that ran at once was faster."""
        tried = self.attempt(branch, name)
        return (branch.returns(False), *tried) if branch.operation(name).completed else tried
