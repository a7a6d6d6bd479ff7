"""Claims about every state of the concurrent purgatory with the exact accounting.

Most of it is true, and some of it only where nobody is in the middle of anything, *when quiet*.
``instances`` has the counterexamples to what is false. The names are those of the
claims in ``tla/PurgatoryExact.tla``, in small letters.
"""

from collections.abc import Callable
from typing import TypeAlias

from purgatory_model.concurrent.exact.calls import purge_is_due
from purgatory_model.concurrent.exact.instance import ExactInstance
from purgatory_model.concurrent.exact.state import ExactState

Claim: TypeAlias = Callable[[ExactInstance, ExactState], bool]
"""A sentence about the states of an instance."""

_WATCHING = frozenset({"arm", "insert", "second-try", "win"})


def callback_at_most_once(instance: ExactInstance, state: ExactState) -> bool:
    """Decide whether no callback has run twice. Rules: PURGATORY-EXACTLY-ONCE."""
    return all(each.callbacks <= 1 for each in state.operations.values())


def completed_iff_called_back(instance: ExactInstance, state: ExactState) -> bool:
    """Decide whether, when quiet, exactly the completed operations have had their callback.

    Rules: PURGATORY-EXACTLY-ONCE, PURGATORY-LOST-EXPIRY.
    """
    operations = state.operations.values()
    return not state.quiet or all(each.completed == (each.callbacks == 1) for each in operations)


def no_lost_completion(instance: ExactInstance, state: ExactState) -> bool:
    """Decide whether each live, listed operation waits for an event of its key.

    Asked when nobody watches or checks, of operations for which nothing has raised.

    Rules: PURGATORY-NOT-LOST, PURGATORY-WATCH-SECOND-TRY.
    """
    looking = (*instance.callers, *instance.completers, "callback")
    if any(state.threads[name].stage != "idle" for name in looking):
        return True
    for key, listed in state.lists.items():
        for number in listed:
            needed = 2 if number in instance.demanding else 1
            operation = state.operations[number]
            if not operation.completed and not operation.raised and state.events[key] >= needed:
                return False
    return True


def watched_has_time_out(instance: ExactInstance, state: ExactState) -> bool:
    """Decide whether each live operation has its time-out, from its first entry on.

    Rules: PURGATORY-TIME-OUT, PURGATORY-CANCEL-KEEPS-TIME-OUT, PURGATORY-SECOND-TRY-THROWS.
    """
    return state.live <= state.timer | state.queue | state.deciding


def live_is_pending(instance: ExactInstance, state: ExactState) -> bool:
    """Decide whether live operations are at most the pending ones. Rules: PURGATORY-PENDING."""
    return len(state.live) <= state.pending


def live_is_estimated(instance: ExactInstance, state: ExactState) -> bool:
    """Decide whether the estimate covers live operations. Rules: PURGATORY-ESTIMATE-EXACT."""
    return len(state.live) <= state.estimate


def timer_is_live(instance: ExactInstance, state: ExactState) -> bool:
    """Decide whether, when quiet, the timer's operations are live. Rules: PURGATORY-TIMER-LEFT."""
    return not state.quiet or timer_is_always_live(instance, state)


def law(instance: ExactInstance, state: ExactState) -> bool:
    """Decide whether count and balances together are the entries of completed operations.

    Rules: PURGATORY-STALE-ENTRIES.
    """
    owed = sum(thread.balance for thread in state.threads.values())
    counts = _entries_by_operation(state)
    return state.stale + owed == sum(counts[number] for number in state.completed)


def word_is_exact(instance: ExactInstance, state: ExactState) -> bool:
    """Decide whether the word of each live operation has the number of its entries."""
    counts = _entries_by_operation(state)
    live = (each for each in state.operations.items() if not each[1].completed)
    return all(operation.entries == counts[number] for number, operation in live)


def stale_is_exact(instance: ExactInstance, state: ExactState) -> bool:
    """Decide whether, when quiet, the count is the number of stale entries.

    Rules: PURGATORY-ESTIMATE-EXACT, PURGATORY-PURGE-START.
    """
    return not state.quiet or state.stale == state.stale_entries


def distinct_is_estimated(instance: ExactInstance, state: ExactState) -> bool:
    """Decide whether, when quiet, the estimate covers the distinct operations.

    Rules: PURGATORY-ESTIMATE-EXACT.
    """
    return not state.quiet or distinct_is_always_estimated(instance, state)


def stale_is_bounded(instance: ExactInstance, state: ExactState) -> bool:
    """Decide whether, when quiet and no purge is due, the interval bounds the stale entries.

    Rules: PURGATORY-STALE-ENTRIES, PURGATORY-STALE-OPERATIONS.
    """
    if not state.quiet or purge_is_due(instance, state):
        return True
    return state.stale_entries <= instance.interval(state.entries - state.stale_entries)


def nothing_stale_is_left(instance: ExactInstance, state: ExactState) -> bool:
    """Decide whether a quiet count of zero means nothing stale. Rules: PURGATORY-PURGE-REMOVES."""
    if not state.quiet or state.stale > 0:
        return True
    return state.stale_entries == 0 and state.estimate == state.pending


def stale_is_never_negative(instance: ExactInstance, state: ExactState) -> bool:
    """Decide whether the count is never negative: false, a removal may be posted first."""
    return state.stale >= 0


def timer_is_always_live(instance: ExactInstance, state: ExactState) -> bool:
    """Decide whether the timer holds live operations only: false between word and timer."""
    return not state.timer & state.completed


def distinct_is_always_estimated(instance: ExactInstance, state: ExactState) -> bool:
    """Decide whether the estimate always covers distinct operations: false before a post."""
    return len(state.distinct) <= state.estimate


def pending_is_live(instance: ExactInstance, state: ExactState) -> bool:
    """Decide whether, when quiet, pending is live: false, a lost expiry may be queued."""
    return not state.quiet or state.pending == len(state.live)


def uncompleted_has_time_out(instance: ExactInstance, state: ExactState) -> bool:
    """Decide whether each uncompleted operation has a time-out: false, after cancels of keys."""
    watching = {each.operation for each in state.threads.values() if each.stage in _WATCHING}
    owed = state.timer | state.queue | state.deciding | watching
    return all(
        each.completed or not each.calls or number in owed
        for number, each in state.operations.items()
    )


def _entries_by_operation(state: ExactState) -> dict[int, int]:
    """Return the number of each operation's entries: in lists, promised, or detached."""
    counts = dict.fromkeys(state.operations, 0)
    for number in state.listed():
        counts[number] += 1
    for thread in state.threads.values():
        if thread.promised:
            counts[thread.operation] += len(thread.promised)
        if thread.stage == "cancel":
            for number in thread.batch:
                counts[number] += 1
    return counts


CLAIMS: dict[str, tuple[str, Claim]] = {
    "callback-at-most-once": ("no callback runs twice", callback_at_most_once),
    "completed-iff-called-back": (
        "when quiet, exactly the completed operations have had their callback",
        completed_iff_called_back,
    ),
    "no-lost-completion": (
        "when callers and completers rest, nothing that can complete waits for its time-out",
        no_lost_completion,
    ),
    "watched-has-time-out": (
        "whoever is watched and not completed has a time-out that is owed",
        watched_has_time_out,
    ),
    "live-is-pending": ("live operations are at most as many as pending ones", live_is_pending),
    "live-is-estimated": (
        "live operations are at most as many as the estimate",
        live_is_estimated,
    ),
    "timer-is-live": ("when quiet, what is in the timer is not completed", timer_is_live),
    "law": (
        "the count of stale entries and all balances are the entries of completed operations",
        law,
    ),
    "word-is-exact": (
        "the word of an operation that is not completed has the number of its entries",
        word_is_exact,
    ),
    "stale-is-exact": ("when quiet, the count is the number of stale entries", stale_is_exact),
    "distinct-is-estimated": (
        "when quiet, the estimate is at least the number of distinct operations",
        distinct_is_estimated,
    ),
    "stale-is-bounded": (
        "when quiet and no purge is due, at most the interval's number of entries is stale",
        stale_is_bounded,
    ),
    "nothing-stale-is-left": (
        "when quiet, a count of zero means that nothing is stale",
        nothing_stale_is_left,
    ),
    "stale-is-never-negative": (
        "the count of stale entries is never below zero",
        stale_is_never_negative,
    ),
    "timer-is-always-live": ("what is in the timer is never completed", timer_is_always_live),
    "distinct-is-always-estimated": (
        "the estimate is at least the number of distinct operations, also in the middle of things",
        distinct_is_always_estimated,
    ),
    "pending-is-live": ("when quiet, as many are pending as are live", pending_is_live),
    "uncompleted-has-time-out": (
        "whoever was watched and is not completed has a time-out that is owed",
        uncompleted_has_time_out,
    ),
}
"""Claims about states by name: their sentence and their check."""
