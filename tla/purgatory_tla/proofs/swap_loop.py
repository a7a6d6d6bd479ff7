"""The memory pool's swap loop: read and compare-and-swap are as good as one atomic step.

A call reads the count, and later swaps it for the count less its request, if it is still the same;
otherwise it reads again. ``memory_pool`` proves the bound for calls that do all of this at once.
Here the invariant goes on with what each thread knows: a thread about to swap asks for a legal size
and has read a count that was enough. Otherwise its ``seen`` is *arbitrary*: any number of other
threads may have done anything since it read.

Every step keeps this invariant. And every step is either an atomic step of the pool (the successful
swap is where a call takes effect, a release is atomic by itself) or leaves ``available`` and
``held`` alone. So whatever holds of the atomic pool's counts holds of the loop's.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import z3

from purgatory_tla.proofs.memory_pool import (
    AFTER,
    BEFORE,
    OTHER,
    PARAMETERS,
    REQUEST,
    THREAD,
    Claim,
    Enough,
    Pool,
    array,
    conserved,
    initially,
    legal,
    never_negative,
    non_strict,
    not_far_below_zero,
    release,
    strict,
    sums_are_sums,
    take,
)
from purgatory_tla.proofs.obligations import Obligation, Proof, ProofVerdict

IDLE, READ, SWAP, HOLDS = map(z3.IntVal, range(4))
"""The places of a thread in the loop."""


@dataclass(frozen=True, slots=True)
class Locals:
    """The local variables of each thread: its place, the bytes requested, the number read."""

    place: z3.ArrayRef
    request: z3.ArrayRef
    seen: z3.ArrayRef


KNOWN = Locals(array("place"), array("request_of"), array("seen"))
KNOWN_AFTER = Locals(array("place_after"), array("request_of_after"), array("seen_after"))


def consistent(pool: Pool, known: Locals, thread: z3.ArithRef, enough: Enough) -> z3.BoolRef:
    """Return the relation of a thread's own values, wherever the others are."""
    place, request, seen = known.place[thread], known.request[thread], known.seen[thread]
    return z3.And(
        z3.Implies(z3.Or(place == READ, place == SWAP), legal(request)),
        z3.Implies(place == SWAP, enough(seen, request)),
        z3.Implies(place != HOLDS, pool.held[thread] == 0),
        z3.Implies(place == HOLDS, pool.held[thread] > 0),
    )


def _goes(place: z3.ArithRef) -> z3.BoolRef:
    return KNOWN_AFTER.place == z3.Store(KNOWN.place, THREAD, place)


def _same(*, pool: bool = True, request: bool = True, seen: bool = True) -> z3.BoolRef:
    same = [z3.BoolVal(True)]
    if pool:
        same += [AFTER.available == BEFORE.available, AFTER.held == BEFORE.held]
    if request:
        same.append(KNOWN_AFTER.request == KNOWN.request)
    if seen:
        same.append(KNOWN_AFTER.seen == KNOWN.seen)
    return z3.And(*same)


def _is_at(place: z3.ArithRef) -> z3.BoolRef:
    return KNOWN.place[THREAD] == place


def loop_steps(enough: Enough, *, compares: bool = True) -> dict[str, z3.BoolRef]:
    """Return the steps of the swap loop; without ``compares`` it subtracts in any case."""
    available = BEFORE.available
    request, seen = KNOWN.request[THREAD], KNOWN.seen[THREAD]
    reads = z3.And(
        _is_at(READ), KNOWN_AFTER.seen == z3.Store(KNOWN.seen, THREAD, available), _same(seen=False)
    )
    return {
        "ask": z3.And(
            _is_at(IDLE),
            legal(REQUEST),
            _goes(READ),
            KNOWN_AFTER.request == z3.Store(KNOWN.request, THREAD, REQUEST),
            _same(request=False),
        ),
        "read enough": z3.And(reads, enough(available, request), _goes(SWAP)),
        "read too little": z3.And(reads, z3.Not(enough(available, request)), _goes(IDLE)),
        "swap": z3.And(
            _is_at(SWAP),
            seen == available if compares else z3.BoolVal(True),
            AFTER.available == available - request,
            AFTER.held == z3.Store(BEFORE.held, THREAD, request),
            _goes(HOLDS),
            _same(pool=False),
        ),
        "fail to swap": z3.And(_is_at(SWAP), seen != available, _goes(READ), _same()),
        "release": z3.And(_is_at(HOLDS), release(), _goes(IDLE), _same(pool=False)),
    }


def _loop(lowest: Claim, enough: Enough, *, compares: bool = True) -> Iterator[Obligation]:
    def invariant(pool: Pool, known: Locals, thread: z3.ArithRef) -> z3.BoolRef:
        return z3.And(lowest(pool), conserved(pool), consistent(pool, known, thread, enough))

    start = z3.And(PARAMETERS, initially(BEFORE), KNOWN.place == z3.K(z3.IntSort(), IDLE))
    yield Obligation("initially", start, invariant(BEFORE, KNOWN, OTHER))
    assumed = z3.And(
        PARAMETERS,
        invariant(BEFORE, KNOWN, THREAD),
        invariant(BEFORE, KNOWN, OTHER),
        sums_are_sums(),
    )
    unchanged = z3.And(AFTER.available == BEFORE.available, AFTER.held == BEFORE.held)
    atomic = z3.substitute(take(enough), (REQUEST, KNOWN.request[THREAD]))
    for name, step in loop_steps(enough, compares=compares).items():
        now = z3.And(assumed, step)
        yield Obligation(f"kept by {name}", now, invariant(AFTER, KNOWN_AFTER, OTHER))
        yield Obligation(f"{name} is atomic or unseen", now, z3.Or(unchanged, atomic, release()))


def _non_strict_loop() -> Iterator[Obligation]:
    yield from _loop(not_far_below_zero, non_strict)


def _strict_loop() -> Iterator[Obligation]:
    yield from _loop(never_negative, strict)


def _split() -> Iterator[Obligation]:
    yield from _loop(not_far_below_zero, non_strict, compares=False)


PROOFS = (
    Proof(
        "pool-swap-loop",
        "Read and compare-and-swap are as good as one atomic step, non-strict.",
        _non_strict_loop,
    ),
    Proof(
        "pool-strict-swap-loop",
        "Read and compare-and-swap are as good as one atomic step, strict.",
        _strict_loop,
    ),
    Proof(
        "pool-split-refuted",
        "A subtraction that does not compare keeps nothing.",
        _split,
        ProofVerdict.REFUTED,
    ),
)
"""Every proof about the loop; the one called ``refuted`` is the control."""
