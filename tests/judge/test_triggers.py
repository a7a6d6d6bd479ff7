"""Triggers: before its own no variant differs from the rules, and without it none excuses."""

import random
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import msgspec
import pytest

from purgatory_conformance.specimens.small import channel_muting, memory_pool, purgatory, timer
from purgatory_judge.case_judge import AskedStep, Deviation
from purgatory_judge.judgement import TooManyStates
from purgatory_judge.registry import judged
from purgatory_model.channel_muting import ChannelMutingModel
from purgatory_model.claims.purgatory_variants import purgatory_variant_model
from purgatory_model.claims.timer_variants import variant_model
from purgatory_model.memory_pool import MemoryPoolModel
from purgatory_model.step import TooManyBranches
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import (
    Component,
    Configuration,
    Feature,
    Profile,
    PurgatoryConfiguration,
    PurgatoryObservable,
)
from purgatory_spec.reasons import Reason

from ..conformance.generated import drawn

pytestmark = pytest.mark.recorded

MODELS: dict[Component, tuple[Profile, Callable[[Any, Any, frozenset[str]], Any]]] = {
    Component.TIMER: (
        # The wheel of long numbers does not follow an executor that refuses tasks.
        msgspec.structs.replace(timer.PROFILE, features=timer.PROFILE.features - {Feature.REFUSE}),
        lambda configuration, profile, names: variant_model(configuration, profile, names).model,
    ),
    Component.PURGATORY: (
        msgspec.structs.replace(
            purgatory.PROPOSAL_PROFILE,
            observables=purgatory.PROFILE.observables,
        ),
        purgatory_variant_model,
    ),
    Component.MEMORY_POOL: (memory_pool.PROFILE, MemoryPoolModel),
    Component.CHANNEL_MUTING: (channel_muting.PROFILE, ChannelMutingModel),
}
VARIANTS = [(component, name) for component in Component for name in judged(component).variants]
CASES = {Component.CHANNEL_MUTING: 1000}
"""The number of cases that are followed, where it is not 150."""


def profile_for(component: Component, name: str) -> Profile:
    """The profile of the component; the published accounting itself breaks a bound, where shown."""
    profile, _ = MODELS[component]
    stale = {PurgatoryObservable.STALE_OPERATIONS} if name != "stale_uncounted" else set()
    return msgspec.structs.replace(profile, observables=profile.observables - stale)


def followed(component: Component, name: str) -> Iterator[tuple[Configuration, Any]]:
    """Yield cases with what an implementation does in them that follows a variant."""
    profile, (_, model_of) = profile_for(component, name), MODELS[component]
    for seed in range(CASES.get(component, 150)):
        case, chosen = drawn(component, profile, seed, most=20), random.Random(seed)
        model = model_of(case.configuration, profile, frozenset({name}))
        state, steps = model.initial(), []
        try:
            for operation in case.operations:
                ways = list(islice(model.successors(state, operation), 20))
                outcome, state = chosen.choice(ways)
                steps.append((operation, outcome))
                if getattr(getattr(state, "store", None), "ruined", False):
                    break
        except TooManyBranches:
            continue
        yield case.configuration, steps


def test_every_variant_states_its_trigger() -> None:
    for component in Component:
        assert judged(component).variants.keys() == judged(component).triggers.keys()


@pytest.mark.parametrize(
    ("component", "name"), [each for each in VARIANTS if each[1] != "taken_after_shutdown"]
)
def test_a_variant_differs_from_the_rules_behind_its_trigger_and_not_before(
    component: Component, name: str
) -> None:
    """It does differ in some case, and in every such case its trigger has occurred."""
    about, profile = judged(component), profile_for(component, name)
    differing = 0
    for configuration, steps in followed(component, name):
        judge, triggered = about.judge(configuration, profile, ()), False
        for operation, outcome in steps:
            asked = AskedStep(configuration, judge.state, operation)
            triggered = triggered or about.triggers[name].occurs(asked)
            try:
                divergence = judge.step(operation, outcome).divergence
            except TooManyStates:
                break
            if divergence is not None:
                assert triggered, (divergence.rule, operation)
                differing += 1
                break
    assert differing


def diverging(
    component: Component,
    configuration: Configuration,
    deviation: Deviation,
    steps: list[tuple[op.Operation, Outcome]],
) -> str:
    """The rule that steps break in spite of a declared deviation; empty for none."""
    judge = judged(component).judge(configuration, MODELS[component][0], (deviation,))
    for operation, outcome in steps:
        divergence = judge.step(operation, outcome).divergence
        if divergence is not None:
            return divergence.rule
    return ""


def stale_steps(*before: op.Operation) -> list[tuple[op.Operation, Outcome]]:
    """An operation expires and is completed behind the purge, in the published order."""
    profile, model_of = MODELS[Component.PURGATORY]
    model = model_of(PurgatoryConfiguration(purge_interval=0), profile, frozenset())
    state, steps = model.initial(), []
    asked = (*before, op.Watch("a", ("k",), 1), op.Advance(1), op.RunOne(), op.Advance(1))
    for operation in asked:
        outcome, state = next(iter(model.successors(state, operation)))
        steps.append((operation, outcome))
    return steps


@pytest.mark.parametrize("variant", judged(Component.PURGATORY).variants)
def test_only_the_variant_that_leaves_the_bound_out_excuses_stale_operations(variant: str) -> None:
    rule = "PURGATORY-STALE-OPERATIONS"
    broken = diverging(
        Component.PURGATORY,
        PurgatoryConfiguration(purge_interval=0),
        Deviation(rule, variant),
        stale_steps(),
    )
    assert broken == ("" if variant == "stale_uncounted" else rule)


def test_a_deviation_whose_trigger_has_not_occurred_excuses_nothing() -> None:
    """Nothing is shut down: a delay that is refused stays a fault."""
    rule = "TIMER-LARGEST-DELAY"
    refused = (op.Add("a", 2**40), Outcome(rejected=Reason.TOO_LARGE))
    profile, _ = MODELS[Component.TIMER]
    configuration = drawn(Component.TIMER, profile, 1).configuration
    assert (
        diverging(
            Component.TIMER, configuration, Deviation(rule, "taken_after_shutdown"), [refused]
        )
        == rule
    )
