"""Comparing two models on generated cases, as a subject is judged; what differs is made shorter."""

from dataclasses import dataclass
from random import Random

from purgatory_conformance.generation.source import SeededSource
from purgatory_conformance.own_model.asking import TooManyOutcomes
from purgatory_conformance.own_model.comparison import Comparison, Difference
from purgatory_conformance.own_model.exploring import Bounds, small_configurations
from purgatory_conformance.own_model.loading import OwnModel
from purgatory_conformance.own_model.worlds import (
    State,
    memory_pool_world,
    purgatory_world,
    timer_world,
)
from purgatory_conformance.running.shrinking import reduce_case
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate
from purgatory_spec import profiles
from purgatory_spec.cases import Step
from purgatory_spec.operations import Operation

MOST_OPERATIONS = 30
"""The length of a generated case, about; own models may keep every order of events."""

_SHRINK_RUNS = 400


@dataclass(frozen=True)
class Generated:
    """The extent of a comparison: cases, steps, and the first differing case, made shorter."""

    cases: int = 0
    steps: int = 0
    found_in: str = ""
    difference: Difference | None = None


@dataclass(frozen=True)
class Course:
    """A case as far as it was followed: how many steps, and where the two models differ."""

    steps: int
    difference: Difference | None = None


def generate(own: OwnModel, seed: int, most_cases: int, bounds: Bounds) -> Generated:
    """Compare on generated cases until a difference is found.

    A wrong model may allow too many outcomes for a crowd, and shows its fault in a smaller case.

    Raises:
        OwnModelFailure: the model of the file failed.
    """
    steps = 0
    too_many: TooManyOutcomes | None = None
    for number in range(most_cases):
        if bounds.is_over:
            return Generated(number, steps)
        case = _drawn(own, f"{seed}-{number}")
        try:
            course = _course(own, case, seed)
        except TooManyOutcomes as failure:
            too_many = too_many or failure
            continue
        steps += course.steps
        if course.difference is not None:
            shorter = _shortened(own, case, course.difference, seed, bounds)
            return Generated(number + 1, steps, f"g{number}", shorter)
    if too_many is not None:
        raise too_many
    return Generated(most_cases, steps)


def _drawn(own: OwnModel, seed: str) -> Candidate:
    support, source = support_of(own.component), SeededSource(seed)
    configuration: profiles.Configuration = small_configurations(own)[0]
    if own.for_any_configuration:
        configuration = support.draw_configuration(own.profile, source, frozenset())
    operations = support.draw_operations(
        configuration, own.profile, source, most=MOST_OPERATIONS, wanted=frozenset()
    )
    return Candidate(configuration, operations)


def _shortened(
    own: OwnModel, case: Candidate, difference: Difference, seed: int, bounds: Bounds
) -> Difference:
    """Return the difference of the shortest case that can be reached, or the one that was found."""
    fixed = None if own.for_any_configuration else case.configuration

    def fails(candidate: Candidate) -> bool:
        if bounds.is_over or fixed not in (None, candidate.configuration):
            return False
        try:
            return _course(own, candidate, seed).difference is not None
        except TooManyOutcomes:
            return False

    length = len(difference.steps) + 1
    found = Candidate(case.configuration, case.operations[:length])
    shortest = reduce_case(own.profile, found, fails, _SHRINK_RUNS)
    return _course(own, shortest, seed).difference or difference


def _course(own: OwnModel, case: Candidate, seed: int) -> Course:
    """Follow a case; of several possible outcomes, a random choice among the common ones."""
    instance = own.begin(case.configuration)
    random = Random(seed)
    match case.configuration, own.profile:
        case profiles.TimerConfiguration() as timer, profiles.TimerProfile() as profile:
            timers = timer_world(timer, profile)
            return _follow(Comparison(timer, timers, instance), case.operations, random)
        case profiles.PurgatoryConfiguration() as purgatory, profiles.PurgatoryProfile() as profile:
            purgatories = purgatory_world(purgatory, profile)
            return _follow(Comparison(purgatory, purgatories, instance), case.operations, random)
        case profiles.MemoryPoolConfiguration() as pool, profiles.MemoryPoolProfile() as profile:
            pools = memory_pool_world(pool, profile)
            return _follow(Comparison(pool, pools, instance), case.operations, random)
    raise TypeError(f"{case.configuration} is no configuration of a {own.component.value}")


def _follow(
    comparison: Comparison[State], operations: tuple[Operation, ...], random: Random
) -> Course:
    pair = comparison.start()
    steps: list[Step] = []
    for operation in operations:
        look = comparison.look(pair, operation)
        if look.differs:
            difference = comparison.difference(pair, tuple(steps), operation, look)
            return Course(len(steps) + 1, difference)
        if not look.was_compared:
            break
        outcome, pair = random.choice(look.both)
        steps.append(Step(operation, outcome))
        if not pair.is_followed:
            break
    return Course(len(steps))
