"""The bundled purgatory in a run: clock, executor, calls, and the checks of what is left.

Each check compares what the purgatory says with what the programs did and with the links of its
lists, read one by one. Last, everything is let finish, and nothing may be left.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, Literal

from purgatory_conformance.subjects.bundled.calls import (
    NamedOperation,
    TellingExecutor,
    VirtualTime,
    call_purgatory,
)
from purgatory_impl import (
    DelayedOperation,
    Purgatory,
    PurgatoryError,
    Task,
    Timer,
    VirtualClock,
)
from purgatory_impl.accounting import ExactAccounting
from purgatory_impl.chunks import WatcherList
from purgatory_lab.scheduling.errors import CheckFailed
from purgatory_lab.scheduling.history import RecordedHistory
from purgatory_lab.scheduling.scheduler import Scheduler
from purgatory_spec import operations as op
from purgatory_spec.operations import Check, Force, Satisfy, Shutdown, Watch
from purgatory_spec.outcomes import Value, completed, expired, timed_out, tried
from purgatory_spec.reasons import Reason

_NO_SCRIPT: Final = op.Script()
_FAR_MS: Final = 1_000_000
"""A time later than any time-out of a scenario."""


class Key(str):
    """A key whose hash is the same in every process, so that a schedule fits in every one."""

    __slots__ = ()

    def __hash__(self) -> int:
        return sum(map(ord, self))


class ScheduledOperation(NamedOperation):
    """Can be completed once it is satisfied; its user code, too, can be interrupted."""

    def __init__(
        self, name: str, delay_ms: int, world: "PurgatoryWorld", script: op.Script = _NO_SCRIPT
    ) -> None:
        super().__init__(name, delay_ms)
        self.script = script
        self.tries = 0
        self.completions = 0
        self.expirations = 0
        self._world = world

    def try_complete(self) -> bool:
        """Look at the condition, and complete the operation where it holds."""
        self._world.history.happened(tried(self.name))
        self._world.scheduler.reach("looks at the condition", self)
        satisfied = self.satisfied
        if self.tries < len(self.script.on_try):
            self.tries += 1
            self._world.act(self.script.on_try[self.tries - 1])
        return satisfied and self.force_complete()

    def on_complete(self) -> None:
        """Count the completion, and note it in the history."""
        self._world.scheduler.reach("on_complete", self)
        self.completions += 1
        self._world.history.happened(completed(self.name))
        self._world.act(self.script.on_complete)

    def on_expiration(self) -> None:
        """Count the time-out, and note it in the history."""
        self._world.scheduler.reach("on_expiration", self)
        self.expirations += 1
        self._world.history.happened(timed_out(self.name))


class PurgatoryWorld:
    """A purgatory with timer, clock and executor, and the operations of the programs.

    Attributes:
        history: Calls, callbacks and returns in the order in which they happened.
        operations: The operations of the programs, by name.
        cancelled: The operations that a call has cancelled under some key.
        left_stale: Stale entries above the interval when the reaper was at rest.
        claimed_inside: The completions that calls of scripts have claimed.
        told_inside: Satisfied operations, each with a key that a script has checked after that.
        forced_inside: The operations that scripts have forced.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        *,
        accounting: Literal["exact", "proposal"] = "exact",
        purge_interval: int = 0,
        purge_due: Literal["amortised", "fixed"] = "fixed",
        reaper: bool = False,
    ) -> None:
        """Make a fresh purgatory.

        Args:
            scheduler: The scheduler of the purgatory's threads.
            accounting: How stale entries are counted.
            purge_interval: A purge is due above it, entries.
            purge_due: Whether half of what lives may be stale, where that is more.
            reaper: Whether a thread of the purgatory's own purges.
        """
        self.scheduler = scheduler
        self.history = RecordedHistory(scheduler)
        self.clock = VirtualClock()
        self.executor = TellingExecutor(self._handed_over)
        self.timer = Timer(clock=self.clock, executor=self.executor)
        self.purgatory: Purgatory[str] = Purgatory(
            purge_interval=purge_interval,
            timer=self.timer,
            accounting=accounting,
            purge_due=purge_due,
            reaper=reaper,
        )
        self._time = VirtualTime(self.clock, self.executor)
        self.operations: dict[str, ScheduledOperation] = {}
        self.cancelled: list[ScheduledOperation] = []
        self.left_stale = 0
        self.claimed_inside = 0
        self.told_inside: set[tuple[str, str]] = set()
        self.forced_inside: set[str] = set()
        self._happening_in = ""

    def prepare(self, operations: Sequence[op.Operation]) -> None:
        """Make the delayed operations that the programs name."""
        for operation in operations:
            if isinstance(operation, op.Watch):
                self._introduce(operation.operation, operation.delay_ms, operation.script)
        for operation in operations:
            if isinstance(operation, op.Force | op.Satisfy):
                self._introduce(operation.operation, 0)

    def perform(self, operation: op.Operation) -> None:
        """Carry out a call in the running thread, and note it with its result."""
        if not isinstance(operation, op.Satisfy):
            self._happening_in = ""
        self.history.call(operation, partial(self._carry_out_or_refuse, operation))

    def act(self, script: Sequence[op.CallbackAction]) -> None:
        """Do what a script says, in the thread whose try or callback it is.

        Raises:
            ValueError: the script has an action that no scenario needs.
        """
        for action in script:
            # Added after the call, which may act in its turn.
            claimed = self._act(action)
            self.claimed_inside += claimed

    def _act(self, action: op.CallbackAction) -> int:
        """Do one action and return the number of completions that its call claims."""
        match action:
            case op.SatisfyInside(name):
                # No event of its own, unlike an operation that is satisfied from outside.
                self.operations[name].satisfied = True
                return 0
            case op.CheckInside(key):
                satisfied = [one.name for one in self.operations.values() if one.satisfied]
                self.told_inside.update((name, key) for name in satisfied)
            case op.ForceInside(name):
                self.forced_inside.add(name)
        call = op.from_outside(action)
        if call is None or isinstance(action, op.Meanwhile):
            raise ValueError(f"no scenario has the action {action}")
        claimed = self._carry_out(call)
        return claimed if isinstance(claimed, int) else 0

    def close(self) -> None:
        """See what is stale although nobody can go on, and end the purgatory's own thread."""
        if self.purgatory._reaper is None:
            return
        accounting = self.purgatory._accounting
        if isinstance(accounting, ExactAccounting):
            with self.scheduler.unobserved():
                stale = accounting.stale
            self.left_stale = max(0, stale - accounting.purge_interval)
        self.perform(op.Shutdown())

    def listed(self) -> dict[str, list[ScheduledOperation]]:
        """Return the operations in each list, read from the chunks themselves."""
        lists: dict[str, list[ScheduledOperation]] = {}
        for shard in self.purgatory._lists.shards:
            for key, watched in shard.lists.items():
                operations = lists[str(key)] = []
                for operation in _operations_of(watched):
                    assert isinstance(operation, ScheduledOperation)
                    operations.append(operation)
        return lists

    def waiting(self) -> list[ScheduledOperation]:
        """Return the operations in the executor's queue."""
        tasks = self.executor._waiting.tasks()
        return [task for task in tasks if isinstance(task, ScheduledOperation)]

    def counts(self) -> dict[str, int]:
        """Return the observables of the purgatory."""
        purgatory = self.purgatory
        return {
            "entries": purgatory.entries,
            "keys": purgatory.keys,
            "timer_size": purgatory.timer_size,
            "queued": self.executor.queued,
            "pending": purgatory.pending,
            "stale": purgatory.stale,
            "estimate": purgatory.estimate,
        }

    def settle(self) -> None:
        """Let every time-out come and every stale entry go."""
        self.clock.set_ms(_FAR_MS)
        self.timer.advance()
        while self.executor.run_one():
            pass
        self.purgatory._lists.sweep(self.purgatory._accounting.post)

    def observe(self) -> None:
        """Read the counts in the running thread."""
        self.scheduler.mark("looks at the counts")
        counts = self.counts()
        if counts["entries"] < 0 or counts["pending"] < 0 or counts["estimate"] < 0:
            raise CheckFailed(f"a count is below zero: {counts}")

    def inspect(self) -> list[str]:
        """Return the problems of the purgatory at any instant."""
        return _problems_at_an_instant(self)

    def problems(self) -> list[str]:
        """Return the problems of the purgatory after the return of every call."""
        return _problems(self)

    def _handed_over(self, task: Task) -> None:
        assert isinstance(task, ScheduledOperation)
        self.history.happened(expired(task.name))

    def _carry_out_or_refuse(self, operation: op.Operation) -> tuple[Value, Reason | None]:
        try:
            return self._carry_out(operation), None
        except PurgatoryError as error:
            return None, error.reason

    def _carry_out(self, operation: op.Operation) -> Value:
        if isinstance(operation, op.Satisfy):
            self._begin_event()
        result = call_purgatory(
            self.purgatory, self.operations.__getitem__, operation, self._time, Key
        )
        if isinstance(result, tuple):
            self.cancelled += [self.operations[name] for name in result]
        return result

    def _begin_event(self) -> None:
        """Give way before an event happens; operations of one event are satisfied at once."""
        thread = self.history.thread()
        if self._happening_in != thread:
            self.scheduler.reach("an event happens")
        self._happening_in = thread

    def _introduce(self, name: str, delay_ms: int, script: op.Script = _NO_SCRIPT) -> None:
        if name not in self.operations:
            self.operations[name] = ScheduledOperation(name, delay_ms, self, script)


def _operations_of(watched: WatcherList[str]) -> Iterator[DelayedOperation]:
    if watched.only is not None:
        yield watched.only
    chunk = watched.first
    while chunk is not None:
        for operation in chunk.operations:
            if operation is not None:
                yield operation
        chunk = chunk.next


def _problems(tested: PurgatoryWorld) -> list[str]:
    """Return all problems of the purgatory at rest."""
    return [
        *_completed_once(tested),
        *_counted_right(tested),
        *_watched_or_completed(tested),
        *_not_lost(tested),
        *_purged_and_closed(tested),
        *_nothing_is_left(tested),
    ]


def _problems_at_an_instant(tested: PurgatoryWorld) -> list[str]:
    """Return the problems of the purgatory between any two steps of the threads.

    Rules: PURGATORY-ESTIMATE-EXACT, PURGATORY-TIME-OUT.
    """
    accounting = tested.purgatory._accounting
    if not accounting.time_out_first or tested.purgatory._closed:
        return []
    live = {
        one.name
        for operations in tested.listed().values()
        for one in operations
        if not one.is_completed
    }
    if len(live) > accounting._pending:
        return [f"{len(live)} operations wait, and {accounting._pending} time-outs are pending"]
    return []


def _completed_once(tested: PurgatoryWorld) -> Iterator[str]:
    """Yield the operations that are completed by more than one call or time-out.

    Rules: PURGATORY-EXACTLY-ONCE, PURGATORY-CHECK-COUNT, PURGATORY-LOST-EXPIRY.
    """
    for one in tested.operations.values():
        if one.completions != one.is_completed:
            yield f"on_complete of {one.name} was called {one.completions} times"
        if one.expirations > one.completions:
            yield f"on_expiration of {one.name} was called {one.expirations} times"
    claimed = sum(one.expirations for one in tested.operations.values()) + tested.claimed_inside
    for operation, returned in tested.history.calls():
        if isinstance(operation, Watch | Check | Force) and isinstance(returned.result, int):
            claimed += returned.result
    completed = sum(one.is_completed for one in tested.operations.values())
    if claimed != completed:
        yield f"{completed} operations are completed, and calls claim {claimed}"


def _counted_right(tested: PurgatoryWorld) -> Iterator[str]:
    """Yield the counts that differ from the links and words.

    Rules: PURGATORY-ENTRIES, PURGATORY-EMPTY-LISTS, PURGATORY-STALE-ENTRIES, PURGATORY-PENDING,
    PURGATORY-ESTIMATE-EXACT.
    """
    lists = tested.listed()
    entries = [operation for operations in lists.values() for operation in operations]
    pending = len(_in_timer(tested)) + len(tested.waiting())
    stale = sum(operation.is_completed for operation in entries)
    truth = {
        "entries": len(entries),
        "keys": len(lists),
        "timer_size": len(_in_timer(tested)),
        "pending": pending,
        "stale": stale,
    }
    counts = tested.counts()
    if tested.purgatory._accounting.time_out_first:
        truth["estimate"] = pending + stale
    for name, true in truth.items():
        if counts[name] != true:
            yield f"{name} is {counts[name]}, and there are {true}"
    for key, operations in lists.items():
        if not operations:
            yield f"the empty list of {key} was kept"
    live = Counter(operation.name for operation in entries if not operation.is_completed)
    for one in tested.operations.values():
        if one._entries != live[one.name]:
            yield f"the word of {one.name} has {one._entries} entries, the lists {live[one.name]}"


def _in_timer(tested: PurgatoryWorld) -> list[ScheduledOperation]:
    return [one for one in tested.operations.values() if one._next is not None]


def _watched_or_completed(tested: PurgatoryWorld) -> Iterator[str]:
    """Yield the operations that ought to wait, and do not wait as they were told to.

    Rules: PURGATORY-WATCH-WAITS, PURGATORY-DUPLICATE-KEYS, PURGATORY-TIME-OUT,
    PURGATORY-TIMER-LEFT.
    """
    lists = tested.listed()
    for (name, key), often in _promised(tested).items():
        one = tested.operations[name]
        untouched = not one.is_completed and one not in tested.cancelled
        if untouched and lists.get(key, []).count(one) != often:
            yield f"{name} is not completed, and not watched under {key}"
    closed = any(isinstance(operation, Shutdown) for operation in tested.history.called())
    owed = [*_in_timer(tested), *tested.waiting()]
    for one in tested.operations.values():
        if one.is_completed and one in _in_timer(tested):
            yield f"{one.name} is completed, and in the timer"
        listed = any(one in operations for operations in lists.values())
        if listed and not (one.is_completed or closed or one in owed):
            yield f"{one.name} is watched, and has no time-out"


def _promised(tested: PurgatoryWorld) -> Counter[tuple[str, str]]:
    """Return for each operation and key how often the operation was to be watched."""
    promised: Counter[tuple[str, str]] = Counter()
    for operation, returned in tested.history.calls():
        if isinstance(operation, Watch) and returned.raised is None:
            promised.update((operation.operation, key) for key in operation.keys)
    return promised


def _not_lost(tested: PurgatoryWorld) -> Iterator[str]:
    """Yield the operations that were satisfied before a check of a key and are not completed.

    Rules: PURGATORY-NOT-LOST, PURGATORY-WATCH-SECOND-TRY.
    """
    satisfied: set[str] = set()
    told: set[tuple[str, str]] = set()
    for operation, returned in tested.history.opened():
        if isinstance(operation, Satisfy) and returned:
            satisfied.add(operation.operation)
        elif isinstance(operation, Check) and not returned:
            told.update((name, operation.key) for name in satisfied)
    for name in tested.forced_inside:
        if not tested.operations[name].is_completed:
            yield f"{name} was forced inside a try or a callback, and is not completed"
    told |= tested.told_inside
    for name, key in told & _promised(tested).keys():
        one = tested.operations[name]
        listed = any(one in operations for operations in tested.listed().values())
        if listed and not one.is_completed and one not in tested.cancelled:
            yield f"{name} could be completed when {key} was checked, and is lost"


def _purged_and_closed(tested: PurgatoryWorld) -> Iterator[str]:
    """Yield the faults of a reaper that has not purged, and of time-outs kept after closing.

    Rules: PURGATORY-PURGE-START, PURGATORY-SHUTDOWN-DROPS.
    """
    if tested.left_stale:
        yield f"{tested.left_stale} stale entries are left above the interval"
    if any(isinstance(operation, Shutdown) for operation in tested.history.called()):
        for one in _in_timer(tested):
            yield f"{one.name} is in the timer of a purgatory that is closed"


def _nothing_is_left(tested: PurgatoryWorld) -> Iterator[str]:
    """Yield the counts that are not zero after every time-out and a purge.

    Rules: PURGATORY-TIME-OUT, PURGATORY-PURGE-REMOVES, PURGATORY-STALE-ENTRIES.
    """
    untimed = [
        one
        for operations in tested.listed().values()
        for one in operations
        if not one.is_completed and one._next is None and one not in tested.waiting()
    ]
    tested.settle()
    counts = tested.counts()
    del counts["estimate"]
    left = {"entries": len(untimed), "keys": len(tested.listed()) if untimed else 0}
    for name, count in counts.items():
        if count != left.get(name, 0):
            yield f"{name} is {count} after everything was let finish"
    for one in tested.operations.values():
        if one.completions != one.is_completed:
            yield f"on_complete of {one.name} was called {one.completions} times in the end"
