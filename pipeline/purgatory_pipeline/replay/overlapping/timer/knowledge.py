"""The knowledge about a timer on a real clock, and about each task.

A task is followed from the first call that names the task until no further event is possible. Then
only the task's fate is kept.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from purgatory_conformance.judging.expiry_interval import ExpiryInterval
from purgatory_pipeline.replay.overlapping.deadlines import Deadlines
from purgatory_pipeline.replay.overlapping.judge import lateness_ms
from purgatory_pipeline.replay.overlapping.passing_rules import PassingRules
from purgatory_pipeline.replay.overlapping.recent_names import RecentNames
from purgatory_pipeline.replay.overlapping.timer_armings import Arming, FollowedTask
from purgatory_pipeline.traces.lines import Begin, TimerInstance

_TAKEN_AFTER_SHUTDOWN = "taken_after_shutdown"


class Fate(NamedTuple):
    """The end of a finished task: the rules that ended the arming, and whether the task ran."""

    ended_by: frozenset[str]
    ran: bool


@dataclass(slots=True)
class TimerKnowledge:
    """What is known of a timer.

    Attributes:
        begin: The first line of the run.
        instance: What is followed.
        visits: How often each rule was put to the test so far.
        deviated: The rules of declared deviations that were seen so far.
        interval: How expiries follow from readings of the clock.
        tasks: The followed tasks, by name.
        recent: The ends of forgotten tasks.
        deadlines: When they have to have run, and the lines that say so to have come.
        passing: What must not run any more, and has not so far.
        in_time: What has run in time, until its absence would have been told.
        number: The number of the latest call or arming.
        closing: Whether a shutdown has begun.
        closed: Whether one has returned.
        number_when_closed: ``number`` when the first one returned.
        cut_off: Tasks that were due and not overdue when the shutdown began, and have not run.
    """

    begin: Begin
    instance: TimerInstance
    visits: Counter[str]
    deviated: set[str]
    interval: ExpiryInterval = field(init=False)
    tasks: dict[str, FollowedTask] = field(default_factory=dict)
    recent: RecentNames[Fate] = field(default_factory=RecentNames)
    deadlines: Deadlines = field(default_factory=Deadlines)
    passing: PassingRules = field(default_factory=PassingRules)
    in_time: PassingRules = field(default_factory=PassingRules)
    number: int = 0
    closing: bool = False
    closed: bool = False
    number_when_closed: int = 0
    cut_off: set[str] = field(default_factory=set)
    _variants: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        configuration, profile = self.instance.configuration, self.instance.profile
        late = lateness_ms(self.begin)
        self.interval = ExpiryInterval(configuration.tick_ms, profile.rounding, late)
        self._variants = {each.variant: each.rule for each in self.begin.deviations}

    @property
    def takes_after_shutdown(self) -> bool:
        """Whether it is declared that an add is taken after shutdown, and lost."""
        return _TAKEN_AFTER_SHUTDOWN in self._variants

    def has_taken_after_shutdown(self) -> None:
        """What is declared was seen."""
        self.deviated.add(self._variants[_TAKEN_AFTER_SHUTDOWN])

    def pending_expiries(self) -> int:
        """How many tasks had to run, and were not overdue, at the end or at the shutdown."""
        if self.closing:
            return len(self.cut_off)
        return sum(each.has_to_run for each in self.tasks.values())

    def next_number(self) -> int:
        """A number that nothing has yet."""
        self.number += 1
        return self.number

    def named(self, task: str) -> FollowedTask:
        """The task of a name that a call gives."""
        followed = self.tasks.get(task)
        if followed is None:
            followed = self.tasks[task] = FollowedTask()
            fate = self.recent.take(task)
            if fate is not None:
                followed.ended_by, followed.ran = fate
        return followed

    def forget_if_idle(self, task: str, followed: FollowedTask) -> None:
        """Forget a task of which nothing more can come."""
        if followed.is_idle and self.tasks.pop(task, None) is not None:
            self.recent.put(task, Fate(followed.ended_by, followed.ran))

    def wait_for(self, arming: Arming, task: str) -> None:
        """An arming has to run by its latest time, and that to be told soon after."""
        if arming.late_ms is not None:
            self.deadlines.put(arming.late_ms + self.interval.lateness_ms, task)

    def waited_for(self) -> list[tuple[int, str]]:
        """All that is still waited for, with its latest time."""
        return [
            (arming.late_ms + self.interval.lateness_ms, task)
            for task, followed in self.tasks.items()
            for arming in followed.armings()
            if arming.late_ms is not None
        ]
