"""Earliest times of time-outs on a real clock.

It may be handed over from its watch's call and its delay on, rounded to the tick. A line's time is
read before the line gets its number, and a thread may be stopped between the two; so that something
came too late is never concluded from a line's place. But what a call did it did before the time of
its return was read: what returned before the earliest time came before the time-out. Rules:
PURGATORY-TIME-OUT, TIMER-NOT-EARLY.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from purgatory_judge.expiry_interval import ExpiryInterval
from purgatory_model.overlapping.interleaving import Called, Returned
from purgatory_spec.operations import RunOne, Watch
from purgatory_traces.linearizability.calls import Entry, RecordedCall
from purgatory_traces.linearizability.traced_history import TracedHistory
from purgatory_traces.traces.lines import PurgatoryInstance


@dataclass(frozen=True, slots=True)
class TimeOuts:
    """The time-outs of the operations of one run; time is left out on a manual clock."""

    history: TracedHistory

    def earliest_ms(self, name: str, entries: Iterable[Entry]) -> int | None:
        """Return the earliest time at which an operation may be handed over, ms; None if unknown.

        Args:
            name: The operation.
            entries: What concerns it.
        """
        begin = self.history.begin
        if begin is None or not self.history.is_on_real_clock:
            return None
        instance = begin.instance
        if not isinstance(instance, PurgatoryInstance):
            return None
        times: list[int] = []
        for operation in self.history.waiting:
            if operation.operation == name:
                if operation.early_ms is None:
                    return None
                times.append(operation.early_ms)
        for entry in entries:
            event = entry.event
            if isinstance(event, Called) and isinstance(event.operation, Watch):
                if entry.at_ms is None:
                    return None
                times.append(entry.at_ms + event.operation.delay_ms)
        if not times:
            return None
        interval = ExpiryInterval(instance.configuration.tick_ms, instance.profile.rounding)
        return interval.early(min(times))


def is_before(entry: Entry, earliest_ms: int | None) -> bool:
    """Decide whether a line was written before that time, as far as is known."""
    return earliest_ms is not None and entry.at_ms is not None and entry.at_ms < earliest_ms


def may_time_out_in(call: RecordedCall, earliest_ms: int | None) -> bool:
    """Decide whether a call may have seen that time: it had not returned before it.

    One that runs a time-out had not told of it before, either.
    """
    if isinstance(call.operation, RunOne) and call.shown:
        return not is_before(call.shown[0], earliest_ms)
    return call.ended is None or not is_before(call.ended, earliest_ms)


def begin_late(
    entries: list[Entry], begin: Entry, earliest_ms: int | None, *, began_before: bool
) -> None:
    """Put the beginning of a call that runs a time-out where that may come at the earliest.

    That is behind the operation's first watch, and behind all that returned before that time; not
    behind the first line of the call's own.

    Args:
        entries: What concerns the operation; changed.
        begin: The beginning, which may stand among them.
        earliest_ms: From when on the operation may be handed over; None where it is unknown.
        began_before: Whether the operation was live where the history begins.
    """
    place = next((number for number, entry in enumerate(entries) if entry is begin), None)
    if place is not None:
        del entries[place]
    place = place or 0
    own = (number for number, entry in enumerate(entries) if _thread(entry) == _thread(begin))
    last = next((number for number in own if number >= place), len(entries))
    if not began_before:
        watches = (number for number, entry in enumerate(entries) if _is_watch(entry))
        place = max(place, min(next(watches, -1) + 1, last))
    for number in range(place, last):
        if isinstance(entries[number].event, Returned):
            if not is_before(entries[number], earliest_ms):
                break
            place = number + 1
    seq = entries[place].seq if place < len(entries) else begin.seq
    entries.insert(place, begin._replace(seq=max(begin.seq, seq)))


def _thread(entry: Entry) -> str:
    return entry.event.thread


def _is_watch(entry: Entry) -> bool:
    return isinstance(entry.event, Called) and isinstance(entry.event.operation, Watch)
