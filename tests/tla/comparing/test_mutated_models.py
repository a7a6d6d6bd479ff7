"""One-line changes by program, in each function of a concurrent model, show in a compared graph."""

import pytest

from purgatory_tla.bindings.registry import SMALL

from .mutated_models import MUTATED, Noticing, mutants_in

LEAST = {"exact.calls": 0.95, "exact.turn": 0.95, "exact.instance": 0.95, "proposal.calls": 0.92}
"""The share of changes that a graph shows. The others are in what a module does not have: results
of calls, faults to follow, claims; tests of histories and of claims notice those."""

FUNCTIONS = {
    name: [each.__name__ for each in SMALL if each.__module__.endswith(f".{name}")]
    for name in MUTATED
}


@pytest.mark.verify
@pytest.mark.parametrize("bindings", MUTATED)
def test_most_changes_are_noticed(bindings: str) -> None:
    noticing = Noticing(bindings, FUNCTIONS[bindings])
    for module in MUTATED[bindings]:
        mutants = mutants_in(module)
        missed = [each for each in mutants if not noticing.notices(each)]
        assert 1 - len(missed) / len(mutants) >= LEAST[module], missed


@pytest.mark.verify
def test_a_change_that_shows_nowhere_is_not_noticed() -> None:
    """The control: without the instances in which inserts fail, nothing tells when they do."""
    failing = [each for each in mutants_in("exact.calls") if each.definition == "fail_inserting"]
    assert len(failing) > 5
    with_it = Noticing("purgatory.exact", ["small_binding", "failing_binding"])
    without = Noticing("purgatory.exact", ["small_binding"])
    assert all(map(with_it.notices, failing))
    assert not all(map(without.notices, failing))
