"""The checkers that catch a planted defect, and those that do not."""

from dataclasses import replace

import pytest

from purgatory_conformance.knowledge import vectors
from purgatory_conformance.running.campaign import Budget
from purgatory_conformance.running.case_run import CaseVerdict, run_case
from purgatory_conformance.specimens.mutants import mutant
from purgatory_course.breaking.catch_words import NOBODY, answers, sentences
from purgatory_course.breaking.who_catches import Caught, who_catches

FEW = Budget(least_cases=40, most_cases=40, shrink_runs=120)
NONE = Budget(least_cases=0, most_cases=0)


def caught(name: str, budget: Budget = FEW, *, with_vectors: bool = True) -> Caught:
    chosen = mutant(name)
    golden = vectors(chosen.component) if with_vectors else ()
    return who_catches(chosen, seed=1, budget=budget, vectors=golden)


@pytest.fixture(scope="module")
def generous() -> Caught:
    return caught("pool-admits-at-zero")


def test_all_four_catch_a_pool_that_grants_too_much(generous: Caught) -> None:
    """Given a pool that grants once more when nothing is left: each names what it has found."""
    told = answers(generous)
    assert told["rule"] == "POOL-NON-STRICT"
    assert told["TLA+"] == "Bound of MemoryPool"
    assert told["vectors"] == f"dry-spell, 2 of {generous.vectors.asked}"
    assert told["generation"].startswith("case g")
    rule, tla, golden, generated = sentences(generous)
    assert "shrunk to 2 steps, the failure is blamed on POOL-NON-STRICT" in rule
    assert "MemoryPool with admits-at-zero planted breaks Bound" in tla
    assert "purgatory tla explain pool-admits-at-zero" in tla
    assert f"2 of {generous.vectors.asked} fail; the first is dry-spell, step" in golden
    assert "seed 1, case g" in generated
    assert "Shrunk: ask for " in generated


@pytest.mark.slow
def test_what_is_said_can_be_repeated(generous: Caught) -> None:
    subject = generous.mutant.make()
    generated = generous.campaign.first_failure
    assert generated is not None
    for run in (generous.vectors.failing[0], generated):
        again = run_case(subject, run.name, run.configuration, run.operations)
        assert again.verdict is CaseVerdict.FAIL
        assert len(again.steps) == len(run.steps)
    subject.close()


@pytest.mark.slow
def test_who_has_not_seen_it_is_said_to_be_nobody() -> None:
    """Say for each of the four that it does not catch the defect."""
    found = caught("nested-throw-unheard", NONE)
    assert not found.by_anybody
    assert answers(found) == {
        "rule": NOBODY,
        "TLA+": NOBODY,
        "vectors": f"{NOBODY} of {found.vectors.asked}",
        "generation": NOBODY,
    }
    assert all(NOBODY in sentence for sentence in sentences(found))


def test_a_campaign_without_cases_leaves_it_to_the_vectors() -> None:
    """The rule is the one that the vector blames; without vectors nobody blames any."""
    found = caught("pool-unbounded-takes-negative", NONE)
    assert found.by_anybody
    assert answers(found)["rule"] == "POOL-UNBOUNDED-NEGATIVE"
    assert answers(found)["generation"] == NOBODY
    assert "the vector unbounded blames POOL-UNBOUNDED-NEGATIVE" in next(sentences(found))
    blind = caught("pool-unbounded-takes-negative", NONE, with_vectors=False)
    assert not blind.by_anybody
    assert answers(blind)["vectors"] == f"{NOBODY} of 0"


def test_a_rule_that_is_not_the_mutants_own_is_said_to_be_another() -> None:
    """Given a mutant that is said to break another rule than it does: the sentence names both."""
    chosen = replace(mutant("pool-zero-granted"), rule="POOL-LEAK", also=())
    found = who_catches(chosen, seed=1, budget=FEW, vectors=())
    assert "blamed on POOL-ZERO-REQUEST, though what it breaks is POOL-LEAK" in next(
        sentences(found)
    )
