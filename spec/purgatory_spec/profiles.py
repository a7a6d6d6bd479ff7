"""Profiles: the legal choices of an implementation, which parameterise what the model predicts.

Every default is the weakest choice, so that a first adapter may declare nothing at all.
"""

from enum import Enum, StrEnum
from typing import TypeAlias

import msgspec


class Rounding(Enum):
    """How an expiry is rounded to the tick (rule TIMER-ROUNDING).

    ``exact``: not at all. The timer takes no notice of ``tick_ms``: it has no tick, or one alone,
    which is then the unit of time.
    """

    DOWN = "down"
    UP = "up"
    EXACT = "exact"


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
    of the executor, when that step returns (the adapter waits for it). ``threads``: the same with
    several threads, or one for each task, so that the order in which tasks of one step run is free.
    """

    STEPPED = "stepped"
    INLINE = "inline"
    THREAD = "thread"
    THREADS = "threads"

    @property
    def has_threads(self) -> bool:
        """Whether an expired task runs in a thread of the executor."""
        return self in (Executor.THREAD, Executor.THREADS)


class Structure(Enum):
    """What the implementation is built as, so far as its behaviour shows it.

    ``delay_queue_wheel``: Kafka's design, a hierarchical timing wheel whose own clock is the expiry
    of the last bucket popped from a delay queue, and so lags when the timer is idle (rule
    TIMER-OWN-CLOCK). ``any``: everything else, a wheel that turns with the clock among it.
    """

    ANY = "any"
    DELAY_QUEUE_WHEEL = "delay_queue_wheel"


class NegativeDelay(Enum):
    """What a negative delay means (rule TIMER-NEGATIVE-DELAY).

    ``not_offered``: it cannot be expressed, or nobody promises anything, and nobody asks for one.
    """

    ALREADY_DUE = "already_due"
    AS_ZERO = "as_zero"
    REJECT = "reject"
    NOT_OFFERED = "not_offered"


class LargerDelay(Enum):
    """What a delay above ``largest_delay_ms`` means (rule TIMER-LARGEST-DELAY).

    ``not_offered``: it cannot be expressed, or there is no limit, and nobody asks for one.
    """

    REJECT = "reject"
    SATURATE = "saturate"
    NOT_OFFERED = "not_offered"


class AlreadyDue(Enum):
    """When a task expires that is due as it is added (rule TIMER-ALREADY-DUE).

    ``free``: at once, or in the next advance. ``next_tick``: with the tick behind that of the last
    advance, as in a timer that a ticker drives, which does each tick once.
    """

    FREE = "free"
    NEXT_TICK = "next_tick"


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
    """The number of existing levels, the lowest included."""


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
    already_due: AlreadyDue = AlreadyDue.FREE
    negative_delay: NegativeDelay = NegativeDelay.ALREADY_DUE
    larger_delay: LargerDelay = LargerDelay.REJECT
    largest_delay_ms: int = LARGEST_INT
    """The largest delay that must be accepted, and must expire when it should."""
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


class Component(StrEnum):
    """The parts that a subject may offer."""

    TIMER = "timer"
    PURGATORY = "purgatory"
    MEMORY_POOL = "memory_pool"
    CHANNEL_MUTING = "channel_muting"


class Accounting(Enum):
    """How finished operations that are still watched are counted, and so when a purge is due.

    ``proposal``: the published estimate, counted on watch and reset before a purge. ``exact``: the
    signed count of stale entries (rules PURGATORY-ESTIMATE-PROPOSAL, PURGATORY-ESTIMATE-EXACT).
    ``any``: something else, which purges when it likes, and never too late (rule
    PURGATORY-PURGE-START).
    """

    PROPOSAL = "proposal"
    EXACT = "exact"
    ANY = "any"


class PurgeDue(Enum):
    """What the interval is by which a purge is due (rule PURGATORY-PURGE-START).

    ``fixed``: the purge interval of the configuration. ``amortised``: half of the live entries,
    where these are more than twice as many; the costs of a purge are then those of its removals.
    """

    FIXED = "fixed"
    AMORTISED = "amortised"


class FirstTry(Enum):
    """Whether a watch tries before it enters the lists (rule PURGATORY-WATCH-FIRST-TRY).

    ``before_watching``: it tries, and again once the operation is in all lists. ``none``: it
    enters the lists first, and then tries once.
    """

    BEFORE_WATCHING = "before_watching"
    NONE = "none"


class CheckOrder(Enum):
    """The order in which a check goes through a list (rule PURGATORY-CHECK-ORDER).

    ``as_watched``: from the oldest entry. ``free``: in any order, as where the watchers of a key
    are a set.
    """

    AS_WATCHED = "as_watched"
    FREE = "free"


class CheckDrops(Enum):
    """Which entries of completed operations leave the lists (rule PURGATORY-CHECK-DROPS).

    ``as_passed``: those that are completed when a check has passed them. ``at_end``: those that are
    completed when the check is through. ``either``: the one or the other. ``everywhere``: an
    operation leaves all its lists as it completes, whoever completes it.
    """

    EITHER = "either"
    AS_PASSED = "as_passed"
    AT_END = "at_end"
    EVERYWHERE = "everywhere"


class CancelResult(Enum):
    """Which entries a cancellation answers (rule PURGATORY-CANCEL-RESULT).

    ``whole_list``: all of the list, those of completed operations included. ``live``: those of
    operations that are not completed.
    """

    WHOLE_LIST = "whole_list"
    LIVE = "live"


class ThrowingTry(Enum):
    """What a check does behind an operation that throws (rule PURGATORY-CHECK-THROWS)."""

    STOP = "stop"
    GO_ON = "go_on"


class PurgatoryFeature(StrEnum):
    """Optional parts of the vocabulary that a subject offers."""

    FORCE = "force"
    """The operation ``force``."""
    CANCEL_FOR_KEY = "cancel_for_key"
    """The operation ``cancel_for_key``."""
    REWATCH = "rewatch"
    """``watch`` of a name that was watched before."""
    DUPLICATE_KEYS = "duplicate_keys"
    """``watch`` with a key that is given twice."""
    ELAPSE = "elapse"
    """The operation ``elapse``: the clock can move while the purgatory is left alone."""
    SHUTDOWN = "shutdown"
    """The operation ``shutdown``."""
    NO_TIME_OUTS = "no_time_outs"
    """Instances whose operations never time out."""
    SCRIPT_THROW = "script_throw"
    """Tries and callbacks that throw."""
    SCRIPT_WATCH = "script_watch"
    """Callbacks that watch."""
    SCRIPT_CHECK = "script_check"
    """Callbacks that check."""
    SCRIPT_CANCEL_FOR_KEY = "script_cancel_for_key"
    """Callbacks that cancel for a key."""
    SCRIPT_FORCE = "script_force"
    """Callbacks that force."""
    SCRIPT_TRY = "script_try"
    """Tries that act, as other callbacks do, and callbacks that satisfy."""
    SCRIPT_MEANWHILE = "script_meanwhile"
    """Callbacks that stand still while another thread makes a call."""


class PurgatoryObservable(StrEnum):
    """What can be read after a step without changing anything."""

    ENTRIES = "entries"
    """The sum of the watcher lists' lengths."""
    KEYS = "keys"
    """The number of keys that have a list."""
    STALE_ENTRIES = "stale_entries"
    """The entries of completed operations, counted by walking the lists."""
    STALE_OPERATIONS = "stale_operations"
    """The distinct completed operations in some list, counted by walking the lists."""
    TIMER_SIZE = "timer_size"
    """The size of the purgatory's timer, which Kafka calls ``numDelayed``."""
    QUEUED = "queued"
    """Operations handed to the executor that have not run."""
    PENDING = "pending"
    """Time-outs that are owed: in the timer or in the executor's queue (exact accounting)."""
    ESTIMATE = "estimate"
    """The estimated total of operations, by the accounting's own count."""
    CALLBACK_TIMER_SIZE = "callback_timer_size"
    """The timer's size as the step's last ``on_complete`` began; null where none was called."""


class Calls(Enum):
    """Whether calls of several threads overlap."""

    ONE_AT_A_TIME = "one_at_a_time"
    OVERLAPPING = "overlapping"


class PurgatoryProfile(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The declared choices of a purgatory; those of its timer go by the timer's names."""

    accounting: Accounting = Accounting.PROPOSAL
    purge_due: PurgeDue = PurgeDue.FIXED
    first_try: FirstTry = FirstTry.BEFORE_WATCHING
    check_order: CheckOrder = CheckOrder.AS_WATCHED
    check_drops: CheckDrops = CheckDrops.EITHER
    throwing_try: ThrowingTry = ThrowingTry.STOP
    cancel_result: CancelResult = CancelResult.WHOLE_LIST
    executor: Executor = Executor.INLINE
    rounding: Rounding = Rounding.DOWN
    same_tick_order: SameTickOrder = SameTickOrder.NONE
    structure: Structure = Structure.ANY
    already_due: AlreadyDue = AlreadyDue.FREE
    negative_delay: NegativeDelay = NegativeDelay.ALREADY_DUE
    features: frozenset[PurgatoryFeature] = frozenset()
    observables: frozenset[PurgatoryObservable] = frozenset()

    @property
    def calls(self) -> Calls:
        """A subject is asked for one step after the other, whatever it declares."""
        return Calls.ONE_AT_A_TIME


class PurgatoryConfiguration(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The arguments that a purgatory is made with: purge interval, time-outs, and the timer's."""

    purge_interval: int = 1000
    time_outs: bool = True
    tick_ms: int = 1
    wheel_size: int = 20
    start_ms: int = 0

    def __post_init__(self) -> None:
        """Reject an interval below zero and sizes of which no timing wheel can be built."""
        if self.purge_interval < 0:
            raise ValueError(f"purge_interval is {self.purge_interval}; it must not be negative")
        _ = self.timer

    @property
    def timer(self) -> TimerConfiguration:
        """The arguments of the purgatory's timer."""
        return TimerConfiguration(self.tick_ms, self.wheel_size, self.start_ms)


class ReleaseValidation(Enum):
    """How a pool tells its own buffers from others (rule POOL-RELEASE-FOREIGN)."""

    NONE = "none"
    IDENTITY = "identity"


class ZeroRequest(Enum):
    """What a request for a buffer of no bytes means (rule POOL-ZERO-REQUEST).

    ``reject``: it is an error. ``refuse``: it gets no buffer, whatever is available. ``grant``: it
    gets an empty buffer. ``not_offered``: it cannot be expressed, or nobody promises anything, and
    nobody asks for nothing.
    """

    REJECT = "reject"
    REFUSE = "refuse"
    GRANT = "grant"
    NOT_OFFERED = "not_offered"


class MemoryPoolFeature(StrEnum):
    """Optional parts of the vocabulary that a subject offers."""

    STRICT = "strict"
    """Instances with strict admission."""
    NON_STRICT = "non_strict"
    """Instances with non-strict admission."""
    UNBOUNDED = "unbounded"
    """Instances without a bound: the pool that is none."""
    CONSTRUCT = "construct"
    """The operation ``construct``."""
    RELEASE_AGAIN = "release_again"
    """``release`` of a buffer that was released before."""
    RELEASE_SLICE = "release_slice"
    """``release`` in the form ``slice``."""
    RELEASE_COPY = "release_copy"
    """``release`` in the form ``copy``."""
    RELEASE_FOREIGN = "release_foreign"
    """The operation ``release_foreign``."""
    RELEASE_NOTHING = "release_nothing"
    """The operation ``release_nothing``."""
    LEAK_DETECTION = "leak_detection"
    """The operation ``lose``."""
    ELAPSE = "elapse"
    """The operation ``elapse``: the clock of the depleted time can be moved."""


class MemoryPoolObservable(StrEnum):
    """What can be read after a step without changing anything."""

    AVAILABLE = "available_bytes"
    """The bytes that are left; below zero where more was granted than there is."""
    USED = "used_bytes"
    """The size less what is available."""
    SIZE = "size_bytes"
    """The size of the pool."""
    OUT_OF_MEMORY = "out_of_memory"
    """Whether the pool says that it is out of memory."""
    BUFFER = "buffer_bytes"
    """The capacity of the buffer that this step was granted; null where it was granted none."""
    DEPLETED_SPELLS = "depleted_spells"
    """The dry spells that have ended."""
    DEPLETED_TIME = "depleted_ms"
    """The length of the dry spells that have ended, together, ms."""


class MemoryPoolProfile(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The declared choices of a memory pool."""

    release_validation: ReleaseValidation = ReleaseValidation.NONE
    zero_request: ZeroRequest = ZeroRequest.REJECT
    features: frozenset[MemoryPoolFeature] = frozenset()
    observables: frozenset[MemoryPoolObservable] = frozenset()


class MemoryPoolConfiguration(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The arguments that a pool is made with: size and largest single buffer in bytes, admission.

    An ``unbounded`` pool is the one that stands for having none: the other arguments mean nothing.
    """

    size_bytes: int = 100
    max_single_bytes: int = 40
    strict: bool = False
    unbounded: bool = False

    def __post_init__(self) -> None:
        """Reject sizes of which no pool can be made."""
        if not 1 <= self.max_single_bytes <= self.size_bytes:
            raise ValueError(
                f"max_single_bytes is {self.max_single_bytes}; it must be at least 1 and at most "
                f"size_bytes, which is {self.size_bytes}"
            )


class Recovery(Enum):
    """Who reads on when memory comes back (rule MUTING-RECOVER).

    ``everyone``: every channel that waits asks again, and whoever is read first has the memory.
    ``first_come``: memory goes to the channels that wait in the order of their refusals, and a
    newcomer stands behind them.
    """

    EVERYONE = "everyone"
    FIRST_COME = "first_come"


class EndWhileWaiting(Enum):
    """When a client's end is noticed whose request waits (rule MUTING-END-WHILE-WAITING).

    ``after_recovery``: when there is memory for the request, at the latest. ``at_once``: in the
    next poll, where the connection is plain and the request incomplete.
    """

    AFTER_RECOVERY = "after_recovery"
    AT_ONCE = "at_once"


class AskAgain(Enum):
    """When a channel that was refused asks again under ``everyone`` (rule MUTING-RECOVER).

    ``at_recovery``: when something is available. ``with_bytes``: when something is available, and
    bytes of its request lie there; a channel without any stops waiting, and asks with the next.
    """

    AT_RECOVERY = "at_recovery"
    WITH_BYTES = "with_bytes"


class ChannelMutingFeature(StrEnum):
    """Optional parts of the vocabulary that a subject offers."""

    PLAIN = "plain"
    """Instances without TLS."""
    TLS = "tls"
    """Instances with TLS."""
    STRICT = "strict"
    """Instances whose pool is strict."""
    NON_STRICT = "non_strict"
    """Instances whose pool is not strict."""
    POLL_WHILE = "poll_while"
    """The operation ``poll_while``."""
    POLL_BESIDE = "poll_beside"
    """The operation ``poll_beside``, on instances with TLS."""
    RESPOND_FIRST = "respond_first"
    """``respond`` before the request's memory is released."""
    THROTTLE = "throttle"
    """The operations ``throttle`` and ``unthrottle``."""
    CLOSE = "close"
    """The operation ``close``."""
    HANG_UP = "hang_up"
    """The operation ``hang_up``, with the ending ``close``."""
    HALF_CLOSE = "half_close"
    """``hang_up`` with the ending ``half_close``."""
    RESET = "reset"
    """``hang_up`` with the ending ``reset``."""
    IDLE_LIMIT = "idle_limit"
    """Instances that close idle connections."""
    RECEIVE_LIMIT = "receive_limit"
    """Instances that close connections whose request has its memory and does not come."""
    CONSTRUCT = "construct"
    """The operation ``construct``."""
    ELAPSE = "elapse"
    """The operation ``elapse``: the server's clock can be moved."""


class ChannelMutingObservable(StrEnum):
    """What can be read after a step without changing anything."""

    AVAILABLE = "available_bytes"
    """The bytes that the pool has left; below zero where more was granted than there is."""
    OPEN = "open"
    """The channels whose connection the server has not closed."""
    WAITING = "waiting"
    """The channels that are not read because their request was refused memory."""
    ORDERED = "ordered"
    """The channels that are not read because their last request has no response yet."""
    HOLDING = "holding"
    """The channels whose request has its memory and is not complete."""
    UNREAD = "unread_bytes"
    """The bytes of bodies that lie in the server's sockets; null under TLS."""
    DEPLETED_TIME = "depleted_ms"
    """How long channels have waited for memory, together, a wait that goes on included, ms."""


class ChannelMutingProfile(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The declared choices of a server's channels."""

    recovery: Recovery = Recovery.EVERYONE
    ask_again: AskAgain = AskAgain.AT_RECOVERY
    end_while_waiting: EndWhileWaiting = EndWhileWaiting.AFTER_RECOVERY
    features: frozenset[ChannelMutingFeature] = frozenset()
    observables: frozenset[ChannelMutingObservable] = frozenset()

    @property
    def calls(self) -> Calls:
        """A subject is asked for one step after the other, whatever it declares."""
        return Calls.ONE_AT_A_TIME


class ChannelMutingConfiguration(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The arguments that a server is made with: bytes of all requests, of one, limits in ms.

    0 ms is no limit.
    """

    limit_bytes: int = 100
    max_request_bytes: int = 40
    strict: bool = False
    tls: bool = False
    idle_limit_ms: int = 0
    receive_limit_ms: int = 0

    def __post_init__(self) -> None:
        """Reject sizes of which no pool can be made, and limits below zero."""
        if not 1 <= self.max_request_bytes <= self.limit_bytes:
            raise ValueError(
                f"max_request_bytes is {self.max_request_bytes}; it must be at least 1 and at most "
                f"limit_bytes, which is {self.limit_bytes}"
            )
        for name in ("idle_limit_ms", "receive_limit_ms"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; 0 stands for no limit")


Configuration: TypeAlias = (
    TimerConfiguration
    | PurgatoryConfiguration
    | MemoryPoolConfiguration
    | ChannelMutingConfiguration
)
"""The arguments that a component is made with."""

Profile: TypeAlias = TimerProfile | PurgatoryProfile | MemoryPoolProfile | ChannelMutingProfile
"""The declared choices of a component."""


def component_of(described: Configuration | Profile) -> Component:
    """The component that a configuration or a profile is one of."""
    if isinstance(described, TimerConfiguration | TimerProfile):
        return Component.TIMER
    if isinstance(described, PurgatoryConfiguration | PurgatoryProfile):
        return Component.PURGATORY
    if isinstance(described, MemoryPoolConfiguration | MemoryPoolProfile):
        return Component.MEMORY_POOL
    return Component.CHANNEL_MUTING
