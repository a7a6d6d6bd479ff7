"""What holds in every state of a purgatory, and what after every advance; with its provisos.

An invariant is looked up by its id and belongs to a rule. Some hold of one accounting only. The
law of the estimate needs provisos; ``purgatory_instances`` has the counterexamples without them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from purgatory_model.pending_tasks import Store
from purgatory_model.purgatory import PurgatoryModel, PurgatoryState
from purgatory_spec.profiles import Accounting, PurgatoryConfiguration

State = PurgatoryState[Store]
Predicate = Callable[[PurgatoryConfiguration, State], bool]


@dataclass(frozen=True, slots=True)
class Invariant:
    """A predicate over states: the rule it belongs to, a sentence, the accounting it speaks of."""

    rule: str
    sentence: str
    holds: Predicate
    accounting: Accounting | None = None


def lists_are_not_empty(configuration: PurgatoryConfiguration, state: State) -> bool:
    """No key has an empty list. Rules: PURGATORY-EMPTY-LISTS."""
    return all(state.lists.values())


def live_is_owed(configuration: PurgatoryConfiguration, state: State) -> bool:
    """Who waits has a time-out, in the timer or in the executor's queue.

    Rules: PURGATORY-TIME-OUT, PURGATORY-CANCEL-KEEPS-TIME-OUT, PURGATORY-SECOND-TRY-THROWS.
    """
    if state.closed or not configuration.time_outs:
        return True
    return state.live <= {*state.timer.store.due_ticks, *state.timer.queue}


def timer_is_live(configuration: PurgatoryConfiguration, state: State) -> bool:
    """Whatever is in the timer waits under a key. Rules: PURGATORY-TIMER-LEFT."""
    return state.live >= set(state.timer.store.due_ticks)


def nothing_is_armed(configuration: PurgatoryConfiguration, state: State) -> bool:
    """Without time-outs nothing is armed. Rules: PURGATORY-NO-TIME-OUTS."""
    return configuration.time_outs or state.pending == 0


def pending_covers_live(configuration: PurgatoryConfiguration, state: State) -> bool:
    """Live operations are at most as many as pending ones. Rules: PURGATORY-PENDING."""
    if state.closed or not configuration.time_outs:
        return True
    return len(state.live) <= state.pending


def estimate_covers_timer(configuration: PurgatoryConfiguration, state: State) -> bool:
    """The proposal's estimate is at least the timer's size. Rules: PURGATORY-ESTIMATE-PROPOSAL."""
    return state.closed or state.estimate >= state.timer_size


def estimate_covers_stale(configuration: PurgatoryConfiguration, state: State) -> bool:
    """The proposal counts every stale operation: estimate - timer size >= stale operations.

    It holds where every expiry has run before the purge is tested (an inline executor), in an
    instance with time-outs, before shutdown. Rules: PURGATORY-ESTIMATE-PROPOSAL.
    """
    return state.closed or state.estimate - state.timer_size >= len(state.stale_operations)


def distinct_is_estimated(configuration: PurgatoryConfiguration, state: State) -> bool:
    """Distinct operations are at most as many as the proposal's estimate, when quiet.

    It holds under the provisos of ``estimate_covers_stale``, and is false otherwise.
    """
    return bool(state.closed or state.timer.queue) or len(state.distinct) <= state.estimate


def timer_size_is_pending(configuration: PurgatoryConfiguration, state: State) -> bool:
    """The timer's size is the number of pending operations: false while the executor has any."""
    return state.timer_size == state.pending


INVARIANTS: dict[str, Invariant] = {
    "lists-are-not-empty": Invariant(
        "PURGATORY-EMPTY-LISTS", "no key has an empty list", lists_are_not_empty
    ),
    "live-is-owed": Invariant(
        "PURGATORY-TIME-OUT",
        "whoever is watched and not completed has a time-out that is owed",
        live_is_owed,
    ),
    "timer-is-live": Invariant(
        "PURGATORY-TIMER-LEFT",
        "whatever is in the timer is watched and not completed",
        timer_is_live,
    ),
    "nothing-is-armed": Invariant(
        "PURGATORY-NO-TIME-OUTS", "without time-outs nothing is armed", nothing_is_armed
    ),
    "pending-covers-live": Invariant(
        "PURGATORY-PENDING", "there are at most as many live as pending", pending_covers_live
    ),
    "estimate-covers-timer": Invariant(
        "PURGATORY-ESTIMATE-PROPOSAL",
        "the estimate is at least the timer's size",
        estimate_covers_timer,
        Accounting.PROPOSAL,
    ),
}
"""What holds in every state of every purgatory, by id."""

ESTIMATE_LAW = Invariant(
    "PURGATORY-ESTIMATE-PROPOSAL",
    "the estimate less the timer's size is at least the number of stale operations",
    estimate_covers_stale,
    Accounting.PROPOSAL,
)
"""The law that makes the proposal's purges sufficient; see ``estimate_covers_stale``."""


def broken_invariants(model: PurgatoryModel[Store], state: State) -> Iterator[str]:
    """The ids of the invariants that do not hold in a state; none in a reachable one."""
    for name, invariant in INVARIANTS.items():
        if invariant.accounting not in (None, model.profile.accounting):
            continue
        if not invariant.holds(model.configuration, state):
            yield name


def stale_operations_bounded(
    configuration: PurgatoryConfiguration, before: State, after: State
) -> bool:
    """Whether an advance left at most the interval's number of stale operations.

    It is asked of an advance that begins and ends with an empty executor's queue, before shutdown;
    of any other the answer is yes. Rules: PURGATORY-STALE-OPERATIONS.
    """
    if before.closed or before.timer.queue or after.timer.queue:
        return True
    return len(after.stale_operations) <= configuration.purge_interval


def stale_entries_bounded(
    configuration: PurgatoryConfiguration, before: State, after: State
) -> bool:
    """Whether an advance before shutdown left at most the interval's number of stale entries.

    The exact accounting answers for it, the proposal does not. Rules: PURGATORY-STALE-ENTRIES.
    """
    return before.closed or after.stale_entries <= configuration.purge_interval
