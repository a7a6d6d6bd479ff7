"""Configurations: read, written, changed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purgatory_tla.checkers.configurations import Configuration, parse_configuration
from purgatory_tla.errors import InvalidSpecification, ParseFailure

NAMES = st.sampled_from(["Alpha", "Beta", "Gamma", "Spec2", "x_1"])
ATOMS = st.sampled_from(["1", "-3", "TRUE", "m1", '"a b"', '"x = y"', '"(* no *)"', '""'])
VALUES = (
    ATOMS
    | st.lists(ATOMS, max_size=3).map(lambda each: "{" + ", ".join(each) + "}")
    | st.just('{{1, 2}, {"a"}}')
    | NAMES.map(lambda name: f"<- {name}")
)
LISTS = st.lists(NAMES, max_size=3, unique=True).map(tuple)
OPTIONAL = st.none() | NAMES
CONFIGURATIONS = st.builds(
    Configuration,
    specification=OPTIONAL,
    init=OPTIONAL,
    next=OPTIONAL,
    constants=st.dictionaries(NAMES, VALUES, max_size=4),
    invariants=LISTS,
    properties=LISTS,
    constraints=LISTS,
    action_constraints=LISTS,
    symmetry=OPTIONAL,
    view=OPTIONAL,
)

TEXT = r"""
\* INVARIANT Commented
(* SPECIFICATION
   Old *)
SPECIFICATION
  Spec
CONSTANTS
  Threads = {"a", "b \* kept"}   \* two
  Bound = 3 Low = -1
  Weight <- [Other] Heavy
  m1 = m1
CONSTANT Keys <- TwoKeys
INVARIANTS TypeOK
           Bounded
INVARIANT Third
PROPERTY Live
CONSTRAINT Small
ACTION_CONSTRAINT Few
SYMMETRY Swaps
VIEW Seen
"""


@given(CONFIGURATIONS)
def test_a_configuration_is_read_back_from_its_text(configuration: Configuration) -> None:
    assert parse_configuration(configuration.text()) == configuration


def test_everything_that_a_file_says(tmp_path: Path) -> None:
    path = tmp_path / "Toy.cfg"
    path.write_text(TEXT, encoding="utf-8")
    assert Configuration.read(path) == Configuration(
        specification="Spec",
        constants={
            "Threads": '{"a", "b \\* kept"}',
            "Bound": "3",
            "Low": "-1",
            "Weight": "<- [Other] Heavy",
            "m1": "m1",
            "Keys": "<- TwoKeys",
        },
        invariants=("TypeOK", "Bounded", "Third"),
        properties=("Live",),
        constraints=("Small",),
        action_constraints=("Few",),
        symmetry="Swaps",
        view="Seen",
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("SPECIFICATON Spec", 1),
        ("INIT Init\nNEXT Next Step", 2),
        ("INIT Init\n\nINIT Other", 3),
        ("SPECIFICATION", 1),
        ("CONSTANT\nBound 3", 2),
        ("CONSTANT\nBound =", 2),
    ],
)
def test_a_wrong_file_is_told_with_its_line(text: str, line: int) -> None:
    with pytest.raises(ParseFailure) as raised:
        parse_configuration(text, "Toy.cfg")
    assert raised.value.line == line
    assert "Toy.cfg" in str(raised.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidSpecification, match="cannot be read"):
        Configuration.read(tmp_path / "None.cfg")


def test_a_change_replaces_what_it_names_and_nothing_else() -> None:
    before = Configuration(
        specification="Spec", constants={"A": "1", "B": "2"}, invariants=("I",), properties=("P",)
    )
    after = before.with_changes(constants={"B": "3"}, properties=[], symmetry=None)
    assert after == Configuration(
        specification="Spec", constants={"A": "1", "B": "3"}, invariants=("I",)
    )
    assert before.with_changes(init="Init", next="Next").specification is None
    assert after.with_changes(init="I", next="N").with_changes(specification="S").init is None


def test_a_constant_with_an_escape_is_refused() -> None:
    configuration = Configuration(specification="Spec", constants={"Odd": '"a\\"b"'})
    with pytest.raises(InvalidSpecification, match="backslash"):
        configuration.text()
