"""Every action of the models with threads is told in words."""

from collections.abc import Mapping

import pytest

from purgatory_conformance.reporting.concurrent import exact_story, proposal_story
from purgatory_conformance.reporting.concurrent.story import (
    SAYINGS,
    narrate_concurrent_pool,
    narrate_threads,
)
from purgatory_model.claims.explorer import Counterexample, explore
from purgatory_model.concurrent.exact import instances as exact
from purgatory_model.concurrent.exact.model import ConcurrentExact
from purgatory_model.concurrent.memory_pool import instances as pool
from purgatory_model.concurrent.proposal import instances as proposal
from purgatory_model.concurrent.proposal.model import ConcurrentProposal
from purgatory_model.overlapping.interleaving import ConcurrentModel, State, Step

MOST_STATES = 2_000


def untold(model: ConcurrentModel[State], sayings: Mapping[str, str]) -> set[str]:
    """The actions of a model's first states that have no words."""
    found: set[str] = set()

    def note(_: State, step: Step, __: State) -> str | None:
        found.add(step.action)
        return None

    explore(model.initial(), model.steps, note, limit=MOST_STATES)
    assert found
    return found - sayings.keys()


@pytest.mark.parametrize("name", [*proposal.FALSE_CLAIMS, *proposal.FAULTS])
def test_each_action_of_the_published_order_has_words(name: str) -> None:
    instance, _ = {**proposal.FALSE_CLAIMS, **proposal.FAULTS}[name]
    assert not untold(ConcurrentProposal(instance), proposal_story.SAYINGS)


@pytest.mark.parametrize("name", [*exact.FALSE_CLAIMS, *exact.FAULTS])
def test_each_action_of_the_exact_accounting_has_words(name: str) -> None:
    instance, _ = {**exact.FALSE_CLAIMS, **exact.FAULTS}[name]
    assert not untold(ConcurrentExact(instance), exact_story.SAYINGS)


@pytest.mark.parametrize("name", [*pool.FALSE_CLAIMS, *pool.FAULTS])
def test_each_action_of_the_pool_has_words(name: str) -> None:
    instance, _ = {**pool.FALSE_CLAIMS, **pool.FAULTS}[name]
    assert not untold(instance, SAYINGS)


def test_an_action_without_words_is_told_by_its_name() -> None:
    way: Counterexample[int, Step] = Counterexample(
        0, ((Step("Fly", ("t1", 3)), 1),), "nobody flies"
    )
    story = narrate_threads("a bird", way, lambda *_: "", lambda state: {"height": str(state)})
    assert story.actors == ("t1",)
    assert [(step.actor, step.text) for step in story.steps] == [("", "at first"), ("t1", "Fly 3")]
    assert [step.counts["height"] for step in story.steps] == ["0", "1"]
    assert story.verdict == "It is false that nobody flies."


def test_a_step_is_told_with_the_values_that_it_finds() -> None:
    instance, claim = pool.FAULTS["split-test-and-subtract"]
    found = explore(instance.initial(), instance.steps, pool.breaks(instance, claim))
    assert found.counterexample is not None
    story = narrate_concurrent_pool("a pool", found.counterexample)
    told = [step.text for step in story.steps]
    assert told[-1] == "subtracts 2 unseen, has its buffer"
    assert "reads 2 available, wants 2" in told
    assert story.steps[-1].counts == {"available": "-2", "outstanding": "4"}
