"""The control: a server written by nobody who wrote the model passes the whole suite."""

from contextlib import closing

import msgspec
import pytest

from purgatory_conformance.knowledge import vectors
from purgatory_conformance.running.campaign import Budget, Verdict, run_campaign
from purgatory_conformance.running.case_run import CaseVerdict
from purgatory_conformance.specimens.small.channel_muting import (
    PROFILE,
    Channel,
    Habits,
    SmallServer,
    small_server_subject,
)
from purgatory_conformance.specimens.wrong import asyncio_server
from purgatory_conformance.specimens.wrong.asyncio_server import asyncio_server_subject
from purgatory_spec import profiles
from purgatory_spec.operations import Announce, Connect, Poll
from purgatory_spec.reasons import Reason
from purgatory_spec.requirements import requirements_of_steps
from tests.conformance.generated import passes

pytestmark = pytest.mark.recorded

STANDARD = Budget()


@pytest.mark.slow
@pytest.mark.parametrize("recovery", profiles.Recovery)
def test_small_server_conforms_and_is_put_to_every_test(recovery: profiles.Recovery) -> None:
    """Each vector passes, and each rule was visited as often as it must be."""
    golden = vectors(profiles.Component.CHANNEL_MUTING)
    subject = small_server_subject(profile=msgspec.structs.replace(PROFILE, recovery=recovery))
    campaign = run_campaign(
        subject, profiles.Component.CHANNEL_MUTING, seed=1, budget=STANDARD, vectors=golden
    )
    assert campaign.verdict is Verdict.CONFORMANT, campaign.why
    unfollowed = campaign.verdicts[CaseVerdict.INCONCLUSIVE]
    assert campaign.verdicts[CaseVerdict.PASS] + unfollowed == campaign.verdicts.total()
    assert unfollowed <= campaign.cases / 50  # a few may go in too many ways to follow
    rules = {rule.id for rule in requirements_of_steps(profiles.Component.CHANNEL_MUTING)}
    if recovery is profiles.Recovery.EVERYONE:
        rules -= {"MUTING-FIRST-COME"}
    assert {rule.id for rule in campaign.rules} == rules
    assert min(campaign.visits[rule] for rule in rules) >= STANDARD.minimum_visits


def _only(*features: profiles.ChannelMutingFeature) -> profiles.ChannelMutingProfile:
    return msgspec.structs.replace(PROFILE, features=frozenset(features))


PLAIN, TLS = profiles.ChannelMutingFeature.PLAIN, profiles.ChannelMutingFeature.TLS
NON_STRICT, STRICT = profiles.ChannelMutingFeature.NON_STRICT, profiles.ChannelMutingFeature.STRICT

PROFILES = {
    "silent": msgspec.structs.replace(PROFILE, observables=frozenset()),
    "open alone": msgspec.structs.replace(
        PROFILE, observables=frozenset({profiles.ChannelMutingObservable.OPEN})
    ),
    "plain": _only(PLAIN, NON_STRICT),
    "TLS": _only(TLS, STRICT, profiles.ChannelMutingFeature.POLL_WHILE),
    "weakest": profiles.ChannelMutingProfile(features=frozenset({PLAIN, NON_STRICT})),
    "everyone, silent": profiles.ChannelMutingProfile(
        features=frozenset(profiles.ChannelMutingFeature)
    ),
}


@pytest.mark.parametrize("habits", [Habits(), Habits(descending=True, grants_in_polls=True)])
@pytest.mark.parametrize("name", PROFILES)
def test_small_server_conforms_under_other_profiles(name: str, habits: Habits) -> None:
    declared = PROFILES[name]
    behaves = msgspec.structs.replace(
        PROFILE, recovery=declared.recovery, end_while_waiting=profiles.EndWhileWaiting.AT_ONCE
    )
    subject = small_server_subject(profile=declared, behaves=behaves, habits=habits)
    passes(subject, profiles.Component.CHANNEL_MUTING, 80)


class BreaksDown(SmallServer):
    """Fails in a way that no rule plans."""

    def grant(self, channel: Channel, size: int) -> None:
        """Divides by nothing."""
        channel.memory = size // 0


def test_unplanned_failure_is_internal() -> None:
    subject = small_server_subject(BreaksDown)
    subject.new("break", profiles.ChannelMutingConfiguration())
    *_, polled = subject.do_all([Connect("a"), Announce("a", 1, 5), Poll()])
    assert polled.rejected is Reason.INTERNAL
    assert "ZeroDivisionError" in polled.detail


def test_asyncio_reads_ahead_and_is_right_otherwise() -> None:
    """It conforms without a look into its sockets; with one, it has read without memory."""
    shown = asyncio_server.PROFILE.observables - {profiles.ChannelMutingObservable.UNREAD}
    blind = msgspec.structs.replace(asyncio_server.PROFILE, observables=shown)
    with closing(asyncio_server_subject(blind)) as subject:
        passes(subject, profiles.Component.CHANNEL_MUTING, 60)
    with closing(asyncio_server_subject()) as subject:
        subject.new("ahead", profiles.ChannelMutingConfiguration(10, 10))
        *_, polled = subject.do_all(
            [
                *(Connect("c1"), Connect("c2"), Announce("c1", 10, 4), Poll()),
                *(Announce("c2", 10, 14), Poll()),
            ]
        )
    assert polled.observed["waiting"] == ("c2",)
    assert polled.observed["unread_bytes"] == 0
