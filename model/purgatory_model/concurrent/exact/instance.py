"""An instance of the concurrent purgatory: its threads, its operations, and what may happen."""

from collections.abc import Mapping
from dataclasses import dataclass

from immutables import Map

from purgatory_model.concurrent.exact.state import Delayed, ExactState, Thread

EXECUTOR = "executor"
TIMER = "timer"
WORLD = "world"
CALLBACK = "callback"
"""The thread of a callback's steps; the thread that runs the callback waits meanwhile."""

FEATURES: Mapping[str, str] = {
    "time-outs": "time-outs become due",
    "evaluate-then-win": "a try looks at the condition, then swaps the word, in two steps",
    "conditions-fall": "the event count of a key may go down again",
    "throwing-try": "the try of an operation raises, once at most per operation",
    "re-entrant-check": "the callback of operation 1 has an event happen and checks its key",
    "re-entrant-watch": "the callback of operation 1 watches an operation",
    "re-entrant-cancel": "the callback of operation 1 cancels a key",
    "amortised": "a purge is due when more is stale than half of the live entries, too",
    "post-early": "balances may be posted at any moment",
    "sweep-by-operation": "a purge looks at one operation of a list at a time",
    "walk-looks-again": "a walk drops what it has tried in vain and somebody completed meanwhile",
    "cancel-by-entry": "cancelling a key settles each place in its list by itself",
    "stops-inserting": "who sees its operation completed appends it to no further list",
    "insert-fails": "appending may raise, once at most per operation",
}
"""Legal choices and things that may happen, with the names that they have in TLA+."""

VARIANTS: Mapping[str, str] = {
    "test-then-set": "completed is set by whoever has seen it unset",
    "no-second-try": "a caller does not try again after it has inserted",
    "own-entry-stays": "a walk does not drop its own entry before it posts",
    "promise-one-too-few": "one entry less is promised in the word than will be inserted",
    "cancel-takes-time-out": "cancelling any key takes the time-out",
    "forgets-to-give-back": "who stops inserting does not subtract the entries that will not come",
    "winner-stays-in-timer": "the winner does not leave the timer",
    "purge-subtracts-nothing": "a purge removes entries and does not count them",
}
"""Known faults that can be followed instead of the rules."""


@dataclass(frozen=True, slots=True)
class ExactInstance:
    """The threads, operations and keys of an instance, and the bounds on their calls and events.

    Attributes:
        callers: Threads that watch operations.
        completers: Threads in which events happen, and which then check the event's key.
        cancellers: Threads that cancel keys.
        forcers: Threads that complete operations by force.
        purgers: Threads that purge.
        operations: How many operations there are, numbered from 1.
        keys: The keys; every call watches under all of them.
        demanding: Operations that need two events of a key; the others need one.
        throwing: Operations whose callback raises.
        max_events: How often the event of one key happens, at most.
        max_calls: How often one operation is watched, at most.
        duplicates: How often each key stands in one call.
        purge_interval: A purge is due when ``stale`` is above it, see ``interval``.
        features: Of ``FEATURES``.
        variants: Of ``VARIANTS``.
        programs: Whether this is to run programs: threads remember what their calls return, for
            the history; and a call can be made that finds nothing to do (a key without a list to
            cancel, a completed operation to force, a check without another event), and returns at
            once. No other step depends on it, but there are more states.
        ordered: Whether lists keep their order, and walks and inserts go by it. Otherwise any order
            is possible, the order of insertion among them.

    Raises:
        ValueError: a name is not known, two threads have the same one, or a number is too small.
    """

    callers: tuple[str, ...] = ("caller",)
    completers: tuple[str, ...] = ("completer",)
    cancellers: tuple[str, ...] = ()
    forcers: tuple[str, ...] = ()
    purgers: tuple[str, ...] = ("purger",)
    operations: int = 2
    keys: tuple[str, ...] = ("k1", "k2")
    demanding: frozenset[int] = frozenset()
    throwing: frozenset[int] = frozenset()
    max_events: int = 1
    max_calls: int = 1
    duplicates: int = 1
    purge_interval: int = 0
    features: frozenset[str] = frozenset({"time-outs"})
    variants: frozenset[str] = frozenset()
    programs: bool = False
    ordered: bool = False

    def __post_init__(self) -> None:
        """Reject what makes no instance."""
        _refuse_unknown("feature", self.features, FEATURES)
        _refuse_unknown("variant", self.variants, VARIANTS)
        names = self.program_threads
        if len({*names, EXECUTOR, TIMER, WORLD, CALLBACK}) < len(names) + 4:
            raise ValueError(f"each thread needs a name of its own: {', '.join(sorted(names))}")
        if not self.keys or len(set(self.keys)) < len(self.keys):
            raise ValueError(f"keys are {self.keys}; there must be one, and none twice")
        for number in ("operations", "max_events", "max_calls", "duplicates"):
            if getattr(self, number) < 1:
                raise ValueError(f"{number} is {getattr(self, number)}; it must be at least 1")
        if self.purge_interval < 0:
            raise ValueError(f"purge_interval is {self.purge_interval}; it must be at least 0")
        if "conditions-fall" in self.features and "evaluate-then-win" not in self.features:
            raise ValueError("conditions-fall needs evaluate-then-win: a try must look first")

    @property
    def program_threads(self) -> tuple[str, ...]:
        """Return the threads of users and purges."""
        groups = (self.callers, self.completers, self.cancellers, self.forcers, self.purgers)
        return tuple(name for group in groups for name in group)

    @property
    def entries_per_call(self) -> tuple[str, ...]:
        """Return the key of each entry that a call makes."""
        return tuple(key for key in self.keys for _ in range(self.duplicates))

    def initial(self) -> ExactState:
        """Return the state before any watch or event."""
        threads = (*self.program_threads, EXECUTOR, CALLBACK)
        return ExactState(
            events=Map(dict.fromkeys(self.keys, 0)),
            operations=Map({number: Delayed() for number in range(1, self.operations + 1)}),
            lists=Map(dict.fromkeys(self.keys, ())),
            threads=Map({name: Thread() for name in threads}),
        )

    def interval(self, live: int) -> int:
        """Return the stale entries allowed beside live ones. Rules: PURGATORY-PURGE-START."""
        return max(self.purge_interval, live // 2 if "amortised" in self.features else 0)

    def condition(self, state: ExactState, operation: int) -> bool:
        """Decide whether enough events of some key have happened."""
        needed = 2 if operation in self.demanding else 1
        return any(count >= needed for count in state.events.values())

    def reenters(self, operation: int) -> bool:
        """Decide whether the callback of an operation makes calls."""
        return operation == 1 and any(each.startswith("re-entrant-") for each in self.features)


def _refuse_unknown(what: str, names: frozenset[str], known: Mapping[str, str]) -> None:
    unknown = names - known.keys()
    if unknown:
        raise ValueError(f"there is no {what} {min(unknown)!r}; there are {', '.join(known)}")
