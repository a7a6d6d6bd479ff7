"""The dump of a history module becomes the graph of the module that it extends."""

import tracemalloc
from collections.abc import Iterator

import pytest

from purgatory_tla.comparing.history_dump import read_history
from purgatory_tla.comparing.numbering import Numbering, edge, label_text
from purgatory_tla.errors import IllTyped, InvalidSpecification, UnexpectedOutput
from purgatory_tla.values.type_annotations import parse_type

from .toy_history import HEAD, TAIL, one_step

TYPES = {"total": parse_type("Int")}


def numbering() -> Numbering:
    return Numbering(("total",))


def test_a_way_over_a_label_is_one_edge() -> None:
    numbers = numbering()
    read = read_history(one_step().splitlines(keepends=True), numbers, TYPES)
    assert (read.nodes, read.edges) == (3, 2)
    assert [numbers.state_texts(state) for state in sorted(read.graph.states)] == [
        {"total": "0"},
        {"total": "1"},
    ]
    assert read.graph.initial == {0}
    assert [label_text(label) for label in numbers.labels] == ['Add("a")']
    assert read.graph.edges == {edge(0, 0, 1)}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (one_step(after=2), "changes more than the label"),
        (one_step().replace("-2 -> 3", "3 -> 1"), "sets a label on another, or none"),
        (one_step().replace("-2 -> 3", "-2 -> -2"), "sets a label on another, or none"),
        (one_step().replace("-2 -> 3", "1 -> -2"), "has no step to rest"),
        (one_step(label="<<1, 2>>"), "must be an action's name and its arguments"),
        (one_step(label='<<\\"Add\\", {1}>>'), "must be an action's name and its arguments"),
        (one_step(label='\\"Add\\"'), "must be an action's name and its arguments"),
        (one_step().replace("step = <<>>", 'step = <<\\"Add\\">>', 1), "empty in the initial"),
    ],
)
def test_a_module_that_is_no_history_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(InvalidSpecification, match=sentence):
        read_history(text.splitlines(keepends=True), numbering(), TYPES)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (one_step().replace("-2 -> 3", "-2 -> 4"), "an edge at a state that it does not have"),
        (one_step().replace("\n3 [label", "\n1 [label"), "the state 1 a second time"),
        (one_step().replace(",style = filled]", "];"), "no initial state"),
        (one_step().replace("total = 0", "sum = 0"), "other variables: step, sum"),
        (one_step().replace("\\n/\\\\ total = 1", "", 1), "other variables: step$"),
    ],
)
def test_a_graph_with_something_missing_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(UnexpectedOutput, match=sentence):
        read_history(text.splitlines(keepends=True), numbering(), TYPES)


def test_a_value_of_another_type_is_refused() -> None:
    text = one_step().replace("total = 0", 'total = \\"0\\"')
    with pytest.raises(IllTyped, match="total in TLC's graph"):
        read_history(text.splitlines(keepends=True), numbering(), TYPES)


def long_dump(size: int, written: list[int]) -> Iterator[str]:
    """The dump of a counter that goes to a number and begins anew, with long values beside it."""
    beside = "word = " + '\\"' + "w" * 4_000 + '\\"'

    def node(number: int, total: int, label: str, after: str) -> str:
        variables = f"/\\\\ {beside}\\n/\\\\ step = {label}\\n/\\\\ total = {total}"
        return f'{number} [label="{variables}"{after}\n'

    def every() -> Iterator[str]:
        yield from HEAD.splitlines(keepends=True)
        yield node(0, 0, "<<>>", ",style = filled]")
        for total in range(size):
            after = (total + 1) % size
            label = f"{size + total}"
            yield f'{total} -> {label} [label="Next"];\n'
            yield node(size + total, after, '<<\\"Add\\">>', "];")
            yield f'{label} -> {after} [label="Next"];\n'
            if after:
                yield node(after, after, "<<>>", "];")
        yield from TAIL.splitlines(keepends=True)

    for line in every():
        written[0] += len(line)
        yield line


def test_a_dump_is_not_held() -> None:
    written = [0]
    types = {**TYPES, "word": parse_type("Str")}
    tracemalloc.start()
    try:
        read = read_history(long_dump(1_000, written), Numbering(("total", "word")), types)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (len(read.graph.states), len(read.graph.edges)) == (1_000, 1_000)
    assert written[0] > 5_000_000
    assert peak < written[0] / 4
