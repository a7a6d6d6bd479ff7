"""The law of the exact accounting, for any number of operations, keys and threads.

The claim: at every instant ``stale`` + all threads' balances = the entries of completed operations.
An entry counts whether it lies in a list, is promised by a running watch, or is detached by a
running cancel. The invariant adds the lemmas that the proof needs and the corollaries: the word of
a live operation counts the entries, a watched operation keeps a time-out, a completed operation has
one callback.

**What is abstracted.** Of an operation only counts are kept: the word {completed, entries}, the
places of the entries, the place where the time-out is owed, the callbacks. Of the threads only the
sum of their balances is kept. The identity of keys, lists and threads is abstracted away, so that
any interleaving of any number of threads is a sequence of the steps in ``exact_accounting``. A step
that touches several operations at once (a purge of a list, the detaching of a list) is the same
step repeated, once for each of them; an invariant that holds after each repetition holds after all.

**Why one operation is enough.** A step changes the numbers of one operation and the totals. The
invariant of an operation speaks of that operation alone, so the others keep theirs. The law speaks
of a sum over all operations, and a sum changes by exactly what its one term changes: that lemma,
and that smaller terms have a smaller sum, is proved by induction on the number of operations (the
proof ``stale-law-sums``). So it is enough to show, for one arbitrary operation and arbitrary
totals, that each step keeps the operation's invariant and changes both sides of the law alike.

**What is left to instances.** That the purgatory takes no other steps is not proved for every size:
TLC checks it as a refinement, ``PurgatoryExactRefinement.tla``, with every list, key and thread
explicit. It also needs that a step of this abstraction is atomic, and memory sequentially
consistent, as under a lock.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace

import z3

import purgatory_tla.proofs.exact_accounting as accounting
from purgatory_tla.proofs.exact_accounting import (
    ACTIONS,
    Action,
    Operation,
    Step,
    Totals,
    any_operation,
    any_totals,
)
from purgatory_tla.proofs.obligations import Obligation, Proof, ProofVerdict


def footprint(operation: Operation) -> z3.ArithRef:
    """Return the number of an operation's entries, wherever they are."""
    return operation.in_lists + operation.promised + operation.detached


def contribution(operation: Operation) -> z3.ArithRef:
    """Return an operation's contribution to the entries of completed operations."""
    return z3.If(operation.completed, footprint(operation), z3.IntVal(0))


def pending(operation: Operation) -> z3.ArithRef:
    """Return the number of an operation's owed time-outs."""
    return operation.in_timer + operation.queued + operation.deciding


def counts_are_natural(operation: Operation) -> z3.BoolRef:
    """Return the claim that no count of an operation is below zero."""
    counts = [getattr(operation, field.name) for field in fields(operation)][1:]
    return z3.And(*(count >= 0 for count in counts))


def word_is_footprint(operation: Operation) -> z3.BoolRef:
    """Return the claim that a live operation's word counts its entries; a completed one's none."""
    expected = z3.If(operation.completed, z3.IntVal(0), footprint(operation))
    return operation.entries == expected


def watched_keeps_its_time_out(operation: Operation) -> z3.BoolRef:
    """Return the claim that a live operation with entries has its time-out owed."""
    live = z3.And(z3.Not(operation.completed), operation.entries > 0)
    return z3.Implies(live, pending(operation) >= 1)


def exactly_once(operation: Operation) -> z3.BoolRef:
    """Return the claim of one callback, made or owed, for a completed operation; else none."""
    expected = z3.If(operation.completed, z3.IntVal(1), z3.IntVal(0))
    return operation.to_call + operation.called == expected


def law(totals: Totals) -> z3.BoolRef:
    """Return the law of stale entries."""
    return totals.stale + totals.balances == totals.stale_entries


Claim = Callable[[Operation, Totals], z3.BoolRef]

NAMED_INVARIANTS: Mapping[str, Claim] = {
    "Law": lambda _, totals: law(totals),
    "WordIsFootprint": lambda operation, _: word_is_footprint(operation),
    "WatchedKeepsItsTimeOut": lambda operation, _: watched_keeps_its_time_out(operation),
    "ExactlyOnce": lambda operation, _: exactly_once(operation),
}
"""The parts of the invariant that ``ExactAccounting.tla`` states, by their names there."""


def invariant(operation: Operation, totals: Totals) -> z3.BoolRef:
    """Return the invariant that each step keeps."""
    named = [each(operation, totals) for each in NAMED_INVARIANTS.values()]
    return z3.And(counts_are_natural(operation), *named)


def preserved(name: str, action: Action) -> Obligation:
    """Return the obligation that a step keeps the invariant, as its one term changes."""
    o, totals, n = any_operation(), any_totals(), z3.Int("n")
    step = action(o, totals, n)
    change = contribution(step.operation) - contribution(o)
    after = replace(step.totals, stale_entries=totals.stale_entries + change)
    return Obligation(
        f"kept by: {name}",
        z3.And(invariant(o, totals), step.guard),
        invariant(step.operation, after),
    )


def _law_obligations() -> Iterator[Obligation]:
    o, totals = any_operation(), any_totals()
    zero = [getattr(o, each.name) == 0 for each in fields(Operation)[1:]]
    zero += [getattr(totals, each.name) == 0 for each in fields(Totals)]
    fresh = z3.And(z3.Not(o.completed), *zero)
    yield Obligation("true at the start", fresh, invariant(o, totals))
    for name, action in ACTIONS.items():
        yield preserved(name, action)


def _sum_obligations() -> Iterator[Obligation]:
    """Yield the obligations of sums over the first i operations, by induction on i."""
    i, changed, f_i, g_i, sum_f, sum_g, delta = z3.Ints("i changed f_i g_i sum_f sum_g delta")
    yield Obligation(
        "one term changes, the sum changes alike: no operation yet",
        z3.And(i == 0, changed >= 0, sum_f == 0, sum_g == 0),
        sum_g == sum_f + z3.If(changed < i, delta, 0),
    )
    yield Obligation(
        "one term changes, the sum changes alike: one operation more",
        z3.And(
            changed >= 0,
            i >= 0,
            sum_g == sum_f + z3.If(changed < i, delta, 0),
            g_i == f_i + z3.If(changed == i, delta, 0),
        ),
        sum_g + g_i == sum_f + f_i + z3.If(changed < i + 1, delta, 0),
    )
    yield Obligation(
        "smaller terms, smaller sum: one operation more",
        z3.And(sum_f <= sum_g, f_i <= g_i),
        sum_f + f_i <= sum_g + g_i,
    )


def _indicator(condition: z3.BoolRef) -> z3.ArithRef:
    return z3.If(condition, z3.IntVal(1), z3.IntVal(0))


def _bound_obligations() -> Iterator[Obligation]:
    """Yield the obligations of the counts; sums enter by the lemma on smaller terms."""
    o, totals = any_operation(), any_totals()
    watched = o.in_lists > 0
    yield Obligation(
        "a live watched operation is pending",
        invariant(o, totals),
        _indicator(z3.And(watched, z3.Not(o.completed))) <= pending(o),
    )
    yield Obligation(
        "a stale operation has an entry that counts",
        invariant(o, totals),
        _indicator(z3.And(watched, o.completed)) <= contribution(o),
    )
    live, stale_operations, pending_sum, interval = z3.Ints(
        "live stale_operations pending interval"
    )
    summed = z3.And(
        live >= 0, live <= pending_sum, stale_operations <= totals.stale_entries, law(totals)
    )
    estimate = pending_sum + z3.If(totals.stale > 0, totals.stale, z3.IntVal(0))
    yield Obligation(
        "live <= pending <= estimate, always",
        summed,
        z3.And(live <= pending_sum, pending_sum <= estimate),
    )
    quiet = totals.balances == 0
    yield Obligation(
        "quiet: distinct <= estimate",
        z3.And(summed, quiet),
        live + stale_operations <= estimate,
    )
    yield Obligation(
        "quiet: stale is the number of stale entries",
        z3.And(summed, quiet),
        totals.stale == totals.stale_entries,
    )
    yield Obligation(
        "quiet and no purge is due: at most interval stale entries",
        z3.And(summed, quiet, totals.stale <= interval),
        totals.stale_entries <= interval,
    )
    yield Obligation(
        "quiet and nothing stale is left: the estimate is pending",
        z3.And(summed, quiet, totals.stale_entries == 0),
        estimate == pending_sum,
    )


def _insert_unpromised(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    inserted = replace(o, in_lists=o.in_lists + 1)
    return Step(z3.BoolVal(True), inserted, totals)


def _win_counting_lists(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    owing = replace(totals, balances=totals.balances + o.in_lists)
    return replace(accounting.win(o, totals, n), totals=owing)


def _cancel_without_subtracting(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    return replace(accounting.cancel_completed(o, totals, n), totals=totals)


def _give_back_without_subtracting(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    return replace(accounting.give_back_completed(o, totals, n), totals=totals)


def _cancel_taking_the_time_out(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    step = accounting.cancel_live(o, totals, n)
    return replace(step, operation=replace(step.operation, in_timer=z3.IntVal(0)))


def _arm_without_timer(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    step = accounting.arm(o, totals, n)
    return replace(step, operation=replace(step.operation, in_timer=o.in_timer))


def _expire_uncounted(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    return replace(accounting.expire(o, totals, n), operation=replace(o, in_timer=z3.IntVal(0)))


def _win_twice(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    return replace(accounting.win(o, totals, n), guard=z3.BoolVal(True))


_DEFECTS: Mapping[str, tuple[str, Action]] = {
    "inserted-unpromised": ("an entry is inserted that was not promised", _insert_unpromised),
    "winner-counts-lists": (
        "the winner adds the lists it sees instead of the word's entries",
        _win_counting_lists,
    ),
    "cancel-forgets-to-subtract": (
        "a cancel forgets to subtract for a completed operation",
        _cancel_without_subtracting,
    ),
    "forgets-to-give-back": (
        "a watch forgets to subtract the entries that will not come",
        _give_back_without_subtracting,
    ),
    "cancel-takes-time-out": (
        "a cancel of one key takes the time-out though other keys still watch",
        _cancel_taking_the_time_out,
    ),
    "armed-without-timer": ("a watch promises before it adds to the timer", _arm_without_timer),
    "pending-is-timer-size": (
        "an expired operation that the executor has not decided is not counted as pending",
        _expire_uncounted,
    ),
    "won-twice": ("a thread completes without winning the word", _win_twice),
}


def _control(name: str, words: str, action: Action) -> Proof:
    return Proof(
        f"stale-law-broken-by-{name}",
        f"The law is not kept when {words}.",
        lambda: iter((preserved(name, action),)),
        expected=ProofVerdict.REFUTED,
    )


def _law_alone() -> Iterator[Obligation]:
    o, totals, n = any_operation(), any_totals(), z3.Int("n")
    step = accounting.win(o, totals, n)
    change = contribution(step.operation) - contribution(o)
    after = replace(step.totals, stale_entries=totals.stale_entries + change)
    assumption = z3.And(counts_are_natural(o), law(totals), step.guard)
    yield Obligation("kept by Win, knowing the law alone", assumption, law(after))


PROOFS: tuple[Proof, ...] = (
    Proof(
        "stale-law",
        "The exact accounting's law, its word, its time-outs and exactly-once: kept by every step.",
        _law_obligations,
    ),
    Proof(
        "stale-law-sums",
        "A sum over any number of operations follows the one term that changes.",
        _sum_obligations,
    ),
    Proof(
        "stale-law-bounds",
        "From the law: live <= pending <= estimate, and when quiet distinct <= estimate.",
        _bound_obligations,
    ),
    Proof(
        "stale-law-alone",
        "The law alone is not inductive: that the word counts every entry is needed too.",
        _law_alone,
        expected=ProofVerdict.REFUTED,
    ),
    *(_control(name, words, action) for name, (words, action) in _DEFECTS.items()),
)
