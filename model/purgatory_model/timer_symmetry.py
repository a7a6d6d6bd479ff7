"""Tasks of a timer's instance are interchangeable: states that differ in their names are one.

Every task of an instance may be added with every delay, so renaming tasks leads from a state to one
with the same future, renamed.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import permutations

from immutables import Map

from purgatory_model.symmetry import least_renaming
from purgatory_model.timer_instances import Instance, WheelState
from purgatory_model.timing_wheel import Bucket


def task_symmetry(instance: Instance) -> Callable[[WheelState], WheelState]:
    """The function that gives the same state for all renamings of the instance's tasks."""

    def renaming(names: Mapping[str, str]) -> Callable[[WheelState], WheelState]:
        return lambda state: renamed(state, names)

    every = [
        renaming(dict(zip(instance.tasks, images, strict=True)))
        for images in permutations(instance.tasks)
    ]
    return least_renaming(every, _order)


def renamed(state: WheelState, names: Mapping[str, str]) -> WheelState:
    """A state with other names for its tasks."""
    wheel = state.store
    return replace(
        state,
        store=replace(
            wheel,
            due_ticks=Map({names[task]: tick for task, tick in wheel.due_ticks.items()}),
            places=Map({names[task]: bucket for task, bucket in wheel.places.items()}),
            buckets=Map(
                {
                    bucket: frozenset(names[task] for task in tasks)
                    for bucket, tasks in wheel.buckets.items()
                }
            ),
        ),
        queue=_named(state.queue, names),
        order=_named(state.order, names),
    )


def _named(tasks: Iterable[str], names: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(names[task] for task in tasks)


def _order(
    state: WheelState,
) -> tuple[tuple[str, ...], list[tuple[str, int]], list[tuple[str, Bucket]]]:
    """All that may differ between renamings of one state.

    The due ticks alone would not do: tasks of one tick may wait in buckets of different levels.
    """
    wheel = state.store
    return state.queue, sorted(wheel.due_ticks.items()), sorted(wheel.places.items())
