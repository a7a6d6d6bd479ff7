"""Edits put operations where no situation has them."""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import pytest
from msgspec import structs

from purgatory_conformance.generation.draft import walked
from purgatory_conformance.generation.edits import edited
from purgatory_conformance.generation.fields import Operations
from purgatory_conformance.generation.source import SeededSource
from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_conformance.subjects.bundled.timer import PROFILE as TIMER
from purgatory_conformance.subjects.sent_requests import SIZE_BYTES
from purgatory_conformance.support.registry import support_of
from purgatory_spec import operations as op
from purgatory_spec.profiles import LARGEST_LONG, LARGEST_SAFE_INTEGER, Component, Feature
from tests.conformance.generated import drawn

pytestmark = pytest.mark.recorded

LARGEST_MS = 10**6
PROFILES = {**bundled_subject().profiles}
PROFILES[Component.TIMER] = structs.replace(TIMER, largest_delay_ms=LARGEST_MS)
CASES = 800


def _adds_again_in_vain(operations: Operations) -> bool:
    """Decide whether a task that was added before is added with a delay that is too large."""
    known: set[str] = set()
    for each in operations:
        if isinstance(each, op.Add):
            if each.task in known and each.delay_ms > LARGEST_MS:
                return True
            known.add(each.task)
    return False


def _goes_on_after_the_end(operations: Operations) -> bool:
    """Decide whether a task that was added before a shutdown is added or cancelled after it."""
    if op.Shutdown() not in operations:
        return False
    end = operations.index(op.Shutdown())
    before = {each.task for each in operations[:end] if isinstance(each, op.Add)}
    return any(isinstance(e, op.Add | op.Cancel) and e.task in before for e in operations[end:])


def _is_long(operations: Operations) -> bool:
    """Decide whether one kind of operation comes more than 200 times."""
    return max(Counter(type(each) for each in operations).values(), default=0) > 200


def _is_old(operations: Operations) -> bool:
    """Decide whether the clock reads more than 2^31 ms."""
    return any(isinstance(each, op.Elapse) and each.to_ms > 2**31 for each in operations)


def _acts_between_clock_and_look(operations: Operations) -> bool:
    """Decide whether anything else than a look follows a step of the clock."""
    return any(
        isinstance(first, op.Elapse) and not isinstance(then, op.Poll | op.PollWhile | op.Elapse)
        for first, then in pairwise(operations)
    )


def _calls_the_server_behind_an_end(operations: Operations) -> bool:
    """Decide whether the server is asked for something else than a poll right after an end."""
    calls = op.Connect | op.Respond | op.Throttle | op.Unthrottle | op.Close | op.Release
    return any(
        isinstance(first, op.HangUp) and isinstance(then, calls)
        for first, then in pairwise(operations)
    )


def _sends_a_size_in_three_pieces(operations: Operations) -> bool:
    """Decide whether the third write of a request has bytes of its size still."""
    sent: dict[str, list[int]] = {}
    for each in operations:
        if isinstance(each, op.Announce):
            sent[each.channel] = [each.sent_bytes]
        elif isinstance(each, op.Send):
            writes = sent.setdefault(each.channel, [])
            if len(writes) == 2 and sum(writes) < SIZE_BYTES:
                return True
            writes.append(each.sent_bytes)
    return False


def _is_a_crowd(operations: Operations) -> bool:
    """Decide whether more than eight clients connect."""
    return sum(isinstance(each, op.Connect) for each in operations) > 8


def _has_a_hundred_requests(operations: Operations) -> bool:
    """Decide whether one client sends more than a hundred requests."""
    sent = Counter(each.channel for each in operations if isinstance(each, op.Announce))
    return max(sent.values(), default=0) > 100


def _has_requests_of_more_than_16_bits(operations: Operations) -> bool:
    """Decide whether a body is announced whose size needs more than 16 bits."""
    return any(isinstance(each, op.Announce) and each.size_bytes > 2**16 for each in operations)


def _writes_twice_before_a_poll(operations: Operations) -> bool:
    """Decide whether two writes of one client follow each other."""
    return any(
        isinstance(first, op.Announce | op.Send)
        and isinstance(then, op.Announce | op.Send)
        and first.channel == then.channel
        for first, then in pairwise(operations)
    )


@pytest.mark.parametrize(
    ("component", "is_so", "least"),
    [
        (Component.TIMER, _adds_again_in_vain, 3),
        (Component.TIMER, _goes_on_after_the_end, 10),
        (Component.TIMER, _is_long, 10),
        (Component.PURGATORY, _is_long, 3),
        (Component.MEMORY_POOL, _is_long, 3),
        (Component.MEMORY_POOL, _is_old, 5),
        (Component.CHANNEL_MUTING, _is_old, 30),
        (Component.CHANNEL_MUTING, _acts_between_clock_and_look, 40),
        (Component.CHANNEL_MUTING, _calls_the_server_behind_an_end, 40),
        (Component.CHANNEL_MUTING, _has_a_hundred_requests, 2),
        (Component.CHANNEL_MUTING, _sends_a_size_in_three_pieces, 8),
        (Component.CHANNEL_MUTING, _is_a_crowd, 15),
        (Component.CHANNEL_MUTING, _has_requests_of_more_than_16_bits, 15),
        (Component.CHANNEL_MUTING, _writes_twice_before_a_poll, 40),
    ],
)
def test_generated_cases_have_what_no_situation_draws(
    component: Component, is_so: Callable[[Operations], bool], least: int
) -> None:
    """The cases of ``standard`` have it, most of it several times."""
    cases = [drawn(component, PROFILES[component], seed).operations for seed in range(CASES)]
    assert sum(map(is_so, cases)) >= least


@pytest.mark.parametrize(
    ("largest_ms", "features"),
    [
        (LARGEST_LONG, TIMER.features | {Feature.INT64}),
        (LARGEST_SAFE_INTEGER, TIMER.features - {Feature.INT64}),
    ],
)
def test_no_delay_is_wider_than_the_protocol_carries(
    largest_ms: int, features: frozenset[Feature]
) -> None:
    """A delay beyond the largest one is drawn only where an integer can hold it."""
    profile = structs.replace(TIMER, largest_delay_ms=largest_ms, features=features)
    delays = {
        each.delay_ms
        for seed in range(CASES)
        for each in drawn(Component.TIMER, profile, seed).operations
        if isinstance(each, op.Add)
    }
    assert max(delays) == largest_ms


@pytest.mark.parametrize("component", Component)
def test_an_edited_clock_never_goes_back(component: Component) -> None:
    """Whatever was edited, each reading is that of the step before it, or later."""
    source = SeededSource(1)
    for seed in range(60):
        operations = drawn(component, PROFILES[component], seed).operations
        for candidate in edited(operations, PROFILES[component], source):
            readings = [e.to_ms for e in candidate if isinstance(e, op.Advance | op.Elapse)]
            assert readings == sorted(readings)


@pytest.mark.parametrize("component", Component)
def test_walks_have_every_kind_of_operation_that_is_worth_asking(component: Component) -> None:
    """Sixty walks together have all kinds; the kinds come from the asks alone."""
    support, profile = support_of(component), PROFILES[component]
    kinds: set[type[op.Operation]] = set()
    asked: set[type[op.Operation]] = set()
    for seed in range(60):
        source = SeededSource(seed)
        configuration = support.draw_configuration(profile, source, frozenset())
        draft = support.draft(configuration, profile)
        walk = walked(draft, source, 40)
        kinds |= {type(each) for each in walk}
        asked |= {type(each) for each in draft.asks()}
    assert asked <= kinds
    assert len(kinds) >= 6
