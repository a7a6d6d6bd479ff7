"""A purgatory that records itself: the one of ``purgatory_impl``, with a recorder.

    with RecordedPurgatory[str](Recorder(Path("fetches.jsonl"), "fetches of node 7")) as purgatory:
        purgatory.try_complete_else_watch(fetch, fetch.partitions)
        with purgatory.satisfying(fetch):
            fetch.bytes_ready += 4096
        purgatory.check_and_complete("events-3")

The change that makes a condition true stands inside ``satisfying``: somewhere between its
beginning and its end the condition holds, and from then on every try completes the operation. Where
a program does not say this its trace is judged all the same, but a completion that was forgotten is
not found. Operations are of a class that ``recorded`` has made over.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Literal

from purgatory_impl import DelayedOperation, Executor, InlineExecutor, Purgatory, ThreadExecutor
from purgatory_impl.timer import Timer
from purgatory_impl.watchers import Key
from purgatory_spec import profiles
from purgatory_spec.operations import Advance, CancelForKey, Check, Satisfy, Shutdown, Watch
from purgatory_traces.recording.recorded.operation import RecordedOperation, reason_of
from purgatory_traces.recording.recorded.timer import check_sequential, executor_word
from purgatory_traces.recording.recorder import Recorder
from purgatory_traces.recording.recording_executor import RecordingExecutor
from purgatory_traces.recording.step_recorder import RecordedClock
from purgatory_traces.traces.lines import PurgatoryInstance, Snapshot, WaitingOperation


class RecordedPurgatory(Purgatory[Key]):
    """A purgatory whose calls are recorded, and the callbacks of its operations."""

    def __init__(
        self,
        recorder: Recorder,
        name: str = "purgatory",
        *,
        purge_interval: int = 1000,
        time_outs: bool = True,
        accounting: Literal["exact", "proposal"] = "exact",
        purge_due: Literal["amortised", "fixed"] = "amortised",
        tick_ms: int = 1,
        wheel_size: int = 20,
        clock: RecordedClock | None = None,
        executor: Executor | None = None,
        key_name: Callable[[Key], str] = str,
    ) -> None:
        """Build the purgatory and its timer, and start their threads; see ``Purgatory``.

        Args:
            recorder: Records this purgatory alone, and is to be closed after it. With a ``clock``,
                a ``StepRecorder``.
            name: Appears in the names of threads.
            purge_interval: A purge is not due before more than so many entries are stale.
            time_outs: False for operations that never time out.
            accounting: How stale entries are counted.
            purge_due: Whether half of what lives may be stale, where that is more.
            tick_ms: The timer's resolution, ms.
            wheel_size: Buckets on each level of the timer.
            clock: Where the time comes from; the real clock when absent.
            executor: The executor of time-outs; by default the purgatory's own thread.
            key_name: The name of a key in the trace; no two keys have the same.

        Raises:
            InvalidConfiguration: neither purgatory nor timer can be built of these sizes.
            ValueError: recorder, clock and executor do not go together.
        """
        check_sequential(recorder, clock, executor)
        self._recorder = recorder
        self._key_name = key_name
        self._executor_of_its_own = ThreadExecutor() if executor is None else None
        runs = executor or self._executor_of_its_own or InlineExecutor()
        self._between = RecordingExecutor(recorder, runs, operation_name, None)
        start_ms = 0 if clock is None else clock.now_ms()
        described = PurgatoryInstance(
            profiles.PurgatoryConfiguration(
                purge_interval, time_outs, tick_ms, wheel_size, start_ms
            ),
            profiles.PurgatoryProfile(
                accounting=profiles.Accounting(accounting),
                purge_due=profiles.PurgeDue(purge_due),
                check_drops=profiles.CheckDrops.AS_PASSED,
                throwing_try=profiles.ThrowingTry.GO_ON,
                executor=executor_word(runs),
                structure=profiles.Structure.DELAY_QUEUE_WHEEL,
            ),
        )
        recorder.begin(described, self)
        self._timer_of_its_own = Timer(
            tick_ms=tick_ms, wheel_size=wheel_size, clock=clock, executor=self._between
        )
        super().__init__(
            name,
            purge_interval=purge_interval,
            timer=self._timer_of_its_own,
            time_outs=time_outs,
            accounting=accounting,
            purge_due=purge_due,
        )

    def try_complete_else_watch(self, operation: DelayedOperation, keys: Iterable[Key]) -> bool:
        """Try an operation, else watch it, and record that; see ``Purgatory``.

        Raises:
            TypeError: its class was not made over by ``recorded``.
        """
        watched = self._known(operation)
        under = tuple(keys)
        recorder = self._recorder
        names = tuple(map(self._key_name, under))
        watched.recorded_keys += names
        recorder.call(Watch(watched.recorded_name, names, watched.delay_ms))
        try:
            completed = super().try_complete_else_watch(watched, under)
        except Exception as error:
            recorder.returned(None, reason_of(error))
            raise
        recorder.returned(completed)
        return completed

    def check_and_complete(self, key: Key) -> int:
        """Try all operations that are watched under a key, and record that; see ``Purgatory``."""
        recorder = self._recorder
        recorder.call(Check(self._key_name(key)))
        try:
            completed = super().check_and_complete(key)
        except Exception as error:
            recorder.returned(None, reason_of(error))
            raise
        recorder.returned(completed)
        return completed

    def cancel_for_key(self, key: Key) -> list[DelayedOperation]:
        """Watch nothing under a key any more, and record that; see ``Purgatory``."""
        self._recorder.call(CancelForKey(self._key_name(key)))
        cancelled = super().cancel_for_key(key)
        self._recorder.returned(tuple(map(operation_name, cancelled)))
        return cancelled

    @contextmanager
    def satisfying(self, *operations: DelayedOperation) -> Iterator[None]:
        """Make the conditions of these operations true for good, by the work in the block."""
        with ExitStack() as returns:
            for operation in map(self._known, operations):
                self._recorder.call(Satisfy(operation.recorded_name))
                returns.callback(self._satisfied, operation)
            yield

    def advance(self) -> None:
        """Do what is due, see ``Purgatory.advance``, and on a manual clock record that."""
        if not self._recorder.is_sequential:
            super().advance()
            return
        self._recorder.call(Advance(self._clock.now_ms()))
        super().advance()
        self._recorder.returned()

    def close(self, timeout_ms: int = 5000) -> None:
        """Close the purgatory and its timer, see ``Purgatory.close``, and record that."""
        self._recorder.call(Shutdown())
        super().close(timeout_ms)
        self._recorder.returned()
        self._timer_of_its_own.close(timeout_ms)
        if self._executor_of_its_own is not None:
            self._executor_of_its_own.close(timeout_ms)

    def name_operation(self, operation: DelayedOperation, name: str) -> None:
        """Choose an operation's name for the trace before it is used; no other may have it."""
        _of_recorded_class(operation).belong_to(self._recorder, name)

    def live(self) -> Snapshot:
        """Return the live operations, for a further file of the run, while all is quiet."""
        lists = {key: list(map(_of_recorded_class, each)) for key, each in self.watched().items()}
        timer = self._timer_of_its_own
        with timer._lock:
            waiting = set(map(_of_recorded_class, timer._wheel.waiting()))
            queued = [_of_recorded_class(task) for task in self._between.waiting.values()]
        entries: dict[RecordedOperation, list[str]] = {
            each: [] for each in _in_one_order(lists.values())
        }
        for key, operations in lists.items():
            for operation in operations:
                entries[operation].append(self._key_name(key))
        for operation, keys in entries.items():
            keys.sort(key=operation.recorded_keys.index)
        for operation in (*waiting, *queued):
            entries.setdefault(operation, [])
        return Snapshot(
            run="",
            seq=0,
            operations=tuple(
                WaitingOperation(
                    operation=each.recorded_name,
                    entries=tuple(keys),
                    delay_ms=each.delay_ms,
                    completed=each.is_completed,
                    satisfied=each.satisfied,
                    early_ms=each._expiry_ms if each in waiting else None,
                    late_ms=each._expiry_ms if each in waiting else None,
                    queued=queued.count(each),
                )
                for each, keys in entries.items()
            ),
            queued=tuple(each.recorded_name for each in queued),
            closed=self._closed,
        )

    def _known(self, operation: DelayedOperation) -> RecordedOperation:
        """Return the operation, with a name."""
        known = _of_recorded_class(operation)
        if not known.recorded_name:
            known.belong_to(self._recorder, None)
        return known

    def _satisfied(self, operation: RecordedOperation) -> None:
        operation.satisfied = True
        self._recorder.returned()


def operation_name(operation: object) -> str:
    """Return the operation's name in the trace."""
    return _of_recorded_class(operation).recorded_name


def _of_recorded_class(operation: object) -> RecordedOperation:
    if not isinstance(operation, RecordedOperation):
        raise TypeError(
            f"{type(operation).__name__} is not recorded: make its class over, "
            "by @recorded above it or by recorded(class)"
        )
    return operation


def _in_one_order(
    lists: Iterable[list[RecordedOperation]],
) -> Iterable[RecordedOperation]:
    """Return the operations in an order that agrees with all lists, if such an order exists."""
    graph: TopologicalSorter[RecordedOperation] = TopologicalSorter()
    for operations in lists:
        for operation in operations:
            graph.add(operation)
        for before, after in pairwise(operations):
            if before is not after:
                graph.add(after, before)
    try:
        return list(graph.static_order())
    except CycleError:
        return dict.fromkeys(each for operations in lists for each in operations)
