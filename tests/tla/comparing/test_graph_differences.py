"""Where two graphs differ, the shortest path to what only one has is told, from either side."""

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
    """
    Given the same edges on both sides
    When they are compared
    Then there is no difference
    """
    found = compared(COMMON, COMMON)
    assert not found
    assert set(found.states.values()) | set(found.edges.values()) == {0}


def test_an_edge_that_the_model_lacks_is_told_with_the_shortest_path() -> None:
    """
    Given a step to a new state that only TLA+ has, and another one further away
    When the graphs are compared
    Then the nearer is told: the common steps to it, and what it changes
    """
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
    """
    Given a step that changes nothing, and that only the model has
    When the graphs are compared
    Then it is told that nothing changes, and that TLA+ has no such step
    """
    found = compared(COMMON | {(2, "stay", 2)}, COMMON)
    (first,) = found.first
    assert (first.only, first.label, len(first.path)) == (Side.MODEL, "stay", 2)
    assert told_difference(first)[-3:] == [
        "  then stay",
        "     nothing changes",
        "     TLA+ has no such step there",
    ]


def test_one_label_with_two_targets_is_one_difference() -> None:
    """
    Given a step that leads to another state on either side
    When the graphs are compared
    Then it is one difference, and it is told what each side says of the variable
    """
    found = compared(COMMON - {(2, "up", 3)} | {(2, "up", 4)}, COMMON)
    (first,) = found.first
    assert told_difference(first)[-2:] == ["  then up", "     n: the model says 4, TLA+ says 3"]


def test_both_directions_are_told_the_nearer_first() -> None:
    """
    Given a step that only the model has, and a nearer one that only TLA+ has
    When the graphs are compared
    Then both are told, that of TLA+ first
    """
    found = compared(COMMON | {(3, "up", 4)}, COMMON | {(0, "jump", 3)})
    assert [(each.only, each.label) for each in found.first] == [
        (Side.CHECKER, "jump"),
        (Side.MODEL, "up"),
    ]


def test_a_difference_behind_another_one_is_no_path() -> None:
    """
    Given states that only TLA+ reaches, and a difference beyond them
    When the graphs are compared
    Then the path that is told ends where the common steps end
    """
    behind: Edges = {(7, "up", 8)}
    found = compared(COMMON | {(0, "leap", 7)}, COMMON | behind | {(0, "jump", 7)})
    assert [each.label for each in found.first] == ["leap", "jump"]
    assert {len(each.path) for each in found.first} == {0}


def test_different_beginnings_are_told() -> None:
    """
    Given graphs that begin in different states
    When they are compared
    Then each side's initial state is told with its values
    """
    found = compared(COMMON, COMMON, start=(0, 1))
    assert [told_difference(each) for each in found.first] == [
        ["an initial state that only the model has:", "     n = 0"],
        ["an initial state that only TLA+ has:", "     n = 1"],
    ]


def test_true_is_not_one() -> None:
    """
    Given values that Python has equal and TLA+ has not, also inside of others
    When they are numbered
    Then each has a number of its own, and an equal value has the same number again
    """
    numbering = Numbering(("n",))
    values = [True, 1, frozenset({False}), 0, frozenset({"1"})]
    numbers = [numbering.value(value) for value in values]
    assert len(set(numbers)) == len(values)
    assert [numbering.value(value) for value in values] == numbers
    assert numbering.label(("Set", True)) != numbering.label(("Set", 1))
