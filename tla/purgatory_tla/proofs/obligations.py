"""Proof obligations, discharged by z3: an implication is proved when its negation has no model.

An obligation is an implication between two formulas over unbounded integers (and functions of
them), so that a proof holds for every size at once. ``discharge`` asks z3 for values that make the
assumption true and the conclusion false. None exist: proved. Some exist: refuted, and they are the
counterexample. z3 gives up: undecided, which is never a proof.

A contradiction in the assumption would prove anything; so ``discharge`` asks first whether the
assumption can be true at all, and calls an obligation that it cannot be ``vacuous``.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

import z3


class ProofVerdict(Enum):
    """The verdict of z3 on an obligation."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    VACUOUS = "vacuous"


@dataclass(frozen=True, slots=True)
class Obligation:
    """The claim that ``assumption`` implies ``conclusion``, whatever the values are."""

    name: str
    assumption: z3.BoolRef
    conclusion: z3.BoolRef


@dataclass(frozen=True, slots=True)
class Discharged:
    """The verdict on one obligation; ``values`` is the counterexample of a refuted one."""

    name: str
    verdict: ProofVerdict
    values: Mapping[str, str]
    seconds: float


@dataclass(frozen=True, slots=True)
class Proof:
    """A named claim and its obligations; ``expected`` is what each of them must turn out to be.

    A proof whose name says what is left out (``expected`` is ``REFUTED``) is the control of
    another: at least one of its obligations must be refuted, and none undecided or vacuous.
    """

    name: str
    title: str
    obligations: Callable[[], Iterable[Obligation]]
    expected: ProofVerdict = ProofVerdict.PROVED


@dataclass(frozen=True, slots=True)
class ProofResult:
    """The result of a proof: every obligation in order, and whether it is as expected."""

    proof: Proof
    discharged: tuple[Discharged, ...]

    @property
    def verdict(self) -> ProofVerdict:
        """Return the weakest verdict of all obligations; no obligation at all is vacuous."""
        found = {each.verdict for each in self.discharged}
        for verdict in (ProofVerdict.VACUOUS, ProofVerdict.UNDECIDED, ProofVerdict.REFUTED):
            if verdict in found:
                return verdict
        return ProofVerdict.PROVED if found else ProofVerdict.VACUOUS


def discharge(obligation: Obligation, *, seconds: float = 60.0) -> Discharged:
    """Ask z3 about one obligation, at most ``seconds`` for each of its two questions."""
    began = time.monotonic()
    solver = z3.Solver()
    solver.set("timeout", int(seconds * 1000))
    solver.add(obligation.assumption)
    possible = solver.check()
    if possible == z3.unsat:
        return Discharged(obligation.name, ProofVerdict.VACUOUS, {}, time.monotonic() - began)
    solver.add(z3.Not(obligation.conclusion))
    answer = solver.check()
    values: Mapping[str, str] = {}
    if answer == z3.unsat:
        verdict = ProofVerdict.PROVED if possible == z3.sat else ProofVerdict.UNDECIDED
    elif answer == z3.sat:
        verdict = ProofVerdict.REFUTED
        model = solver.model()
        values = {name.name(): str(model[name]) for name in model.decls()}
    else:
        verdict = ProofVerdict.UNDECIDED
    return Discharged(obligation.name, verdict, values, time.monotonic() - began)


def prove(proof: Proof, *, seconds: float = 60.0) -> ProofResult:
    """Discharge every obligation of a proof, in order."""
    return ProofResult(
        proof, tuple(discharge(each, seconds=seconds) for each in proof.obligations())
    )
