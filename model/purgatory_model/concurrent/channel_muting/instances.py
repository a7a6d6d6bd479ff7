"""Small instances of channels that wait for memory, and claims about them, true and false.

A claim is a sentence about single states. Each true claim has a planted fault under which it fails.
``no-standstill`` is what a sentence about states can say of liveness: where nobody but the network
threads can do anything, and a whole round of each changes nothing, no request is left in a socket.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from purgatory_model.concurrent.channel_muting.model import (
    ChannelMuting,
    Mute,
    MutingState,
    Phase,
    Receive,
    Sent,
)
from purgatory_model.concurrent.examining import Examiner

Claim: TypeAlias = Callable[[ChannelMuting, MutingState], bool]

TWO_CHANNELS = ChannelMuting(tls=True)
THREE_CHANNELS = ChannelMuting(channels=3, pool_bytes=3, tls=True, requests=1)
ALL_AT_ONCE = ChannelMuting(tls=True, first_come=False)
TWO_THREADS = ChannelMuting(threads=2, tls=True, sleeps=True)


def conserved(muting: ChannelMuting, state: MutingState) -> bool:
    """Decide whether no byte is lost or made."""
    out = muting.request_bytes * state.outstanding
    return state.available_bytes + out == muting.pool_bytes


def within_bound(muting: ChannelMuting, state: MutingState) -> bool:
    """Decide whether the limit is never exceeded by a whole request."""
    most = muting.pool_bytes + muting.request_bytes - 1
    return muting.request_bytes * state.outstanding <= most


def holders_go_on(_: ChannelMuting, state: MutingState) -> bool:
    """Decide whether no channel with memory waits for more."""
    return not any(
        each.receive is Receive.HOLDS and Mute.MEMORY in each.muted for each in state.channels
    )


def one_at_a_time(_: ChannelMuting, state: MutingState) -> bool:
    """Decide whether nothing is read between a request's reception and its response."""
    return all(
        each.receive is Receive.NONE and not each.is_selected
        for each in state.channels
        if each.is_handled or Mute.ORDER in each.muted
    )


def line_is_who_waits(muting: ChannelMuting, state: MutingState) -> bool:
    """Decide whether the line holds the waiting channels, each once."""
    waiting = [number for number, each in state.numbered if each.receive is Receive.WAITS]
    return not muting.first_come or sorted(state.line) == waiting


def no_standstill(muting: ChannelMuting, state: MutingState) -> bool:
    """Decide whether every sent request has been received once no step is left."""
    if all(each.sent is Sent.NOTHING for each in state.channels):
        return True
    threads = [
        each for each in muting.thread_numbers if next(muting.thread_steps(state, each), None)
    ]
    if any(state.phase(thread) is not Phase.POLL for thread in threads):
        return True
    if len(list(muting.steps(state))) > len(threads):
        return True
    after = state
    for thread in threads:
        after = _gone_round(muting, after, thread)
    return after != state


def _gone_round(muting: ChannelMuting, state: MutingState, thread: int) -> MutingState:
    """Return the state after a thread has gone round once, or sleeps."""
    way = next(muting.thread_steps(state, thread), None)
    while way is not None:
        _, state = way
        at_poll = state.phase(thread) is Phase.POLL
        way = None if at_poll else next(muting.thread_steps(state, thread), None)
    return state


def waiters_are_not_selected(_: ChannelMuting, state: MutingState) -> bool:
    """Select returns for no channel that waits for memory."""
    return not any(each.is_selected and Mute.MEMORY in each.muted for each in state.channels)


def nobody_sleeps_beside_memory(muting: ChannelMuting, state: MutingState) -> bool:
    """Decide whether no thread sleeps while there is memory for one of its channels."""
    return not any(muting.is_asleep(state, each) for each in muting.meant_for(state))


def nobody_waits(_: ChannelMuting, state: MutingState) -> bool:
    """Decide whether no channel waits: false, since some do."""
    return all(each.receive is not Receive.WAITS for each in state.channels)


def never_beyond(_: ChannelMuting, state: MutingState) -> bool:
    """Decide whether the pool lends no more than it has: false, since it does."""
    return state.available_bytes >= 0


CLAIMS: Mapping[str, tuple[str, Claim]] = {
    "conservation": ("what is available and what is out are the limit", conserved),
    "bound": ("the limit is never exceeded by a whole request", within_bound),
    "holders-go-on": ("a channel that has memory does not wait for some", holders_go_on),
    "one-at-a-time": (
        "nothing is read of a channel from a request's reception to its response",
        one_at_a_time,
    ),
    "line-is-who-waits": ("the line has those who wait, each once", line_is_who_waits),
    "waiters-are-not-selected": (
        "select returns for no channel that waits for memory",
        waiters_are_not_selected,
    ),
    "nobody-sleeps-beside-memory": (
        "no thread sleeps while there is memory for one of its channels",
        nobody_sleeps_beside_memory,
    ),
    "no-standstill": (
        "where nothing happens any more, every request that was sent has been received",
        no_standstill,
    ),
    "nobody-waits": ("nobody waits", nobody_waits),
    "never-beyond": ("the pool lends no more than it has", never_beyond),
}
"""Claims about states by name: their sentence and their check."""

PROVED = (
    "conservation",
    "bound",
    "holders-go-on",
    "one-at-a-time",
    "line-is-who-waits",
    "waiters-are-not-selected",
    "nobody-sleeps-beside-memory",
    "no-standstill",
)
"""The claims that hold of every instance without a fault."""

TRUE_CLAIMS: Mapping[str, tuple[ChannelMuting, tuple[str, ...]]] = {
    "two-channels": (TWO_CHANNELS, PROVED),
    "three-channels": (THREE_CHANNELS, PROVED),
    "plain": (replace(TWO_CHANNELS, tls=False), PROVED),
    "all-at-once": (ALL_AT_ONCE, PROVED),
    "two-threads": (TWO_THREADS, PROVED),
    "two-threads-all-at-once": (replace(TWO_THREADS, first_come=False), PROVED),
}
"""Instances and the claims that hold of all their states."""

FALSE_CLAIMS: Mapping[str, tuple[ChannelMuting, str]] = {
    "nobody-waits": (TWO_CHANNELS, "nobody-waits"),
    "never-beyond": (THREE_CHANNELS, "never-beyond"),
}
"""Each an instance with a plausible claim that some state of the instance breaks."""

RELEASED_KAFKA = replace(ALL_AT_ONCE, variants=frozenset({"reads-buffered", "unmutes-unfilled"}))
"""The channels of released Kafka under TLS."""

FAULTS: Mapping[str, tuple[ChannelMuting, str]] = {
    "released-kafka": (RELEASED_KAFKA, "no-standstill"),
    "released-kafka-muted-holder": (RELEASED_KAFKA, "holders-go-on"),
    "mutes-holders": (
        replace(THREE_CHANNELS, variants=frozenset({"mutes-holders"})),
        "holders-go-on",
    ),
    "forgets-buffered": (
        replace(TWO_CHANNELS, variants=frozenset({"forgets-buffered"})),
        "no-standstill",
    ),
    "never-unmutes": (
        replace(TWO_CHANNELS, variants=frozenset({"never-unmutes"})),
        "no-standstill",
    ),
    "forgets-order": (
        replace(ALL_AT_ONCE, pool_bytes=4, variants=frozenset({"forgets-order"})),
        "one-at-a-time",
    ),
    "line-forgets": (
        replace(THREE_CHANNELS, variants=frozenset({"reads-buffered"})),
        "line-is-who-waits",
    ),
    "selects-waiters": (
        replace(ALL_AT_ONCE, variants=frozenset({"reads-buffered"})),
        "waiters-are-not-selected",
    ),
    "credits-twice": (
        replace(TWO_CHANNELS, variants=frozenset({"credits-twice"})),
        "conservation",
    ),
    "lends-twice": (replace(TWO_CHANNELS, variants=frozenset({"credits-twice"})), "bound"),
    "looks-then-takes": (
        replace(TWO_THREADS, variants=frozenset({"looks-then-takes"})),
        "bound",
    ),
    "wakes-nobody": (
        replace(TWO_THREADS, variants=frozenset({"wakes-nobody"})),
        "nobody-sleeps-beside-memory",
    ),
    "wakes-nobody-standstill": (
        replace(TWO_THREADS, variants=frozenset({"wakes-nobody"})),
        "no-standstill",
    ),
    "released-kafka-two-threads": (
        replace(RELEASED_KAFKA, threads=2),
        "no-standstill",
    ),
}
"""An instance with a fault, and a true claim that it breaks."""


def _itself(muting: ChannelMuting) -> ChannelMuting:
    return muting


breaks = Examiner(CLAIMS, _itself).breaks
"""A check for the explorer that these claims hold; see ``Examiner``."""
