"""The complete graph of an instance, its numbers, paths and deadlocks."""

from collections.abc import Iterator

import pytest

from purgatory_model.claims.state_graph import TooManyStates, complete_graph


def clock(state: int) -> Iterator[tuple[str, int]]:
    """A clock of six hours that can be set forward by one or by two, and stops at five."""
    if state < 5:
        yield "one", state + 1
        yield "two", min(state + 2, 5)
        yield "one", state + 1


def test_every_state_and_every_edge_is_there_once() -> None:
    """States stand in breadth-first order, and each edge is there once."""
    graph = complete_graph(0, clock)
    assert graph.states == (0, 1, 2, 3, 4, 5)
    assert graph.labels == ("one", "two")
    told = [(graph.states[s], graph.labels[by], graph.states[t]) for s, by, t in graph.edges()]
    assert told == [
        *((0, "one", 1), (0, "two", 2), (1, "one", 2), (1, "two", 3), (2, "one", 3)),
        *((2, "two", 4), (3, "one", 4), (3, "two", 5), (4, "one", 5), (4, "two", 5)),
    ]


def test_a_path_is_a_shortest_one() -> None:
    """It has as many steps as the state's distance, and the initial state's path has none."""
    graph = complete_graph(0, clock)
    assert graph.path_to(5) == (("one", 1), ("two", 3), ("two", 5))
    assert (graph.distances[5], graph.depth) == (3, 3)
    assert graph.path_to(0) == ()


def test_a_state_that_no_step_leaves_is_a_deadlock() -> None:
    """The first has one deadlock, and the other has none."""
    assert complete_graph(0, clock).deadlocks() == (5,)
    assert complete_graph(0, lambda state: [("tick", (state + 1) % 3)]).deadlocks() == ()


def test_an_instance_that_is_too_large_is_an_error() -> None:
    """The error says how many states there may be, and a limit that is just enough is enough."""
    with pytest.raises(TooManyStates, match="more than 100 states"):
        complete_graph(0, lambda state: [("tick", state + 1)], limit=100)
    assert len(complete_graph(0, clock, limit=6).states) == 6
