"""The memory pool's bound, for every pool size, every largest request and any number of threads.

``MemoryPool.tla`` checks instances; this proves the same for all of them. A step here tests and
subtracts at once; ``swap_loop`` shows that reading first and swapping later is as good.

**Sums.** ``outstanding`` is the sum of what all threads hold. The proof needs three facts of such a
sum, shown by induction on the number of threads added up (``pool-sums``): where one share changes,
the sum changes by as much; a sum of shares that are not negative is not negative, and no smaller
than any of them. What is not in a formula is the rule of induction itself: what holds for no
thread, and for one more whenever it holds for some, holds for any number.

**The pool.** A state is ``available`` and the function ``held`` from threads to bytes, an
unbounded array; ``Sum`` is a function of that array of which nothing is known but these
facts, stated for the arrays at hand. The invariant

    available >= 1 - max_single  and  available + Sum(held) = size  and  held[t] >= 0

is true initially, kept by every step, and implies ``outstanding <= size + max_single - 1``.
Where it speaks of all threads it is assumed of two, the acting one and an arbitrary other, and
proved of that other: less is assumed than may be, so that what is proved holds.

**Tightness.** From the initial state, ``size - 1`` threads can take one byte each (by induction on
their number), and a last one ``max_single``: the bound is reached in every pool (``pool-reached``).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import z3

from purgatory_tla.proofs.obligations import Obligation, Proof, ProofVerdict

SIZE, MAX_SINGLE = z3.Ints("size max_single")
THREAD, OTHER = z3.Ints("thread other")
"""Threads are numbers: the one that acts, and any (perhaps the same)."""

SUM = z3.Function("Sum", z3.ArraySort(z3.IntSort(), z3.IntSort()), z3.IntSort())

PARAMETERS = z3.And(MAX_SINGLE >= 1, SIZE >= MAX_SINGLE)


def array(name: str) -> z3.ArrayRef:
    """Return a function from threads to integers."""
    return z3.Array(name, z3.IntSort(), z3.IntSort())


# Sums: the sum of shares 0, 1, ..., count - 1, before and after one of them has changed.


def _sums() -> Iterator[Obligation]:
    share, changed, count, value = z3.Ints("share changed count value")
    sum_before, sum_after, before = z3.Ints("sum_before sum_after before")

    def law(many: z3.ArithRef, old: z3.ArithRef, new: z3.ArithRef) -> z3.BoolRef:
        return new == z3.If(changed < many, old - before + value, old)

    zero = z3.IntVal(0)
    here = z3.And(changed >= 0, count >= 0)
    yield Obligation("no share, one change", here, law(zero, zero, zero))
    one_more = z3.And(here, law(count, sum_before, sum_after))
    share_after = z3.If(changed == count, value, share)
    this_one = z3.Implies(changed == count, before == share)
    yield Obligation(
        "one more share, one change",
        z3.And(one_more, this_one),
        law(count + 1, sum_before + share, sum_after + share_after),
    )

    def dominates(many: z3.ArithRef, total: z3.ArithRef) -> z3.BoolRef:
        return z3.And(total >= 0, z3.Implies(changed < many, total >= before))

    natural = z3.And(here, before >= 0, share >= 0, this_one)
    yield Obligation("no share, none is larger", natural, dominates(zero, zero))
    yield Obligation(
        "one more share, none is larger",
        z3.And(natural, dominates(count, sum_before)),
        dominates(count + 1, sum_before + share),
    )


# The pool: one atomic step for each call.


@dataclass(frozen=True, slots=True)
class Pool:
    """The shared count of available bytes, and the bytes held by each thread."""

    available: z3.ArithRef
    held: z3.ArrayRef

    @property
    def outstanding(self) -> z3.ArithRef:
        """Return the sum of the bytes in all hands."""
        return SUM(self.held)


BEFORE = Pool(z3.Int("available"), array("held"))
AFTER = Pool(z3.Int("available_after"), array("held_after"))
REQUEST = z3.Int("request")

Enough = Callable[[z3.ArithRef, z3.ArithRef], z3.BoolRef]
"""Returns the condition under which a count of bytes is enough for a request."""


def non_strict(count: z3.ArithRef, request: z3.ArithRef) -> z3.BoolRef:
    """Return the admission of a non-strict pool: a legal request, while bytes are available."""
    del request
    return count > 0


def strict(count: z3.ArithRef, request: z3.ArithRef) -> z3.BoolRef:
    """Return the admission of a strict pool: all requested bytes are available."""
    return count >= request


def initially(pool: Pool) -> z3.BoolRef:
    """Return the initial condition: all bytes are available, and none are held."""
    return z3.And(
        pool.available == SIZE,
        pool.held == z3.K(z3.IntSort(), z3.IntVal(0)),
        pool.outstanding == 0,
    )


def legal(request: z3.ArithRef) -> z3.BoolRef:
    """Return the condition that a size may be asked for."""
    return z3.And(request >= 1, request <= MAX_SINGLE)


def take(enough: Enough) -> z3.BoolRef:
    """Test and subtract at once: the acting thread gets its request."""
    return z3.And(
        legal(REQUEST),
        BEFORE.held[THREAD] == 0,
        enough(BEFORE.available, REQUEST),
        AFTER.available == BEFORE.available - REQUEST,
        AFTER.held == z3.Store(BEFORE.held, THREAD, REQUEST),
    )


def release() -> z3.BoolRef:
    """Return the step in which the acting thread gives all bytes back."""
    return z3.And(
        BEFORE.held[THREAD] > 0,
        AFTER.available == BEFORE.available + BEFORE.held[THREAD],
        AFTER.held == z3.Store(BEFORE.held, THREAD, z3.IntVal(0)),
    )


def sums_are_sums() -> z3.BoolRef:
    """Return the facts of ``pool-sums``, for the state before and after a step."""
    changed = AFTER.outstanding == BEFORE.outstanding - BEFORE.held[THREAD] + AFTER.held[THREAD]
    return z3.And(
        changed,
        z3.Implies(BEFORE.held[THREAD] >= 0, BEFORE.outstanding >= BEFORE.held[THREAD]),
    )


def conserved(pool: Pool) -> z3.BoolRef:
    """Return the claim that every byte is available or held."""
    return pool.available + pool.outstanding == SIZE


def not_far_below_zero(pool: Pool) -> z3.BoolRef:
    """Return the claim that a non-strict pool's count stays above its least value."""
    return pool.available >= 1 - MAX_SINGLE


def never_negative(pool: Pool) -> z3.BoolRef:
    """Return the claim that a strict pool's count is never negative."""
    return pool.available >= 0


def bound(pool: Pool, spare: int = 1) -> z3.BoolRef:
    """Return the claim that at most size and largest request, less ``spare``, are outstanding."""
    return pool.outstanding <= SIZE + MAX_SINGLE - spare


def strict_bound(pool: Pool) -> z3.BoolRef:
    """Return the claim that a strict pool hands out no more than it has."""
    return pool.outstanding <= SIZE


Claim = Callable[[Pool], z3.BoolRef]


def _inductive(
    lowest: Claim, implied: Claim, enough: Enough, granted: Callable[[Enough], z3.BoolRef] = take
) -> Iterator[Obligation]:
    """Yield the obligations of conservation and one claim more; ``granted`` admits."""

    def invariant(pool: Pool, thread: z3.ArithRef) -> z3.BoolRef:
        return z3.And(lowest(pool), conserved(pool), pool.held[thread] >= 0)

    assumed = z3.And(PARAMETERS, invariant(BEFORE, THREAD), invariant(BEFORE, OTHER))
    yield Obligation("initially", z3.And(PARAMETERS, initially(BEFORE)), invariant(BEFORE, OTHER))
    for name, step in (("take", granted(enough)), ("release", release())):
        yield Obligation(
            f"kept by {name}", z3.And(assumed, sums_are_sums(), step), invariant(AFTER, OTHER)
        )
    nothing_negative = BEFORE.outstanding >= 0
    yield Obligation("implies the bound", assumed, implied(BEFORE))
    yield Obligation(
        "never more than its size",
        z3.And(assumed, nothing_negative),
        BEFORE.available <= SIZE,
    )


def _non_strict() -> Iterator[Obligation]:
    yield from _inductive(not_far_below_zero, bound, non_strict)


def _strict() -> Iterator[Obligation]:
    yield from _inductive(never_negative, strict_bound, strict)


def _reached() -> Iterator[Obligation]:
    """Yield the obligation that the bound is reached: byte after byte, then a largest request."""
    assumed = z3.And(PARAMETERS, BEFORE.held[THREAD] == 0, sums_are_sums())
    yield Obligation(
        "no byte is taken", z3.And(PARAMETERS, initially(BEFORE)), BEFORE.available == SIZE
    )
    one, most = z3.IntVal(1), MAX_SINGLE
    by_takes = z3.And(assumed, conserved(BEFORE))
    yield Obligation(
        "while more than one byte is available, one can be taken",
        z3.And(by_takes, BEFORE.available > 1, _taken(one)),
        z3.And(
            _enabled(one),
            AFTER.available == BEFORE.available - 1,
            AFTER.available >= 1,
            conserved(AFTER),
        ),
    )
    yield Obligation(
        "at one byte, a largest request reaches the bound",
        z3.And(by_takes, BEFORE.available == 1, _taken(most)),
        z3.And(_enabled(most), AFTER.outstanding == SIZE + MAX_SINGLE - 1),
    )


def _enabled(request: z3.ArithRef) -> z3.BoolRef:
    return z3.And(legal(request), non_strict(BEFORE.available, request))


def _taken(request: z3.ArithRef) -> z3.BoolRef:
    return z3.And(
        AFTER.available == BEFORE.available - request,
        AFTER.held == z3.Store(BEFORE.held, THREAD, request),
    )


# Controls: each leaves something out, and is refuted.


def _bound_minus_one() -> Iterator[Obligation]:
    yield from _inductive(not_far_below_zero, lambda pool: bound(pool, spare=2), non_strict)


def _bound_alone() -> Iterator[Obligation]:
    """Yield the obligations of the bound alone: true, and not inductive."""
    assumed = z3.And(PARAMETERS, bound(BEFORE), sums_are_sums())
    yield Obligation("initially", z3.And(PARAMETERS, initially(BEFORE)), bound(BEFORE))
    yield Obligation("kept by take", z3.And(assumed, take(non_strict)), bound(AFTER))


def _strict_ignores_size() -> Iterator[Obligation]:
    yield from _inductive(never_negative, strict_bound, non_strict)


def _unchecked_size() -> Iterator[Obligation]:
    def unchecked(enough: Enough) -> z3.BoolRef:
        return z3.And(BEFORE.held[THREAD] == 0, enough(BEFORE.available, REQUEST), _taken(REQUEST))

    yield from _inductive(not_far_below_zero, bound, non_strict, unchecked)


PROOFS = (
    Proof("pool-sums", "A sum changes as its one share does, and no share is larger.", _sums),
    Proof("pool-bound", "A non-strict pool of any size keeps its bound.", _non_strict),
    Proof("pool-strict-bound", "A strict pool of any size hands out no more than it has.", _strict),
    Proof("pool-reached", "In a non-strict pool of any size the bound is reached.", _reached),
    Proof(
        "pool-bound-minus-one-refuted",
        "One byte less than the bound does not follow.",
        _bound_minus_one,
        ProofVerdict.REFUTED,
    ),
    Proof(
        "pool-bound-alone-refuted",
        "The bound by itself is true and not inductive.",
        _bound_alone,
        ProofVerdict.REFUTED,
    ),
    Proof(
        "pool-strict-ignores-size-refuted",
        "A strict pool that only asks whether anything is available falls below zero.",
        _strict_ignores_size,
        ProofVerdict.REFUTED,
    ),
    Proof(
        "pool-unchecked-size-refuted",
        "Without a check of the size the bound is lost.",
        _unchecked_size,
        ProofVerdict.REFUTED,
    ),
)
"""Every proof about the pool's atomic steps; those called ``refuted`` are controls."""
