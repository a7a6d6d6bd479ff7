"""A history module adds a label to each step of the module it extends, and nothing else."""

from pathlib import Path

import pytest

from purgatory_tla.bindings.registry import reported_bindings, small_bindings
from purgatory_tla.checkers.checking import check
from purgatory_tla.checkers.configurations import Configuration
from purgatory_tla.checkers.tlc.dot_dump import Edge, Node, read_dump, unescaped
from purgatory_tla.comparing.comparing import QUICK, CompareSettings, explore_module
from purgatory_tla.comparing.history_dump import STEP, read_history
from purgatory_tla.comparing.numbering import Numbering, ends
from purgatory_tla.modules.module_text import read_module
from purgatory_tla.resources import modules_folder
from purgatory_tla.values.printed import parse_state
from purgatory_tla.values.shapes import shaped

SMALLEST = (
    "timer-small",
    "timing-wheel-rounding",
    "memory-pool-identity-small",
    "memory-pool-calls-small",
    "purgatory-calls-small",
    "purgatory-exact-small",
    "purgatory-proposal-small",
    "channel-muting-small",
)
"""For each history module an instance; the others may be asked for by hand."""

OF_A_JUDGE = "ExactAccountingHistory"
"""The history of a module that judges steps and cannot enumerate them: it has no graph of its own.

That the history leaves out no step and adds none, the comparison with the proof's text shows alone.
"""


def own_pairs(path: Path, module: str, numbering: Numbering) -> set[tuple[int, int]]:
    """The pairs of states that a step of a module leads between, in a dump without labels."""
    types = read_module(modules_folder() / f"{module}.tla").annotations.types
    places: dict[int, int] = {}
    edges: list[Edge] = []
    with path.open(encoding="utf-8", newline="") as lines:
        for item in read_dump(lines):
            if isinstance(item, Edge):
                edges.append(item)
                continue
            assert isinstance(item, Node)
            printed = parse_state("\n/\\ ".join(map(unescaped, item.variables)))
            values = {name: shaped(each, types.get(name)) for name, each in printed.items()}
            places[item.identifier] = numbering.state(
                tuple(numbering.value(values[name]) for name in numbering.variables)
            )
    return {(places[each.source], places[each.target]) for each in edges}


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [SMALLEST[0], *(pytest.param(name, marks=pytest.mark.verify) for name in SMALLEST[1:])]
)
def test_a_history_has_the_states_and_steps_of_its_module(name: str, tmp_path: Path) -> None:
    """Compare the states at rest, and the pairs of states that a step leads between."""
    binding = small_bindings()[name]
    numbering = Numbering(tuple(sorted(binding.variables)))
    settings = CompareSettings(modules_folder(), java_options=QUICK)
    dump = explore_module(binding, settings, tmp_path / "history.dot")
    types = read_module(modules_folder() / f"{binding.module}.tla").annotations.types
    with dump.path.open(encoding="utf-8", newline="") as lines:
        history = read_history(lines, numbering, types).graph
    module = binding.module.removesuffix("History")
    own = check(
        modules_folder() / f"{module}.tla",
        Configuration(specification="Spec", constants=binding.constants),
        dump=tmp_path / "own.dot",
        java_options=QUICK,
    )
    assert own.statistics.distinct == len(history.states)
    shown = {(source, target) for source, _, target in map(ends, history.edges)}
    assert shown == own_pairs(tmp_path / "own.dot", module, numbering)


def test_each_bound_history_is_compared_with_its_module() -> None:
    every = {**reported_bindings(), **small_bindings()}
    modules = {binding.module for binding in every.values()}
    assert {every[name].module for name in SMALLEST} == modules - {OF_A_JUDGE}
    for module in modules:
        text = (modules_folder() / f"{module}.tla").read_text(encoding="utf-8")
        assert f"EXTENDS {module.removesuffix('History')}" in text
        assert f"VARIABLE {STEP}" in text
