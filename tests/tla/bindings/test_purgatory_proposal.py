"""The concurrent purgatory in the proposal's order: the model and TLA+ have one state graph."""

import pytest

from purgatory_model.concurrent.proposal.claims import CLAIMS
from purgatory_model.concurrent.proposal.instances import FALSE_CLAIMS, FAULTS, TRUE_CLAIMS, examine
from purgatory_model.concurrent.proposal.state import ProposalInstance
from purgatory_tla.bindings.purgatory import proposal
from purgatory_tla.comparing.comparing import GraphVerdict, compare
from purgatory_tla.comparing.report import told
from purgatory_tla.manifest.manifest import read_manifest
from purgatory_tla.modules.vocabulary import vocabulary
from purgatory_tla.resources import modules_folder

MODELS = {model.name: model for model in read_manifest().models}


@pytest.mark.java
@pytest.mark.large
def test_the_purgatory_as_it_was_released_has_one_graph() -> None:
    released = ProposalInstance(callers=("c1", "c2"), keys=("k1",), most_events=1, purge_interval=1)
    found = compare(proposal.bound("released", "As it was released.", released))
    assert found.verdict is GraphVerdict.EQUAL, "\n".join(told(found))
    assert found.states == 134_223


def test_every_action_of_the_module_is_in_words_or_belongs_to_what_the_model_leaves_out() -> None:
    """Leave out the steps of a rejected order and of a fault."""
    text = (modules_folder() / "PurgatoryProposalHistory.tla").read_text(encoding="utf-8")
    labelled = {part.split('"')[1] for part in text.split("step' = <<")[1:] if '"' in part[:2]}
    left_out = {"ReadSizeFirst", "ExpiryTests", "ExpirySets"}
    assert labelled - proposal.ACTIONS.keys() == left_out
    assert proposal.ACTIONS.keys() <= labelled


def in_tla(claim: str) -> str:
    """The name of a claim in TLA+: ``live-is-owed`` is ``LiveIsOwed``."""
    return "".join(word.capitalize() for word in claim.split("-"))


@pytest.mark.parametrize("name", [*FALSE_CLAIMS, *FAULTS])
def test_what_is_false_is_false_in_tla_after_as_many_steps(name: str) -> None:
    instance, claim = (FALSE_CLAIMS | FAULTS)[name]
    model = MODELS[f"proposal-{name}"]
    assert model.violated == in_tla(claim)
    counterexample = examine(instance, claim).found.counterexample
    assert counterexample is not None
    assert len(counterexample.path) + 1 == model.depth


def test_what_is_true_is_claimed_in_tla_by_the_same_names_and_rules() -> None:
    stated = vocabulary(modules_folder(), "PurgatoryProposal")
    for claim, (_, holds) in CLAIMS.items():
        rules = set((holds.__doc__ or "").replace(",", " ").replace(".", " ").split())
        named = {word for word in rules if word.startswith("PURGATORY-")}
        assert named == set(stated[in_tla(claim)].definition.rules), claim


def test_the_module_claims_at_least_what_the_model_does() -> None:
    sequential = MODELS["proposal-sequential"]
    (instance,) = (each for each in TRUE_CLAIMS if each.features)
    assert isinstance(instance, ProposalInstance)
    claimed = {in_tla(claim) for claim in TRUE_CLAIMS[instance]}
    assert set(sequential.invariants or ()) <= claimed
