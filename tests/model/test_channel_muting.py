"""Channels that wait for memory: what is left free, and variants; golden vectors show the rest."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

import msgspec
import pytest

from purgatory_conformance.generation.channel_muting.table import (
    draw_configuration,
    draw_operations,
)
from purgatory_conformance.generation.source import SeededSource
from purgatory_judge.channel_muting.judge import ChannelMutingJudge
from purgatory_judge.judgement import TooManyStates
from purgatory_model import channel_muting, channel_state, kafka_channels
from purgatory_model.channel_muting import SIZE_BYTES, ChannelMutingModel, ChannelMutingState
from purgatory_model.choices import channels
from purgatory_model.step import TooManyBranches
from purgatory_spec import profiles
from purgatory_spec.operations import (
    Announce,
    Connect,
    Elapse,
    HangUp,
    Operation,
    Poll,
    PollWhile,
    Release,
    Respond,
    Send,
    Throttle,
    Unthrottle,
)
from purgatory_spec.outcomes import Outcome, Value
from purgatory_spec.requirements import requirements, requirements_of_steps

from .faces import agree

EVERYONE = profiles.ChannelMutingProfile(
    features=frozenset(profiles.ChannelMutingFeature),
    observables=frozenset(profiles.ChannelMutingObservable),
)
FIRST_COME = msgspec.structs.replace(EVERYONE, recovery=profiles.Recovery.FIRST_COME)
AT_ONCE = msgspec.structs.replace(FIRST_COME, end_while_waiting=profiles.EndWhileWaiting.AT_ONCE)
PROFILES = (EVERYONE, FIRST_COME, AT_ONCE)
ONE_FITS = profiles.ChannelMutingConfiguration(10, 10)

Pair = tuple[Outcome, ChannelMutingState]


def model(
    configuration: profiles.ChannelMutingConfiguration = ONE_FITS,
    profile: profiles.ChannelMutingProfile = FIRST_COME,
    variants: frozenset[str] = frozenset(),
) -> ChannelMutingModel:
    return ChannelMutingModel(configuration, profile, variants)


def followed(given: ChannelMutingModel, *operations: Operation) -> list[Pair]:
    """Every outcome of the last operation, with its state; all before it go one way."""
    state = given.initial()
    for operation in operations[:-1]:
        ways = list(given.successors(state, operation))
        assert len({seen(outcome) for outcome, _ in ways}) == 1 or isinstance(operation, Release)
        state = ways[0][1]
    return list(given.successors(state, operations[-1]))


def seen(outcome: Outcome) -> tuple[tuple[str, ...], tuple[tuple[str, Value], ...]]:
    """Return the received requests and the observables."""
    return tuple(each.task for each in outcome.events), tuple(sorted(outcome.observed.items()))


def received(pairs: list[Pair]) -> set[tuple[str, ...]]:
    return {tuple(each.task for each in outcome.events) for outcome, _ in pairs}


def observed(pairs: list[Pair], name: str) -> set[Value]:
    return {outcome.observed[name] for outcome, _ in pairs}


def whole(channel: str, size: int = 10) -> Announce:
    return Announce(channel, size, SIZE_BYTES + size)


TWO = (Connect("c1"), Connect("c2"))
WAITING = (*TWO, whole("c1"), Poll(), whole("c2"), Poll())
"""c1's request has all memory, and c2's waits."""


def test_who_is_read_first_is_free() -> None:
    """Either is received, and the other waits."""
    pairs = followed(model(), *TWO, whole("c1"), whole("c2"), Poll())
    assert {(seen(outcome)[0], outcome.observed["waiting"]) for outcome, _ in pairs} == {
        (("c1#1",), ("c2",)),
        (("c2#1",), ("c1",)),
    }


@pytest.mark.parametrize(("profile", "both"), [(FIRST_COME, 1), (EVERYONE, 2)])
def test_a_newcomer_waits_behind_the_line(
    profile: profiles.ChannelMutingProfile, both: int
) -> None:
    """Under first come the one that waited is received, and else either."""
    steps = (Connect("c3"), Release("c1#1"), whole("c3"), Poll())
    pairs = followed(model(profile=profile), *WAITING, *steps)
    assert len(received(pairs)) == both
    assert ("c2#1",) in received(pairs)


def test_who_waits_is_not_idle_and_who_is_silent_is() -> None:
    idle = profiles.ChannelMutingConfiguration(10, 10, idle_limit_ms=100)
    steps = (*WAITING, Connect("c3"), Elapse(101), Poll())
    opens = observed(followed(model(idle), *steps), "open")
    assert opens == {("c1", "c2"), ("c2",)}  # c1's request is handled
    variant = model(idle, variants=frozenset({"waiting_is_idle"}))
    assert () in observed(followed(variant, *steps), "open")


@pytest.mark.parametrize("size_bytes", [10, 5])
def test_what_released_kafka_does_under_tls(size_bytes: int) -> None:
    """Under the variant the channel may hold and wait, and never read on."""
    tls = profiles.ChannelMutingConfiguration(10, 10, tls=True)
    asks = Announce("c2", size_bytes, SIZE_BYTES + 1)
    stuck = (*TWO, whole("c1"), Poll(), asks, Poll(), PollWhile("c1#1"))
    right = followed(model(tls, EVERYONE), *stuck)
    assert observed(right, "waiting") == {()}
    followed_variant = model(tls, EVERYONE, frozenset({"tls_stuck"}))
    ways = followed(followed_variant, *stuck)
    assert observed(ways, "waiting") == {(), ("c2",)}
    state = next(after for outcome, after in ways if outcome.observed["waiting"])
    ((_, sent),) = followed_variant.successors(state, Send("c2", size_bytes - 1))
    assert received(list(followed_variant.successors(sent, Poll()))) == {()}


def test_a_channel_may_be_stuck_behind_one_that_was_received_in_the_same_poll() -> None:
    """Under the variant the first may be received, and the second hold and wait."""
    tls = profiles.ChannelMutingConfiguration(10, 8, tls=True)
    two_wait = (
        *(*TWO, Connect("c3"), whole("c1", 8), Poll()),
        *(whole("c1", 8), Respond("c1"), Poll()),
        *(Announce("c2", 8, 8), Poll(), whole("c3", 1), Poll()),
    )
    ways = followed(model(tls, EVERYONE, frozenset({"tls_stuck"})), *two_wait, PollWhile("c1#1"))
    seen_ways = {
        (received([way]).pop(), way[0].observed["holding"], way[0].observed["waiting"])
        for way in ways
    }
    assert (("c3#1",), ("c2",), ("c2",)) in seen_ways


def test_tls_bytes_behind_an_empty_request_may_be_forgotten_until_more_come() -> None:
    """Under the variant the other may be left until its client sends more."""
    tls = profiles.ChannelMutingConfiguration(10, 10, tls=True)
    ahead = (*TWO, whole("c1", 0), whole("c1", 3), Poll(), Respond("c1"))
    assert received(followed(model(tls), *ahead, Poll())) == {("c1#2",)}
    forgetful = model(tls, variants=frozenset({"tls_forgets"}))
    ways = followed(forgetful, *ahead, Poll())
    assert received(ways) == {(), ("c1#2",)}
    state = next(after for outcome, after in ways if not outcome.events)
    ((_, sent),) = forgetful.successors(state, whole("c1", 4))
    assert received(list(forgetful.successors(sent, Poll()))) == {("c1#2",)}


def test_a_channel_without_bytes_may_ask_again_with_the_next() -> None:
    refused = (*TWO, whole("c1"), Poll(), Announce("c2", 10, 4), Poll(), Release("c1#1"), Poll())
    assert observed(followed(model(), *refused), "holding") == {("c2",)}
    later = model(profile=msgspec.structs.replace(EVERYONE, ask_again=profiles.AskAgain.WITH_BYTES))
    ways = followed(later, *refused)
    assert observed(ways, "holding") == observed(ways, "waiting") == {()}
    assert observed(followed(later, *refused, Send("c2", 1), Poll()), "holding") == {("c2",)}
    assert observed(followed(later, *refused, HangUp("c2"), Poll()), "open") == {("c1",)}


def test_a_channel_that_handles_nothing_is_throttled_at_any_time_or_not_at_all() -> None:
    """A profile without the feature has the throttle do nothing."""
    throttled = (*TWO, Throttle("c1"), whole("c1", 3), Poll())
    assert received(followed(model(), *throttled)) == {()}
    features = FIRST_COME.features - {profiles.ChannelMutingFeature.THROTTLE_ANYTIME}
    before_responses = msgspec.structs.replace(FIRST_COME, features=features)
    assert received(followed(model(profile=before_responses), *throttled)) == {("c1#1",)}


def test_memory_for_a_throttled_channel_that_waits_may_come_at_once_and_ends_no_throttling() -> (
    None
):
    """It is granted now or later, nothing is received before the end, and then it is."""
    waits = (*TWO, whole("c1"), Poll(), whole("c2"), Poll(), Throttle("c2"))
    for profile in (EVERYONE, FIRST_COME):
        freed = followed(model(profile=profile), *waits, Release("c1#1"), Poll())
        assert received(freed) == {()}
        assert {(), ("c2",)} <= observed(freed, "holding")
        ended = (Release("c1#1"), Unthrottle("c2"), Poll())
        assert received(followed(model(profile=profile), *waits, *ended)) == {("c2#1",)}


@pytest.mark.parametrize("operation", [Release("c1#7"), PollWhile("c1#7"), Respond("c9")])
def test_names_that_nobody_knows(operation: Operation) -> None:
    ((outcome, _),) = followed(model(), *TWO, operation)
    assert outcome.rejected is not None
    assert outcome.rejected.value == "unknown_name"


def in_a_crowd(size: int) -> tuple[ChannelMutingModel, ChannelMutingState]:
    """A server without a line, and clients that each send a part of a request."""
    given = model(profile=EVERYONE)
    state = given.initial()
    for number in range(size):
        for operation in (Connect(f"c{number}"), Announce(f"c{number}", 3, 5 + 2 * (number % 2))):
            ((_, state),) = given.successors(state, operation)
    return given, state


def test_a_poll_of_six_clients_ends_in_each_choice_of_the_four_that_get_memory() -> None:
    """Those that send all are received, and hold nothing for the others to see."""
    given, state = in_a_crowd(6)
    assert len(given.expectations(state, Poll())) == len(list(combinations(range(6), 4)))


def test_a_poll_of_too_many_clients_is_not_followed() -> None:
    """Twelve of them might be served in minutes of looking at all ways: a case is inconclusive."""
    _, state = in_a_crowd(12)
    judge = ChannelMutingJudge(ONE_FITS, EVERYONE)
    judge.states = (state,)
    with pytest.raises(TooManyStates):
        judge.step(Poll(), Outcome())


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no variant 'none_such'"):
        model(variants=frozenset({"none_such"}))


def test_the_clock_does_not_go_back() -> None:
    with pytest.raises(ValueError, match="the clock reads 5 and cannot go back to 4"):
        followed(model(), Elapse(5), Elapse(4))


@cache
def drawn() -> tuple[tuple[ChannelMutingModel, ChannelMutingState, Operation], ...]:
    """Steps of generated cases, each case going a way of its own."""

    def steps() -> Iterator[tuple[ChannelMutingModel, ChannelMutingState, Operation]]:
        for seed in range(200):
            profile = PROFILES[seed % len(PROFILES)]
            source = SeededSource(seed)
            configuration = draw_configuration(profile, source, frozenset())
            variants = frozenset({"tls_stuck"}) if configuration.tls and seed % 2 else frozenset()
            given = model(configuration, profile, variants)
            state = given.initial()
            for operation in draw_operations(given.configuration, profile, source, most=40):
                yield given, state, operation
                ways = given.expectations(state, operation)
                way = source.item(ways)
                state = way.complete(())

    return tuple(steps())


def test_both_faces_agree() -> None:
    """Exactly the enumerated outcomes are accepted, each with its state."""
    for given, state, operation in drawn()[::7]:
        ways = given.expectations(state, operation)
        if any(len(group) > 6 for way in ways for group in way.groups):
            continue  # a crowd is received in too many orders to enumerate
        pairs = list(given.successors(state, operation))
        assert agree(given, state, operation, pairs), operation


class EachFirst(ChannelMutingModel):
    """The model in which any channel may ask first, also where all requests find memory."""

    def _finds_room(self, *_: object) -> bool:
        return False


class OneFirst(ChannelMutingModel):
    """A model that is wrong: one channel asks first, whether the others find memory or not."""

    def _finds_room(self, *_: object) -> bool:
        return True


Ends = frozenset[tuple[object, ChannelMutingState]]


def ends(given: ChannelMutingModel, state: ChannelMutingState, operation: Operation) -> Ends:
    """The outcomes of a poll, each with the state after it."""
    ways = given.expectations(state, operation)
    return frozenset((way.groups, way.complete(())) for way in ways)


def test_a_poll_ends_the_same_whoever_asks_first_where_all_find_memory() -> None:
    """Following one order then leaves no end out; following one order always would."""
    compared, fewer = 0, 0
    for given, state, operation in drawn():
        if not isinstance(operation, Poll | PollWhile) or len(state.channels) > 6:
            continue
        each, one = (
            kind(given.configuration, given.profile, given.variants)
            for kind in (EachFirst, OneFirst)
        )
        try:
            every = ends(each, state, operation)
        except TooManyBranches:
            continue
        assert ends(given, state, operation) == every
        compared += 1
        fewer += ends(one, state, operation) != every
    assert compared > 500
    assert fewer


def test_rules_that_docstrings_name_are_reasons_and_no_others() -> None:
    """Each of them is the reason of some step, and no step has another reason."""
    stated_in = (channel_state, kafka_channels, channels, channel_muting)
    source = "".join(Path(str(each.__file__)).read_text(encoding="utf-8") for each in stated_in)
    stating = (ast.FunctionDef, ast.ClassDef, ast.Module)
    texts = [
        ast.get_docstring(n) or "" for n in ast.walk(ast.parse(source)) if isinstance(n, stating)
    ]
    named = set(re.findall(r"MUTING-[A-Z-]+[A-Z]", " ".join(texts)))
    reasons = {
        rule
        for given, state, operation in drawn()
        for way in given.expectations(state, operation)
        for rules in way.rules.values()
        for rule in rules
    }
    of_steps = {each.id for each in requirements_of_steps(profiles.Component.CHANNEL_MUTING)}
    assert reasons == of_steps
    assert (
        of_steps <= named <= {each.id for each in requirements(profiles.Component.CHANNEL_MUTING)}
    )
