"""The proof's text and ``ExactAccounting.tla``: a guard dropped or added on either side is noticed.

The comparison itself is a row of ``comparing/test_state_graphs``. The tables here are generated:
every conjunct of every guard, and every condition that a number is zero, or is not.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import z3

from purgatory_model.overlapping.interleaving import Step as Label
from purgatory_tla.bindings import exact_accounting
from purgatory_tla.comparing.comparing import (
    MOST_STATES,
    QUICK,
    CompareSettings,
    explore_module,
)
from purgatory_tla.comparing.history_dump import read_history
from purgatory_tla.comparing.numbering import Numbering, ends
from purgatory_tla.comparing.state_graph import NumberedGraph, model_graph
from purgatory_tla.modules.literate import read_literate
from purgatory_tla.modules.module_text import read_module
from purgatory_tla.proofs import exact_accounting as text
from purgatory_tla.proofs.exact_accounting import ACTIONS, Action, Operation, Step, Totals
from purgatory_tla.proofs.step_relations import OPERATION, TOTALS, python_of
from purgatory_tla.resources import modules_folder

from ..comparing.seeded_changes import copied_modules

Edges = dict[str, set[tuple[object, object]]]
"""The pairs of states that the steps of an action lead between, by the action's name."""

ANYONE, TOTAL, AMOUNT = text.any_operation(), text.any_totals(), z3.Int("n")


def guard_of(action: Action) -> list[z3.BoolRef]:
    guard = action(ANYONE, TOTAL, AMOUNT).guard
    return list(guard.children()) if z3.is_and(guard) else [guard]


def edges_of_the_text() -> Edges:
    """The steps of the small instance, from every state of small numbers."""
    binding = exact_accounting.small_binding()
    found: Edges = defaultdict(set)
    starts = [target for label, target in binding.steps(binding.initial)]
    for state in set(starts):
        for label, target in binding.steps(state):
            if label.action != "Choose":
                found[label.action].add((state, target))
    return found


@pytest.fixture(scope="module")
def edges() -> Edges:
    return edges_of_the_text()


def without(action: Action, dropped: int) -> Action:
    """The action without one conjunct of its guard."""

    def weaker(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
        step = action(o, totals, n)
        kept = [each for place, each in enumerate(guard_of(action)) if place != dropped]
        return replace(step, guard=z3.And(z3.BoolVal(True), *kept))

    return weaker


DROPPED = [
    pytest.param(name, place, id=f"{name} without {python_of(conjunct)}")
    for name, action in ACTIONS.items()
    for place, conjunct in enumerate(guard_of(action))
    if not z3.is_true(conjunct)
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "place"), DROPPED)
def test_a_guard_dropped_from_the_text_is_noticed(
    name: str, place: int, edges: Edges, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ACTIONS, name, without(ACTIONS[name], place))

    found = edges_of_the_text()

    assert {action for action in edges if edges[action] != found[action]} == {name}


def added_guards() -> Iterator[tuple[str, str, z3.BoolRef]]:
    """Yield each action with each condition that its own guard does not imply."""
    numbers = {name: getattr(ANYONE, name) for name in OPERATION[1:]}
    numbers |= {name: getattr(TOTAL, name) for name in TOTALS}
    conditions = [ANYONE.completed, z3.Not(ANYONE.completed)]
    conditions += [number == 0 for number in numbers.values()]
    conditions += [z3.Not(number == 0) for number in numbers.values()]
    for name, action in ACTIONS.items():
        for condition in conditions:
            solver = z3.Solver()
            solver.add(*guard_of(action), z3.Not(condition))
            if solver.check() == z3.sat:
                yield name, python_of(condition), condition


def test_a_guard_added_to_any_action_of_either_side_is_noticed(edges: Edges) -> None:
    """Find a step that the guard forbids: so the side that has it lacks an edge of the other."""
    unnoticed = []
    checked = 0
    for name, words, _ in added_guards():
        checked += 1
        allows = eval(f"lambda {', '.join((*OPERATION, *TOTALS))}: {words}")
        if all(
            allows(*source.operations[0], source.stale, source.balances)  # type: ignore[attr-defined]
            for source, _ in edges[name]
        ):
            unnoticed.append(f"{name} with {words}")
    assert unnoticed == []
    assert checked > 300


# The module. Its guards are the conjuncts that give no variable a value.

_CONJUNCT = re.compile(r"  /\\ (?!UNCHANGED|Won\b|\w+' (?:=|\\in) )")
TAKEN_BY = {"Won": {"Win", "DecideWon"}}
"""The definitions that are no action themselves, with the actions that take them."""


def module_guards() -> list[tuple[str, int, int]]:
    """Each guard of the module: its definition, its line, and the run in which it is dropped.

    Of a definition one guard is dropped in a run. ``Won`` has the first run to itself.
    """
    module = read_literate(modules_folder() / "ExactAccounting.tla")
    found = []
    for definition in module.definitions:
        if definition.name not in {*ACTIONS, *TAKEN_BY}:
            continue
        run = 1 if definition.name == "DecideWon" else 0
        lines = definition.source.splitlines()
        for offset, line in enumerate(lines):
            if _CONJUNCT.match(line):
                found.append((definition.name, definition.line + offset, run))
                run += 1
    return found


def test_the_guards_of_the_module_are_found() -> None:
    found = Counter(name for name, _, _ in module_guards())
    # Win and Post have none of their own; the module says of in_lists in more lines what the text
    # says of an amount.
    assert found == {
        "Arm": 2,
        "Insert": 1,
        "GiveBackLive": 3,
        "GiveBackCompleted": 3,
        "Won": 1,
        "Remove": 4,
        "LeaveTimer": 1,
        "CallBack": 1,
        "Detach": 3,
        "CancelLive": 3,
        "CancelCompleted": 3,
        "Expire": 1,
        "Take": 1,
        "DecideWon": 1,
        "DecideLost": 2,
    }


def by_action(graph: NumberedGraph, numbering: Numbering) -> dict[str, set[int]]:
    found: dict[str, set[int]] = defaultdict(set)
    for number in graph.edges:
        found[str(numbering.labels[ends(number)[1]][0])].add(number)
    return found


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.verify
@pytest.mark.parametrize("run", sorted({run for _, _, run in module_guards()}))
def test_a_guard_dropped_from_the_module_is_noticed(run: int, tmp_path: Path) -> None:
    """Drop guards of different actions at once: an action's edges do not depend on the others."""
    folder = copied_modules(tmp_path)
    path = folder / "ExactAccounting.tla"
    dropped = [(name, line) for name, line, mine in module_guards() if mine == run]
    lines = path.read_text(encoding="utf-8").splitlines()
    for _, line in dropped:
        lines[line - 1] = ""
    path.write_text("\n".join(lines), encoding="utf-8")
    binding = exact_accounting.small_binding()
    numbering = Numbering(tuple(sorted(binding.variables)))
    model = by_action(model_graph(binding, numbering, limit=MOST_STATES), numbering)
    dump = explore_module(
        binding, CompareSettings(folder, java_options=QUICK), tmp_path / "graph.dot"
    )
    types = read_module(folder / "ExactAccountingHistory.tla").annotations.types
    with dump.path.open(encoding="utf-8", newline="") as stream:
        module = by_action(read_history(stream, numbering, types).graph, numbering)

    expected = set[str]().union(*(TAKEN_BY.get(name, {name}) for name, _ in dropped))
    assert {name for name in model if model[name] != module[name]} == expected
    assert all(model[name] < module[name] for name in expected)


def test_the_label_of_a_chosen_state_tells_the_invariants() -> None:
    """Expect all of them in the initial state, and each to fail in some state."""
    binding = exact_accounting.small_binding()
    labels = {label for label, _ in binding.steps(binding.initial) if label.action == "Choose"}
    assert Label("Choose", (1, 1, 1, 1)) in labels
    for place in range(4):
        assert {label.arguments[place] for label in labels} == {0, 1}
