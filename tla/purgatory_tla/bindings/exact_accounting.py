"""The proof's text of the exact accounting beside ``ExactAccounting.tla``.

z3 proves the law about steps that are written in Python, ``proofs.exact_accounting``. The module
has the steps that the purgatory is checked to refine. Here both are written out from every state
of small numbers, reached or not, with every amount, also with amounts that a guard refuses. The
invariants are compared too: which of them hold is part of the label with which a state is chosen.

**What is left out.** The text has one operation. Its steps become those of several by the argument
of ``proofs.stale_law``: the others keep their numbers, and a step that touches many is the same
step repeated. Both are compared, on two operations.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from purgatory_model.overlapping.interleaving import Step
from purgatory_tla.comparing.binding import Binding, Variable
from purgatory_tla.values.values import Value, function, to_tla

if TYPE_CHECKING:
    from purgatory_tla.proofs.step_relations import State

MANY = ("Remove", "Detach")
"""The steps that touch several operations at once."""

ACTIONS = {
    "Choose": "any state of small numbers; the label says which of the invariants hold there",
    "Arm": "`arm`",
    "Insert": "`insert`",
    "GiveBackLive": "`give_back_live`",
    "GiveBackCompleted": "`give_back_completed`",
    "Win": "`win`",
    "Remove": "`remove`, once for each of some operations",
    "Post": "`post`",
    "LeaveTimer": "`leave_timer`",
    "CallBack": "`call_back`",
    "Detach": "`detach`, once for each of some operations",
    "CancelLive": "`cancel_live`",
    "CancelCompleted": "`cancel_completed`",
    "Expire": "`expire`",
    "Take": "`take`",
    "DecideWon": "`decide_won`",
    "DecideLost": "`decide_lost`",
}

COUNTS = ("entries", "in_lists", "promised", "detached")
"""The numbers of an operation that count up to ``Each``; the others are 0 or 1 at first."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """The states of small numbers, and the amounts of their steps."""

    operations: int
    each: int

    @property
    def amounts(self) -> range:
        """Return the amounts that are tried: also none, and less than none."""
        return range(-1, self.each + 1)

    def states(self) -> "Iterator[State]":
        """Yield the states of small numbers."""
        from purgatory_tla.proofs.step_relations import OPERATION, State

        most = [self.each if name in COUNTS else 1 for name in OPERATION]
        first = list(product(*(range(each + 1) for each in most)))
        # An operation that is not the first has the same number everywhere.
        other = [(done, *[count] * (len(OPERATION) - 1)) for done in (0, 1) for count in (0, 1)]
        for operations in product(first, *[other] * (self.operations - 1)):
            yield from (State(total, total, operations) for total in (0, 1))


def _steps(grid: _Grid) -> "Callable[[State], Iterable[tuple[Step, State]]]":
    from purgatory_tla.proofs.exact_accounting import ACTIONS as TEXT
    from purgatory_tla.proofs.stale_law import NAMED_INVARIANTS
    from purgatory_tla.proofs.step_relations import claim, relation, repeated

    relations = {name: relation(action) for name, action in TEXT.items()}
    many = {name: repeated(relations.pop(name), grid.amounts) for name in MANY}
    post = relations.pop("Post")
    invariants = [claim(each) for each in NAMED_INVARIANTS.values()]
    small = frozenset(grid.states())
    start = _fresh(grid.operations)

    def steps(state: "State") -> "Iterator[tuple[Step, State]]":
        if state == start:
            for chosen in small:
                holding = tuple(int(holds(chosen)) for holds in invariants)
                yield Step("Choose", holding), chosen
        if state not in small:
            return
        for name, of_many in many.items():
            yield from ((Step(name, ()), target) for target in of_many(state))
        for amount in grid.amounts:
            yield from ((Step("Post", ()), target) for target in post(state, 0, amount))
            for name, of_one in relations.items():
                for place in range(grid.operations):
                    label = Step(name, (place + 1,))
                    yield from ((label, target) for target in of_one(state, place, amount))

    return steps


def _fresh(operations: int) -> "State":
    """Return the initial state, in which every number is zero."""
    from purgatory_tla.proofs.step_relations import OPERATION, State

    return State(0, 0, ((0,) * len(OPERATION),) * operations)


def _of_operations(words: str, place: int) -> "Variable[State]":
    """Return a variable that is a function from operations; the first of them is a truth value."""

    def value(state: "State") -> Value:
        numbers = (each[place] for each in state.operations)
        values = (bool(each) if place == 0 else each for each in numbers)
        return function(dict(enumerate(values, start=1)))

    return Variable(words, value)


VARIABLES: "dict[str, Variable[State]]" = {
    "stale": Variable("`Totals.stale`", lambda state: state.stale),
    "balances": Variable("`Totals.balances`", lambda state: state.balances),
    **{
        name: _of_operations(f"`Operation.{name}` of each operation", place)
        for place, name in enumerate(
            (
                "completed",
                "entries",
                "in_lists",
                "promised",
                "detached",
                "in_timer",
                "queued",
                "deciding",
                "to_call",
                "called",
            )
        )
    },
}


def binding() -> "Binding[State]":
    """Return a binding of one operation, with up to two entries of each kind."""
    return _bound("exact-accounting", "The proof's steps: one operation, two entries.", _Grid(1, 2))


def two_operations_binding() -> "Binding[State]":
    """Return a binding of two operations, to see that a step leaves the other alone."""
    return _bound(
        "exact-accounting-two-operations",
        "The proof's steps: two operations, one entry.",
        _Grid(2, 1),
    )


def small_binding() -> "Binding[State]":
    """Return a binding of one operation, with up to one entry of each kind."""
    return _bound(
        "exact-accounting-small", "The proof's steps: one operation, one entry.", _Grid(1, 1)
    )


def _bound(name: str, title: str, grid: _Grid) -> "Binding[State]":
    constants = {
        "Operations": frozenset(range(1, grid.operations + 1)),
        # Sums count the entries of all three places.
        "Most": 3 * grid.each,
        "Each": grid.each,
    }
    steps = _steps(grid)
    return Binding(
        name=name,
        title=title,
        module="ExactAccountingHistory",
        constants={constant: to_tla(value) for constant, value in constants.items()},
        initial=_fresh(grid.operations),
        steps=steps,
        variables=VARIABLES,
        actions=ACTIONS,
    )
