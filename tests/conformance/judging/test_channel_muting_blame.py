"""Which rule a server breaks of which nothing is told but the available bytes."""

from collections.abc import Iterable

import pytest

from purgatory_conformance.judging.channel_muting.judge import ChannelMutingJudge
from purgatory_spec import profiles
from purgatory_spec.operations import Announce, Connect, Operation, Poll, Release
from purgatory_spec.outcomes import Outcome, received

PROFILE = profiles.ChannelMutingProfile(
    recovery=profiles.Recovery.FIRST_COME,
    features=frozenset(
        {profiles.ChannelMutingFeature.PLAIN, profiles.ChannelMutingFeature.NON_STRICT}
    ),
    observables=frozenset({profiles.ChannelMutingObservable.AVAILABLE}),
)


def blamed(steps: Iterable[tuple[Operation, int]]) -> str:
    """The rule of the last step, where every step shows so many available bytes."""
    judge = ChannelMutingJudge(profiles.ChannelMutingConfiguration(4, 4), PROFILE)
    rule = ""
    for operation, available_bytes in steps:
        is_first_poll = isinstance(operation, Poll) and available_bytes == 0
        events = (received("c1#1"),) if is_first_poll else ()
        outcome = Outcome(events=events, observed={"available_bytes": available_bytes})
        divergence = judge.step(operation, outcome).divergence
        assert not rule, "only the last step diverges"
        rule = "" if divergence is None else divergence.rule
    return rule


@pytest.mark.parametrize(
    ("left_bytes", "rule"),
    [(2, ""), (4, "MUTING-RECOVER"), (1, "MUTING-ASK")],
    ids=["as it waits for", "nothing is granted", "another size is granted"],
)
def test_memory_that_nobody_grants_to_who_waits_is_no_recovery(left_bytes: int, rule: str) -> None:
    """It is recovery that is missing, or memory is asked for by another size."""
    steps = (
        (Connect("c1"), 4),
        (Announce("c1", 4, 8), 4),
        (Connect("c2"), 4),
        (Announce("c2", 2, 5), 4),
        (Poll(), 0),
        (Release("c1#1"), 4),
        (Poll(), left_bytes),
    )
    assert blamed(steps) == rule
