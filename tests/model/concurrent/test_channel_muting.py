"""Channels that wait for memory: the true claims hold, the false ones and the faults break."""

import pytest

from purgatory_model.claims.explorer import explore
from purgatory_model.concurrent.channel_muting.instances import (
    CLAIMS,
    FALSE_CLAIMS,
    FAULTS,
    PROVED,
    RELEASED_KAFKA,
    TRUE_CLAIMS,
    breaks,
)
from purgatory_model.concurrent.channel_muting.model import (
    VARIANTS,
    ChannelMuting,
    Mute,
    Receive,
    Sent,
)

pytestmark = pytest.mark.recorded


@pytest.mark.parametrize("name", TRUE_CLAIMS)
def test_claims_hold_in_every_state(name: str) -> None:
    """None breaks a claim."""
    muting, claims = TRUE_CLAIMS[name]
    found = explore(muting.initial(), muting.steps, breaks(muting, *claims))
    assert (found.complete, found.counterexample) == (True, None)
    assert found.states > 1000
    assert found.deadlocks == muting.sleeps


@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("nobody-waits", 6),
        ("never-beyond", 6),
        ("released-kafka", 21),
        ("released-kafka-muted-holder", 13),
        ("mutes-holders", 8),
        ("forgets-buffered", 17),
        ("never-unmutes", 17),
        ("forgets-order", 9),
        ("line-forgets", 13),
        ("selects-waiters", 10),
        ("credits-twice", 6),
        ("lends-twice", 14),
        ("looks-then-takes", 10),
        ("wakes-nobody", 12),
        ("wakes-nobody-standstill", 22),
        ("released-kafka-two-threads", 24),
    ],
)
def test_shortest_way_to_break_a_claim(name: str, length: int) -> None:
    """The shortest way has so many steps."""
    muting, claim = {**FALSE_CLAIMS, **FAULTS}[name]
    found = explore(muting.initial(), muting.steps, breaks(muting, claim))
    assert found.counterexample is not None
    assert found.counterexample.broken == CLAIMS[claim][0]
    assert len(found.counterexample.path) == length


def test_each_true_claim_has_a_fault_that_breaks_it() -> None:
    assert {claim for _, claim in FAULTS.values()} == set(PROVED)
    assert {each for muting, _ in FAULTS.values() for each in muting.variants} == set(VARIANTS)
    assert set(PROVED) | {claim for _, claim in FALSE_CLAIMS.values()} == set(CLAIMS)


def test_the_standstill_of_released_kafka() -> None:
    """A handler releases between a select and a read."""
    found = explore(
        RELEASED_KAFKA.initial(), RELEASED_KAFKA.steps, breaks(RELEASED_KAFKA, "no-standstill")
    )
    assert found.counterexample is not None
    actions = [step.action for step, _ in found.counterexample.path]
    release = actions.index("Release")
    assert (actions[release - 1], actions[release + 1]) == ("Select", "Read")
    _, state = found.counterexample.path[-1]
    assert sorted((each.receive.value, each.muted) for each in state.channels) == [
        ("holds", frozenset({Mute.MEMORY})),
        ("waits", frozenset({Mute.MEMORY})),
    ]
    assert all(each.sent is Sent.WHOLE for each in state.channels)
    assert state.available_bytes == 0


def test_reading_a_channel_that_waits_is_enough_for_the_standstill() -> None:
    """There is a standstill: what came for the channel is all the memory there is."""
    muting = ChannelMuting(tls=True, first_come=False, variants=frozenset({"reads-buffered"}))
    found = explore(muting.initial(), muting.steps, breaks(muting, "no-standstill"))
    assert found.counterexample is not None
    _, state = found.counterexample.path[-1]
    assert state.available_bytes == 0


def test_the_un_mute_of_released_kafka_alone_brings_no_standstill() -> None:
    """There is no standstill."""
    muting = ChannelMuting(tls=True, first_come=False, variants=frozenset({"unmutes-unfilled"}))
    found = explore(muting.initial(), muting.steps, breaks(muting, "no-standstill"))
    assert (found.complete, found.counterexample) == (True, None)


def test_one_thread_may_look_and_take_in_two_steps() -> None:
    """Nothing is broken: nobody else takes what it has seen."""
    muting = ChannelMuting(variants=frozenset({"looks-then-takes"}))
    found = explore(muting.initial(), muting.steps, breaks(muting, *PROVED))
    assert (found.complete, found.counterexample) == (True, None)


def test_one_thread_needs_nobody_to_wake_it() -> None:
    """Nothing is broken."""
    muting = ChannelMuting(tls=True, sleeps=True, variants=frozenset({"wakes-nobody"}))
    found = explore(muting.initial(), muting.steps, breaks(muting, *PROVED))
    assert (found.complete, found.counterexample) == (True, None)


def test_a_thread_that_nobody_wakes_sleeps_beside_memory() -> None:
    """All memory is there: one channel waits while its thread sleeps."""
    muting, claim = FAULTS["wakes-nobody-standstill"]
    found = explore(muting.initial(), muting.steps, breaks(muting, claim))
    assert found.counterexample is not None
    _, state = found.counterexample.path[-1]
    assert state.available_bytes == muting.pool_bytes
    assert all(each.receive is Receive.WAITS for each in state.channels)
    assert all(muting.is_asleep(state, thread) for thread in muting.thread_numbers)


def test_plain_released_kafka_does_not_stand_still() -> None:
    muting = ChannelMuting(first_come=False, variants=RELEASED_KAFKA.variants)
    found = explore(muting.initial(), muting.steps, breaks(muting, *PROVED))
    assert (found.complete, found.counterexample) == (True, None)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"variants": frozenset({"none-such"})}, "there is no variant 'none-such'"),
        ({"request_bytes": 3}, "a request has 3 bytes; it must be 1 to 2"),
        ({"request_bytes": 0}, "a request has 0 bytes"),
        ({"threads": 3}, "threads are 3; they must be 1 to 2"),
    ],
)
def test_what_is_none_is_refused(arguments: dict[str, int], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        ChannelMuting(**arguments)  # type: ignore[arg-type]
