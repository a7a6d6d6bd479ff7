"""A check's walk through a watcher list, in the middle of a call.

Entries have numbers, which grow in a list. A walk passes the entries in the order of their numbers,
each once. Two kinds of entries are met or not, as the walk pleases: those that callbacks have added
meanwhile, and those that callbacks have taken from the list although their operations are not
completed.
"""

from typing import Self

import msgspec

from purgatory_model.call import Branch, Branches
from purgatory_model.replacing import replace
from purgatory_model.watcher_lists import Entry


class Walk(msgspec.Struct, frozen=True):
    """A check's walk through a list: entries found at first, numbers passed, completions counted.

    The walk meets once every entry found that is still in the list at the entry's turn.
    """

    branch: Branch
    key: str
    found: tuple[Entry, ...]
    passed: frozenset[int] = frozenset()
    completed: int = 0

    def __hash__(self) -> int:
        return hash((self.branch, self.passed, self.completed))

    @property
    def is_over(self) -> bool:
        """Decide whether the walk is over: behind an exception."""
        return self.branch.raised is not None

    @property
    def left(self) -> tuple[Entry, ...]:
        """The entries that are not passed, the oldest first."""
        if self.is_over:
            return ()
        found, present = self.found, self.branch.state.lists.of(self.key)
        last = found[-1].number if found else None
        # What was added since has larger numbers than what was found.
        added = () if present is found else (e for e in present if last is None or e.number > last)
        return tuple(entry for entry in (*found, *added) if entry.number not in self.passed)

    def may_end(self, left: tuple[Entry, ...]) -> bool:
        """Decide whether the walk may end with these entries left."""
        return not left

    def next_entries(self, left: tuple[Entry, ...]) -> tuple[Entry, ...]:
        """Choose those of the entries left that may be next. Rules: PURGATORY-CHECK-ORDER."""
        return left[:1]

    def may_miss(self, entry: Entry) -> bool:
        """Decide whether a callback has added the entry or has taken it from the list.

        Rules: PURGATORY-CHECK-ORDER.
        """
        return entry not in self.found or entry not in self.branch.state.lists.of(self.key)

    def past(self, entry: Entry) -> Self:
        """Pass an entry that stays in the list."""
        return replace(self, passed=self.passed | {entry.number})

    def dropped(self, entry: Entry) -> Self:
        """Pass the entry of a completed operation and drop it. Rules: PURGATORY-CHECK-DROPS."""
        lists = self.branch.state.lists.drop(self.key, entry)
        return replace(self.past(entry), branch=self.branch.with_lists(lists))

    def behind_exception(self, entry: Entry) -> tuple[Self, ...]:
        """End where the try of an entry has thrown. Rules: PURGATORY-CHECK-THROWS."""
        return (self,)

    def ends(self) -> Branches:
        """End the walk. Rules: PURGATORY-CHECK-COUNT, PURGATORY-CHECK-UNKNOWN."""
        if self.branch.raised is not None:
            return (self.branch,)
        return (self.branch.returns(self.completed),)
