"""The table of claims says of each claim the same as exploring its instance does."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from purgatory_conformance.exploring.claims import (
    ClaimStatus,
    KnownClaim,
    Shelf,
    Sizes,
    UnknownClaim,
    UnusableSizes,
)
from purgatory_conformance.exploring.shelves import (
    SHELVES,
    NoSuchClaim,
    check_sizes,
    options_of,
    shelf_of,
)
from purgatory_spec.profiles import Component

pytestmark = pytest.mark.recorded

LIMIT = 50_000
KNOWN = [(shelf, claim) for shelf in SHELVES for claim in shelf.known()]
FALSE = [(shelf, claim) for shelf, claim in KNOWN if claim.standing is not ClaimStatus.HOLDS]


def sizes_of(claim: KnownClaim) -> Sizes:
    """The sizes that the options of a known claim stand for."""
    match claim.options.split():
        case ["--accounting", value]:
            return Sizes(accounting=value)
        case ["--executor", value]:
            return Sizes(executor=value)
        case ["--strict"]:
            return Sizes(strict=True)
    assert claim.options == ""
    return Sizes()


def one_true_claim_of_each_instance() -> Iterator[tuple[Shelf, KnownClaim]]:
    seen: set[tuple[str, str]] = set()
    for shelf, claim in KNOWN:
        if claim.standing is ClaimStatus.HOLDS and (options_of(shelf), claim.options) not in seen:
            seen.add((options_of(shelf), claim.options))
            yield shelf, claim


def label(value: object) -> str:
    if isinstance(value, KnownClaim):
        return f"{value.name} {value.options}".strip()
    return options_of(value) if hasattr(value, "known") else str(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(("shelf", "claim"), FALSE, ids=label)
def test_what_is_false_is_told_up_to_the_step_that_breaks_it(
    shelf: Shelf, claim: KnownClaim
) -> None:
    """The story ends with the step that breaks it, every step has an actor, and its words."""
    looked = shelf.look(claim.name, sizes_of(claim), LIMIT)
    story = looked.narrative
    assert story is not None
    assert looked.sentence == claim.sentence
    assert claim.sentence in story.verdict
    assert [step.remark for step in story.steps if step.remark] == ["claim broken"]
    assert story.steps[-1].remark
    first, *others = story.steps
    assert first.actor == ""
    assert all(step.actor in story.actors and step.text for step in others)
    assert all(tuple(step.counts) == story.counts for step in story.steps)


@pytest.mark.slow
@pytest.mark.parametrize(("shelf", "claim"), list(one_true_claim_of_each_instance()), ids=label)
def test_what_is_true_is_explored_to_the_end(shelf: Shelf, claim: KnownClaim) -> None:
    """Given a claim that is known to be true: every state is visited, and none breaks it."""
    sizes = sizes_of(claim)
    if shelf.component is Component.TIMER:
        sizes = replace(sizes, tasks=1)
    looked = shelf.look(claim.name, sizes, LIMIT)
    assert (looked.complete, looked.narrative) == (True, None)
    assert looked.states > 200


def test_each_model_has_claims_of_both_kinds() -> None:
    """Each has true ones and false ones, and those with threads also planted defects."""
    assert {(shelf.component, shelf.concurrent) for shelf in SHELVES} == {
        (Component.TIMER, False),
        (Component.PURGATORY, False),
        (Component.PURGATORY, True),
        (Component.MEMORY_POOL, False),
        (Component.MEMORY_POOL, True),
        ("channel_muting", True),
    }
    for shelf in SHELVES:
        standings = {claim.standing for claim in shelf.known()}
        planted = {ClaimStatus.PLANTED} if shelf.concurrent else set()
        assert standings == {ClaimStatus.HOLDS, ClaimStatus.FALSE} | planted


@pytest.mark.parametrize("shelf", SHELVES, ids=options_of)
def test_a_limit_leaves_a_claim_undecided(shelf: Shelf) -> None:
    """Given a true claim, when no more than five states may be visited, nothing is decided."""
    claim = next(claim for claim in shelf.known() if claim.standing is ClaimStatus.HOLDS)
    looked = shelf.look(claim.name, sizes_of(claim), 5)
    assert (looked.complete, looked.narrative, looked.states) == (False, None, 5)


@pytest.mark.parametrize("shelf", SHELVES, ids=options_of)
def test_a_claim_that_there_is_not_is_none_of_any_shelf(shelf: Shelf) -> None:
    with pytest.raises(UnknownClaim):
        shelf.look("no-such-claim", Sizes(), LIMIT)


@pytest.mark.parametrize(
    ("component", "concurrent", "claim", "sizes", "words"),
    [
        ("timer", False, "invariants", Sizes(wheel_size=1), "wheel_size is 1"),
        ("timer", False, "invariants", Sizes(tick=0), "tick_ms is 0"),
        ("timer", False, "invariants", Sizes(last=-1), "--last is -1"),
        ("timer", False, "invariants", Sizes(tasks=5), "--tasks is 5; it must be between 1 and 4"),
        ("purgatory", False, "invariants", Sizes(operations=0), "--operations is 0"),
        ("purgatory", False, "invariants", Sizes(last=-1), "--last is -1"),
        ("purgatory", True, "live-bound", Sizes(callers=0), "--callers is 0"),
        ("purgatory", True, "law", Sizes(keys=5, accounting="exact"), "--keys is 5"),
        ("memory_pool", False, "invariants", Sizes(size=1, max_single=2), "max_single_bytes is 2"),
        ("memory_pool", True, "bound", Sizes(max_single=0), "max_single_bytes is 0"),
        ("memory_pool", True, "bound", Sizes(threads=5), "--threads is 5"),
        ("channel_muting", True, "bound", Sizes(channels=5), "--channels is 5"),
        ("channel_muting", True, "bound", Sizes(threads=3), "threads are 3; they must be 1 to 2"),
        ("channel_muting", True, "bound", Sizes(size=1), "it must be 1 to 1"),
    ],
)
def test_sizes_of_which_there_is_no_instance_are_rejected(
    component: str, concurrent: bool, claim: str, sizes: Sizes, words: str
) -> None:
    """Given a size that is too small or too large: the error names the size and its bounds."""
    with pytest.raises(UnusableSizes, match=words):
        shelf_of(claim, component, concurrent).look(claim, sizes, LIMIT)


def test_threads_and_channels_make_the_instance_larger() -> None:
    """Given a claim about two channels on one thread: there are fewer states, and more."""
    shelf = shelf_of("bound", "channel_muting", True)
    one, two, on_two_threads = (
        shelf.look("bound", Sizes(channels=channels, threads=threads), LIMIT).states
        for channels, threads in ((1, 1), (2, 1), (2, 2))
    )
    assert one < two < on_two_threads


def test_sizes_make_the_instance_larger() -> None:
    """Given a claim about a pool with two threads: there are fewer states, and more."""
    shelf = shelf_of("bound", "memory_pool", True)
    one, two, three = (
        shelf.look("bound", Sizes(size=1, max_single=1, threads=threads), LIMIT).states
        for threads in (1, 2, 3)
    )
    assert one < two < three


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        (Sizes(buffers=3), "--buffers is no size of the timer; there are --delay, --last"),
        (Sizes(delays=(1,), threads=2), "--threads is no size of the timer"),
    ],
)
def test_sizes_of_another_model_are_rejected(sizes: Sizes, words: str) -> None:
    with pytest.raises(UnusableSizes, match=words):
        check_sizes(shelf_of("invariants", "timer", False), sizes)


@pytest.mark.parametrize(
    ("name", "component", "concurrent", "words"),
    [
        ("invariant", None, False, "did you mean invariants"),
        ("within-size", "timer", False, "it is one with --component memory-pool"),
        ("law", None, False, "it is one with --component purgatory --concurrent"),
        ("zzz", None, False, "see: purgatory model explore --list"),
        ("invariants", "timer", True, "no claims with threads about the timer"),
        ("bound", "channel_muting", False, "no claims without threads about the channel muting"),
    ],
)
def test_a_claim_that_there_is_not_leads_to_those_there_are(
    name: str, component: str | None, concurrent: bool, words: str
) -> None:
    with pytest.raises(NoSuchClaim, match=words):
        shelf_of(name, component, concurrent)


def test_without_a_component_the_first_model_that_has_the_claim_is_taken() -> None:
    assert shelf_of("invariants", None, False).component is Component.TIMER
    assert shelf_of("mass-expiry-estimate", None, False).component is Component.PURGATORY
    assert shelf_of("within-size", None, False).component is Component.MEMORY_POOL
    assert shelf_of("bound", None, True).component is Component.MEMORY_POOL
