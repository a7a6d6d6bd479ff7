"""State of a concurrent purgatory in the proposal's order.

Delayed operations have the numbers 1, 2, ..., and are handed in in this order; each is watched
under every key. Shared memory is what several threads read and write; each thread has, besides,
what it has in hand. Two counts are kept by an observer and change nothing: they say what a reset of
the estimate has missed.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from immutables import Map

REAPER = "reaper"
EXECUTOR = "executor"


class Feature(StrEnum):
    """Choices that the released order does not make; names as in ``PurgatoryProposal.tla``."""

    ALL_KEYS = "all-keys"
    """An operation needs the events of all its keys, else those of any of them."""
    NO_TIME_OUTS = "no-time-outs"
    """Nothing ever becomes due, although it is in the timer."""
    CANCEL_FOR_KEY = "cancel-for-key"
    """Completers may cancel for a key as well."""
    SEQUENTIAL = "sequential"
    """Each thread begins after all others have finished."""
    AMORTISED = "amortised"
    """A purge is due when more is stale than half of what the timer holds, too."""
    DRAINED = "drained"
    """The test for a purge waits until the executor has run everything."""


class Defect(StrEnum):
    """Faults, which show that claims can fail; names as in ``PurgatoryProposal.tla``."""

    NO_SECOND_TRY = "no-second-try"
    """The second try, after the insertions, is left out."""
    NO_SECOND_LOOK = "no-second-look"
    """The second look, after the operation was added to the timer, is left out."""
    TEST_THEN_SET = "test-then-set"
    """The executor looks whether an operation is completed, then completes it, without its lock."""
    SWEEP_TAKES_ALL = "sweep-takes-all"
    """A sweep takes operations that are not completed, too."""
    EXPIRES_ANYWAY = "expires-anyway"
    """``on_expiration`` is called even if others have completed the operation."""


class Place(StrEnum):
    """A thread's place in its program, named after the step that comes next."""

    IDLE = "idle"
    # A caller.
    INSERT = "insert"
    COUNT = "count"
    TRY_AGAIN = "try again"
    LOOK = "look"
    ADD = "add"
    LOOK_AGAIN = "look again"
    # A completer.
    SNAPSHOT = "snapshot"
    WALK = "walk"
    TRY = "try"
    DROP = "drop"
    WITHDRAW = "withdraw"
    # Whoever completes an operation.
    CANCEL = "cancel"
    CALLBACK = "callback"
    # The reaper.
    TEST = "test"
    READ_AGAIN = "read again"
    RESET = "reset"
    SWEEP = "sweep"
    # The executor.
    DECIDE = "decide"
    SET = "set"
    EXPIRATION = "expiration"


Operations: TypeAlias = frozenset[int]
Keys: TypeAlias = frozenset[str]
Entries: TypeAlias = tuple[int, ...]
"""A list of operations. It is sorted, so that lists of the same operations are equal, unless the
instance is asked to keep the order in which they were appended."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A thread that watches: the operation in hand (0: none), the keys it is not listed under."""

    place: Place = Place.IDLE
    operation: int = 0
    keys_left: Keys = frozenset()


@dataclass(frozen=True, slots=True)
class Completer:
    """A thread that checks or cancels.

    Attributes:
        place: The step that the completer takes next.
        key: The key of its call.
        to_meet: What it has still to try, or to cancel.
        operation: The operation that it is trying or has completed, 0 for none.
        about: Only where programs are run: the operations that the call has completed, or detached.
    """

    place: Place = Place.IDLE
    key: str | None = None
    to_meet: Entries = ()
    operation: int = 0
    about: Entries = ()


@dataclass(frozen=True, slots=True)
class Reaper:
    """The thread that advances and purges: the counts it has read, the lists not swept yet."""

    place: Place = Place.IDLE
    estimate_read: int = 0
    size_read: int = 0
    keys_left: Keys = frozenset()


@dataclass(frozen=True, slots=True)
class Executor:
    """The thread that runs what has expired: the operation in hand (0: none)."""

    place: Place = Place.IDLE
    operation: int = 0


Worker: TypeAlias = Caller | Completer | Executor
Thread: TypeAlias = Worker | Reaper


@dataclass(frozen=True, slots=True)
class ProposalInstance:
    """The threads, operations and keys of an instance, and the bounds on their events.

    Attributes:
        callers: Threads that watch.
        completers: Threads that raise a key's event and check the key.
        keys: What every operation is watched under.
        thresholds: For each operation, how many events of a key (of every key) it needs.
        most_events: How many events each key may have.
        purge_interval: A purge is made when estimate - timer size is larger, see ``interval``.
        features: Choices.
        defects: Faults.
        ordered: Whether lists keep the order of insertion, and an operation enters them in the
            order of its keys; else a list has the order of handing in, and keys have none.
        programs: Whether this is to run programs: calls remember what they return, for the
            history, and a completer may also check a key without another event, or cancel for a
            key without a list. There are more states.
    """

    callers: tuple[str, ...] = ("c1",)
    completers: tuple[str, ...] = ("x1",)
    keys: tuple[str, ...] = ("k1", "k2")
    thresholds: tuple[int, ...] = (1, 2)
    most_events: int = 2
    purge_interval: int = 0
    features: frozenset[Feature] = frozenset()
    defects: frozenset[Defect] = frozenset()
    ordered: bool = False
    programs: bool = False

    def interval(self, timer_size: int) -> int:
        """Return the number allowed beside so many in the timer. Rules: PURGATORY-PURGE-START."""
        amortised = Feature.AMORTISED in self.features
        return max(self.purge_interval, timer_size // 2 if amortised else 0)

    def appended(self, entries: Entries, operation: int) -> Entries:
        """Return a list with one more operation."""
        longer = (*entries, operation)
        return longer if self.ordered else tuple(sorted(longer))

    def may_complete(self, state: "ProposalState", operation: int) -> bool:
        """Decide whether ``try_complete`` of an operation would complete it."""
        enough = (state.events[key] >= self.thresholds[operation - 1] for key in self.keys)
        return all(enough) if Feature.ALL_KEYS in self.features else any(enough)

    def may_begin(self, state: "ProposalState", thread: str) -> bool:
        """Decide whether a thread is free for its next call."""
        if state.threads[thread].place is not Place.IDLE:
            return False
        return Feature.SEQUENTIAL not in self.features or state.all_idle


@dataclass(frozen=True, slots=True)
class ProposalState:
    """Everything that the future of the concurrent purgatory depends on, and two observers.

    Attributes:
        completed: The completed operations.
        holders: Who holds the lock of an operation; free ones are left out.
        callbacks: How often ``on_complete`` was called, for operations for which it was.
        expirations: The operations for which ``on_expiration`` was called.
        lists: For each key the entries of its list.
        timer: What is in the timer.
        queue: What has expired and the executor has not taken.
        estimate: Kafka's estimated total of operations.
        events: For each key how many events it had.
        begun: How many operations were handed in.
        threads: What each thread has in hand.
        lost: Counts between the last reset's read of the timer's size and its write.
        overlooked: Operations in the executor when the last reset read the timer's size.
    """

    lists: Map[str, Entries]
    events: Map[str, int]
    threads: Map[str, Thread]
    completed: Operations = frozenset()
    holders: Map[int, str] = Map()
    callbacks: Map[int, int] = Map()
    expirations: Operations = frozenset()
    timer: Operations = frozenset()
    queue: Operations = frozenset()
    estimate: int = 0
    begun: int = 0
    lost: int = 0
    overlooked: int = 0

    @property
    def all_idle(self) -> bool:
        """Decide whether no call is under way."""
        return all(thread.place is Place.IDLE for thread in self.threads.values())

    @property
    def distinct(self) -> Operations:
        """Return the operations in some list."""
        return frozenset(each for entries in self.lists.values() for each in entries)

    @property
    def live(self) -> Operations:
        """Return the operations in some list that are not completed."""
        return self.distinct - self.completed

    @property
    def stale(self) -> Operations:
        """Return the completed operations in some list."""
        return self.distinct & self.completed

    @property
    def pending(self) -> int:
        """Return the number of time-outs that are owed. Rules: PURGATORY-PENDING."""
        return len(self.timer) + self.in_executor

    @property
    def in_executor(self) -> int:
        """Return the number of expiries in the executor's queue or undecided."""
        return len(self.queue) + (self.threads[EXECUTOR].place is Place.DECIDE)

    def to(self, name: str, thread: Thread) -> "ProposalState":
        """Return the state with another state of a thread."""
        return replace(self, threads=self.threads.set(name, thread))

    def freed(self, operation: int, name: str) -> Map[int, str]:
        """Return the locks after a thread has let go of an operation's, if it holds it."""
        if self.holders.get(operation) != name:
            return self.holders
        return self.holders.delete(operation)


def without(entries: Entries, gone: Collection[int]) -> Entries:
    """Return a list without some operations, which need not be in it."""
    return tuple(each for each in entries if each not in gone)


def first_state(instance: ProposalInstance) -> ProposalState:
    """Return the state before any watch or event, with every thread idle."""
    return ProposalState(
        lists=Map(dict.fromkeys(instance.keys, ())),
        events=Map(dict.fromkeys(instance.keys, 0)),
        threads=Map(_threads(instance)),
    )


def _threads(instance: ProposalInstance) -> Iterator[tuple[str, Thread]]:
    yield from ((name, Caller()) for name in instance.callers)
    yield from ((name, Completer()) for name in instance.completers)
    yield from ((REAPER, Reaper()), (EXECUTOR, Executor()))
