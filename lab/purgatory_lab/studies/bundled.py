"""The same workload on ``purgatory_impl`` itself: virtual clock, no threads, its own counters.

What the implementation does not count (levels, list steps, purges for nothing) stays zero here;
``SHOWN`` names the rest, in which it has to agree with the simulation, count by count.
"""

from typing import Final, Literal

from purgatory_impl import DelayedOperation, InlineExecutor, Purgatory, Timer, VirtualClock
from purgatory_lab.studies.counts import Counts
from purgatory_lab.studies.key_layouts import KeyLayout
from purgatory_lab.studies.purging import POLL_MS
from purgatory_lab.studies.setting import Setting

SHOWN: Final = (
    "completed",
    "expired",
    "expired_on_arrival",
    "early_ms",
    "early_most_ms",
    "virtual_ms",
    "wake_ups",
    "polls",
    "queue_pops",
    "purges",
    "purge_visited",
    "purge_removed",
    "events",
    "live",
    "entries",
    "stale_entries",
    "queued",
    "over_live",
)
"""The counts that the implementation shows."""


class BundledDesign:
    """A purgatory of ours on a virtual clock."""

    def __init__(self, setting: Setting) -> None:
        """Make a purgatory with the parameters of a setting whose design is a bundled one."""
        accounting: Literal["exact", "proposal"] = (
            "exact" if setting.design == "bundled-exact" else "proposal"
        )
        self.counts = Counts()
        self.live = 0
        self.now_ms = 0
        self._time_out_ms = setting.time_out_ms
        self._polls = accounting == "proposal"
        self._last_pass_ms = 0
        self._clock = VirtualClock()
        self._timer = Timer(
            tick_ms=setting.tick_ms,
            wheel_size=setting.wheel_size,
            clock=self._clock,
            executor=InlineExecutor(),
        )
        self._purgatory: _WatchedPurgatory = _WatchedPurgatory(
            purge_interval=setting.purge_interval,
            timer=self._timer,
            accounting=accounting,
            purge_due="fixed",
        )
        self._purgatory.counts = self.counts
        self._layout = KeyLayout(setting.layout, setting.keys, setting.key_space, setting.seed)
        self._waiting: dict[int, _StudyRequest] = {}
        self._event_keys: dict[int, int] = {}

    def watch(self, request: int, now_ms: int) -> None:
        """Watch an operation for the request."""
        self._set_clock(now_ms)
        keys, self._event_keys[request] = self._layout.next()
        operation = _StudyRequest(self, request, now_ms + self._time_out_ms)
        self._waiting[request] = operation
        self.live += 1
        expired = self.counts.expired
        self._purgatory.try_complete_else_watch(operation, keys)
        self.counts.expired_on_arrival += self.counts.expired - expired

    def event(self, request: int) -> None:
        """Let the operation's condition hold and check the event's key."""
        operation = self._waiting.get(request)
        if operation is not None:
            operation.ready = True
        self.counts.completed += self._purgatory.check_and_complete(self._event_keys.pop(request))
        self.counts.events += 1

    def next_pass_ms(self, now_ms: int) -> int | None:
        """Return the time of the timer's next bucket, or of the accounting's next test."""
        due_ms = self._timer.next_expiry_ms
        pass_ms: int | None = None
        if self._polls:
            pass_ms = self._last_pass_ms + POLL_MS
        elif self._purgatory.stale > self._purgatory.purge_interval:
            pass_ms = now_ms + 1
        if due_ms is None or pass_ms is None:
            return due_ms if pass_ms is None else pass_ms
        return min(due_ms, pass_ms)

    def reap(self, now_ms: int) -> None:
        """Advance the purgatory, which also purges when a purge is due."""
        self._set_clock(now_ms)
        self._last_pass_ms = now_ms
        due_ms = self._timer.next_expiry_ms
        if due_ms is not None and due_ms <= now_ms:
            self.counts.wake_ups += 1
        else:
            self.counts.polls += 1
        self._purgatory.advance()

    def hold(self, milliseconds: int) -> None:
        """Look at the purgatory's own counters."""
        counts, purgatory = self.counts, self._purgatory
        counts.live.hold(self.live, milliseconds)
        counts.entries.hold(purgatory.entries, milliseconds)
        counts.stale_entries.hold(purgatory.stale, milliseconds)
        counts.queued.hold(self._timer.queued_buckets, milliseconds)
        counts.over_live.hold(purgatory.estimate - self.live, milliseconds)

    def finish(self) -> None:
        """Take over what the wheel has counted, and close."""
        self.counts.queue_pops = self._timer._wheel.popped_buckets
        self._purgatory.close()
        self._timer.close()

    def left(self, operation: "_StudyRequest") -> None:
        """Count out a completed operation."""
        self.live -= 1
        del self._waiting[operation.request]

    def _set_clock(self, now_ms: int) -> None:
        if now_ms != self.now_ms:
            self.now_ms = now_ms
            self._clock.set_ms(now_ms)


class _WatchedPurgatory(Purgatory[int]):
    """Counts purges, as the implementation does not."""

    counts: Counts

    @property
    def purge_interval(self) -> int:
        """Return the interval of the accounting."""
        return self._accounting.purge_interval

    def _purge_if_due(self) -> bool:
        estimate, timer_size = self.estimate, self.timer_size
        entries, stale = self.entries, self.stale
        found_nothing = super()._purge_if_due()
        removed = entries - self.entries
        due = (
            stale > self.purge_interval
            if self._accounting.time_out_first
            else estimate - timer_size > self.purge_interval
        )
        if due:
            self.counts.purges += 1
            self.counts.purge_visited += entries
            self.counts.purge_removed += removed
        return found_nothing


class _StudyRequest(DelayedOperation):
    """An operation that can be completed once its event has come."""

    def __init__(self, design: BundledDesign, request: int, expiry_ms: int) -> None:
        super().__init__(expiry_ms - design.now_ms)
        self.request = request
        self.ready = False
        self._design = design
        self._expiry = expiry_ms

    def try_complete(self) -> bool:
        return self.ready and self.force_complete()

    def on_complete(self) -> None:
        self._design.left(self)

    def on_expiration(self) -> None:
        counts = self._design.counts
        counts.expired += 1
        early_ms = max(self._expiry - self._design.now_ms, 0)
        counts.early_ms += early_ms
        counts.early_most_ms = max(counts.early_most_ms, early_ms)
