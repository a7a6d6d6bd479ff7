"""The purgatory: its invariants, small instances, and claims about it, true and false.

An invariant is looked up by its id and belongs to a rule. Some hold of one accounting only. The law
of the estimate needs provisos; ``FALSE_CLAIMS`` has the counterexamples without them.

An instance has a few operations, each with its keys, and a last reading of the clock; each
operation is watched once, so that its states are finitely many. A claim is a sentence about single
steps. The false ones are what one would believe of the published accounting, or of the timer's
size; each comes with an instance in which the explorer finds why not.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from immutables import Map

from purgatory_model.claims.purgatory_variants import purgatory_variant_model
from purgatory_model.purgatory import PurgatoryModel, PurgatoryState
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.outcomes import Outcome

State = PurgatoryState
Predicate = Callable[[profiles.PurgatoryConfiguration, State], bool]


@dataclass(frozen=True, slots=True)
class Invariant:
    """A predicate over states: the rule it belongs to, a sentence, the accounting it speaks of."""

    rule: str
    sentence: str
    holds: Predicate
    accounting: profiles.Accounting | None = None


def lists_are_not_empty(configuration: profiles.PurgatoryConfiguration, state: State) -> bool:
    """Decide whether no key has an empty list. Rules: PURGATORY-EMPTY-LISTS."""
    return all(state.lists.values())


def live_is_owed(configuration: profiles.PurgatoryConfiguration, state: State) -> bool:
    """Decide whether each live operation has a time-out, in the timer or in the queue.

    Rules: PURGATORY-TIME-OUT, PURGATORY-CANCEL-KEEPS-TIME-OUT, PURGATORY-SECOND-TRY-THROWS.
    """
    if state.closed or not configuration.time_outs:
        return True
    return state.live <= {*state.timer.store.due_ticks, *state.timer.queue}


def timer_is_live(configuration: profiles.PurgatoryConfiguration, state: State) -> bool:
    """Decide whether every operation in the timer is listed. Rules: PURGATORY-TIMER-LEFT."""
    return state.live >= set(state.timer.store.due_ticks)


def nothing_is_armed(configuration: profiles.PurgatoryConfiguration, state: State) -> bool:
    """Decide whether nothing is armed without time-outs. Rules: PURGATORY-NO-TIME-OUTS."""
    return configuration.time_outs or state.pending == 0


def pending_covers_live(configuration: profiles.PurgatoryConfiguration, state: State) -> bool:
    """Decide whether live operations are at most the pending ones. Rules: PURGATORY-PENDING."""
    if state.closed or not configuration.time_outs:
        return True
    return len(state.live) <= state.pending


def estimate_covers_timer(configuration: profiles.PurgatoryConfiguration, state: State) -> bool:
    """Decide whether the estimate covers the timer's size. Rules: PURGATORY-ESTIMATE-PROPOSAL."""
    return state.closed or state.estimate >= state.timer_size


def estimate_covers_stale(configuration: profiles.PurgatoryConfiguration, state: State) -> bool:
    """Decide whether estimate - timer size is at least the number of stale operations.

    It holds where every expiry has run before the purge is tested (an inline executor), in an
    instance with time-outs, before shutdown. Rules: PURGATORY-ESTIMATE-PROPOSAL.
    """
    return state.closed or state.estimate - state.timer_size >= len(state.stale_operations)


def distinct_is_estimated(configuration: profiles.PurgatoryConfiguration, state: State) -> bool:
    """Decide whether the proposal's estimate covers the distinct operations, when quiet.

    It holds under the provisos of ``estimate_covers_stale``, and is false otherwise.
    """
    return bool(state.closed or state.timer.queue) or len(state.distinct) <= state.estimate


def timer_size_is_pending(configuration: profiles.PurgatoryConfiguration, state: State) -> bool:
    """Decide whether the timer's size is pending: false while the executor has operations."""
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
        profiles.Accounting.PROPOSAL,
    ),
}
"""The invariants of every state of every purgatory, by id."""


def broken_invariants(model: PurgatoryModel, state: State) -> Iterator[str]:
    """Yield the ids of the invariants that do not hold in a state; none in a reachable one."""
    for name, invariant in INVARIANTS.items():
        if invariant.accounting not in (None, model.profile.accounting):
            continue
        if not invariant.holds(model.configuration, state):
            yield name


def stale_operations_bounded(model: PurgatoryModel, before: State, after: State) -> bool:
    """Decide whether an advance left at most the interval's number of stale operations.

    It is asked of an advance that begins and ends with an empty executor's queue, before shutdown;
    of any other the answer is yes. Rules: PURGATORY-STALE-OPERATIONS.
    """
    if before.closed or before.timer.queue or after.timer.queue:
        return True
    return len(after.stale_operations) <= model.interval(after.live_entries)


def stale_entries_bounded(model: PurgatoryModel, before: State, after: State) -> bool:
    """Decide whether an advance left at most the interval's number of stale entries.

    The exact accounting answers for it, the proposal does not. Rules: PURGATORY-STALE-ENTRIES.
    """
    return before.closed or after.stale_entries <= model.interval(after.live_entries)


PurgatoryStep = tuple[op.Operation, Outcome]


@dataclass(frozen=True, slots=True)
class PurgatoryInstance:
    """A small purgatory: these operations under these keys, until the clock is at ``last_ms``."""

    purge_interval: int = 0
    accounting: profiles.Accounting = profiles.Accounting.PROPOSAL
    purge_due: profiles.PurgeDue = profiles.PurgeDue.FIXED
    executor: profiles.Executor = profiles.Executor.STEPPED
    time_outs: bool = True
    variants: frozenset[str] = frozenset()
    watched: Map[str, tuple[str, ...]] = Map({"a": ("k",), "b": ("k", "j")})
    tries: tuple[op.Answer, ...] = ()
    delays_ms: tuple[int, ...] = (1,)
    last_ms: int = 2

    def model(self) -> PurgatoryModel:
        """Return the purgatory of the instance, with every observable."""
        return purgatory_variant_model(
            profiles.PurgatoryConfiguration(self.purge_interval, self.time_outs),
            profiles.PurgatoryProfile(
                accounting=self.accounting,
                purge_due=self.purge_due,
                check_drops=profiles.CheckDrops.AS_PASSED,
                executor=self.executor,
                observables=frozenset(profiles.PurgatoryObservable),
            ),
            self.variants,
        )

    def operations(self, state: State) -> Iterator[op.Operation]:
        """Yield the operations that are possible in a state."""
        for name, keys in sorted(self.watched.items()):
            known = state.operations.get(name)
            if known is None:
                for delay_ms in self.delays_ms:
                    yield op.Watch(name, keys, delay_ms, op.Script(self.tries))
            elif not known.completed:
                yield op.Force(name)
                if not known.satisfied:
                    yield op.Satisfy(name)
        for key in sorted(state.lists):
            yield op.Check(key)
            yield op.CancelForKey(key)
        yield op.Advance(state.timer.now_ms)
        if state.timer.now_ms < self.last_ms:
            yield op.Advance(state.timer.now_ms + 1)
        if state.timer.queue:
            yield op.RunOne()

    def steps(self, state: State) -> Iterator[tuple[PurgatoryStep, State]]:
        """Yield the labelled steps that leave a state."""
        model = self.model()
        for operation in self.operations(state):
            for outcome, after in model.successors(state, operation):
                yield (operation, outcome), after


Claim = Callable[[PurgatoryInstance, State, PurgatoryStep, State], bool]


def _invariants(
    instance: PurgatoryInstance, before: State, step: PurgatoryStep, after: State
) -> bool:
    return not any(broken_invariants(instance.model(), after))


def _always(predicate: Predicate) -> Claim:
    """Return the claim that a predicate holds in every state."""

    def holds(
        instance: PurgatoryInstance, before: State, step: PurgatoryStep, after: State
    ) -> bool:
        return predicate(instance.model().configuration, after)

    return holds


def _after_advance(bounded: Callable[[PurgatoryModel, State, State], bool]) -> Claim:
    """Return the claim that a bound holds after every advance."""

    def holds(
        instance: PurgatoryInstance, before: State, step: PurgatoryStep, after: State
    ) -> bool:
        if not isinstance(step[0], op.Advance):
            return True
        return bounded(instance.model(), before, after)

    return holds


CLAIMS: dict[str, tuple[str, Claim]] = {
    "invariants": ("every named invariant holds", _invariants),
    "live-is-owed": (
        "whoever is watched and not completed has a time-out that is owed",
        _always(live_is_owed),
    ),
    "estimate-covers-stale": (
        "the estimate less the timer's size is at least the number of stale operations",
        _always(estimate_covers_stale),
    ),
    "distinct-is-estimated": (
        "when quiet, the estimate is at least the number of distinct operations",
        _always(distinct_is_estimated),
    ),
    "timer-size-is-pending": (
        "the timer's size is the number of pending operations",
        _always(timer_size_is_pending),
    ),
    "stale-operations-bounded": (
        "after an advance, when quiet, at most the interval's number of operations is stale",
        _after_advance(stale_operations_bounded),
    ),
    "stale-entries-bounded": (
        "after an advance at most the interval's number of entries is stale",
        _after_advance(stale_entries_bounded),
    ),
}
"""Claims about steps by name: their sentence and their check."""

STEPPED = PurgatoryInstance()
INLINE = PurgatoryInstance(executor=profiles.Executor.INLINE)
EXACT = PurgatoryInstance(accounting=profiles.Accounting.EXACT)
KAFKA_CANCEL = PurgatoryInstance(
    executor=profiles.Executor.INLINE, variants=frozenset({"time_out_taken_with_key"})
)
KAFKA_THROW = PurgatoryInstance(
    executor=profiles.Executor.INLINE,
    tries=(op.Answer.WAIT, op.Answer.THROW, op.Answer.WAIT),
    variants=frozenset({"second_try_unarmed"}),
)

TRUE_CLAIMS: dict[PurgatoryInstance, tuple[str, ...]] = {
    STEPPED: ("invariants", "live-is-owed"),
    INLINE: (
        "invariants",
        "live-is-owed",
        "estimate-covers-stale",
        "distinct-is-estimated",
        "timer-size-is-pending",
        "stale-operations-bounded",
    ),
    EXACT: (
        "invariants",
        "live-is-owed",
        "stale-operations-bounded",
        "stale-entries-bounded",
    ),
}
"""Instances and the claims that hold of all their steps."""

FALSE_CLAIMS: dict[str, tuple[PurgatoryInstance, str]] = {
    "mass-expiry-estimate": (STEPPED, "estimate-covers-stale"),
    "mass-expiry-distinct": (STEPPED, "distinct-is-estimated"),
    "mass-expiry-stale-operations": (STEPPED, "stale-operations-bounded"),
    "timer-size-is-pending": (STEPPED, "timer-size-is-pending"),
    "proposal-stale-entries": (
        PurgatoryInstance(purge_interval=1, executor=profiles.Executor.INLINE),
        "stale-entries-bounded",
    ),
    "no-time-outs-estimate": (
        PurgatoryInstance(executor=profiles.Executor.INLINE, time_outs=False),
        "estimate-covers-stale",
    ),
    "no-time-outs-stale-operations": (
        PurgatoryInstance(executor=profiles.Executor.INLINE, time_outs=False),
        "stale-operations-bounded",
    ),
    "kafka-cancel-live": (KAFKA_CANCEL, "live-is-owed"),
    "kafka-cancel-estimate": (KAFKA_CANCEL, "estimate-covers-stale"),
    "kafka-cancel-stale-operations": (KAFKA_CANCEL, "stale-operations-bounded"),
    "kafka-throw-live": (KAFKA_THROW, "live-is-owed"),
    "kafka-throw-estimate": (KAFKA_THROW, "estimate-covers-stale"),
}
"""Each an instance with a plausible claim that some step of the instance breaks."""


def breaks(
    instance: PurgatoryInstance, claim: str
) -> Callable[[State, PurgatoryStep, State], str | None]:
    """Return a check of steps for the explorer.

    Raises:
        KeyError: there is no such claim.
    """
    sentence, holds = CLAIMS[claim]

    def broken(before: State, step: PurgatoryStep, after: State) -> str | None:
        return None if holds(instance, before, step, after) else sentence

    return broken
