"""The true claims about the concurrent purgatory hold; a fault breaks them."""

import pytest

from purgatory_model.claims.explorer import explore
from purgatory_model.concurrent.exact import instances
from purgatory_model.concurrent.exact.claims import CLAIMS
from purgatory_model.concurrent.exact.instance import VARIANTS, ExactInstance
from purgatory_model.concurrent.exact.model import ConcurrentExact

pytestmark = pytest.mark.recorded


@pytest.mark.parametrize(
    ("instance", "states", "edges"),
    [
        pytest.param(instances.ONE_OPERATION, 5119, 17902, id="one operation"),
        pytest.param(
            instances.TWO_OPERATIONS, 10882, 38969, id="two operations", marks=pytest.mark.large
        ),
        pytest.param(instances.CANCELLED, 2476, 10060, id="cancelled and forced"),
        pytest.param(instances.CALLED_INSIDE, 11948, 35285, id="calls inside callbacks"),
    ],
)
def test_every_true_claim_holds_in_every_state(
    instance: ExactInstance, states: int, edges: int
) -> None:
    model = ConcurrentExact(instance)
    found = explore(
        model.initial(), model.steps, instances.breaks(instance, *instances.TRUE_CLAIMS[instance])
    )
    assert found.counterexample is None
    assert found.complete
    assert (found.states, found.edges) == (states, edges)


@pytest.mark.parametrize(
    ("name", "actions"),
    [
        (
            "stale-never-negative",
            "BeginWatch Arm Insert Insert BeginCheck SecondTry CopyList Walk Drop Settle",
        ),
        ("timer-always-live", "BeginWatch Arm Insert BeginCheck SecondTry"),
        ("distinct-always-estimated", "BeginWatch Arm Insert Expire Take Decide"),
        (
            "pending-is-live",
            "BeginWatch Arm BeginCheck CopyList Insert SecondTry Post Expire CallBack",
        ),
        ("uncompleted-has-time-out", "BeginWatch Arm Insert SecondTry BeginCancel CancelOne"),
    ],
)
def test_every_false_claim_has_its_shortest_counterexample(name: str, actions: str) -> None:
    """Given a claim that one would believe: a shortest way to a state that breaks it is found."""
    instance, claim = instances.FALSE_CLAIMS[name]
    counterexample = instances.examine(instance, claim).found.counterexample
    assert counterexample is not None
    assert [step.action for step, _ in counterexample.path] == actions.split()


@pytest.mark.parametrize("name", instances.FAULTS)
def test_every_fault_breaks_a_true_claim(name: str) -> None:
    instance, claim = instances.FAULTS[name]
    assert claim in instances.PROVED
    assert instances.examine(instance, claim).found.counterexample is not None


def test_every_true_claim_but_one_that_counts_twice_has_a_fault_that_breaks_it() -> None:
    """Given the table of faults: no claim and no fault is missing but those named here."""
    broken = {claim for _, claim in instances.FAULTS.values()}
    followed = {
        variant for instance, _ in instances.FAULTS.values() for variant in instance.variants
    }
    assert broken <= set(CLAIMS)
    assert set(VARIANTS) - followed == {"own-entry-stays"}


def test_a_walk_that_leaves_its_own_entry_keeps_every_claim() -> None:
    """Every claim holds: it costs an addition to the count, and a purge."""
    instance = ExactInstance(operations=1, variants=frozenset({"own-entry-stays"}))
    model = ConcurrentExact(instance)
    found = explore(model.initial(), model.steps, instances.breaks(instance, *instances.PROVED))
    assert found.complete
    assert found.counterexample is None


def test_a_claim_that_there_is_not_is_an_error() -> None:
    """Given the name of no claim, when it is asked for, that is an error."""
    with pytest.raises(KeyError):
        instances.breaks(instances.ONE_OPERATION, "no-such-claim")
