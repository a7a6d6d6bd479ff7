"""A small timing wheel behind the subject interface: the specimen that the suite is tried on.

It is written straight from the rules and shares nothing with the model or the implementation but
the types of the steps. Every decision is one short method, so that a timer with a single fault is a
subclass with a single override. It is a control, not an example of speed.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, StrEnum

import msgspec

from purgatory_conformance.specimens.small.specimen import (
    Refusal,
    ScriptFailure,
    Specimen,
    failure_of,
)
from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_judge.components import narrowed
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.messages import Implementation
from purgatory_spec.outcomes import Event, EventKind, Value, expired, ran
from purgatory_spec.reasons import Reason

PROFILE = profiles.TimerProfile(
    executor=profiles.Executor.STEPPED,
    structure=profiles.Structure.DELAY_QUEUE_WHEEL,
    largest_delay_ms=profiles.LARGEST_LONG,
    severe_throw=profiles.SevereThrow.AS_ORDINARY,
    features=frozenset(profiles.Feature),
    observables=frozenset(profiles.Observable),
)
"""The profile of the small timer: all that the suite can ask for."""

SILENT_PROFILE = msgspec.structs.replace(
    PROFILE,
    structure=profiles.Structure.ANY,
    features=PROFILE.features - {profiles.Feature.REACHABLE},
    observables=frozenset(),
)
"""The profile of a first adapter: any structure, and nothing is shown but events."""

FIFO_PROFILE = msgspec.structs.replace(PROFILE, same_tick_order=profiles.SameTickOrder.FIFO)
"""The profile of a timer that keeps the order of arming inside a tick."""

Script = tuple[op.Action, ...] | None
"""The action of an added task when it runs; None keeps the action it had before."""


@dataclass(eq=False, slots=True)
class Bucket:
    """A place in the ring of a level (counted from 0), its tasks and its present expiry (ms)."""

    level: int
    expiry_ms: int = 0
    tasks: "list[Task]" = field(default_factory=list)


class Fate(Enum):
    """The fate of a task's last arming."""

    NEVER_ARMED = "never armed"
    PENDING = "pending"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


@dataclass(eq=False, slots=True, weakref_slot=True)
class Task:
    """A task object; its bucket matters while it is pending."""

    name: str
    script: tuple[op.Action, ...] = ()
    fate: Fate = Fate.NEVER_ARMED
    due_tick: int = 0
    arming: int = 0
    bucket: Bucket | None = None


class SmallTimer(Specimen):
    """A timer with clock and executor queue."""

    def __init__(
        self, configuration: profiles.TimerConfiguration, profile: profiles.TimerProfile
    ) -> None:
        """Make a timer with one level and nothing to do."""
        super().__init__(profile)
        self.profile = profile
        self.tick_ms = configuration.tick_ms
        self.wheel_size = configuration.wheel_size
        self.now_ms = configuration.start_ms
        self.own_clock_ms = self.round_down(self.now_ms, self.tick_ms)
        self.levels: list[list[Bucket]] = []
        self.delay_queue: list[Bucket] = []
        self.tasks: dict[str, Task] = {}
        self.queue: list[Task] = []
        self.pending = 0
        self.armings = 0
        self.closed = False
        self.refuses = False
        self.kept = Bucket(-1)
        self.add_level()

    # What a step asks for

    def perform(self, operation: op.Operation) -> Value:
        """Return the result of an operation; raises ``Refusal``."""
        match operation:
            case op.Add(name, delay_ms, script):
                self.add(self.task(name), delay_ms, script)
            case op.Cancel(name):
                self.cancel(self.task(name))
            case op.Elapse(to_ms):
                self.now_ms = to_ms
            case op.Advance(to_ms, refuse):
                self.now_ms = to_ms
                self.refuses = refuse and self.profile.executor is not profiles.Executor.INLINE
                try:
                    result = self.advance()
                finally:
                    self.refuses = False
                return (
                    result
                    if profiles.Observable.ADVANCE_RESULT in self.profile.observables
                    else None
                )
            case op.RunOne():
                self.run_one()
            case op.Shutdown():
                self.shutdown()
            case op.Reachable(name):
                return self.dropped.is_reachable(self.tasks, name)
            case _:
                raise Refusal(Reason.UNSUPPORTED)
        return None

    def task(self, name: str) -> Task:
        """Return the task object of a name."""
        return self.tasks.setdefault(name, Task(name))

    def add(self, task: Task, delay_ms: int, script: Script = None) -> None:
        """Arm a task, pending or not."""
        self.refuse(delay_ms)
        if script is not None:
            task.script = script
        if task.fate is Fate.PENDING:
            self.move_away(task)
        self.armings += 1
        task.arming = self.armings
        task.due_tick = self.due_tick(self.expiry(delay_ms))
        if self.is_due(task):
            self.hand_over([task])
        else:
            task.fate = Fate.PENDING
            self.pending += 1
            self.put(task)

    def cancel(self, task: Task) -> None:
        """Disarm a task, if it is pending."""
        if task.fate is Fate.PENDING:
            task.fate = Fate.CANCELLED
            self.pending -= 1
            self.leave(task)

    def advance(self) -> bool:
        """Pop every due bucket; whether any bucket was due."""
        if self.closed:
            return False
        due, self.kept.tasks = self.kept.tasks, []
        popped = bool(due)
        while self.delay_queue and self.is_ready(first := self.first_bucket()):
            popped = True
            due += self.pop(first)
        self.expire(due)
        return self.advance_result(popped, due)

    def expire(self, due: list[Task]) -> None:
        """Hand over what an advance has popped; keep or run it where the executor refuses it."""
        if due and self.refuses:
            self.refused(self.in_order(due))
        else:
            self.pending -= len(due)
            self.hand_over(self.in_order(due))

    def advance_result(self, popped: bool, due: list[Task]) -> bool:
        """Return the result of an advance that popped a bucket or not, and expired these tasks."""
        return popped

    def shutdown(self) -> None:
        """Close the timer and drop the pending tasks."""
        self.closed = True
        for task in self.tasks.values():
            if task.fate is Fate.PENDING:
                task.fate = Fate.CANCELLED
        self.delay_queue = []
        self.kept.tasks = []
        self.pending = 0

    # When a task is due

    def refuse(self, delay_ms: int) -> None:
        """Raise ``Refusal`` where a task cannot be added."""
        if self.closed:
            raise Refusal(Reason.CLOSED)
        too_large = delay_ms > self.profile.largest_delay_ms
        if too_large and self.profile.larger_delay is profiles.LargerDelay.REJECT:
            raise Refusal(Reason.TOO_LARGE)
        if delay_ms < 0 and self.profile.negative_delay is profiles.NegativeDelay.REJECT:
            raise Refusal(Reason.INVALID_ARGUMENT)

    def expiry(self, delay_ms: int) -> int:
        """Return the time at which a delay that begins now has passed, ms."""
        if self.profile.negative_delay is profiles.NegativeDelay.AS_ZERO:
            delay_ms = max(delay_ms, 0)
        return self.now_ms + min(delay_ms, self.profile.largest_delay_ms)

    def due_tick(self, expiry_ms: int) -> int:
        """Return the expiry rounded to the tick, as declared."""
        if self.profile.rounding is profiles.Rounding.EXACT:
            return expiry_ms
        if self.profile.rounding is profiles.Rounding.UP:
            expiry_ms += self.tick_ms - 1
        return self.round_down(expiry_ms, self.tick_ms)

    def round_down(self, time_ms: int, tick_ms: int) -> int:
        """Return the largest multiple of a tick that is not larger than a time."""
        return time_ms // tick_ms * tick_ms

    def is_due(self, task: Task) -> bool:
        """Decide whether a task that is added expires at once."""
        return task.due_tick <= self.own_clock_ms

    def comes_due(self, task: Task) -> bool:
        """Decide whether a task expires with its bucket."""
        return task.due_tick <= self.own_clock_ms

    # Levels and buckets

    def tick_of(self, level: int) -> int:
        """Return the tick of a level (counted from 0), ms."""
        tick_ms: int = self.tick_ms * self.wheel_size**level
        return tick_ms

    def covers(self, level: int, due_tick: int) -> bool:
        """Decide whether a level has a bucket for a due tick."""
        tick_ms = self.tick_of(level)
        return due_tick < self.round_down(self.own_clock_ms, tick_ms) + tick_ms * self.wheel_size

    def level_for(self, due_tick: int) -> int:
        """Return the lowest level that covers a due tick; make it if need be."""
        level = 0
        while not self.covers(level, due_tick):
            level += 1
            if level == len(self.levels):
                self.add_level()
        return level

    def add_level(self) -> None:
        """Make the next level of the wheel."""
        level = len(self.levels)
        self.levels.append([Bucket(level) for _ in range(self.wheel_size)])

    def put(self, task: Task) -> None:
        """Put a task that is not due into its bucket."""
        level = self.level_for(task.due_tick)
        tick_ms = self.tick_of(level)
        bucket = self.levels[level][task.due_tick // tick_ms % self.wheel_size]
        bucket.tasks.append(task)
        task.bucket = bucket
        self.offer(bucket, self.round_down(task.due_tick, tick_ms))

    def offer(self, bucket: Bucket, expiry_ms: int) -> None:
        """Put a bucket into the delay queue, unless it is there."""
        if bucket not in self.delay_queue:
            bucket.expiry_ms = expiry_ms
            self.delay_queue.append(bucket)

    def leave(self, task: Task) -> None:
        """Take a task out of the bucket in which it is."""
        assert task.bucket is not None
        task.bucket.tasks.remove(task)

    def move_away(self, task: Task) -> None:
        """End the arming of a pending task that is added again."""
        self.pending -= 1
        self.leave(task)

    def first_bucket(self) -> Bucket:
        """Return the first bucket of the delay queue, which is not empty."""
        return min(self.delay_queue, key=lambda bucket: bucket.expiry_ms)

    def is_ready(self, bucket: Bucket) -> bool:
        """Decide whether the delay queue gives a bucket away."""
        return bucket.expiry_ms <= self.now_ms

    def pop(self, bucket: Bucket) -> list[Task]:
        """Take a bucket from the delay queue; its tasks that expire."""
        self.delay_queue.remove(bucket)
        self.own_clock_ms = bucket.expiry_ms
        held = self.empty(bucket)
        due = [task for task in held if self.comes_due(task)]
        for task in held:
            if task not in due:
                self.pass_down(task)
        return due

    def empty(self, bucket: Bucket) -> list[Task]:
        """Take out all tasks of a bucket."""
        held, bucket.tasks = bucket.tasks, []
        return held

    def pass_down(self, task: Task) -> None:
        """Put a task of a popped bucket that is not due into a lower level."""
        self.put(task)

    # The executor

    def in_order(self, due: list[Task]) -> list[Task]:
        """Return the tasks expired by an advance, in the order of their hand-over."""
        if self.profile.same_tick_order is profiles.SameTickOrder.FIFO:
            return sorted(due, key=lambda task: (task.due_tick, task.arming))
        return due

    def refused(self, due: list[Task]) -> None:
        """Keep the tasks that the executor refuses, or run them; raises ``Refusal`` if kept."""
        if self.profile.refused_task is profiles.RefusedTask.CALLER_RUNS:
            self.run_here(due)
        else:
            self.keep(due)
            raise Refusal(Reason.REFUSED)

    def keep(self, due: list[Task]) -> None:
        """Let refused tasks wait for the next advance, in a bucket of no level."""
        self.kept.tasks += due
        for task in due:
            task.bucket = self.kept

    def run_here(self, due: list[Task]) -> None:
        """Run refused tasks in the thread of the caller."""
        self.pending -= len(due)
        for task in due:
            task.fate = Fate.EXPIRED
            with suppress(ScriptFailure):
                self.run(task)

    def hand_over(self, due: list[Task]) -> None:
        """Give expired tasks to the executor."""
        for task in due:
            task.fate = Fate.EXPIRED
            if self.profile.executor is profiles.Executor.STEPPED:
                self.events.append(expired(task.name))
            self.queue.append(task)

    def settle(self) -> None:
        """Run the executor's queue at the end of a step unless running is a step."""
        if self.profile.executor is not profiles.Executor.STEPPED:
            self.run_all()

    def run_all(self) -> None:
        """Run tasks until none waits."""
        while self.queue:
            self.run_one()

    def next_to_run(self) -> Task:
        """Take a task from the executor's queue, which is not empty."""
        return self.queue.pop(0)

    def run_one(self) -> None:
        """Run the task that has waited longest."""
        if self.queue:
            task = self.next_to_run()
            with suppress(ScriptFailure):
                self.run(task)

    def run(self, task: Task) -> None:
        """Run a task's script; raises ``ScriptFailure`` where it throws."""
        self.events.append(ran(task.name))
        for action in task.script:
            try:
                self.act(action)
            except Refusal as refusal:
                event = Event(EventKind.REJECTED, task.name, reason=refusal.reason)
                self.events.append(event)

    def act(self, action: op.Action) -> None:
        """Do one action of a running task."""
        match action:
            case op.Throw(sort):
                raise failure_of(sort)
            case op.AddInside(name, delay_ms):
                self.add(self.task(name), delay_ms)
            case op.CancelInside(name):
                self.cancel(self.task(name))
            case op.AdvanceInside():
                self.advance()

    # What is shown

    def size(self) -> int:
        """Return the number of pending tasks."""
        return self.pending

    def next_expiry(self) -> int | None:
        """Return the expiry of the first bucket, ms; None without one."""
        return self.first_bucket().expiry_ms if self.delay_queue else None

    def show(self) -> Mapping[StrEnum, Value]:
        """Return all observables but the result of an advance."""
        return {
            profiles.Observable.SIZE: self.size(),
            profiles.Observable.QUEUED: len(self.queue),
            profiles.Observable.WHEEL_CLOCK: self.own_clock_ms,
            profiles.Observable.QUEUED_BUCKETS: len(self.delay_queue),
            profiles.Observable.NEXT_EXPIRY: self.next_expiry(),
            profiles.Observable.LEVELS: len(self.levels),
        }


MakeTimer = Callable[[profiles.TimerConfiguration, profiles.TimerProfile], SmallTimer]


def small_subject(
    make_timer: MakeTimer = SmallTimer,
    profile: profiles.TimerProfile = PROFILE,
    name: str = "small timer",
    *,
    behaves: profiles.TimerProfile | None = None,
) -> InProcessSubject:
    """Return a small timer, right or wrong, as a subject in process.

    Args:
        make_timer: Makes a timer.
        profile: What the subject declares.
        name: The subject's name in reports.
        behaves: The profile that the timer follows; ``profile`` if None.
    """
    followed = behaves or profile
    return InProcessSubject(
        Implementation(name=name, language="Python"),
        {profiles.Component.TIMER: profile},
        lambda configuration: make_timer(
            narrowed(configuration, profiles.TimerConfiguration), followed
        ),
    )
