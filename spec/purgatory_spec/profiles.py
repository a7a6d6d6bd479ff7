"""Profiles: the legal choices of an implementation, which parameterise what the model predicts.

Every default is the weakest choice, so that a first adapter may declare nothing at all.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import ClassVar, TypeAlias, get_args, get_type_hints

import msgspec

from purgatory_spec.choices import Choice, Offer


class Rounding(Choice):
    """Rounding of an expiry to the tick (rule TIMER-ROUNDING).

    ``exact``: not at all. The timer takes no notice of ``tick_ms``: it has no tick, or one alone,
    which is then the unit of time.
    """

    DOWN = "down", "an expiry is rounded down to the tick; a task may run early by less than one"
    UP = "up", "an expiry is rounded up to the tick; no task runs before its delay has passed"
    EXACT = "exact", "expiries are not rounded; 'tick_ms' has no meaning"


class SameTickOrder(Choice):
    """The order of tasks that expire in one tick (rule TIMER-SAME-TICK-ORDER)."""

    NONE = "none", "tasks of one tick may run in any order"
    FIFO = "fifo", "tasks of one tick run in the order in which they were added"


class Clock(Choice):
    """The mover of the clock: the steps, or the time of the machine."""

    MANUAL = "manual", "the requests move the clock"
    WALL = "wall", "real time passes, and the replies carry times"


class Executor(Choice):
    """The place where an expired task runs.

    ``stepped``: it waits in a queue until a step runs it. ``inline``: it has run, in the
    caller's thread, when the step that expired it returns. ``thread``: it has run, in a thread
    of the executor, when that step returns (the adapter waits for it). ``threads``: the same with
    several threads, or one for each task, so that the order in which tasks of one step run is free.
    """

    STEPPED = "stepped", "an expired task waits until 'run_one' asks for it"
    INLINE = "inline", "an expired task has run, in the same thread, when the reply comes"
    THREAD = "thread", "an expired task has run, in another thread, when the reply comes"
    THREADS = (
        "threads",
        "expired tasks have run, in several threads, in any order, when the reply comes",
    )

    @property
    def has_threads(self) -> bool:
        """Decide whether an expired task runs in a thread of the executor."""
        return self in (Executor.THREAD, Executor.THREADS)


class Structure(Choice):
    """The structure of the implementation, as far as its behaviour shows it.

    ``delay_queue_wheel``: Kafka's design, a hierarchical timing wheel whose own clock is the expiry
    of the last bucket popped from a delay queue, and so lags when the timer is idle (rule
    TIMER-OWN-CLOCK). ``any``: everything else, a wheel that turns with the clock among it.
    """

    ANY = "any", "the structure is left open"
    DELAY_QUEUE_WHEEL = (
        "delay_queue_wheel",
        "it is Kafka's timing wheel, whose own clock is the last bucket popped from a delay "
        "queue, and lags while idle; a wheel that turns with the clock is 'any'",
    )


class NegativeDelay(Choice):
    """The meaning of a negative delay (rule TIMER-NEGATIVE-DELAY).

    ``not_offered``: it cannot be expressed, or nobody promises anything, and nobody asks for one.
    """

    ALREADY_DUE = "already_due", "a task with a negative delay is already due"
    AS_ZERO = "as_zero", "a negative delay is taken for zero"
    REJECT = "reject", "a negative delay is rejected as 'invalid_argument'"
    NOT_OFFERED = "not_offered", "negative delays are not offered"


class LargerDelay(Choice):
    """The meaning of a delay above ``largest_delay_ms`` (rule TIMER-LARGEST-DELAY).

    ``not_offered``: it cannot be expressed, or there is no limit, and nobody asks for one.
    """

    REJECT = "reject", "a delay above the largest is rejected as 'too_large'"
    SATURATE = "saturate", "a delay above the largest is taken for the largest"
    NOT_OFFERED = "not_offered", "delays above the largest are not offered"


class AlreadyDue(Choice):
    """The expiry of a task that is due as it is added (rule TIMER-ALREADY-DUE).

    ``free``: at once, or in the next advance. ``next_tick``: with the tick behind that of the last
    advance, as in a timer that a ticker drives, which does each tick once.
    """

    FREE = "free", "a task that is due when it is added expires at once or in the next advance"
    NEXT_TICK = (
        "next_tick",
        "each tick is processed once; a task that is due when it is added expires with the next "
        "tick",
    )


class SevereThrow(Choice):
    """The way of a severe exception (rules TIMER-THROWING-TASK, PURGATORY-CHECK-THROWS).

    ``passed_on``: it may reach the caller of the step in which a task or a time-out has thrown it;
    what was due then and has not run runs later, in the next advance at the latest. A check may end
    at it. ``as_ordinary``: it is treated as an ordinary exception.
    """

    PASSED_ON = "passed_on", "a severe exception may reach the caller of the step"
    AS_ORDINARY = "as_ordinary", "a severe exception is treated as an ordinary one"


class ReleaseCancelled(Choice):
    """The moment at which a task that was cancelled or moved is let go (rule TIMER-RELEASES).

    ``when_due``: as lazy deletion does it, a heap keeps the entry until its time has come. In a
    purgatory it is the time-out of an operation that has left the timer (PURGATORY-RELEASES).
    """

    WHEN_DUE = (
        "when_due",
        "what was cancelled may be kept until it would have been due, and no longer",
    )
    AT_ONCE = "at_once", "what is cancelled is let go at once"


class RefusedTask(Choice):
    """The fate of a task that the executor refuses (rule TIMER-EXECUTOR-REFUSES).

    ``kept``: it stays pending, and the next advance hands it over. ``caller_runs``: the call that
    was about to hand it over runs it.
    """

    KEPT = "kept", "a task that the executor refuses stays pending until the next advance"
    CALLER_RUNS = "caller_runs", "a task that the executor refuses is run by the caller"


class Feature(Offer):
    """Optional parts of the vocabulary that a subject offers."""

    CANCEL = "cancel", "the suite may cancel tasks"
    READD = "readd", "the suite may add a task again"
    CHANGE_DELAY = "change_delay", "the suite may add a task again with another delay"
    ELAPSE = "elapse", "the suite may let time pass without advancing the timer"
    SHUTDOWN = "shutdown", "the suite may shut the timer down"
    SCRIPT_THROW = "script_throw", "the suite may let tasks throw"
    SCRIPT_THROW_SEVERE = (
        "script_throw_severe",
        "the suite may let tasks throw what a handler for ordinary exceptions does not catch",
    )
    SCRIPT_ADD = "script_add", "the suite may let tasks add tasks"
    SCRIPT_CANCEL = "script_cancel", "the suite may let tasks cancel tasks"
    SCRIPT_ADVANCE = "script_advance", "the suite may let tasks advance their timer"
    INT64 = "int64", "the suite may use integers above 2^53 - 1, written as decimal strings"
    NEGATIVE_CLOCK = "negative_clock", "the suite may start the clock below zero"
    REACHABLE = "reachable", "the suite may ask whether a task is still held, by 'reachable'"
    REFUSE = "refuse", "the suite may have the executor refuse tasks, by 'refuse'"
    FAR_ADVANCE = (
        "far_advance",
        "the suite may move the clock by years in one step, which costs no more than a short one; "
        "where it is not declared, 'check' tries",
    )


class Observable(Offer):
    """The values of a timer that can be read after a step without changing anything."""

    ADVANCE_RESULT = (
        "advance_result",
        "no observable of its own: 'advance' answers whether a bucket was popped",
    )
    SIZE = "size", "the number of tasks that wait in the timer"
    QUEUED = "queued", "the number of tasks that wait for the executor"
    WHEEL_CLOCK = "wheel_clock_ms", "the wheel's own clock, in ms"
    QUEUED_BUCKETS = "queued_buckets", "the number of buckets in the delay queue"
    NEXT_EXPIRY = (
        "next_expiry_ms",
        "the expiry of the first bucket in the delay queue, in ms, or null",
    )
    LEVELS = "levels", "the number of the wheel's levels that exist, the lowest included"


LARGEST_INT = 2**31 - 1
LARGEST_SAFE_INTEGER = 2**53 - 1
LARGEST_LONG = 2**63 - 1


class TimerProfile(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The declared choices of a timer."""

    says: ClassVar[Mapping[str, str]] = {
        "largest_delay_ms": "the largest delay that must be accepted, and expire when it should",
        "lateness_ms": "how many milliseconds late an expiry may be seen on a real clock",
    }
    """The meaning of the fields that are numbers."""
    rounding: Rounding = Rounding.DOWN
    same_tick_order: SameTickOrder = SameTickOrder.NONE
    clock: Clock = Clock.MANUAL
    executor: Executor = Executor.INLINE
    structure: Structure = Structure.ANY
    already_due: AlreadyDue = AlreadyDue.FREE
    negative_delay: NegativeDelay = NegativeDelay.ALREADY_DUE
    larger_delay: LargerDelay = LargerDelay.REJECT
    release_cancelled: ReleaseCancelled = ReleaseCancelled.WHEN_DUE
    refused_task: RefusedTask = RefusedTask.KEPT
    largest_delay_ms: int = LARGEST_INT
    lateness_ms: int = 50
    severe_throw: SevereThrow = SevereThrow.PASSED_ON
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


class Accounting(Choice):
    """The way finished operations in lists are counted, and so the condition of a purge.

    ``proposal``: the published estimate, counted on watch and reset before a purge. ``exact``: the
    signed count of stale entries (rules PURGATORY-ESTIMATE-PROPOSAL, PURGATORY-ESTIMATE-EXACT).
    ``any``: something else, which purges when it likes, and never too late (rule
    PURGATORY-PURGE-START).
    """

    PROPOSAL = "proposal", "stale entries are estimated as in the proposal"
    EXACT = "exact", "stale entries are counted exactly"
    ANY = "any", "stale entries are purged in time; the way of counting is left open"


class PurgeDue(Choice):
    """The interval by which a purge is due (rule PURGATORY-PURGE-START).

    ``fixed``: the purge interval of the configuration. ``amortised``: half of the live entries,
    where these are more than twice as many; the costs of a purge are then those of its removals.
    """

    FIXED = "fixed", "a purge is due when the stale count exceeds the purge interval"
    AMORTISED = (
        "amortised",
        "a purge is due when the stale count exceeds the larger of the purge interval and half "
        "of the live entries",
    )


class FirstTry(Choice):
    """The first try of a watch, before the lists or after (rule PURGATORY-WATCH-FIRST-TRY).

    ``before_watching``: it tries, and again once the operation is in all lists. ``none``: it
    enters the lists first, and then tries once.
    """

    BEFORE_WATCHING = (
        "before_watching",
        "a watch tries the operation, and again once it is in all lists",
    )
    NONE = "none", "a watch puts the operation into all lists, then tries it once"


class CheckOrder(Choice):
    """The order in which a check goes through a list (rule PURGATORY-CHECK-ORDER).

    ``as_watched``: from the oldest entry. ``free``: in any order, as where the watchers of a key
    are a set.
    """

    AS_WATCHED = "as_watched", "a check goes through a list from its oldest entry"
    FREE = "free", "a check goes through a list in any order"


class CheckDrops(Choice):
    """The entries of completed operations that leave the lists (rule PURGATORY-CHECK-DROPS).

    ``as_passed``: those that are completed when a check has passed them. ``at_end``: those that are
    completed when the check is through. ``either``: the one or the other. ``everywhere``: an
    operation leaves all its lists as it completes, whoever completes it.
    """

    EITHER = "either", "a check drops completed operations as it passes them, or at its end"
    AS_PASSED = "as_passed", "a check drops a completed operation as it passes it"
    AT_END = "at_end", "a check drops at its end all operations that are completed by then"
    EVERYWHERE = "everywhere", "an operation leaves all lists as it completes"


class CancelResult(Choice):
    """The entries that a cancellation answers (rule PURGATORY-CANCEL-RESULT).

    ``whole_list``: all of the list, those of completed operations included. ``live``: those of
    operations that are not completed.
    """

    WHOLE_LIST = "whole_list", "a cancellation returns the whole list"
    LIVE = "live", "a cancellation returns the operations of the list that are not completed"


class ThrowingTry(Choice):
    """The way a check goes on after an operation that throws (rule PURGATORY-CHECK-THROWS)."""

    STOP = "stop", "a check ends at an operation whose try throws"
    GO_ON = "go_on", "a check goes on after an operation whose try throws"


class PurgatoryFeature(Offer):
    """Optional parts of the vocabulary that a subject offers."""

    FORCE = "force", "the suite may force operations"
    CANCEL_FOR_KEY = "cancel_for_key", "the suite may cancel what is watched under a key"
    REWATCH = "rewatch", "the suite may watch an operation again"
    DUPLICATE_KEYS = "duplicate_keys", "the suite may give a key twice"
    ELAPSE = "elapse", "the suite may let time pass without advancing the purgatory"
    SHUTDOWN = "shutdown", "the suite may shut the purgatory down"
    NO_TIME_OUTS = "no_time_outs", "the suite may make purgatories without time-outs"
    SCRIPT_THROW = "script_throw", "the suite may let tries and callbacks throw"
    SCRIPT_THROW_SEVERE = (
        "script_throw_severe",
        "the suite may let them throw what a handler for ordinary exceptions does not catch",
    )
    SCRIPT_WATCH = "script_watch", "the suite may let callbacks watch"
    SCRIPT_CHECK = "script_check", "the suite may let callbacks check"
    SCRIPT_CANCEL_FOR_KEY = "script_cancel_for_key", "the suite may let callbacks cancel for a key"
    SCRIPT_FORCE = "script_force", "the suite may let callbacks force"
    SCRIPT_TRY = "script_try", "the suite may let tries act, and callbacks satisfy"
    SCRIPT_MEANWHILE = "script_meanwhile", "the suite may let another thread call inside a callback"
    SCRIPT_CROSSWISE = (
        "script_crosswise",
        "the suite may let each of two threads call, inside a callback, what the other one holds",
    )
    REACHABLE = "reachable", "the suite may ask whether an operation is still held, by 'reachable'"
    REFUSE = "refuse", "the suite may have the executor refuse time-outs, by 'refuse'"
    FAR_ADVANCE = (
        "far_advance",
        "the suite may move the clock by years in one step, which costs no more than a short one; "
        "where it is not declared, 'check' tries",
    )


class PurgatoryObservable(Offer):
    """The values of a purgatory that can be read after a step without changing anything."""

    ENTRIES = "entries", "the sum of the lengths of all watcher lists"
    KEYS = "keys", "the number of keys that have a list"
    STALE_ENTRIES = "stale_entries", "the number of entries of completed operations"
    STALE_OPERATIONS = (
        "stale_operations",
        "the number of distinct completed operations in some list",
    )
    TIMER_SIZE = "timer_size", "the size of the purgatory's timer, Kafka's numDelayed"
    QUEUED = "queued", "the number of operations that wait for the executor"
    PENDING = (
        "pending",
        "the number of time-outs that are owed, in the timer or the executor's queue",
    )
    ESTIMATE = "estimate", "the estimate of the accounting, which may be below zero"
    CALLBACK_TIMER_SIZE = (
        "callback_timer_size",
        "the timer's size as the step's last on_complete began, or null",
    )


class Calls(Choice):
    """The overlap of calls: one at a time, or calls of several threads at once."""

    ONE_AT_A_TIME = "one_at_a_time", "a call returns before the next one is made"
    OVERLAPPING = "overlapping", "calls of several threads overlap"


class PurgatoryProfile(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The declared choices of a purgatory; those of its timer go by the timer's names."""

    accounting: Accounting = Accounting.PROPOSAL
    purge_due: PurgeDue = PurgeDue.FIXED
    first_try: FirstTry = FirstTry.BEFORE_WATCHING
    check_order: CheckOrder = CheckOrder.AS_WATCHED
    check_drops: CheckDrops = CheckDrops.EITHER
    throwing_try: ThrowingTry = ThrowingTry.STOP
    severe_throw: SevereThrow = SevereThrow.PASSED_ON
    cancel_result: CancelResult = CancelResult.WHOLE_LIST
    executor: Executor = Executor.INLINE
    rounding: Rounding = Rounding.DOWN
    same_tick_order: SameTickOrder = SameTickOrder.NONE
    structure: Structure = Structure.ANY
    already_due: AlreadyDue = AlreadyDue.FREE
    negative_delay: NegativeDelay = NegativeDelay.ALREADY_DUE
    release_cancelled: ReleaseCancelled = ReleaseCancelled.WHEN_DUE
    refused_task: RefusedTask = RefusedTask.KEPT
    features: frozenset[PurgatoryFeature] = frozenset()
    observables: frozenset[PurgatoryObservable] = frozenset()

    @property
    def calls(self) -> Calls:
        """Return one call at a time: a subject gets one step after the other in any case."""
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
        """Return the arguments of the purgatory's timer."""
        return TimerConfiguration(self.tick_ms, self.wheel_size, self.start_ms)


class ReleaseValidation(Choice):
    """The way a pool tells its own buffers from others (rule POOL-RELEASE-FOREIGN)."""

    NONE = "none", "any buffer can be released"
    IDENTITY = "identity", "only the very buffers that were granted can be released"


class ZeroRequest(Choice):
    """The meaning of a request for a buffer of no bytes (rule POOL-ZERO-REQUEST).

    ``reject``: it is an error. ``refuse``: it gets no buffer, whatever is available. ``grant``: it
    gets an empty buffer. ``not_offered``: it cannot be expressed, or nobody promises anything, and
    nobody asks for nothing.
    """

    REJECT = "reject", "a request for 0 bytes is rejected as 'invalid_argument'"
    REFUSE = "refuse", "a request for 0 bytes gets no buffer: 'allocate' answers false"
    GRANT = "grant", "a request for 0 bytes gets an empty buffer"
    NOT_OFFERED = "not_offered", "requests for 0 bytes are not offered"


class MemoryPoolFeature(Offer):
    """Optional parts of the vocabulary that a subject offers."""

    STRICT = "strict", "the suite may make strict pools"
    NON_STRICT = "non_strict", "the suite may make pools that are not strict"
    UNBOUNDED = "unbounded", "the suite may make the pool that stands for having none"
    CONSTRUCT = "construct", "the suite may try to make pools of any sizes"
    RELEASE_AGAIN = "release_again", "the suite may release a buffer again"
    RELEASE_SLICE = "release_slice", "the suite may release another view of a buffer"
    RELEASE_COPY = "release_copy", "the suite may release a copy of a buffer"
    RELEASE_FOREIGN = "release_foreign", "the suite may release what the pool never granted"
    RELEASE_NOTHING = "release_nothing", "the suite may release the absence of a buffer"
    LEAK_DETECTION = "leak_detection", "the suite may lose buffers, by 'lose'"
    ELAPSE = "elapse", "the suite may let time pass"
    FAIL = "fail", "the suite may have an allocation fail, by 'fail'"
    FILL = "fill", "the suite may write and read buffers, by 'fill' and 'read'"


class MemoryPoolObservable(Offer):
    """The values of a pool that can be read after a step without changing anything."""

    AVAILABLE = (
        "available_bytes",
        "the bytes that are left; below zero where more was granted than there is",
    )
    USED = "used_bytes", "the size less the bytes that are left"
    SIZE = "size_bytes", "the size of the pool"
    OUT_OF_MEMORY = "out_of_memory", "whether the pool says that it is out of memory"
    BUFFER = "buffer_bytes", "the capacity of the buffer of this step, or null"
    DEPLETED_SPELLS = "depleted_spells", "the number of dry spells that have ended"
    DEPLETED_TIME = "depleted_ms", "the length of the ended dry spells together, in ms"


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


class Recovery(Choice):
    """The channels that read on when memory comes back (rule MUTING-RECOVER).

    ``everyone``: every channel that waits asks again, and whoever is read first has the memory.
    ``first_come``: memory goes to the channels that wait in the order of their refusals, and a
    newcomer stands behind them.
    """

    EVERYONE = "everyone", "released memory goes to the channel that is read first"
    FIRST_COME = "first_come", "released memory goes to the waiting channels in their order"


class EndWhileWaiting(Choice):
    """The moment at which a waiting client's end is noticed (rule MUTING-END-WHILE-WAITING).

    ``after_recovery``: when there is memory for the request, at the latest. ``at_once``: in the
    next poll, where the connection is plain and the request incomplete.
    """

    AFTER_RECOVERY = "after_recovery", "the end of a client is noticed when its request gets memory"
    AT_ONCE = "at_once", "the end of a client is noticed while its request waits for memory"


class AskAgain(Choice):
    """The moment at which a refused channel asks again under ``everyone`` (rule MUTING-RECOVER).

    ``at_recovery``: when something is available. ``with_bytes``: when something is available, and
    bytes of its request lie there; a channel without any stops waiting, and asks with the next.
    """

    AT_RECOVERY = "at_recovery", "a refused channel asks again when memory is available"
    WITH_BYTES = (
        "with_bytes",
        "a refused channel asks again when memory is available and bytes of its body have come",
    )


class ChannelMutingFeature(Offer):
    """Optional parts of the vocabulary that a subject offers."""

    PLAIN = "plain", "servers without TLS"
    TLS = "tls", "servers with TLS"
    STRICT = "strict", "servers whose pool is strict"
    NON_STRICT = "non_strict", "servers whose pool is not strict"
    POLL_WHILE = "poll_while", "memory is released while a poll waits for its sockets"
    POLL_BESIDE = (
        "poll_beside",
        "beside a poll, a client sends records without data and without end, under TLS",
    )
    RESPOND_FIRST = "respond_first", "a request is answered before its memory is released"
    THROTTLE = "throttle", "channels are throttled, and their throttling ends"
    THROTTLE_ANYTIME = (
        "throttle_anytime",
        "channels are throttled whenever the server decides, not only before a response",
    )
    CLOSE = "close", "the server closes connections"
    HANG_UP = "hang_up", "clients close their connections, by 'hang_up'"
    HALF_CLOSE = "half_close", "clients send no more and read on, by 'hang_up' with 'half_close'"
    RESET = "reset", "clients break their connections, by 'hang_up' with 'reset'"
    IDLE_LIMIT = "idle_limit", "servers that close idle connections"
    RECEIVE_LIMIT = (
        "receive_limit",
        "servers that close connections whose request has memory and does not come",
    )
    CONSTRUCT = "construct", "servers are made of any sizes"
    ELAPSE = "elapse", "the clock moves"


class ChannelMutingObservable(Offer):
    """The values of a server that can be read after a step without changing anything."""

    AVAILABLE = (
        "available_bytes",
        "the bytes that the pool has left; below zero where more was granted than it has",
    )
    OPEN = "open", "the channels that the server has not closed"
    WAITING = "waiting", "the channels that are not read because their request was refused memory"
    ORDERED = "ordered", "the channels that are not read because their last request has no response"
    HOLDING = "holding", "the channels whose request has its memory and is not complete"
    UNREAD = "unread_bytes", "the bytes of bodies in the server's sockets; null under TLS"
    DEPLETED_TIME = "depleted_ms", "how long channels have waited for memory, together, in ms"


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
        """Return one call at a time: a subject gets one step after the other in any case."""
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
    """Return the component that a configuration or a profile is one of."""
    if isinstance(described, TimerConfiguration | TimerProfile):
        return Component.TIMER
    if isinstance(described, PurgatoryConfiguration | PurgatoryProfile):
        return Component.PURGATORY
    if isinstance(described, MemoryPoolConfiguration | MemoryPoolProfile):
        return Component.MEMORY_POOL
    return Component.CHANNEL_MUTING


def goes_far(profile: Profile) -> bool:
    """Decide whether the clock may be moved by years in one step, which costs nothing."""
    match profile:
        case TimerProfile():
            is_declared = Feature.FAR_ADVANCE in profile.features
        case PurgatoryProfile():
            is_declared = PurgatoryFeature.FAR_ADVANCE in profile.features
        case _:
            return False
    return is_declared or profile.structure is Structure.DELAY_QUEUE_WHEEL


@cache
def offers_of(kind: type[Profile], field: str) -> tuple[Offer, ...]:
    """Return what a profile of this type may have as ``features`` or as ``observables``."""
    offered: type[Offer] = get_args(get_type_hints(kind)[field])[0]
    return tuple(offered)
