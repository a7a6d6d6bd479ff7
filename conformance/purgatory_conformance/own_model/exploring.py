"""Comparing two models completely on small instances: breadth first, so that paths are shortest."""

import time
from dataclasses import dataclass
from typing import Generic

from purgatory_conformance.generation.asks import Introduced, introduced_by, small_instances
from purgatory_conformance.own_model.comparison import Comparison, Difference, Pair
from purgatory_conformance.own_model.loading import OwnModel
from purgatory_conformance.own_model.worlds import (
    State,
    memory_pool_world,
    purgatory_world,
    timer_world,
)
from purgatory_spec import profiles
from purgatory_spec.cases import Step

_STEPS_MORE = 2


@dataclass(frozen=True)
class Explored:
    """The extent of a comparison: pairs of states and operations, and whether that was all."""

    pairs: int = 0
    operations: int = 0
    complete: bool = True
    difference: Difference | None = None


@dataclass(frozen=True)
class Bounds:
    """The bounds of an exploration: pairs of states in an instance, and a time."""

    most_pairs: int
    until: float

    @property
    def is_over(self) -> bool:
        """Decide whether the time is up."""
        return time.monotonic() >= self.until


def explore_small(own: OwnModel, bounds: Bounds) -> Explored:
    """Compare on each small instance of the component until a difference is found.

    Raises:
        OwnModelFailure: the model of the file failed.
    """
    total = Explored()
    for configuration in small_configurations(own):
        found = _explore(own, configuration, bounds)
        total = Explored(
            total.pairs + found.pairs,
            total.operations + found.operations,
            total.complete and found.complete,
            found.difference,
        )
        if found.difference is not None:
            break
    return total


def small_configurations(own: OwnModel) -> tuple[profiles.Configuration, ...]:
    """Return the small instances; the first alone for a model that is the same for all of them."""
    found = tuple(small_instances(own.profile))
    return found if own.for_any_configuration else found[:1]


def _explore(own: OwnModel, configuration: profiles.Configuration, bounds: Bounds) -> Explored:
    instance = own.begin(configuration)
    match configuration, own.profile:
        case profiles.TimerConfiguration(), profiles.TimerProfile():
            timer = timer_world(configuration, own.profile)
            return _walk(Comparison(configuration, timer, instance), bounds)
        case profiles.PurgatoryConfiguration(), profiles.PurgatoryProfile():
            purgatory = purgatory_world(configuration, own.profile)
            return _walk(Comparison(configuration, purgatory, instance), bounds)
        case profiles.MemoryPoolConfiguration(), profiles.MemoryPoolProfile():
            pool = memory_pool_world(configuration, own.profile)
            return _walk(Comparison(configuration, pool, instance), bounds)
    raise TypeError(f"{configuration} is no configuration of a {own.component.value}")


@dataclass(frozen=True)
class _Place(Generic[State]):
    """A pair of states, and which names are known there."""

    pair: Pair[State]
    introduced: tuple[tuple[str, int], ...] = ()

    @property
    def names(self) -> Introduced:
        return dict(self.introduced)


def _walk(comparison: Comparison[State], bounds: Bounds) -> Explored:
    """Visit every pair of states, at most so many.

    Where the user's model only forbids an outcome, a few more steps often show an outcome that the
    model allows instead; such a difference says more, and is returned if found.
    """
    start = _Place(comparison.start())
    reached_by: dict[_Place[State], tuple[_Place[State], Step] | None] = {start: None}
    waiting = [start]
    depth, next_level = 0, 1
    forbidden: tuple[int, Difference] | None = None
    operations, everything = 0, True
    for number, place in enumerate(waiting):
        if number == next_level:
            depth, next_level = depth + 1, len(waiting)
        if forbidden is not None and depth > forbidden[0] + _STEPS_MORE:
            break
        if bounds.is_over or len(reached_by) > bounds.most_pairs:
            return Explored(len(reached_by), operations, False, forbidden[1] if forbidden else None)
        state = _one_of(place.pair.rules)  # names and clock are the same in all of them
        for operation in comparison.world.operations(state, place.names):
            operations += 1
            look = comparison.look(place.pair, operation)
            if look.differs and (look.own_alone or forbidden is None):
                steps = _steps_to(place, reached_by)
                difference = comparison.difference(place.pair, steps, operation, look)
                if look.own_alone:
                    return Explored(len(reached_by), operations, False, difference)
                forbidden = depth, difference
            names = tuple(sorted(introduced_by(place.names, operation).items()))
            everything &= look.was_compared and all(pair.is_followed for _, pair in look.both)
            for outcome, pair in look.both:
                target = _Place(pair, names)
                if target not in reached_by and pair.is_followed:
                    reached_by[target] = place, Step(operation, outcome)
                    waiting.append(target)
    return Explored(len(reached_by), operations, everything, forbidden[1] if forbidden else None)


def _one_of(states: frozenset[State]) -> State:
    """Return one of the states, the same in every process."""
    return min(states, key=repr) if len(states) > 1 else next(iter(states))


def _steps_to(
    place: _Place[State], reached_by: dict[_Place[State], tuple[_Place[State], Step] | None]
) -> tuple[Step, ...]:
    steps: list[Step] = []
    came = reached_by[place]
    while came is not None:
        place, step = came
        steps.append(step)
        came = reached_by[place]
    return tuple(reversed(steps))
