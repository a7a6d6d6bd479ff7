"""The designs: timer, lists and purge rule put together, and what they do with a request.

old            delay queue of requests, purge by size
proposal       wheel, purge by the proposal's estimate
exact          wheel, purge by the number of stale entries
discontinuous  unlimited discontinuous buckets, otherwise as the proposal
weak           wheel, weak references in the lists, purge when enough of them were cleared
eager          wheel, a completed operation is unlinked from all lists by who completes it
"""

from purgatory_lab.studies.counts import Counts
from purgatory_lab.studies.purging import (
    ByClearedReferences,
    ByCount,
    ByEstimate,
    BySize,
    PurgeRule,
)
from purgatory_lab.studies.setting import Setting
from purgatory_lab.studies.timers import NO_LEVELS, RequestQueue, StudyTimer, WheelTimer
from purgatory_lab.studies.watcher_counts import WatcherCounts, watcher_counts


class CountedDesign:
    """A design made of counted parts."""

    def __init__(self, setting: Setting) -> None:
        self.counts = Counts()
        self.live = 0
        self._eager = setting.design == "eager"
        self._purge_test_first = setting.expiries == "after-purge-test"
        self._time_out_ms = setting.time_out_ms
        self._lists = watcher_counts(setting.layout, setting.keys, setting.key_space, setting.seed)
        self._timer = _timer_of(setting, self.counts)
        self._rule = _rule_of(setting, self._lists, self._timer, self.counts)
        self._timer_size = 0
        self._completed = bytearray(setting.requests)
        self._expiry_ms = [0] * setting.requests
        self._last_pass_ms = 0

    def watch(self, request: int, now_ms: int) -> None:
        """Put the request into its lists and into the timer."""
        self._lists.watch()
        self._rule.count_watch()
        self.live += 1
        expiry_ms = self._expiry_ms[request] = now_ms + self._time_out_ms
        if self._timer.add(request, expiry_ms):
            self._timer_size += 1
        else:
            self.counts.expired_on_arrival += 1
            self._expire(request, now_ms)

    def event(self, request: int) -> None:
        """Complete the request, unless it has expired, and walk the list of its event's key."""
        lists, counts = self._lists, self.counts
        steps = 0
        if not self._completed[request]:
            self._completed[request] = 1
            self.live -= 1
            self._timer_size -= 1
            self._timer.remove(request)
            counts.completed += 1
            if self._eager:
                steps = lists.unlink(request)
            else:
                lists.complete(request)
        steps += lists.walk(request)
        counts.events += 1
        counts.caller_steps += steps
        if steps > counts.caller_most_steps:
            counts.caller_most_steps = steps

    def next_pass_ms(self, now_ms: int) -> int | None:
        """Return the time at which the timer has work, or the purge rule wants a look."""
        due_ms = self._timer.next_due_ms
        pass_ms = self._rule.next_pass_ms(now_ms, self._last_pass_ms)
        if due_ms is None or pass_ms is None:
            return due_ms if pass_ms is None else pass_ms
        return min(due_ms, pass_ms)

    def reap(self, now_ms: int) -> None:
        """Advance the timer, and purge if a purge is due."""
        self._last_pass_ms = now_ms
        due_ms = self._timer.next_due_ms
        expired: list[int] = []
        if due_ms is not None and due_ms <= now_ms:
            self.counts.wake_ups += 1
            expired = self._timer.advance(now_ms)
            self._timer_size -= len(expired)
        else:
            self.counts.polls += 1
        if self._purge_test_first:
            self._purge_if_due(now_ms)
        for request in expired:
            self._expire(request, now_ms)
        if not self._purge_test_first:
            self._purge_if_due(now_ms)

    def hold(self, milliseconds: int) -> None:
        """Look at everything that is held."""
        counts, lists, live = self.counts, self._lists, self.live
        stale_operations = lists.stale_operations
        counts.live.hold(live, milliseconds)
        counts.entries.hold(lists.entries, milliseconds)
        counts.stale_entries.hold(lists.stale_entries, milliseconds)
        counts.stale_operations.hold(stale_operations, milliseconds)
        timer = self._timer
        counts.queued.hold(timer.queued, milliseconds)
        if isinstance(timer, RequestQueue):
            counts.queued_completed.hold(timer.completed, milliseconds)
        estimate = self._rule.estimate(self._timer_size)
        if estimate is not None:
            counts.over_live.hold(estimate - live, milliseconds)
            counts.over_distinct.hold(estimate - live - stale_operations, milliseconds)

    def finish(self) -> None:
        """Do nothing: the parts count as they go."""

    def _expire(self, request: int, now_ms: int) -> None:
        """Complete a request by its time-out."""
        self._completed[request] = 1
        self.live -= 1
        counts = self.counts
        counts.expired += 1
        early_ms = self._expiry_ms[request] - now_ms
        if early_ms > 0:
            counts.early_ms += early_ms
            counts.early_most_ms = max(counts.early_most_ms, early_ms)
        if self._eager:
            self._lists.unlink(request)
        else:
            self._lists.complete(request)

    def _purge_if_due(self, now_ms: int) -> None:
        if self._rule.begin_if_due(now_ms, self._timer_size):
            counts = self.counts
            removed = self._lists.stale_entries
            counts.purges += 1
            counts.purges_for_nothing += removed == 0
            counts.purge_removed += removed
            counts.purge_visited += self._rule.purge()


def _timer_of(setting: Setting, counts: Counts) -> StudyTimer:
    if setting.design == "old":
        return RequestQueue(counts)
    has_levels = setting.design != "discontinuous"
    return WheelTimer(counts, setting.tick_ms, setting.wheel_size if has_levels else NO_LEVELS)


def _rule_of(
    setting: Setting, lists: WatcherCounts, timer: StudyTimer, counts: Counts
) -> PurgeRule:
    interval = setting.purge_interval
    if isinstance(timer, RequestQueue):
        return BySize(lists, interval, timer)
    if setting.design == "weak":
        return ByClearedReferences(lists, interval, counts, setting.collection_ms)
    rules = {"exact": ByCount, "eager": PurgeRule}
    return rules.get(setting.design, ByEstimate)(lists, interval)
