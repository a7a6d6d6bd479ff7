"""The table of situations for the timer: what to do next, when it can be done, what it is good for.

Each row makes the operations of one situation, in which certain rules show. A generator takes rows
by weight; where a rule has not been put to the test often enough, its rows weigh more.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from purgatory_conformance.generation.asks import timer_asks
from purgatory_conformance.generation.draft import drawn_rows
from purgatory_conformance.generation.fields import in_both_sorts
from purgatory_conformance.generation.looks import last_looks, names_of
from purgatory_conformance.generation.source import Source
from purgatory_conformance.generation.timer import crowds, scripts, situations
from purgatory_conformance.generation.timer.world import World
from purgatory_spec import operations as op
from purgatory_spec.profiles import (
    LARGEST_LONG,
    LARGEST_SAFE_INTEGER,
    Executor,
    Feature,
    LargerDelay,
    NegativeDelay,
    Rounding,
    TimerConfiguration,
    TimerProfile,
)


@dataclass(frozen=True)
class Row:
    """A situation: name, weight, rules put to the test, features needed, and its generator.

    ``make`` may return nothing where the situation cannot arise at present.
    """

    name: str
    weight: int
    rules: frozenset[str]
    needs: frozenset[Feature]
    make: situations.Make
    stepped_only: bool = False

    def is_offered(self, profile: TimerProfile) -> bool:
        """Decide whether a subject of this profile can be brought into the situation."""
        if self.stepped_only and profile.executor is not Executor.STEPPED:
            return False
        if Feature.REFUSE in self.needs and profile.executor is Executor.INLINE:
            return False
        return profile.features.issuperset(self.needs)


def _row(
    name: str,
    weight: int,
    rules: str,
    make: situations.Make,
    *needs: Feature,
    stepped_only: bool = False,
) -> Row:
    return Row(name, weight, frozenset(rules.split()), frozenset(needs), make, stepped_only)


TIMER_TABLE: tuple[Row, ...] = (
    _row(
        "add a short delay",
        8,
        "TIMER-NOT-EARLY TIMER-NOT-LATE TIMER-EXACTLY-ONCE TIMER-ROUNDING",
        situations.short,
    ),
    _row(
        "advance to the next bucket",
        8,
        "TIMER-NOT-LATE TIMER-WAKE-UP TIMER-ADVANCE-RESULT",
        situations.advance_to_next,
    ),
    _row(
        "advance by a little",
        5,
        "TIMER-NOT-EARLY TIMER-IDLE-ADVANCE TIMER-TICK-ORDER",
        situations.advance_by,
    ),
    _row("run one task", 6, "TIMER-EXECUTOR-ORDER", situations.run_one, stepped_only=True),
    _row(
        "add a far delay",
        4,
        "TIMER-CASCADE TIMER-OVERFLOW-ON-DEMAND TIMER-BUCKET-REUSE",
        situations.far,
    ),
    _row(
        "add at a level's boundary",
        4,
        "TIMER-SPAN TIMER-OVERFLOW-ON-DEMAND TIMER-CASCADE",
        situations.boundary,
    ),
    _row(
        "add a zero delay", 2, "TIMER-ZERO-DELAY TIMER-ALREADY-DUE TIMER-OWN-CLOCK", situations.zero
    ),
    _row("add a negative delay", 2, "TIMER-NEGATIVE-DELAY TIMER-ALREADY-DUE", situations.negative),
    _row(
        "add into a tick in use",
        3,
        "TIMER-SAME-TICK-ORDER TIMER-EXACTLY-ONCE",
        situations.same_tick,
    ),
    _row(
        "advance to the last task",
        2,
        "TIMER-TICK-ORDER TIMER-CASCADE TIMER-SAME-TICK-ORDER",
        situations.advance_to_all,
    ),
    _row(
        "fill a tick from two levels",
        2,
        "TIMER-SAME-TICK-ORDER TIMER-CASCADE",
        situations.from_two_levels,
    ),
    _row("run all tasks", 4, "TIMER-EXECUTOR-ORDER", situations.run_all, stepped_only=True),
    _row("let time pass", 2, "TIMER-OWN-CLOCK", situations.let_time_pass, Feature.ELAPSE),
    _row(
        "add after idleness",
        3,
        "TIMER-OWN-CLOCK TIMER-ALREADY-DUE",
        situations.idle_then_add,
        Feature.ELAPSE,
    ),
    _row(
        "cancel a pending task",
        4,
        "TIMER-CANCEL TIMER-SIZE",
        situations.cancel(lambda w: w.pending),
        Feature.CANCEL,
    ),
    _row(
        "empty the next bucket",
        3,
        "TIMER-EMPTIED-BUCKET TIMER-CANCEL",
        situations.cancel_first_bucket,
        Feature.CANCEL,
    ),
    _row(
        "cancel a cancelled task",
        2,
        "TIMER-CANCEL-AGAIN",
        situations.cancel(lambda w: w.cancelled_tasks),
        Feature.CANCEL,
    ),
    _row(
        "cancel a task that ran",
        2,
        "TIMER-CANCEL-FIRED",
        situations.cancel(lambda w: w.idle_tasks),
        Feature.CANCEL,
    ),
    _row(
        "cancel a task in the executor's queue",
        3,
        "TIMER-CANCEL-TOO-LATE",
        situations.cancel(lambda w: sorted(set(w.state.queue))),
        Feature.CANCEL,
        stepped_only=True,
    ),
    _row(
        "cancel an unknown task",
        1,
        "TIMER-CANCEL-UNKNOWN",
        situations.cancel_unknown,
        Feature.CANCEL,
    ),
    _row(
        "add a pending task again",
        4,
        "TIMER-READD-PENDING",
        situations.readd(lambda w: w.pending),
        Feature.READD,
    ),
    _row(
        "add a cancelled task again",
        6,
        "TIMER-READD-CANCELLED",
        situations.readd(lambda w: w.cancelled_tasks),
        Feature.READD,
        Feature.CANCEL,
    ),
    _row(
        "add an expired task again",
        3,
        "TIMER-READD-FIRED",
        situations.readd(lambda w: w.idle_tasks),
        Feature.READD,
    ),
    _row(
        "add a task that waits for the executor",
        1,
        "TIMER-READD-FIRED",
        situations.readd(lambda w: sorted(set(w.state.queue))),
        Feature.READD,
        stepped_only=True,
    ),
    _row(
        "let the first task leave",
        5,
        "TIMER-NOT-LATE TIMER-NOT-EARLY TIMER-TICK-ORDER TIMER-CANCEL",
        situations.first_leaves,
    ),
    _row("arm a task very often", 1, "TIMER-READD-PENDING", situations.rearmed, Feature.READD),
    _row("a task that throws", 2, "TIMER-THROWING-TASK", scripts.throws, Feature.SCRIPT_THROW),
    _row(
        "a task that adds",
        2,
        "TIMER-ADD-INSIDE",
        scripts.adds,
        Feature.SCRIPT_ADD,
    ),
    _row(
        "a task that adds itself",
        1,
        "TIMER-ADD-INSIDE",
        scripts.adds_itself,
        Feature.SCRIPT_ADD,
        Feature.READD,
    ),
    _row(
        "a task that cancels",
        2,
        "TIMER-CANCEL-INSIDE",
        scripts.cancels,
        Feature.SCRIPT_CANCEL,
    ),
    _row(
        "a task that advances", 2, "TIMER-ADVANCE-INSIDE", scripts.advances, Feature.SCRIPT_ADVANCE
    ),
    _row(
        "a batch that acts on itself",
        8,
        "TIMER-ADD-INSIDE TIMER-CANCEL-INSIDE TIMER-THROWING-TASK",
        scripts.batch,
    ),
    _row(
        "an executor that refuses", 2, "TIMER-EXECUTOR-REFUSES", situations.refused, Feature.REFUSE
    ),
    _row("a crowd", 3, "TIMER-NOT-LATE TIMER-SIZE", crowds.crowd),
    _row("follow a far delay", 4, "TIMER-NOT-EARLY TIMER-NOT-LATE", situations.far_and_followed),
    _row("add a huge delay", 2, "TIMER-LARGEST-DELAY", situations.huge),
    _row("look at what is let go", 2, "TIMER-RELEASES", situations.let_go, Feature.REACHABLE),
)
"""The rows for the timer, the simplest first: shrinking goes towards the top."""


SHUTDOWN_ROW = _row(
    "shut down",
    1,
    "TIMER-SHUTDOWN-DROPS TIMER-SHUTDOWN-QUEUE TIMER-SHUTDOWN-CLOSED TIMER-SHUTDOWN-AGAIN",
    situations.shutdown,
    Feature.SHUTDOWN,
)
"""The end of some cases."""


_ROWS = {row.name: row for row in TIMER_TABLE}


_WIDEST = tuple(
    TimerConfiguration(tick_ms, 20, start_ms) for tick_ms in (2, 3, 10) for start_ms in (7, 1003)
)
"""The configurations whose cases begin with very many tasks: a few of a hundred cases."""


@dataclass(slots=True)
class TimerDraft:
    """A case of a timer while it is drawn; see ``Draft``."""

    configuration: TimerConfiguration
    profile: TimerProfile
    world: World = field(init=False)

    def __post_init__(self) -> None:
        """Begin with a fresh timer."""
        self.world = World(self.configuration, self.profile)

    def opening(self, source: Source) -> tuple[op.Operation, ...]:
        """Return more than a thousand tasks where the wheel is wide, so that it happens seldom.

        Several threads alone never get so many: their order is free.
        """
        if self.configuration not in _WIDEST or self.profile.executor is Executor.THREADS:
            return ()
        operations = tuple(crowds.very_many(self.world, source))
        for operation in operations:
            self.world.apply(operation)
        return operations

    def offers(self, situation: str) -> bool:
        """Decide whether a subject of this profile can be brought into the situation."""
        return _ROWS[situation].is_offered(self.profile)

    def draw(self, situation: str, source: Source) -> tuple[op.Operation, ...]:
        """Return the operations of a situation."""
        return self._in_sorts(_ROWS[situation].make(self.world, source), source)

    def asks(self) -> Iterable[op.Operation]:
        """Return the operations worth asking next, of two tasks or so."""
        world, tick_ms = self.world, self.configuration.tick_ms
        known = list(world.delays)[-3:]
        fresh = [f"t{len(world.delays) + 1}"]
        tasks = known if world.has(Feature.READD) and len(known) > 1 else [*known, *fresh]
        return timer_asks(
            world.state,
            self.profile,
            world.delays,
            tasks=tasks,
            tick_ms=tick_ms,
            last_ms=world.now + 3 * tick_ms,
        )

    def shutdown(self, source: Source, share: int = 9) -> tuple[op.Operation, ...]:
        """Return the operations of a shutdown, in one of ``share + 1`` cases."""
        if SHUTDOWN_ROW.is_offered(self.profile) and source.integer(0, share) == share:
            return self._in_sorts(SHUTDOWN_ROW.make(self.world, source), source)
        return ()

    def _in_sorts(
        self, operations: Iterable[op.Operation], source: Source
    ) -> tuple[op.Operation, ...]:
        """Follow the operations with exceptions of both sorts, where the subject throws both."""
        if self.world.has(Feature.SCRIPT_THROW_SEVERE):
            operations = [in_both_sorts(operation, source) for operation in operations]
        return self.followed(operations)

    def last_looks(
        self, drawn: tuple[op.Operation, ...], source: Source
    ) -> tuple[op.Operation, ...]:
        """Return looks at what is finished at the end of a case."""
        if not self.world.has(Feature.REACHABLE):
            return ()
        state = self.world.state
        return last_looks(drawn, lambda task: self.world.model.may_hold(state, task), source)

    def followed(self, operations: Iterable[op.Operation]) -> tuple[op.Operation, ...]:
        """Follow the operations and return them; none where a delay is not offered."""
        followed = tuple(operations)
        if not delays_are_offered(followed, self.profile):
            return ()
        if self.world.dropped and names_of(followed) & self.world.dropped:
            return ()
        reading_ms = self.world.now
        for operation in followed:
            if isinstance(operation, op.Advance | op.Elapse):
                if operation.to_ms - reading_ms > self.world.reach_ms:
                    return ()
                reading_ms = operation.to_ms
        for operation in followed:
            self.world.apply(operation)
        return followed


def delays_are_offered(operations: Iterable[op.Operation], profile: TimerProfile) -> bool:
    """Decide whether a timer of this profile can be asked for the delays of all adds."""
    has_longs = Feature.INT64 in profile.features
    widest = LARGEST_LONG if has_longs else LARGEST_SAFE_INTEGER
    return all(
        -widest <= delay_ms <= widest
        and (delay_ms >= 0 or profile.negative_delay is not NegativeDelay.NOT_OFFERED)
        and (
            delay_ms <= profile.largest_delay_ms
            or profile.larger_delay is not LargerDelay.NOT_OFFERED
        )
        for delay_ms in _delays(operations)
    )


def _delays(operations: Iterable[op.Operation]) -> Iterator[int]:
    for operation in operations:
        if isinstance(operation, op.Add):
            yield operation.delay_ms
            yield from (act.delay_ms for act in operation.script if isinstance(act, op.AddInside))


_ORIGINS_MS = (10**6, 2**31, 2**32, 2**36)
"""Readings about which a clock may begin, ms."""


_LARGE_ORIGINS_MS = (2**40, 2**52)
"""Larger readings, for timers that count in 64 bits; a float of seconds has no ms there."""


def draw_configuration(
    profile: TimerProfile, source: Source, wanted: frozenset[str]
) -> TimerConfiguration:
    """Return a configuration: small wheels show cascades, larger ticks show rounding."""
    tick_ms = source.item((1, 1, 2, 3, 10))
    wheel_size = source.item((2, 3, 5, 20))
    start_ms = source.item((0, 0, 1, 7, 1003))
    # Where due times are exact the ticks are the timer's own, of which there would be too many.
    if profile.rounding is not Rounding.EXACT and source.integer(0, 4) == 4:
        tick_ms = source.item((1_000, 2**14, 10**6))
    if source.integer(0, 3) == 3:
        large = _LARGE_ORIGINS_MS if Feature.INT64 in profile.features else ()
        before_ms = source.integer(-10, 3 * tick_ms * wheel_size)
        start_ms = max(source.item((*_ORIGINS_MS, *large)) - before_ms, 0)
    if Feature.NEGATIVE_CLOCK in profile.features:
        share = 4 if "TIMER-NEGATIVE-CLOCK" in wanted else 9
        if source.integer(0, share) == share:
            start_ms = -source.item((1, 2, tick_ms, tick_ms * wheel_size, source.integer(1, 300)))
    return TimerConfiguration(tick_ms, wheel_size, start_ms)


def draw_operations(
    configuration: TimerConfiguration,
    profile: TimerProfile,
    source: Source,
    most: int,
    wanted: frozenset[str] = frozenset(),
) -> tuple[op.Operation, ...]:
    """Return the operations of one case, at most about ``most``.

    ``wanted`` are the rules that have not been put to the test often enough.
    """
    draft = TimerDraft(configuration, profile)
    rows = [row for row in TIMER_TABLE if draft.offers(row.name)]
    opened = draft.opening(source)
    operations: list[op.Operation] = []
    for row in drawn_rows(rows, wanted, source, operations, most):
        operations.extend(draft.draw(row.name, source))
    operations.extend(draft.shutdown(source, 2 if SHUTDOWN_ROW.rules & wanted else 9))
    operations.extend(draft.last_looks((*opened, *operations), source))
    return (*opened, *operations)
