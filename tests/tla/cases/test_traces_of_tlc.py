"""Predictions of TLC's random behaviours, asked of the bundled implementations and wrong ones."""

from collections.abc import Iterator
from dataclasses import replace

import msgspec
import pytest

from purgatory_conformance.specimens.mutants import mutant, mutants
from purgatory_conformance.subjects.bundled import bundled_proposal_subject, bundled_subject
from purgatory_conformance.subjects.subject import Subject
from purgatory_spec.profiles import component_of
from purgatory_tla.cases.instances import INSTANCES

from .made_traces import asked_of, simulated_by_tlc

pytestmark = [pytest.mark.java, pytest.mark.slow]

# The smallest share of TLA+ steps that must be drivable: with the seed of the tests it is more.
SHARES = {
    "timer": 1.0,
    "timer-shutdown": 1.0,
    "timing-wheel": 1.0,
    "timing-wheel-one-delay": 1.0,
    "memory-pool": 0.8,
    "memory-pool-strict": 0.8,
    "memory-pool-released-twice": 0.8,
    "memory-pool-foreign": 0.8,
    "purgatory-proposal": 0.8,
    "purgatory-proposal-interleaved": 0.15,
    "purgatory-proposal-cancelled": 0.8,
    "purgatory-exact": 0.8,
    "purgatory-exact-interleaved": 0.1,
    "purgatory-exact-cancelled": 0.8,
    "purgatory-exact-watched-again": 0.7,
}
VERIFIED = ("timer", "purgatory-proposal", "purgatory-proposal-interleaved")
"""The instances that `make verify` simulates, beside those of ``CAUGHT``."""

# Kafka's order takes the time-out with the first cancelled key, and the bundled purgatory does not.
DIFFERS_BY_CHOICE = {"purgatory-proposal-cancelled"}

CAUGHT = {
    "timing-wheel": (
        "one-tick-late",
        "skipped-ticks-lost",
        "ticks-backwards",
        "readd-ignored",
        "cancelled-still-fires",
        "last-in-first-out",
        "follows-clock",
        "span-of-all-buckets",
        "eager-level",
        "lost-on-cascade",
        "emptied-bucket-leaves",
        "lost-on-reuse",
    ),
    "memory-pool-released-twice": (
        "pool-buffer-rounded-up",
        "pool-zero-granted",
        "pool-negative-credits",
        "pool-release-forgets",
        "pool-release-twice",
        "pool-again-is-ignored",
    ),
    "purgatory-exact-cancelled": (
        "completes-twice",
        "stays-in-timer",
        "force-says-no",
        "no-second-try",
        "first-try-watches",
        "lost-wake-up",
        "cancel-takes-time-out",
        "cancel-keeps-list",
        "entries-once",
        "estimate-is-pending",
    ),
}


def names() -> list[object]:
    """Return every instance; those in which no wrong one is caught are not in every run."""
    marks = dict.fromkeys(VERIFIED, pytest.mark.verify)
    return [
        each.name
        if each.name in CAUGHT
        else pytest.param(each.name, marks=marks.get(each.name, pytest.mark.large))
        for each in INSTANCES
    ]


@pytest.fixture
def subject(name: str) -> Iterator[Subject]:
    proposal = name.startswith("purgatory-proposal")
    made = bundled_proposal_subject() if proposal else bundled_subject()
    yield made
    made.close()


def test_every_instance_has_a_share() -> None:
    assert set(SHARES) == {each.name for each in INSTANCES}


@pytest.mark.parametrize("name", names())
def test_the_bundled_implementation_does_what_tlc_predicts(name: str, subject: Subject) -> None:
    found = simulated_by_tlc(name)
    length = sum(each.driven.length for each in found)
    assert length >= 600
    followed = 0
    differences = []
    for each in found:
        offered, answer = asked_of(subject, each.driven)
        followed += answer.steps(offered)
        differences += [(each.name, answer.difference)] if answer.difference else []
    if name in DIFFERS_BY_CHOICE:
        assert {found.about for _, found in differences} == {"timer_size"}
        return
    assert differences == []
    assert followed >= SHARES[name] * length


@pytest.mark.parametrize("name", CAUGHT)
def test_wrong_implementations_are_caught(name: str) -> None:
    caught = []
    for wrong in CAUGHT[name]:
        made = mutant(wrong).make()
        answers = (asked_of(made, each.driven)[1] for each in simulated_by_tlc(name))
        if any(answer.difference is not None for answer in answers):
            caught.append(wrong)
        made.close()
    assert tuple(caught) == CAUGHT[name]


@pytest.mark.parametrize("name", ["timing-wheel", "memory-pool-released-twice"])
def test_a_wrong_prediction_is_reported_at_its_step(name: str) -> None:
    (found, *_) = simulated_by_tlc(name)
    place = len(found.driven.predictions) // 2
    wrong = list(found.driven.predictions)
    observable, value = next(
        (each, value) for each, value in wrong[place].outcome.observed.items() if type(value) is int
    )
    observed = {**wrong[place].outcome.observed, observable: value + 1}
    outcome = msgspec.structs.replace(wrong[place].outcome, observed=observed)
    wrong[place] = replace(wrong[place], outcome=outcome)
    subject = bundled_subject()
    _, answer = asked_of(subject, replace(found.driven, predictions=tuple(wrong)))
    subject.close()
    assert len(answer.outcomes) == place + 1
    assert answer.difference is not None
    assert answer.difference.about == observable


@pytest.mark.large
def test_how_many_wrong_implementations_are_caught() -> None:
    """Expect at least half, since no behaviour has a script that throws or calls back."""
    caught = set()
    instances = [each for each in INSTANCES if each.module != "PurgatoryProposal"]
    own = [each for each in mutants() if not each.report]
    for each in own:
        made = each.make()
        for found in (one for instance in instances for one in simulated_by_tlc(instance.name)):
            if component_of(found.driven.configuration) not in made.profiles:
                continue
            if asked_of(made, found.driven)[1].difference is not None:
                caught.add(each.name)
                break
        made.close()
    assert len(caught) >= len(own) / 2
    assert {wrong for several in CAUGHT.values() for wrong in several} <= caught
