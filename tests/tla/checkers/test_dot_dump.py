"""A dump is read line by line, and nothing in it is passed over."""

from collections.abc import Iterator

import pytest

from purgatory_tla.checkers.tlc.dot_dump import Edge, Node, read_dump, unescaped
from purgatory_tla.errors import UnexpectedOutput

from ..comparing.toy_history import HEAD, TAIL, one_step


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def test_states_and_steps_stand_in_the_order_of_the_file() -> None:
    first, step, second, _, third = list(read_dump(lines(one_step())))
    assert first == Node(1, ("step = <<>>", "total = 0"), initial=True)
    assert step == Edge(1, -2)
    assert second == Node(-2, ('step = <<\\"Add\\", \\"a\\">>', "total = 1"), initial=False)
    assert third == Node(3, ("step = <<>>", "total = 1"), initial=False)


def test_escapes_are_undone() -> None:
    assert unescaped('f = <<\\"a\\",\\n  \\"\\\\\\\\\\">>') == 'f = <<"a",\n  "\\\\">>'


def test_a_single_variable_stands_without_a_bullet() -> None:
    (node,) = read_dump(lines(HEAD + '7 [label="total = 0",style = filled]\n' + TAIL))
    assert node == Node(7, ("total = 0",), initial=True)


def test_lines_are_taken_one_by_one() -> None:
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        yield from lines(HEAD)
        while True:
            taken += 1
            yield f'{taken} [label="total = {taken}"];\n'

    read = read_dump(endless())
    for _ in range(5):
        next(read)
    assert taken == 5


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "ends after line 0"),
        (HEAD, "ends after line 4"),
        (one_step().removesuffix("}\n"), "ends after line 12"),
        (one_step()[:-180], "unknown form in line 7"),
        (one_step() + "}\n", "ends after line 14"),
        (one_step() + '9 [label="total = 9"];\n', "unknown form in line 14: 9"),
        (one_step().replace("nodesep=0.35", "rankdir=LR"), "unknown form in line 2: rankdir"),
        (one_step().replace("-2 -> 3", "-2 -- 3"), "unknown form in line 8: -2 -- 3"),
        (one_step().replace("\n3 [label", "\nc [label"), "unknown form in line 9"),
        (one_step().replace("1 -> -2", "1 -> "), "unknown form in line 6"),
        (one_step().replace("{rank = same; 2;}", "{height = 3}"), "unknown form in line 11"),
    ],
)
def test_a_dump_that_is_cut_off_or_unknown_is_an_error(text: str, sentence: str) -> None:
    with pytest.raises(UnexpectedOutput, match=sentence):
        list(read_dump(lines(text)))
