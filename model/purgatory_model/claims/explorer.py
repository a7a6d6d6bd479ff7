"""Exploring a small instance of a model completely: breadth first, so that paths are shortest.

The explorer knows nothing of timers. It is given the initial state, the labelled steps that leave
a state, and a check of steps; it visits every state once, in the order of its distance, and stops
at the first step that breaks a claim. ``state_graph`` keeps the whole graph instead.
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

State = TypeVar("State", bound=Hashable)
Label = TypeVar("Label")


@dataclass(frozen=True, slots=True)
class Counterexample(Generic[State, Label]):
    """The shortest path to a step that breaks a claim: the first state, then label and state."""

    initial: State
    path: tuple[tuple[Label, State], ...]
    broken: str


@dataclass(frozen=True, slots=True)
class Exploration(Generic[State, Label]):
    """The result of an exploration.

    ``states`` and ``edges`` count distinct states and steps between them, ``depth`` is the
    greatest distance from the initial state, ``deadlocks`` counts states that no step leaves.
    ``complete`` is false where the limit of states was reached first.
    """

    states: int
    edges: int
    depth: int
    deadlocks: int
    complete: bool
    counterexample: Counterexample[State, Label] | None = None


def explore(
    initial: State,
    steps: Callable[[State], Iterable[tuple[Label, State]]],
    broken: Callable[[State, Label, State], str | None],
    *,
    limit: int = 1_000_000,
) -> Exploration[State, Label]:
    """Visit every state that can be reached, at most ``limit`` of them.

    Args:
        initial: Where to begin.
        steps: The labelled steps that leave a state.
        broken: The claim that a step breaks, or None.
        limit: After how many states to stop.
    """
    reached_by: dict[State, tuple[State, Label] | None] = {initial: None}
    level = [initial]
    edges = depth = deadlocks = 0
    while level:
        following: list[State] = []
        for state in level:
            left = edges
            for label, target in steps(state):
                edges += 1
                claim = broken(state, label, target)
                if claim is not None:
                    path = (*_path_to(state, reached_by), (label, target))
                    found = Counterexample(initial, path, claim)
                    return Exploration(len(reached_by), edges, depth + 1, deadlocks, False, found)
                if target not in reached_by:
                    if len(reached_by) >= limit:
                        return Exploration(len(reached_by), edges, depth, deadlocks, False)
                    reached_by[target] = (state, label)
                    following.append(target)
            deadlocks += edges == left
        depth += bool(following)
        level = following
    return Exploration(len(reached_by), edges, depth, deadlocks, True)


def _path_to(
    state: State, reached_by: dict[State, tuple[State, Label] | None]
) -> tuple[tuple[Label, State], ...]:
    path: list[tuple[Label, State]] = []
    step = reached_by[state]
    while step is not None:
        before, label = step
        path.append((label, state))
        state = before
        step = reached_by[state]
    return tuple(reversed(path))
