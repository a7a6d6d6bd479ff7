"""An executor that runs inline: what a step hands over has run when the step returns.

Theory of operation. The executor's queue is empty between steps. An advance hands over the tasks
of each tick, the ticks in their order, and then runs them; which of a tick's tasks comes first is
left open until its turn, so that an observed order need only be followed and not be looked for
among all. What is handed over meanwhile runs behind them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic

from purgatory_model.pending_tasks import Kept
from purgatory_model.purgatory_calls import Calls
from purgatory_model.purgatory_course import Course, Courses, itself, likely
from purgatory_model.replacing import replace

Groups = tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class _Running(Generic[Kept]):
    """What still has to run: the groups, in any order inside each, and then the queue."""

    course: Course[Kept]
    groups: Groups


def run_all(course: Course[Kept], groups: Groups, calls: Calls[Kept]) -> Courses[Kept]:
    """The course when everything that was handed over has run; its end stays what it was.

    Args:
        course: A call that has come to its end.
        groups: The operations that an advance has handed over, tick by tick.
        calls: How to run one.
    """
    ended: list[Course[Kept]] = []
    running: tuple[_Running[Kept], ...] = (_Running(course, groups),)
    while running:
        going: list[_Running[Kept]] = []
        for each in running:
            if each.groups or each.course.moment.timer.queue:
                going += _run_next(each, calls)
            else:
                ended.append(replace(each.course, result=course.result, raised=course.raised))
        running = likely(going, lambda each: each.course)
    return likely(ended, itself)


def _run_next(running: _Running[Kept], calls: Calls[Kept]) -> Iterator[_Running[Kept]]:
    """Run one operation: any of the first group, or the head of the queue.

    Rules: PURGATORY-LOST-EXPIRY.
    """
    if not running.groups:
        for ran in calls.run_one(running.course):
            yield _Running(ran, ())
        return
    group, later = running.groups[0], running.groups[1:]
    lost = frozenset(name for name in group if running.course.operation(name).completed)
    if lost:  # their runs do nothing and show nothing, so that one order stands for all
        left = group - lost
        yield _Running(running.course, (left, *later) if left else later)
        return
    for name in sorted(group):
        left = group - {name}
        for ran in calls.run(running.course, name):
            yield _Running(ran, (left, *later) if left else later)
