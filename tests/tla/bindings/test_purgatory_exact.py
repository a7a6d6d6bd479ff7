"""The purgatory with the exact accounting: every legal choice has the same graph on both sides."""

import re
from dataclasses import replace

import pytest

from purgatory_model.concurrent.exact.claims import CLAIMS
from purgatory_model.concurrent.exact.instance import FEATURES, ExactInstance
from purgatory_model.concurrent.exact.instances import FALSE_CLAIMS, FAULTS, examine
from purgatory_tla.bindings.purgatory import exact, exact_actions
from purgatory_tla.bindings.registry import reported_bindings, small_bindings
from purgatory_tla.comparing.comparing import GraphVerdict, compare
from purgatory_tla.comparing.report import told
from purgatory_tla.manifest.manifest import read_manifest
from purgatory_tla.modules.vocabulary import vocabulary
from purgatory_tla.resources import modules_folder

TWO_CALLERS = exact.TWO_CALLERS
CANCELLED = exact.CANCELLING_AND_FORCING


@pytest.mark.java
@pytest.mark.large
@pytest.mark.parametrize(
    ("instance", "states", "edges"),
    [
        pytest.param(
            replace(TWO_CALLERS, purge_interval=0), 31655, 129936, id="every stale entry is purged"
        ),
        pytest.param(
            replace(CANCELLED, purgers=("purger",), purge_interval=1),
            *(43423, 206162),
            id="cancelled and purged",
        ),
    ],
)
def test_the_graphs_are_equal(instance: ExactInstance, states: int, edges: int) -> None:
    found = compare(exact.bound("further", "A further instance.", instance))
    assert found.verdict is GraphVerdict.EQUAL, told(found)
    assert (found.states, found.edges) == (states, edges)


def test_every_feature_is_on_in_an_instance_that_is_compared() -> None:
    """Compare every feature somewhere: a feature without an instance could be wrong unseen."""
    bindings = {**reported_bindings(), **small_bindings()}.values()
    of_exact = [each for each in bindings if each.module == "PurgatoryExactHistory"]
    compared = {name for each in of_exact for name in _elements(each.constants["Features"])}
    assert compared == {f'"{name}"' for name in FEATURES}


@pytest.mark.parametrize("flag", ["programs", "ordered"])
def test_what_the_module_does_not_know_is_not_bound(flag: str) -> None:
    instance = replace(exact.SMALL, **{flag: True})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="neither results of calls nor orders of lists"):
        exact.bound("a", "b", instance)


def in_tla(claim: str) -> str:
    """The name of a claim in TLA+: ``live-is-pending`` is ``LiveIsPending``."""
    return "".join(word.capitalize() for word in claim.split("-"))


def test_every_claim_of_the_model_is_one_of_the_module() -> None:
    defined = vocabulary(modules_folder(), "PurgatoryExact")
    assert {in_tla(claim) for claim in CLAIMS} <= defined.keys()


MODELS = {model.name: model for model in read_manifest().models}
SHARED = sorted(name for name in {**FALSE_CLAIMS, **FAULTS} if f"exact-{name}" in MODELS)


@pytest.mark.parametrize("name", SHARED)
def test_a_false_claim_fails_after_as_many_steps_as_in_tla(name: str) -> None:
    model = MODELS[f"exact-{name}"]
    instance, claim = {**FALSE_CLAIMS, **FAULTS}[name]
    assert model.violated == in_tla(claim)
    bound = exact.bound(name, name, replace(instance, variants=frozenset()))
    constants = {**bound.constants, "Defects": _set_of(instance)}
    for constant, value in model.constants.items():
        assert _elements(constants[constant]) == _elements(value), constant
    counterexample = examine(instance, claim).found.counterexample
    assert counterexample is not None
    assert model.depth == len(counterexample.path) + 1


def test_most_counterexamples_are_laid_beside_tla() -> None:
    assert {*FALSE_CLAIMS, *FAULTS} - set(SHARED) == {
        "cancel-takes-time-out-estimate",
        "promise-one-too-few",
        "promise-one-too-few-counted",
        "purge-subtracts-nothing",
    }


def _set_of(instance: ExactInstance) -> str:
    return "{" + ", ".join(f'"{each}"' for each in sorted(instance.variants)) + "}"


def _elements(value: str) -> frozenset[str]:
    """The elements of a set as it is written, in no order."""
    return frozenset(each.strip() for each in value.strip("{}").split(","))


def test_every_action_is_in_words_or_belongs_to_what_the_model_leaves_out() -> None:
    """Leave out the steps of two choices that argue for a reduction, and of faults."""
    text = (modules_folder() / "PurgatoryExactHistory.tla").read_text(encoding="utf-8")
    labelled = set(re.findall(r'<<"(\w+)"', text))
    groups = (
        vars(exact_actions)[name]
        for name in ("COMPLETING", "WATCHING", "CHECKING", "CANCELLING", "FORCING", "PURGING")
    )
    told = {action for group in (*groups, *exact_actions.BY_FEATURE.values()) for action in group}
    in_two_steps = {"PromiseAlone", "Withdraw", "CancelTimeOut", "ArmLate", "LookAgain"}
    of_faults = {"LatePromise", "LateEvent", "Reset", "Remove"}
    assert labelled - told == in_two_steps | of_faults | {"NestedNothing"}
    assert told <= labelled
