"""A declared profile in sentences, a finding for each choice."""

from collections.abc import Iterator, Mapping
from enum import Enum, StrEnum

from purgatory_conformance.describing.words import noun
from purgatory_conformance.doctor.finding import Finding, Severity
from purgatory_spec.profiles import (
    Accounting,
    AlreadyDue,
    AskAgain,
    CancelResult,
    ChannelMutingFeature,
    ChannelMutingObservable,
    CheckDrops,
    CheckOrder,
    Clock,
    Component,
    EndWhileWaiting,
    Executor,
    Feature,
    FirstTry,
    LargerDelay,
    MemoryPoolFeature,
    MemoryPoolObservable,
    NegativeDelay,
    Observable,
    Profile,
    PurgatoryFeature,
    PurgatoryObservable,
    PurgeDue,
    Recovery,
    ReleaseValidation,
    Rounding,
    SameTickOrder,
    Structure,
    ThrowingTry,
    TimerProfile,
    ZeroRequest,
    component_of,
)

_CHOICES: Mapping[object, str] = {
    Recovery.EVERYONE: "released memory goes to the channel that is read first",
    Recovery.FIRST_COME: "released memory goes to the waiting channels in their order",
    AskAgain.AT_RECOVERY: "a refused channel asks again when memory is available",
    AskAgain.WITH_BYTES: "a refused channel asks again when memory is available and bytes of "
    "its body have come",
    EndWhileWaiting.AFTER_RECOVERY: "the end of a client is noticed when its request gets memory",
    EndWhileWaiting.AT_ONCE: "the end of a client is noticed while its request waits for memory",
    Rounding.DOWN: "an expiry is rounded down to the tick; a task may run early by less than one",
    Rounding.UP: "an expiry is rounded up to the tick; no task runs before its delay has passed",
    Rounding.EXACT: "expiries are not rounded; 'tick_ms' has no meaning",
    SameTickOrder.NONE: "tasks of one tick may run in any order",
    SameTickOrder.FIFO: "tasks of one tick run in the order in which they were added",
    Clock.MANUAL: "the requests move the clock",
    Clock.WALL: "real time passes, and the replies carry times",
    Executor.INLINE: "an expired task has run, in the same thread, when the reply comes",
    Executor.STEPPED: "an expired task waits until 'run_one' asks for it",
    Executor.THREAD: "an expired task has run, in another thread, when the reply comes",
    Executor.THREADS: "expired tasks have run, in several threads, in any order, when the reply "
    "comes",
    Structure.ANY: "the structure is left open",
    Structure.DELAY_QUEUE_WHEEL: "it is Kafka's timing wheel, whose own clock is the last bucket "
    "popped from a delay queue, and lags while idle; a wheel that turns with the clock is 'any'",
    AlreadyDue.FREE: "a task that is due when it is added expires at once or in the next advance",
    AlreadyDue.NEXT_TICK: "each tick is processed once; a task that is due when it is added "
    "expires with the next tick",
    NegativeDelay.ALREADY_DUE: "a task with a negative delay is already due",
    NegativeDelay.AS_ZERO: "a negative delay is taken for zero",
    NegativeDelay.REJECT: "a negative delay is rejected as 'invalid_argument'",
    NegativeDelay.NOT_OFFERED: "negative delays are not offered",
    LargerDelay.REJECT: "a delay above the largest is rejected as 'too_large'",
    LargerDelay.SATURATE: "a delay above the largest is taken for the largest",
    LargerDelay.NOT_OFFERED: "delays above the largest are not offered",
    FirstTry.BEFORE_WATCHING: "a watch tries the operation, and again once it is in all lists",
    FirstTry.NONE: "a watch puts the operation into all lists, then tries it once",
    CheckOrder.AS_WATCHED: "a check goes through a list from its oldest entry",
    CheckOrder.FREE: "a check goes through a list in any order",
    CheckDrops.EITHER: "a check drops completed operations as it passes them, or at its end",
    CheckDrops.AS_PASSED: "a check drops a completed operation as it passes it",
    CheckDrops.AT_END: "a check drops at its end all operations that are completed by then",
    CheckDrops.EVERYWHERE: "an operation leaves all lists as it completes",
    Accounting.ANY: "stale entries are purged in time; the way of counting is left open",
    Accounting.PROPOSAL: "stale entries are estimated as in the proposal",
    Accounting.EXACT: "stale entries are counted exactly",
    PurgeDue.FIXED: "a purge is due when the stale count exceeds the purge interval",
    PurgeDue.AMORTISED: "a purge is due when the stale count exceeds the larger of the "
    "purge interval and half of the live entries",
    ThrowingTry.STOP: "a check ends at an operation whose try throws",
    ThrowingTry.GO_ON: "a check goes on after an operation whose try throws",
    CancelResult.WHOLE_LIST: "a cancellation returns the whole list",
    CancelResult.LIVE: "a cancellation returns the operations of the list that are not completed",
    ZeroRequest.REJECT: "a request for 0 bytes is rejected as 'invalid_argument'",
    ZeroRequest.REFUSE: "a request for 0 bytes gets no buffer: 'allocate' answers false",
    ZeroRequest.GRANT: "a request for 0 bytes gets an empty buffer",
    ZeroRequest.NOT_OFFERED: "requests for 0 bytes are not offered",
    ReleaseValidation.NONE: "any buffer can be released",
    ReleaseValidation.IDENTITY: "only the very buffers that were granted can be released",
}

_TIMER_FEATURES: Mapping[StrEnum, str] = {
    Feature.CANCEL: "the suite may cancel tasks",
    Feature.READD: "the suite may add a task again",
    Feature.CHANGE_DELAY: "the suite may add a task again with another delay",
    Feature.ELAPSE: "the suite may let time pass without advancing the timer",
    Feature.SHUTDOWN: "the suite may shut the timer down",
    Feature.SCRIPT_THROW: "the suite may let tasks throw",
    Feature.SCRIPT_ADD: "the suite may let tasks add tasks",
    Feature.SCRIPT_CANCEL: "the suite may let tasks cancel tasks",
    Feature.SCRIPT_ADVANCE: "the suite may let tasks advance their timer",
    Feature.INT64: "the suite may use integers above 2^53 - 1, written as decimal strings",
    Feature.NEGATIVE_CLOCK: "the suite may start the clock below zero",
}

_TIMER_OBSERVABLES: Mapping[StrEnum, str] = {
    Observable.ADVANCE_RESULT: "'advance' answers whether anything was due",
    Observable.SIZE: "the number of tasks that wait in the timer",
    Observable.QUEUED: "the number of tasks that wait for the executor",
    Observable.WHEEL_CLOCK: "the wheel's own clock",
    Observable.QUEUED_BUCKETS: "the number of buckets in the delay queue",
    Observable.NEXT_EXPIRY: "the expiry of the first bucket in the delay queue, or null",
    Observable.LEVELS: "the number of levels of the wheel",
}

_PURGATORY_FEATURES: Mapping[StrEnum, str] = {
    PurgatoryFeature.FORCE: "the suite may force operations",
    PurgatoryFeature.CANCEL_FOR_KEY: "the suite may cancel what is watched under a key",
    PurgatoryFeature.REWATCH: "the suite may watch an operation again",
    PurgatoryFeature.DUPLICATE_KEYS: "the suite may give a key twice",
    PurgatoryFeature.ELAPSE: "the suite may let time pass without advancing the purgatory",
    PurgatoryFeature.SHUTDOWN: "the suite may shut the purgatory down",
    PurgatoryFeature.NO_TIME_OUTS: "the suite may make purgatories without time-outs",
    PurgatoryFeature.SCRIPT_THROW: "the suite may let tries and callbacks throw",
    PurgatoryFeature.SCRIPT_WATCH: "the suite may let callbacks watch",
    PurgatoryFeature.SCRIPT_CHECK: "the suite may let callbacks check",
    PurgatoryFeature.SCRIPT_CANCEL_FOR_KEY: "the suite may let callbacks cancel for a key",
    PurgatoryFeature.SCRIPT_FORCE: "the suite may let callbacks force",
    PurgatoryFeature.SCRIPT_TRY: "the suite may let tries act, and callbacks satisfy",
    PurgatoryFeature.SCRIPT_MEANWHILE: "the suite may let another thread call inside a callback",
}

_PURGATORY_OBSERVABLES: Mapping[StrEnum, str] = {
    PurgatoryObservable.ENTRIES: "the number of places in all watcher lists",
    PurgatoryObservable.KEYS: "the number of keys that have a list",
    PurgatoryObservable.STALE_ENTRIES: "the number of entries of completed operations",
    PurgatoryObservable.STALE_OPERATIONS: "the number of completed operations in some list",
    PurgatoryObservable.TIMER_SIZE: "the number of operations in the timer",
    PurgatoryObservable.QUEUED: "the number of operations that wait for the executor",
    PurgatoryObservable.PENDING: "the number of time-outs that are owed",
    PurgatoryObservable.ESTIMATE: "what the accounting believes, which may be below zero",
    PurgatoryObservable.CALLBACK_TIMER_SIZE: "the timer's size as on_complete began",
}

_MEMORY_POOL_FEATURES: Mapping[StrEnum, str] = {
    MemoryPoolFeature.STRICT: "the suite may make strict pools",
    MemoryPoolFeature.NON_STRICT: "the suite may make pools that are not strict",
    MemoryPoolFeature.UNBOUNDED: "the suite may make the pool that stands for having none",
    MemoryPoolFeature.CONSTRUCT: "the suite may try to make pools of any sizes",
    MemoryPoolFeature.RELEASE_AGAIN: "the suite may release a buffer again",
    MemoryPoolFeature.RELEASE_SLICE: "the suite may release another view of a buffer",
    MemoryPoolFeature.RELEASE_COPY: "the suite may release a copy of a buffer",
    MemoryPoolFeature.RELEASE_FOREIGN: "the suite may release what the pool never granted",
    MemoryPoolFeature.RELEASE_NOTHING: "the suite may release the absence of a buffer",
    MemoryPoolFeature.LEAK_DETECTION: "the suite may lose buffers",
    MemoryPoolFeature.ELAPSE: "the suite may let time pass",
}

_MEMORY_POOL_OBSERVABLES: Mapping[StrEnum, str] = {
    MemoryPoolObservable.AVAILABLE: "the bytes that are left",
    MemoryPoolObservable.USED: "the bytes that are not",
    MemoryPoolObservable.SIZE: "the size of the pool",
    MemoryPoolObservable.OUT_OF_MEMORY: "whether the pool says that it is out of memory",
    MemoryPoolObservable.BUFFER: "the capacity of the buffer of this step, or null",
    MemoryPoolObservable.DEPLETED_SPELLS: "the number of dry spells that have ended",
    MemoryPoolObservable.DEPLETED_TIME: "the length of these spells together",
}

_CHANNEL_MUTING_FEATURES: Mapping[StrEnum, str] = {
    ChannelMutingFeature.PLAIN: "servers without TLS",
    ChannelMutingFeature.TLS: "servers with TLS",
    ChannelMutingFeature.STRICT: "servers whose pool is strict",
    ChannelMutingFeature.NON_STRICT: "servers whose pool is not strict",
    ChannelMutingFeature.POLL_WHILE: "memory is released while a poll waits for its sockets",
    ChannelMutingFeature.POLL_BESIDE: "a client sends records without data and without end",
    ChannelMutingFeature.RESPOND_FIRST: "a request is answered before its memory is released",
    ChannelMutingFeature.THROTTLE: "channels are throttled",
    ChannelMutingFeature.CLOSE: "the server closes connections",
    ChannelMutingFeature.HANG_UP: "clients close their connections",
    ChannelMutingFeature.HALF_CLOSE: "clients send no more and read on",
    ChannelMutingFeature.RESET: "clients break their connections",
    ChannelMutingFeature.IDLE_LIMIT: "servers that close idle connections",
    ChannelMutingFeature.RECEIVE_LIMIT: "servers that close connections whose request trickles",
    ChannelMutingFeature.CONSTRUCT: "servers are made of any sizes",
    ChannelMutingFeature.ELAPSE: "the clock moves",
}

_CHANNEL_MUTING_OBSERVABLES: Mapping[StrEnum, str] = {
    ChannelMutingObservable.AVAILABLE: "the bytes that the pool has left",
    ChannelMutingObservable.OPEN: "the channels that the server has not closed",
    ChannelMutingObservable.WAITING: "the channels that wait for memory",
    ChannelMutingObservable.ORDERED: "the channels whose last request is not answered",
    ChannelMutingObservable.HOLDING: "the channels that hold memory for what they receive",
    ChannelMutingObservable.UNREAD: "the bytes of bodies in the server's sockets, or null",
    ChannelMutingObservable.DEPLETED_TIME: "how long channels have waited, together",
}

_FEATURES: Mapping[Component, Mapping[StrEnum, str]] = {
    Component.TIMER: _TIMER_FEATURES,
    Component.PURGATORY: _PURGATORY_FEATURES,
    Component.MEMORY_POOL: _MEMORY_POOL_FEATURES,
    Component.CHANNEL_MUTING: _CHANNEL_MUTING_FEATURES,
}

_OBSERVABLES: Mapping[Component, Mapping[StrEnum, str]] = {
    Component.TIMER: _TIMER_OBSERVABLES,
    Component.PURGATORY: _PURGATORY_OBSERVABLES,
    Component.MEMORY_POOL: _MEMORY_POOL_OBSERVABLES,
    Component.CHANNEL_MUTING: _CHANNEL_MUTING_OBSERVABLES,
}

_WITHOUT_FEATURES: Mapping[Component, str] = {
    Component.TIMER: "tasks are added and run",
    Component.PURGATORY: "operations are watched, checked and time out",
    Component.MEMORY_POOL: "there is no instance that the suite may ask for",
    Component.CHANNEL_MUTING: "there is no instance that the suite may ask for",
}


def declaration(profile: Profile) -> Iterator[Finding]:
    """Each declared choice in a sentence."""
    name = noun(component_of(profile))
    for sentence in _sentences(profile):
        yield Finding(Severity.DECLARED, f"{name}, {sentence}")


def _sentences(profile: Profile) -> Iterator[str]:
    component = component_of(profile)
    for field in profile.__struct_fields__:
        choice = getattr(profile, field)
        if isinstance(choice, Enum):
            yield f"{field} is {choice.value}: {_CHOICES[choice]}"
    if isinstance(profile, TimerProfile):
        largest = profile.largest_delay_ms
        yield f"largest_delay_ms is {largest}: a longer delay is rejected as 'too_large'"
        if profile.clock is Clock.WALL:
            yield f"lateness_ms is {profile.lateness_ms}: a task runs at most that much late"
    if not profile.features:
        yield f"no feature: {_WITHOUT_FEATURES[component]}, no more"
    for feature, sentence in _FEATURES[component].items():
        if feature in profile.features:
            yield f"feature {feature.value}: {sentence}"
    if not profile.observables:
        yield "no observable: only events and results are compared"
    for observable, sentence in _OBSERVABLES[component].items():
        if observable in profile.observables:
            yield f"observable {observable.value}: {sentence}"
