"""A check: the walk through one watcher list.

Theory of operation. A walk passes the entries in the order of their numbers, each at most once. It
meets every entry that it found in the list at first and that is still there when its turn comes.
Two kinds are met or not, as the walk pleases: entries that callbacks have added meanwhile, and
entries that callbacks have taken from the list although their operations are not completed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic

from purgatory_model.pending_tasks import Kept
from purgatory_model.purgatory_course import Course, Courses, itself, likely
from purgatory_model.replacing import replace
from purgatory_model.watcher_lists import Entry
from purgatory_spec.profiles import ThrowingTry
from purgatory_spec.reasons import Reason

Attempt = Callable[[Course[Kept], str], Courses[Kept]]


@dataclass(frozen=True, slots=True)
class Walk(Generic[Kept]):
    """A walk under way: the last number that it passed, what it completed, whether a try threw.

    ``found`` are the entries that were in the list at first; ``last`` is None before the first one.
    """

    course: Course[Kept]
    key: str
    found: tuple[Entry, ...]
    last: int | None = None
    completed: int = 0
    thrown: bool = False

    @property
    def next(self) -> Entry | None:
        """The oldest entry that the walk may meet next."""
        entries = {*self.found, *self.course.moment.lists.of(self.key)}
        return min(
            (entry for entry in entries if self.last is None or entry.number > self.last),
            key=lambda entry: entry.number,
            default=None,
        )

    def past(self, entry: Entry) -> "Walk[Kept]":
        """The walk behind an entry."""
        return replace(self, last=entry.number)

    def dropped(self, entry: Entry) -> "Walk[Kept]":
        """The walk behind an entry that is no longer in the list."""
        lists = self.course.moment.lists.drop(self.key, entry)
        return replace(self.past(entry), course=self.course.with_lists(lists))

    def may_miss(self, entry: Entry) -> bool:
        """Whether a callback added the entry or took it away. Rules: PURGATORY-CHECK-ORDER."""
        return entry not in self.found or entry not in self.course.moment.lists.of(self.key)

    def ended(self) -> Course[Kept]:
        """The end of the walk. Rules: PURGATORY-CHECK-COUNT, PURGATORY-CHECK-UNKNOWN."""
        if self.course.raised is not None:
            return self.course
        if self.thrown:
            return self.course.raises(Reason.THROWN)
        return self.course.returns(self.completed)


def walk(
    course: Course[Kept], key: str, attempt: Attempt[Kept], throwing_try: ThrowingTry
) -> Courses[Kept]:
    """Check a key: meet its entries one by one, and try by ``attempt`` what is not completed."""
    ended: list[Course[Kept]] = []
    walks: tuple[Walk[Kept], ...] = (Walk(course, key, course.moment.lists.of(key)),)
    while walks:
        going: list[Walk[Kept]] = []
        for each in walks:
            entry = each.next
            if entry is None or each.course.raised is not None:
                ended.append(each.ended())
            else:
                going += _pass(each, entry, attempt, throwing_try)
        walks = likely(going, lambda each: each.course)
    return likely(ended, itself)


def _pass(
    walk: Walk[Kept], entry: Entry, attempt: Attempt[Kept], throwing_try: ThrowingTry
) -> Iterator[Walk[Kept]]:
    """Pass one entry.

    Rules: PURGATORY-CHECK-DROPS, PURGATORY-COMPLETED-NOT-TRIED, PURGATORY-NOT-LOST.
    """
    if walk.may_miss(entry):
        yield walk.past(entry)
    if walk.course.operation(entry.operation).completed:
        yield walk.dropped(entry)
        return
    for tried in attempt(walk.course, entry.operation):
        after = replace(walk, course=tried)
        if tried.raised is not None:
            yield _behind_exception(after, entry, throwing_try)
        elif tried.result is True:
            yield replace(after.dropped(entry), completed=walk.completed + 1)
        else:
            yield after.past(entry)


def _behind_exception(walk: Walk[Kept], entry: Entry, throwing_try: ThrowingTry) -> Walk[Kept]:
    """End here, or go on as though nothing had been. Rules: PURGATORY-CHECK-THROWS."""
    if throwing_try is ThrowingTry.STOP:
        return walk
    after = replace(walk, course=walk.course.returns(None), thrown=True)
    if walk.course.operation(entry.operation).completed:
        return after.dropped(entry)
    return after.past(entry)
