"""The shortest path to a difference of two graphs is told, from either side."""

from purgatory_tla.comparing.graph_differences import CommonStep, Differences, Side, differences
from purgatory_tla.comparing.numbering import Numbering, edge
from purgatory_tla.comparing.report import told_difference
from purgatory_tla.comparing.state_graph import NumberedGraph

Edges = set[tuple[int, str, int]]

COMMON: Edges = {(0, "up", 1), (1, "up", 2), (2, "down", 1), (2, "up", 3)}


def compared(model: Edges, checker: Edges, *, start: tuple[int, int] = (0, 0)) -> Differences:
    """The differences of two graphs over one variable, ``n``."""
    numbering = Numbering(("n",))

    def graph(edges: Edges, first: int) -> NumberedGraph:
        def state(value: int) -> int:
            return numbering.state((numbering.value(value),))

        numbers = {
            edge(state(source), numbering.label((label,)), state(target))
            for source, label, target in sorted(edges)
        }
        every = {state(each) for source, _, target in edges for each in (source, target)}
        return NumberedGraph(frozenset({state(first)}), frozenset(every), frozenset(numbers))

    return differences(graph(model, start[0]), graph(checker, start[1]), numbering)


def test_equal_graphs_have_no_difference() -> None:
    found = compared(COMMON, COMMON)
    assert not found
    assert set(found.states.values()) | set(found.edges.values()) == {0}


def test_an_edge_that_the_model_lacks_is_told_with_the_shortest_path() -> None:
    found = compared(COMMON, COMMON | {(1, "jump", 9), (3, "jump", 9), (9, "up", 10)})
    (first,) = found.first
    assert first.only is Side.CHECKER
    assert first.path == (CommonStep("up", {"n": ("0", "1")}),)
    assert (first.label, first.changes, first.others) == ("jump", {"n": ("1", "9")}, ())
    assert found.states == {Side.MODEL: 0, Side.CHECKER: 2}
    assert found.edges == {Side.MODEL: 0, Side.CHECKER: 3}
    assert told_difference(first) == [
        "the shortest path to an edge that only TLA+ has, 1 step long:",
        "  1. up",
        "     n: 0 -> 1",
        "  then jump",
        "     n: 1 -> 9",
        "     the model has no such step there",
    ]


def test_an_edge_that_tla_lacks_is_told_as_well() -> None:
    found = compared(COMMON | {(2, "stay", 2)}, COMMON)
    (first,) = found.first
    assert (first.only, first.label, len(first.path)) == (Side.MODEL, "stay", 2)
    assert told_difference(first)[-3:] == [
        "  then stay",
        "     nothing changes",
        "     TLA+ has no such step there",
    ]


def test_one_label_with_two_targets_is_one_difference() -> None:
    found = compared(COMMON - {(2, "up", 3)} | {(2, "up", 4)}, COMMON)
    (first,) = found.first
    assert told_difference(first)[-2:] == ["  then up", "     n: the model says 4, TLA+ says 3"]


def test_both_directions_are_told_the_nearer_first() -> None:
    found = compared(COMMON | {(3, "up", 4)}, COMMON | {(0, "jump", 3)})
    assert [(each.only, each.label) for each in found.first] == [
        (Side.CHECKER, "jump"),
        (Side.MODEL, "up"),
    ]


def test_a_difference_behind_another_one_is_no_path() -> None:
    behind: Edges = {(7, "up", 8)}
    found = compared(COMMON | {(0, "leap", 7)}, COMMON | behind | {(0, "jump", 7)})
    assert [each.label for each in found.first] == ["leap", "jump"]
    assert {len(each.path) for each in found.first} == {0}


def test_different_beginnings_are_told() -> None:
    found = compared(COMMON, COMMON, start=(0, 1))
    assert [told_difference(each) for each in found.first] == [
        ["an initial state that only the model has:", "     n = 0"],
        ["an initial state that only TLA+ has:", "     n = 1"],
    ]


def test_true_is_not_one() -> None:
    numbering = Numbering(("n",))
    values = [True, 1, frozenset({False}), 0, frozenset({"1"})]
    numbers = [numbering.value(value) for value in values]
    assert len(set(numbers)) == len(values)
    assert [numbering.value(value) for value in values] == numbers
    assert numbering.label(("Set", True)) != numbering.label(("Set", 1))
