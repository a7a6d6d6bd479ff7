"""A way to explain a run, share by share: explained shares and refuted shares.

No share may keep the others from being looked at. Each is allowed few configurations at first, and
ten times as many from round to round, while anything is left. One that nothing explains refutes the
whole, whatever is not decided; of the others only what stands before that line matters then.
"""

from collections.abc import Callable, Sequence

from purgatory_traces.linearizability.budget import Budget, OutOfAllowance, OutOfConfigurations
from purgatory_traces.linearizability.decision import Undecided
from purgatory_traces.linearizability.share import AnyShare, ShareFound

_FIRST_ALLOWANCE = 1_000
_MOST_WHEN_REFUTED = 10_000
"""The most that a share is allowed for a line before one that nothing explains, configurations."""


class Attempt:
    """The shares of a run.

    Attributes:
        found: What was found of each share so far, by its place.
    """

    def __init__(
        self,
        names: Sequence[str],
        share_of: Callable[[str], AnyShare],
        budget: Budget,
    ) -> None:
        """Look at all shares, until enough is known of each.

        Args:
            names: The shares.
            share_of: The share of a name.
            budget: What all may cost together.
        """
        self.found: dict[int, ShareFound] = {}
        self._names = names
        self._share_of = share_of
        self._budget = budget
        self._look_at_all()

    @property
    def refuted(self) -> list[ShareFound]:
        """Return the shares without an explanation, the earliest failure first."""
        failing = (each for each in self.found.values() if each.refutation is not None)
        return sorted(failing, key=lambda each: each.fails_at)

    @property
    def undecided(self) -> list[ShareFound]:
        """Return the shares that are undecided."""
        return [each for each in self.found.values() if each.undecided is not None]

    @property
    def explained(self) -> list[ShareFound]:
        """Return the shares that some order of calls explains."""
        decided = (each for each in self.found.values() if each.refutation is None)
        return [each for each in decided if each.undecided is None]

    def _look_at_all(self) -> None:
        waiting: Sequence[int] = range(len(self._names))
        allowance = None if len(waiting) == 1 else _FIRST_ALLOWANCE
        again = False
        while waiting:
            left: list[int] = []
            for place in waiting:
                found = self._look_at(place, allowance, again=again)
                self.found[place] = found
                if found.undecided is not None and isinstance(
                    found.undecided.cause, OutOfAllowance
                ):
                    left.append(place)
            waiting, again = left, True
            if allowance is not None:
                allowance *= 10
            if self.refuted and (allowance is None or allowance > _MOST_WHEN_REFUTED):
                return

    def _look_at(self, place: int, allowance: int | None, *, again: bool) -> ShareFound:
        before = self.found.get(place)
        name = self._names[place]
        try:
            self._budget.look_at_rest()
        except OutOfConfigurations as problem:
            if before is None:
                return ShareFound(name, [], undecided=Undecided(problem))
            assert before.undecided is not None
            late = Undecided(problem, before.undecided.explained, before.order)
            return ShareFound(name, before.entries, before.order, undecided=late)
        share = self._share_of(name)
        if again and self.refuted:
            share = share.until(self.refuted[0].fails_at)
        return share.explained(self._budget, allowance)
