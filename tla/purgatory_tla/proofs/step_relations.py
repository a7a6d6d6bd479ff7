"""The steps of the exact accounting on plain numbers: what the proof's text says of each number.

The text of the proof, ``exact_accounting``, gives formulas. Here a formula becomes a function of
integers, so that the steps that z3 reasons about can be written out, one by one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import combinations, product
from typing import Any

import z3

from purgatory_tla.proofs.exact_accounting import Action, Operation, any_operation, any_totals
from purgatory_tla.proofs.stale_law import Claim, contribution

Numbers = tuple[int, ...]
"""The numbers of an operation, in the order of the fields; ``completed`` is 0 or 1."""

OPERATION = tuple(each.name for each in fields(Operation))
TOTALS = ("stale", "balances")
"""The totals that a step can read; the sum of stale entries is computed from the operations."""

_BINARY = {
    z3.Z3_OP_EQ: "==",
    z3.Z3_OP_LE: "<=",
    z3.Z3_OP_LT: "<",
    z3.Z3_OP_GE: ">=",
    z3.Z3_OP_GT: ">",
    z3.Z3_OP_ADD: "+",
    z3.Z3_OP_SUB: "-",
    z3.Z3_OP_MUL: "*",
    z3.Z3_OP_AND: "and",
    z3.Z3_OP_OR: "or",
}


@dataclass(frozen=True, slots=True)
class State:
    """The totals, and the numbers of each operation by its place."""

    stale: int
    balances: int
    operations: tuple[Numbers, ...]


Relation = Callable[[State, int, int], Iterator[State]]
"""The states after a step of the operation at a place with an amount; none where it is refused."""


def python_of(formula: z3.ExprRef) -> str:
    """Return a formula as an expression of Python over its unknowns.

    Raises:
        ValueError: it has a construct for which there is no translation.
    """
    parts = [python_of(each) for each in formula.children()]
    kind = formula.decl().kind()
    if z3.is_int_value(formula):
        return str(formula.as_long())
    if z3.is_true(formula) or z3.is_false(formula):
        return str(z3.is_true(formula))
    if kind == z3.Z3_OP_UNINTERPRETED and not parts:
        return str(formula.decl().name())
    if kind == z3.Z3_OP_NOT:
        return f"(not {parts[0]})"
    if kind == z3.Z3_OP_IMPLIES:
        return f"(not {parts[0]} or {parts[1]})"
    if kind == z3.Z3_OP_ITE:
        return f"({parts[1]} if {parts[0]} else {parts[2]})"
    if kind in _BINARY:
        return f"({f' {_BINARY[kind]} '.join(parts)})"
    raise ValueError(f"no translation of {formula}")


def relation(action: Action) -> Relation:
    """Return the steps of an action, on numbers."""
    step = action(any_operation(), any_totals(), z3.Int("n"))
    after = [getattr(step.operation, name) for name in OPERATION]
    after += [getattr(step.totals, name) for name in TOTALS]
    numbers = ", ".join(python_of(each) for each in after)
    compiled = _function(f"({numbers}) if {python_of(step.guard)} else None", ("n",))

    def steps(state: State, place: int, amount: int) -> Iterator[State]:
        operations = state.operations
        found = compiled(*operations[place], state.stale, state.balances, amount)
        if found is not None:
            *numbers, stale, balances = map(int, found)
            changed = (*operations[:place], tuple(numbers), *operations[place + 1 :])
            yield State(stale, balances, changed)

    return steps


def repeated(one: Relation, amounts: Sequence[int]) -> Callable[[State], Iterator[State]]:
    """Return a step that is ``one``, once for each of some operations, with any amounts."""

    def steps(state: State) -> Iterator[State]:
        places = range(len(state.operations))
        for size in range(1, len(state.operations) + 1):
            for touched in combinations(places, size):
                for given in product(amounts, repeat=size):
                    reached = [state]
                    for place, amount in zip(touched, given, strict=True):
                        reached = [t for each in reached for t in one(each, place, amount)]
                    yield from reached

    return steps


def claim(stated: Claim) -> Callable[[State], bool]:
    """Return a claim about one operation and the totals as a claim about all operations.

    The sum of stale entries is that of the operations' contributions.
    """
    holds = _function(python_of(stated(any_operation(), any_totals())), ("stale_entries",))
    contributes = _function(python_of(contribution(any_operation())), ())

    def of(state: State) -> bool:
        totals = (state.stale, state.balances)
        stale_entries = sum(contributes(*each, *totals) for each in state.operations)
        return all(holds(*each, *totals, stale_entries) for each in state.operations)

    return of


def _function(expression: str, further: tuple[str, ...]) -> Callable[..., Any]:
    arguments = ", ".join((*OPERATION, *TOTALS, *further))
    # The text is made of z3's formulas alone, by ``python_of``: nothing from outside is in it.
    function: Callable[..., Any] = eval(f"lambda {arguments}: {expression}")
    return function
