"""Calls that another thread makes while a callback stands still, and attempts left to others.

Such a call goes through at once, or waits for what the callback's own call holds: wholly, or as a
check that has come to an operation which is being tried. What waits goes on when that try has
ended, or at the end of the step. A check need not wait there, either, and inside a try it cannot:
it may leave the operation to the call that is trying it, which then tries it again.
"""

from collections.abc import Iterator

from purgatory_model.call import Branch, Branches, Waiting, distinct, pruned
from purgatory_model.choices.walks import AnyWalk, AnyWalks
from purgatory_model.purgatory_faces import End
from purgatory_model.replacing import replace
from purgatory_model.walk import Walk
from purgatory_model.watcher_lists import Entry
from purgatory_spec.operations import (
    CallbackAction,
    CallInside,
    CheckInside,
    ForceInside,
    Meanwhile,
)
from purgatory_spec.outcomes import tried


def may_be_tried(branch: Branch, name: str) -> bool:
    """Decide whether a call may be trying an operation just now."""
    return not branch.operation(name).completed and tried(name) in branch.events


class WalkInside(AnyWalk, frozen=True):
    """A walk inside a callback.

    ``owner`` is the operation whose callback stands still, where another thread checks meanwhile;
    ``waits`` says that this thread waits for a try to end.
    """

    owner: str | None = None
    waits: bool = False

    @property
    def is_over(self) -> bool:
        """Decide whether the walk is over: behind an exception, or where the thread waits."""
        return self.waits or self.branch.raised is not None

    def meets_a_try(self, entry: Entry) -> bool:
        """Decide whether the walk comes to an operation that may be tried just now."""
        operation = self.branch.operation(entry.operation)
        if self.owner is None and not operation.script.on_try:
            return False
        return may_be_tried(self.branch, entry.operation)

    def waiting(self, owner: str) -> "WalkInside":
        """Wait until the operation that the walk has come to is no longer being tried."""
        call = CheckInside(self.key)
        rest = Waiting(owner, call, self.found, self.at_end, self.passed, self.thrown)
        branch = replace(self.branch, waiting=(*self.branch.waiting, rest))
        return replace(self, branch=branch, waits=True)

    def ends(self) -> Branches:
        """End the walk, or leave what is left of it to be done later."""
        return (self.branch,) if self.waits else AnyWalk.ends(self)


class CallsMeanwhile(AnyWalks):
    """A purgatory that other threads call while a callback stands still."""

    def attempt(self, branch: Branch, name: str) -> Branches:
        """Try an operation, then go on with what has waited for that or was left to it.

        Rules: PURGATORY-MEANWHILE.
        """
        answered = super().attempt(branch, name)
        operation = branch.operation(name)
        if operation.tries >= len(operation.script.on_try) and not branch.waiting:
            return answered
        return pruned(each for ended in answered for each in self._let_go(ended, name))

    def _let_go(self, branch: Branch, name: str) -> Iterator[Branch]:
        """Do what was left to a try that has ended, and let waiting calls go on or wait.

        Rules: PURGATORY-NOT-LOST, PURGATORY-MEANWHILE, PURGATORY-NO-CIRCLE.
        """
        if name in branch.forced and not branch.operation(name).completed:
            freed = replace(branch, forced=branch.forced - {name}).returns(None)
            for forced in self.force(freed, name):
                yield forced if branch.raised is None else forced.raises(branch.raised)
            return
        if name in branch.again:
            again = replace(branch, again=branch.again - {name})
            if branch.result is False and not branch.operation(name).completed:
                yield from self.attempt(again, name)
                return
            if branch.raised is not None and not branch.operation(name).completed:
                # The exception reaches the caller all the same; the try after it may have come
                # before the check, where nothing was left.
                tried_again = self.attempt(again.returns(None), name)
                yield from (each.raises(branch.raised) for each in tried_again)
            branch = again
        yield branch
        if branch.waiting:
            yield from self._go_on(branch)

    def _go_on(self, branch: Branch) -> Branches:
        """Finish the calls in which other threads wait; result and exception stay."""
        ended: Branches = (branch,)
        while any(each.waiting for each in ended):
            ended = pruned(then for each in ended for then in self._go_on_once(each))
        return distinct(replace(e, result=branch.result, raised=branch.raised) for e in ended)

    def _go_on_once(self, branch: Branch) -> Iterator[Branch]:
        """Finish the first of the calls that wait."""
        if not branch.waiting:
            yield branch
            return
        first = branch.waiting[0]
        free = replace(branch, waiting=branch.waiting[1:]).returns(None)
        if first.found is None or not isinstance(first.call, CheckInside):
            acted = self._act(free, first.owner, first.call)
        else:
            rest = AnyWalk(
                free,
                first.call.key,
                first.found,
                first.passed,
                at_end=first.at_end,
                thrown=first.thrown,
                profile=self.profile,
            )
            acted = self._walk_on((rest,))
        yield from (each.caught(first.owner) for each in acted)

    def _ends(self, branch: Branch) -> Iterator[End]:
        """End a call and the calls that have waited for it, where nothing left to others is lost.

        Rules: PURGATORY-NOT-LOST.
        """
        for each in self._go_on(branch) if branch.waiting else (branch,):
            if all(each.operation(name).completed for name in each.again | each.forced):
                yield from super()._ends(each)

    def _act(self, branch: Branch, owner: str, action: CallbackAction) -> Branches:
        """Carry out an action of a callback, or a call of another thread meanwhile.

        Rules: PURGATORY-CHECK-INSIDE, PURGATORY-MEANWHILE.
        """
        match action:
            case Meanwhile(call):
                return self._meanwhile(branch, owner, call)
            case CheckInside(key):
                return self._walk_on(self._walks_inside(branch, key))
            case ForceInside(name) if branch.beside and may_be_tried(branch.introduce(name), name):
                # The call that is trying the operation completes it.
                left = replace(branch, forced=branch.forced | {name}).returns(False)
                return pruned((*super()._act(branch, owner, action), left))
            case _:
                return super()._act(branch, owner, action)

    def _meanwhile(self, branch: Branch, owner: str, call: CallInside) -> Branches:
        """Call from another thread: at once, or as far as it comes before it must wait."""
        later = replace(branch, waiting=(*branch.waiting, Waiting(owner, call)))
        if branch.waiting:
            return (later,)
        beside = replace(branch, beside=True)
        if isinstance(call, CheckInside):
            at_once = self._walk_on(self._walks_inside(beside, call.key, owner))
        else:
            at_once = self._act(beside, owner, call)
        back = (replace(each, beside=False) for each in at_once)
        return pruned((*back, later))

    def _walks_inside(
        self, branch: Branch, key: str, owner: str | None = None
    ) -> tuple[WalkInside, ...]:
        """Begin a check inside a callback."""
        return tuple(
            WalkInside(
                branch, key, walk.found, at_end=walk.at_end, profile=self.profile, owner=owner
            )
            for walk in self._walks(branch, key)
        )

    def _meet(self, walk: Walk, entry: Entry) -> Iterator[Walk]:
        """Wait for a try that another call makes, leave the operation to it, or pass the entry.

        Rules: PURGATORY-MEANWHILE, PURGATORY-NO-CIRCLE.
        """
        if isinstance(walk, WalkInside) and walk.meets_a_try(entry):
            if walk.owner is not None:
                yield walk.waiting(walk.owner)
            # The call that is trying the operation tries it again.
            left = replace(walk.branch, again=walk.branch.again | {entry.operation})
            yield replace(walk, branch=left).past(entry)
        yield from super()._meet(walk, entry)
