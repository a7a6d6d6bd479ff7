"""The timing wheel is a timer: for every tick, every size and every number of levels.

A level has a *tick*; the next one has ``size`` times that. Times are any integers, and the floor of
a time is said by its quotient: ``tick * quotient`` is not later than the time, and the next
multiple is. Each lemma speaks of one level, or of one and the next; so it holds at every level.

The lemmas make one argument. ``lowest-level`` and ``high-enough``: one level is the lowest that
covers a task. ``first-level``, ``upper-level`` and ``inside``: the task's bucket there begins after
the wheel's own clock and not after the due tick, inside the level's window. ``window-kept``: that
stays so while the own clock goes on to other buckets. ``own-slot``: no two buckets of a window have
one place in the ring. When the bucket is popped, ``expires`` or ``cascade-down``: on the first
level the task is due, on any other one it comes down. ``rests-highest`` says how far: to the
highest level where its bucket is not due, which is where ``TimingWheel.tla`` puts it at once. There
are finitely many levels, so an advance ends; then ``not-early`` and ``not-late``: just what is due
has expired.

Each lemma has its must-fails: one assumption or claim is weakened, and z3 finds the numbers that
refute it. Products of two unknowns are z3's weak side. Where a lemma needs that a multiple of an
upper tick is one of the lower, this stands in it as an assumption, and is proved in ``floors``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

import z3

from purgatory_tla.proofs.obligations import Obligation, Proof, ProofVerdict

TICK, UPPER, SIZE = z3.Ints("tick upper size")
"""The tick of a level, that of the next one, and the number of buckets of each."""

OWN, DUE, TO = z3.Ints("own due to")
"""The wheel's own clock, the due tick of a task, and the reading that an advance is for."""

LEVEL = z3.And(TICK >= 1, SIZE >= 2)
LEVELS = z3.And(TICK >= 1, UPPER >= 1, SIZE >= 2)

OWN_AT, OWN_ABOVE, DUE_AT, DUE_ABOVE = z3.Ints("own_at own_above due_at due_above")
"""The quotients of own clock and due tick, by the tick of the level and by the upper tick."""


def is_floor(quotient: z3.ArithRef, time: z3.ArithRef, tick: z3.ArithRef) -> z3.BoolRef:
    """Return that ``tick * quotient`` is the largest multiple that is not later than a time."""
    return z3.And(tick * quotient <= time, time < tick * quotient + tick)


def covers(
    due: z3.ArithRef, own_at: z3.ArithRef, tick: z3.ArithRef, interval: z3.ArithRef
) -> z3.BoolRef:
    """Return that a tick lies before the end of a level, counted from its present tick."""
    return due < tick * own_at + interval


def in_window(
    bucket: z3.ArithRef, own_at: z3.ArithRef, tick: z3.ArithRef, interval: z3.ArithRef
) -> z3.BoolRef:
    """Return that a bucket begins after its level's present tick, and before the level's end."""
    return z3.And(tick * own_at + tick <= bucket, bucket < tick * own_at + interval)


@dataclass(frozen=True, slots=True)
class Lemma:
    """A lemma, with the changes by which it must fail.

    Attributes:
        name: What follows ``wheel-`` in the proof's name.
        title: The lemma in words.
        assumed: The assumptions, by name.
        claimed: The conclusions, by name; each is an obligation.
        weakened: By name, the assumption or conclusion that is replaced, the formula in its place
            (True leaves an assumption out), and the reason why the lemma then fails.
    """

    name: str
    title: str
    assumed: Mapping[str, z3.BoolRef]
    claimed: Mapping[str, z3.BoolRef]
    weakened: Mapping[str, tuple[str, z3.BoolRef, str]] = field(default_factory=dict)

    def obligations(self, weakening: str = "") -> Iterator[Obligation]:
        """Yield an obligation for each conclusion, after one weakening or none.

        A conclusion may use earlier conclusions.
        """
        assumed, claimed = dict(self.assumed), dict(self.claimed)
        if weakening:
            place, formula, _ = self.weakened[weakening]
            (assumed if place in assumed else claimed)[place] = formula
        known = [*assumed.values()]
        for name, conclusion in claimed.items():
            yield Obligation(name, z3.And(*known), conclusion)
            known.append(conclusion)


_ANYTHING = z3.BoolVal(True)
_MULTIPLE = z3.Int("multiple")
_NEXT_OWN, _NEXT_AT, _BUCKET_AT = z3.Ints("next_own next_at bucket_at")
_ONE, _OTHER, _TURNS = z3.Ints("one other turns")

LEMMAS = (
    Lemma(
        "floors",
        "The floor is the latest multiple that is not later, and an upper tick's multiple is one "
        "of the lower.",
        {
            "level": LEVEL,
            "floor": is_floor(OWN_AT, OWN, TICK),
            "tick": UPPER == TICK * SIZE,
            "upper multiple": _MULTIPLE == SIZE * OWN_ABOVE,
        },
        {
            "not later": z3.Implies(TICK * _MULTIPLE <= OWN, TICK * _MULTIPLE <= TICK * OWN_AT),
            "later": z3.Implies(TICK * _MULTIPLE > OWN, TICK * _MULTIPLE >= TICK * OWN_AT + TICK),
            "one of the lower": UPPER * OWN_ABOVE == TICK * _MULTIPLE,
        },
        {
            "a-tick-later": (
                "not later",
                z3.Implies(TICK * _MULTIPLE <= OWN + TICK, TICK * _MULTIPLE <= TICK * OWN_AT),
                "A multiple one tick later need not be before the floor.",
            ),
            "no-multiple": (
                "tick",
                UPPER == TICK * SIZE + 1,
                "Without whole ticks in an upper tick, its buckets begin where no lower one does.",
            ),
        },
    ),
    Lemma(
        "lowest-level",
        "What a level covers, the next one covers: there is one lowest level.",
        {
            "level": LEVELS,
            "own at": is_floor(OWN_AT, OWN, TICK),
            "own above": is_floor(OWN_ABOVE, OWN, UPPER),
            "end": TICK * OWN_AT + TICK <= UPPER * OWN_ABOVE + UPPER,
            "covered": covers(DUE, OWN_AT, TICK, UPPER),
        },
        {"covered above": covers(DUE, OWN_ABOVE, UPPER, UPPER * SIZE)},
        {
            "two-turns": (
                "covered",
                covers(DUE, OWN_AT, TICK, 2 * UPPER),
                "A level that covers two turns reaches beyond the next one.",
            ),
        },
    ),
    Lemma(
        "high-enough",
        "A level whose interval, less one tick, is the distance covers the task.",
        {
            "level": LEVEL,
            "floor": is_floor(OWN_AT, OWN, TICK),
            "distance": DUE - OWN <= TICK * SIZE - TICK,
        },
        {"covered": covers(DUE, OWN_AT, TICK, TICK * SIZE)},
        {
            "whole-interval": (
                "distance",
                DUE - OWN <= TICK * SIZE,
                "The interval is counted from the present tick, which has begun.",
            ),
        },
    ),
    Lemma(
        "first-level",
        "On the first level the bucket of a task that is not due begins when the task is due, "
        "inside the window.",
        {
            "level": LEVEL,
            "own at": is_floor(OWN_AT, OWN, TICK),
            "due at": is_floor(DUE_AT, DUE, TICK),
            "whole ticks": TICK * DUE_AT >= DUE,
            "not due": DUE > OWN,
            "covered": covers(DUE, OWN_AT, TICK, TICK * SIZE),
        },
        {
            "in the window": in_window(TICK * DUE_AT, OWN_AT, TICK, TICK * SIZE),
            "when it is due": TICK * DUE_AT == DUE,
        },
        {
            "due-already": (
                "not due",
                DUE >= OWN,
                "The bucket of a task that is due by the own clock is behind it.",
            ),
            "unrounded": (
                "whole ticks",
                _ANYTHING,
                "The bucket of a time that is no whole tick may be the present one.",
            ),
            "interval-inclusive": (
                "covered",
                DUE <= TICK * OWN_AT + TICK * SIZE,
                "After a whole interval it is the place of the present tick that comes.",
            ),
        },
    ),
    Lemma(
        "upper-level",
        "Where the level below does not cover a task, its bucket begins after the own clock, and "
        "not after the task is due.",
        {
            "level": LEVELS,
            "own at": is_floor(OWN_AT, OWN, TICK),
            "own above": is_floor(OWN_ABOVE, OWN, UPPER),
            "due above": is_floor(DUE_ABOVE, DUE, UPPER),
            "floor": UPPER * OWN_ABOVE <= TICK * OWN_AT,
            "not covered below": z3.Not(covers(DUE, OWN_AT, TICK, UPPER)),
        },
        {
            "after the present tick": UPPER * OWN_ABOVE + UPPER <= UPPER * DUE_ABOVE,
            "after the own clock": UPPER * DUE_ABOVE > OWN,
            "not after it is due": UPPER * DUE_ABOVE <= DUE,
        },
        {
            "one-level-up": (
                "not covered below",
                DUE > OWN,
                "A level too high, a task's bucket may be the present one, which was popped.",
            ),
            "a-tick-less": (
                "not covered below",
                z3.Not(covers(DUE, OWN_AT, TICK, UPPER - TICK)),
                "A lower level that covers one bucket less sends some tasks up too early.",
            ),
            "bucket-by-its-end": (
                "not after it is due",
                UPPER * DUE_ABOVE + UPPER - TICK <= DUE,
                "A bucket that is popped at its end is popped after some of its tasks are due.",
            ),
        },
    ),
    Lemma(
        "inside",
        "Where a level covers a task, its bucket begins before the level's end.",
        {
            "level": LEVEL,
            "own at": is_floor(OWN_AT, OWN, TICK),
            "due at": is_floor(DUE_AT, DUE, TICK),
            "covered": covers(DUE, OWN_AT, TICK, TICK * SIZE),
        },
        {"before the end": TICK * DUE_AT < TICK * OWN_AT + TICK * SIZE},
        {
            "interval-inclusive": (
                "covered",
                DUE <= TICK * OWN_AT + TICK * SIZE,
                "After a whole interval it is the place of the present tick that comes.",
            ),
            "two-turns": (
                "covered",
                covers(DUE, OWN_AT, TICK, 2 * TICK * SIZE),
                "A task of the next turn gets the place of another bucket.",
            ),
            "span-from-own-clock": (
                "covered",
                DUE < OWN + TICK * SIZE,
                "An interval that is counted from the own clock ends in the next turn.",
            ),
        },
    ),
    Lemma(
        "window-kept",
        "A bucket stays in its window while the own clock goes on to earlier buckets.",
        {
            "level": LEVEL,
            "floor": is_floor(OWN_AT, OWN, TICK),
            "next floor": is_floor(_NEXT_AT, _NEXT_OWN, TICK),
            "in the window": in_window(TICK * _BUCKET_AT, OWN_AT, TICK, TICK * SIZE),
            "goes on": OWN <= _NEXT_OWN,
            "earlier": _NEXT_OWN < TICK * _BUCKET_AT,
        },
        {"still": in_window(TICK * _BUCKET_AT, _NEXT_AT, TICK, TICK * SIZE)},
        {
            "goes-back": ("goes on", _ANYTHING, "An own clock that goes back leaves buckets."),
            "own-clock-ahead": (
                "earlier",
                _NEXT_OWN <= TICK * _BUCKET_AT,
                "An own clock that has come to a bucket has it behind: it must be popped.",
            ),
        },
    ),
    Lemma(
        "own-slot",
        "No two buckets of a window have one place in the ring.",
        {
            "size": SIZE >= 2,
            "one": z3.And(OWN_AT + 1 <= _ONE, _ONE < OWN_AT + SIZE),
            "other": z3.And(OWN_AT + 1 <= _OTHER, _OTHER < OWN_AT + SIZE),
            "one place": _ONE - _OTHER == SIZE * _TURNS,
        },
        {"one bucket": _ONE == _OTHER},
        {
            "a-place-more": (
                "one",
                z3.And(OWN_AT + 1 <= _ONE, _ONE <= OWN_AT + SIZE + 1),
                "Two more buckets than usable ones need a place twice.",
            ),
            "two-turns": (
                "other",
                z3.And(OWN_AT + 1 <= _OTHER, _OTHER < OWN_AT + 2 * SIZE),
                "Buckets of two turns share their places.",
            ),
        },
    ),
    Lemma(
        "expires",
        "A task of a popped bucket of the first level is due.",
        {
            "level": LEVEL,
            "bucket": is_floor(_BUCKET_AT, DUE, TICK),
            "whole ticks": TICK * _BUCKET_AT >= DUE,
            "popped": _NEXT_OWN >= TICK * _BUCKET_AT,
        },
        {"due": DUE <= _NEXT_OWN},
        {
            "unrounded": (
                "whole ticks",
                _ANYTHING,
                "A time inside the bucket is not reached when the bucket begins.",
            ),
            "own-clock-stands": (
                "popped",
                _NEXT_OWN >= TICK * _BUCKET_AT - TICK,
                "By an own clock that has not come to it nothing of a bucket is due.",
            ),
        },
    ),
    Lemma(
        "cascade-down",
        "When its bucket is popped, the level below covers a task: it comes down.",
        {
            "level": LEVELS,
            "due above": is_floor(DUE_ABOVE, DUE, UPPER),
            "popped": OWN == UPPER * DUE_ABOVE,
            "own at": is_floor(OWN_AT, OWN, TICK),
            "floor": z3.Implies(UPPER * DUE_ABOVE <= OWN, UPPER * DUE_ABOVE <= TICK * OWN_AT),
        },
        {"covered below": covers(DUE, OWN_AT, TICK, UPPER)},
        {
            "own-clock-stands": (
                "popped",
                OWN < UPPER * DUE_ABOVE,
                "By an own clock before its bucket the level below need not cover the task.",
            ),
            "missing-turn": (
                "covered below",
                covers(DUE, OWN_AT, TICK, UPPER - TICK),
                "A level below with one bucket less does not take the last tasks.",
            ),
        },
    ),
    Lemma(
        "rests-highest",
        "A task that comes down rests on the highest level where its bucket is not due.",
        {
            "level": LEVELS,
            "popped": z3.And(UPPER * OWN_ABOVE <= DUE, TICK * OWN_AT == UPPER * OWN_ABOVE),
            "due at": is_floor(DUE_AT, DUE, TICK),
            "due above": is_floor(DUE_ABOVE, DUE, UPPER),
            "not covered below": DUE >= TICK * OWN_AT + TICK,
            "covered": covers(DUE, OWN_AT, TICK, UPPER),
        },
        {
            "due above, still": UPPER * DUE_ABOVE == UPPER * OWN_ABOVE,
            "not due here": TICK * DUE_AT >= TICK * OWN_AT + TICK,
        },
        {
            "one-level-up": (
                "not covered below",
                _ANYTHING,
                "The bucket on this level of a task that a lower one covers may be due.",
            ),
            "two-turns": (
                "covered",
                covers(DUE, OWN_AT, TICK, 2 * UPPER),
                "A task of the next turn has a bucket above that is not due.",
            ),
        },
    ),
    Lemma(
        "not-early",
        "What expires by the own clock is due.",
        {
            "clock": OWN <= TO,
            "popped": z3.Or(_NEXT_OWN == OWN, z3.And(_NEXT_OWN == _MULTIPLE, _MULTIPLE <= TO)),
            "expires": DUE <= _NEXT_OWN,
        },
        {"due": DUE <= TO},
        {
            "upper-expires-whole": (
                "expires",
                DUE < _NEXT_OWN + UPPER,
                "What is in a popped bucket of an upper level need not be due.",
            ),
            "own-clock-ahead": (
                "popped",
                z3.Or(_NEXT_OWN == OWN, z3.And(_NEXT_OWN == _MULTIPLE + TICK, _MULTIPLE <= TO)),
                "By the end of the last bucket more is due than by the clock.",
            ),
        },
    ),
    Lemma(
        "not-late",
        "Where no bucket is due that waits, no task is due that is in one.",
        {
            "level": LEVEL,
            "bucket": is_floor(DUE_AT, DUE, TICK),
            "not due": TICK * DUE_AT > TO,
        },
        {"not due": DUE > TO},
        {
            "bucket-by-its-end": (
                "not due",
                TICK * DUE_AT + TICK > TO,
                "A bucket that is popped at its end holds tasks that are due before.",
            ),
            "unpopped": (
                "bucket",
                is_floor(DUE_AT, DUE + TICK, TICK),
                "In the next bucket a task is late.",
            ),
        },
    ),
)
"""The lemmas, in the order of the argument."""


def _proofs() -> Iterator[Proof]:
    for lemma in LEMMAS:
        name = f"wheel-{lemma.name}"
        yield Proof(name, lemma.title, lemma.obligations)
        for weakening, (_, _, reason) in lemma.weakened.items():
            yield Proof(
                f"{name}-{weakening}-refuted",
                reason,
                partial(lemma.obligations, weakening),
                ProofVerdict.REFUTED,
            )


PROOFS = tuple(_proofs())
"""Each lemma, and each change by which it must fail."""
