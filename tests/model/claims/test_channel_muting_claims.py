"""Channels that wait for memory: the invariants hold over every path of small instances."""

import pytest

from purgatory_model.claims.channel_muting import FALSE_CLAIMS, INVARIANTS, ChannelInstance, breaks
from purgatory_model.claims.explorer import explore
from purgatory_spec.operations import Poll, PollWhile
from purgatory_spec.profiles import ChannelMutingConfiguration, Recovery

TWO_FIT = ChannelMutingConfiguration(3, 2)
TLS = ChannelMutingConfiguration(2, 2, tls=True)

INSTANCES = {
    "two, first come": ChannelInstance(),
    "two, everyone": ChannelInstance(Recovery.EVERYONE),
    "two that hang up": ChannelInstance(requests=1, hang_up=True),
    "three, first come": ChannelInstance(channels=3, requests=1),
    "three, everyone": ChannelInstance(Recovery.EVERYONE, channels=3, requests=1),
    "two that hang up, everyone": ChannelInstance(Recovery.EVERYONE, requests=1, hang_up=True),
}


@pytest.mark.parametrize("name", INSTANCES)
def test_invariants_hold_over_every_path(name: str) -> None:
    """No step breaks an invariant, and a channel that waits is found on the way."""
    instance = INSTANCES[name]
    found = explore(instance.initial(), instance.steps, breaks(instance, *INVARIANTS))
    assert (found.complete, found.counterexample) == (True, None)
    assert found.states > 100
    waits = explore(instance.initial(), instance.steps, breaks(instance, "nobody-waits"))
    assert waits.counterexample is not None


@pytest.mark.parametrize("claim", FALSE_CLAIMS)
def test_what_one_would_believe_is_false(claim: str) -> None:
    instance = ChannelInstance(channels=3, requests=1, configuration=TWO_FIT)
    found = explore(instance.initial(), instance.steps, breaks(instance, claim))
    assert found.counterexample is not None
    assert found.counterexample.broken == FALSE_CLAIMS[claim][0]


def test_what_released_kafka_does_breaks_the_invariant() -> None:
    """A release within a poll leaves a channel that holds memory and waits."""
    instance = ChannelInstance(
        Recovery.EVERYONE, configuration=TLS, variants=frozenset({"tls_stuck"})
    )
    found = explore(instance.initial(), instance.steps, breaks(instance, "holders-go-on"))
    assert found.counterexample is not None
    operations = [operation for (operation, _), _ in found.counterexample.path]
    assert isinstance(operations[-1], PollWhile)
    assert any(isinstance(each, Poll) for each in operations)


def test_each_invariant_is_there_for_a_rule_of_its_own() -> None:
    assert len({each.rule for each in INVARIANTS.values()}) == len(INVARIANTS)
