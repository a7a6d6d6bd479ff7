"""Profiles: the legal choices of an implementation, which parameterise what the model predicts.

Every default is the weakest choice, so that a first adapter may declare nothing at all.
"""

from enum import Enum, StrEnum

import msgspec


class Rounding(Enum):
    """How an expiry is rounded to the tick (rule TIMER-ROUNDING)."""

    DOWN = "down"
    UP = "up"


class SameTickOrder(Enum):
    """The order of tasks that expire in one tick (rule TIMER-SAME-TICK-ORDER)."""

    NONE = "none"
    FIFO = "fifo"


class Clock(Enum):
    """Who moves the clock."""

    MANUAL = "manual"
    WALL = "wall"


class Executor(Enum):
    """Where an expired task runs.

    ``stepped``: it waits in a queue until a step runs it. ``inline``: it has run, in the
    caller's thread, when the step that expired it returns. ``thread``: it has run, in a thread
    of the executor, when that step returns (the adapter waits for it).
    """

    STEPPED = "stepped"
    INLINE = "inline"
    THREAD = "thread"


class Structure(Enum):
    """What the implementation is built as, so far as its behaviour shows it."""

    ANY = "any"
    TIMING_WHEEL = "timing_wheel"


class NegativeDelay(Enum):
    """What a negative delay means (rule TIMER-NEGATIVE-DELAY)."""

    ALREADY_DUE = "already_due"
    REJECT = "reject"


class Feature(StrEnum):
    """Optional parts of the vocabulary that a subject offers."""

    CANCEL = "cancel"
    """The operation ``cancel``."""
    READD = "readd"
    """``add`` of a name that was added before."""
    CHANGE_DELAY = "change_delay"
    """``add`` of a name that was added before, with another delay."""
    ELAPSE = "elapse"
    """The operation ``elapse``: the clock can move while the timer is left alone."""
    SHUTDOWN = "shutdown"
    """The operation ``shutdown``."""
    SCRIPT_THROW = "script_throw"
    """Tasks that throw."""
    SCRIPT_ADD = "script_add"
    """Tasks that add tasks."""
    SCRIPT_CANCEL = "script_cancel"
    """Tasks that cancel tasks."""
    SCRIPT_ADVANCE = "script_advance"
    """Tasks that advance their timer."""
    INT64 = "int64"
    """Integers above 2^53 - 1, which travel as decimal strings."""
    NEGATIVE_CLOCK = "negative_clock"
    """A clock that starts below zero."""


class Observable(StrEnum):
    """What can be read after a step without changing anything."""

    ADVANCE_RESULT = "advance_result"
    """Not an observable of its own: ``advance`` has a result, true iff a bucket was popped."""
    SIZE = "size"
    """Tasks waiting in buckets."""
    QUEUED = "queued"
    """Tasks handed to the executor that have not run."""
    WHEEL_CLOCK = "wheel_clock_ms"
    """The wheel's own clock, ms."""
    QUEUED_BUCKETS = "queued_buckets"
    """Buckets in the delay queue."""
    NEXT_EXPIRY = "next_expiry_ms"
    """Expiry of the first bucket in the delay queue, ms; null where that queue is empty."""
    LEVELS = "levels"
    """Levels that exist, the lowest one included."""


LARGEST_INT = 2**31 - 1
LARGEST_SAFE_INTEGER = 2**53 - 1
LARGEST_LONG = 2**63 - 1


class TimerProfile(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The declared choices of a timer."""

    rounding: Rounding = Rounding.DOWN
    same_tick_order: SameTickOrder = SameTickOrder.NONE
    clock: Clock = Clock.MANUAL
    executor: Executor = Executor.INLINE
    structure: Structure = Structure.ANY
    negative_delay: NegativeDelay = NegativeDelay.ALREADY_DUE
    largest_delay_ms: int = LARGEST_INT
    """The largest delay that must be accepted; a larger one must be rejected as ``too_large``."""
    lateness_ms: int = 50
    """Real clock only: how late, in milliseconds, an expiry may be seen."""
    features: frozenset[Feature] = frozenset()
    observables: frozenset[Observable] = frozenset()


class TimerConfiguration(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The arguments that a timer is made with: tick (ms), buckets per wheel, first clock reading.

    The defaults are those of the proposal (section Parameters and section Benchmark).
    """

    tick_ms: int = 1
    wheel_size: int = 20
    start_ms: int = 0

    def __post_init__(self) -> None:
        """Reject sizes of which no timing wheel can be built."""
        if self.tick_ms < 1:
            raise ValueError(f"tick_ms is {self.tick_ms}; it must be at least 1")
        if self.wheel_size < 2:
            raise ValueError(f"wheel_size is {self.wheel_size}; it must be at least 2")
