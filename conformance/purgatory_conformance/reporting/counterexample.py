"""Counterexamples of the executable models as stories: who did what, and the counts after it."""

from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

from purgatory_conformance.describing.steps import (
    describe_configuration,
    describe_operation,
    describe_outcome,
)
from purgatory_model.claims.explorer import Counterexample
from purgatory_model.claims.memory_pool import PoolStep
from purgatory_model.claims.narrative import Narrative, NarrativeStep
from purgatory_model.claims.purgatory import PurgatoryStep
from purgatory_model.claims.purgatory import State as PurgatoryState
from purgatory_model.claims.timer import Instance, WheelState, WheelStep
from purgatory_model.memory_pool import MemoryPoolState
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component

State = TypeVar("State", bound=Hashable)
Label = TypeVar("Label")

_ACTORS: Mapping[Component, Mapping[type[op.Operation], str]] = {
    Component.TIMER: {op.Advance: "reaper", op.Elapse: "clock", op.RunOne: "executor"},
    Component.PURGATORY: {
        op.Advance: "reaper",
        op.RunOne: "executor",
        op.Check: "completer",
        op.Satisfy: "completer",
        op.CancelForKey: "completer",
    },
    Component.MEMORY_POOL: {},
    Component.CHANNEL_MUTING: {
        op.Poll: "thread",
        op.PollWhile: "thread",
        op.PollBeside: "thread",
        op.Elapse: "clock",
    },
}
"""The actor of an operation; the caller does every operation that is not listed."""


def narrate(
    title: str,
    counterexample: Counterexample[State, Label],
    says: Callable[[State, Label], tuple[str, str]],
    counts: Callable[[State], Mapping[str, str]],
) -> Narrative:
    """Return the way to a step that breaks the claim.

    Args:
        title: What was explored, in words.
        counterexample: The way.
        says: Who does a step from a state, and the step in words.
        counts: What is counted in a state, by the heading of its column.
    """
    before = counterexample.initial
    steps = [NarrativeStep(0, "", "at first", counts(before))]
    last = len(counterexample.path)
    for number, (step, state) in enumerate(counterexample.path, start=1):
        actor, words = says(before, step)
        remark = "claim broken" if number == last else ""
        steps.append(NarrativeStep(number, actor, words, counts(state), remark))
        before = state
    return Narrative(
        title=title,
        actors=tuple(dict.fromkeys(step.actor for step in steps if step.actor)),
        counts=tuple(steps[0].counts),
        steps=tuple(steps),
        verdict=f"It is false that {counterexample.broken}.",
    )


def narrate_wheel(
    instance: Instance, counterexample: Counterexample[WheelState, WheelStep]
) -> Narrative:
    """Return the way of a timing wheel to a step that breaks the claim."""
    title = f"a timing wheel with {describe_configuration(instance.configuration)}"
    return narrate(title, counterexample, _calls_of(Component.TIMER), _wheel_counts)


def narrate_purgatory(
    title: str, counterexample: Counterexample[PurgatoryState, PurgatoryStep]
) -> Narrative:
    """Return the way of a purgatory, one call after another, to a step that breaks the claim."""
    return narrate(title, counterexample, _calls_of(Component.PURGATORY), _purgatory_counts)


def narrate_memory_pool(
    title: str, counterexample: Counterexample[MemoryPoolState, PoolStep]
) -> Narrative:
    """Return the way of a memory pool, one call after another, to a step that breaks the claim."""
    return narrate(title, counterexample, _calls_of(Component.MEMORY_POOL), _pool_counts)


def _calls_of(
    component: Component,
) -> Callable[[object, tuple[op.Operation, Outcome]], tuple[str, str]]:
    actors = _ACTORS[component]

    def says(_: object, step: tuple[op.Operation, Outcome]) -> tuple[str, str]:
        operation, outcome = step
        seen = describe_outcome(operation, outcome)
        words = f"{describe_operation(operation)} -> {seen}"
        return actors.get(type(operation), "caller"), words

    return says


def _wheel_counts(state: WheelState) -> dict[str, str]:
    wheel = state.store
    buckets = [
        f"level {level} at {expiry}: {' '.join(sorted(tasks)) or 'empty'}"
        for (expiry, level), tasks in sorted(wheel.buckets.items())
    ]
    return {
        "clock": str(state.now_ms),
        "own clock": str(wheel.own_clock_ms),
        "pending": str(len(wheel.due_ticks)),
        "levels": str(wheel.levels),
        "buckets": "; ".join(buckets) or "none",
        "queue": " ".join(state.queue) or "empty",
    }


def _purgatory_counts(state: PurgatoryState) -> dict[str, str]:
    return {
        "clock": str(state.timer.now_ms),
        "timer": str(state.timer_size),
        "queue": str(len(state.timer.queue)),
        "estimate": str(state.estimate),
        "distinct": str(len(state.distinct)),
        "live": str(len(state.live)),
        "stale": str(len(state.stale_operations)),
    }


def _pool_counts(state: MemoryPoolState) -> dict[str, str]:
    return {
        "available": str(state.available_bytes),
        "outstanding": str(state.outstanding_bytes),
        "held": " ".join(sorted(state.held)) or "none",
    }
