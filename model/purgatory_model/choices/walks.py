"""Checks without order, that drop at their end or everywhere, or that go on behind an exception."""

from collections.abc import Iterator
from typing import Self

from purgatory_model.call import Branch, Branches
from purgatory_model.kafka_purgatory import KafkaPurgatory
from purgatory_model.purgatory_faces import End
from purgatory_model.replacing import replace
from purgatory_model.step import InAnyOrder
from purgatory_model.walk import Walk
from purgatory_model.watcher_lists import Entry, swept, without_order
from purgatory_spec import profiles
from purgatory_spec.outcomes import tried
from purgatory_spec.reasons import Reason


class AnyWalk(Walk, frozen=True):
    """A walk by the choices of a profile.

    ``at_end`` says that entries of completed operations are dropped when the walk is through, and
    ``thrown`` that a try threw behind which it has gone on.
    """

    at_end: bool = False
    thrown: bool = False
    profile: profiles.PurgatoryProfile = profiles.PurgatoryProfile()

    @property
    def is_ordered(self) -> bool:
        """Decide whether the walk passes the oldest entry first."""
        return self.profile.check_order is profiles.CheckOrder.AS_WATCHED

    def may_end(self, left: tuple[Entry, ...]) -> bool:
        """Decide whether the walk may end: without order also where it may miss all that is left.

        Rules: PURGATORY-CHECK-ORDER.
        """
        return not left or (not self.is_ordered and all(map(self.may_miss, left)))

    def next_entries(self, left: tuple[Entry, ...]) -> tuple[Entry, ...]:
        """Choose the entries that may be next, as far as the events seen agree.

        Rules: PURGATORY-CHECK-ORDER.
        """
        if self.is_ordered or not left:
            return left[:1]
        # Entries of completed operations are passed without a sign. Where no exception can cut the
        # walk short it passes all of these, and they come first: their order decides nothing.
        stale = [entry for entry in left if self.branch.operation(entry.operation).completed]
        throws = profiles.PurgatoryFeature.SCRIPT_THROW in self.profile.features
        if not throws or self.profile.throwing_try is profiles.ThrowingTry.GO_ON:
            passed = [entry for entry in stale if not self.may_miss(entry)]
            if passed:
                return tuple(passed[:1])
        branch = self.branch
        if branch.seen is None:
            return left
        if not branch.agrees:
            return left[:1]
        # Of the others, the next event seen tells which one was tried.
        following = branch.seen[len(branch.events) :][:1]
        silent = {entry for entry in left if entry in stale or self.meets_a_try(entry)}
        agreeing = [e for e in left if e in silent or (tried(e.operation),) == following]
        return tuple(agreeing) or left[:1]

    def meets_a_try(self, entry: Entry) -> bool:
        """Decide whether the walk comes to an operation that may be tried just now."""
        return False

    def dropped(self, entry: Entry) -> Self:
        """Pass the entry of a completed operation, and drop it now or when the walk is through."""
        if self.at_end:
            return self.past(entry)
        lists = self.branch.state.lists.drop(self.key, entry)
        return replace(self.past(entry), branch=self.branch.with_lists(lists))

    def behind_exception(self, entry: Entry) -> tuple[Self, ...]:
        """End here, or go on as though nothing had been. Rules: PURGATORY-CHECK-THROWS."""
        if self.profile.throwing_try is profiles.ThrowingTry.STOP:
            return (self,)
        may_pass = self.profile.severe_throw is profiles.SevereThrow.PASSED_ON
        here = (self,) if self.branch.is_severe and may_pass else ()
        after = replace(self, branch=self.branch.returns(None), thrown=True)
        if self.branch.operation(entry.operation).completed:
            return (*here, after.dropped(entry))
        return (*here, after.past(entry))

    def ends(self) -> Branches:
        """End the walk, or drop all entries of completed operations, or those that were found.

        A walk that an exception cuts short need not drop anything. Rules: PURGATORY-CHECK-DROPS.
        """
        if not self.at_end:
            return (self._ended(self.branch),)
        cut_short = () if self.branch.raised is None else (self.branch,)
        present = self.branch.state.lists.of(self.key)
        completed = [each for each in present if self.branch.operation(each.operation).completed]
        found = [entry for entry in completed if entry in self.found]
        return (*cut_short, *(self._ended(self._without(each)) for each in (completed, found)))

    def _without(self, entries: list[Entry]) -> Branch:
        lists = self.branch.state.lists
        for entry in entries:
            lists = lists.drop(self.key, entry)
        return self.branch.with_lists(lists)

    def _ended(self, branch: Branch) -> Branch:
        """Return the count, or raise what a try has thrown."""
        if branch.raised is not None:
            return branch
        return branch.raises(Reason.THROWN) if self.thrown else branch.returns(self.completed)


class AnyWalks(KafkaPurgatory):
    """A purgatory whose checks walk by the choices of its profile."""

    def _walks(self, branch: Branch, key: str) -> tuple[AnyWalk, ...]:
        """Begin a check: it drops as it passes, or at its end. Rules: PURGATORY-CHECK-DROPS."""
        found, drops = branch.state.lists.of(key), self.profile.check_drops
        walk = AnyWalk(branch, key, found, profile=self.profile)
        walks = {
            profiles.CheckDrops.AT_END: (replace(walk, at_end=True),),
            profiles.CheckDrops.EITHER: (walk, replace(walk, at_end=True)),
        }
        return walks.get(drops, (walk,))

    def _meet(self, walk: Walk, entry: Entry) -> Iterator[Walk]:
        """Pass an entry; a walk without order misses entries by coming to its end before them."""
        if self.profile.check_order is profiles.CheckOrder.FREE:
            return self._pass(walk, entry)
        return super()._meet(walk, entry)

    def _cancel_result(self, branch: Branch, names: tuple[str, ...]) -> tuple[str, ...]:
        """Answer the list or what lives of it, perhaps in any order.

        Rules: PURGATORY-CANCEL-RESULT.
        """
        if self.profile.cancel_result is profiles.CancelResult.LIVE:
            names = tuple(name for name in names if not branch.operation(name).completed)
        return (
            InAnyOrder.of(names) if self.profile.check_order is profiles.CheckOrder.FREE else names
        )

    def _ends(self, branch: Branch) -> Iterator[End]:
        """End a call; what is completed leaves all lists, and no order is kept, by the profile.

        In the middle of the call nothing shows whether completed operations have left.

        Rules: PURGATORY-CHECK-DROPS.
        """
        for end in super()._ends(branch):
            state = end.state
            if self.profile.check_drops is profiles.CheckDrops.EVERYWHERE and state.stale_entries:
                state = replace(state, lists=swept(state.lists, state.completed))
            if self.profile.check_order is profiles.CheckOrder.FREE:
                state = replace(state, lists=without_order(state.lists))
            yield end if state is end.state else replace(end, state=state)
