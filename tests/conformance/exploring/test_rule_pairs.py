"""Explorations show which rules two successive steps can put to the test."""

from purgatory_conformance.exploring.rule_pairs import explore_pairs
from purgatory_conformance.running.case_run import CaseVerdict, run_case
from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_spec.profiles import Component

POOL = bundled_subject().profiles[Component.MEMORY_POOL]


def test_a_possible_pair_is_shown_by_steps_that_meet_it() -> None:
    """The steps of each pair meet it on the bundled pool, in its small instance."""
    explored = explore_pairs(POOL, 3_000)
    assert explored.length >= 2
    assert len(explored.met) > 100
    for pair, steps in list(explored.met.items())[::25]:
        operations = [step.operation for step in steps]
        runs = [run_case(bundled_subject(), "pair", c, operations) for c in explored.instances]
        runs = [run for run in runs if run.verdict is CaseVerdict.PASS]
        assert any(run.pairs[pair] for run in runs), pair


def test_no_pool_is_strict_and_not_strict() -> None:
    """A pair of rules of which no pool has both is met by nothing."""
    explored = explore_pairs(POOL, 3_000)
    assert ("POOL-STRICT", "POOL-STRICT") in explored.met
    assert ("POOL-STRICT", "POOL-NON-STRICT") not in explored.met
