"""Taking a module apart: what belongs to a definition, and what does not."""

from pathlib import Path

import pytest

from purgatory_tla.modules.literate import InvalidModule, read_literate

TEXT = r"""
---- MODULE Lamp ----
(* A lamp with a switch. *)
(*   lit  whether it burns *)
EXTENDS Naturals, FiniteSets

VARIABLE
  \* @type: Bool;
  lit

Init == lit = FALSE

(* Words about nothing in particular. *)

\* Pressing the switch, as TIMER-ROUNDING says
\* and TIMER-NOT-EARLY.
\* @type: (Str) =>
\*   Bool;
\* @says self: presses {lit}
Press(who, how) ==
  /\ lit' = ~lit
  \* an inner remark

  /\ who # how
-----------------------------------------------------------------------------
(* It burns
   or not. *)
TypeIsRight == lit \in BOOLEAN
====
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "Lamp.tla"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_the_module_and_its_definitions_are_found_in_order(path: Path) -> None:
    module = read_literate(path)

    assert (module.name, module.extends) == ("Lamp", ("Naturals", "FiniteSets"))
    assert module.header == "A lamp with a switch.\n  lit  whether it burns"
    assert [each.name for each in module.definitions] == ["Init", "Press", "TypeIsRight"]


def test_words_and_annotations_belong_to_the_definition_below_them(path: Path) -> None:
    press = read_literate(path).definition("Press")

    assert press.parameters == ("who", "how")
    assert press.words == "Pressing the switch, as TIMER-ROUNDING says\nand TIMER-NOT-EARLY."
    assert press.rules == ("TIMER-ROUNDING", "TIMER-NOT-EARLY")
    assert press.annotation("says") == "self: presses {lit}"
    assert press.annotation("type") == ": (Str) => Bool;"
    assert press.annotation("typeAlias") is None


def test_a_comment_apart_belongs_to_no_definition(path: Path) -> None:
    assert read_literate(path).definition("Init").words == ""


def test_a_definition_ends_before_the_next_line_at_the_margin(path: Path) -> None:
    module = read_literate(path)
    lines = TEXT.splitlines()

    assert module.definition("Press").source.endswith("/\\ who # how")
    for each in module.definitions:
        assert lines[each.line - 1].startswith(each.name)
        assert each.first_line <= each.line
    assert lines[module.definition("Press").first_line - 1].startswith(r"\* Pressing")


def test_a_block_comment_of_several_lines_is_read_whole(path: Path) -> None:
    assert read_literate(path).definition("TypeIsRight").words.split() == [
        "It",
        "burns",
        "or",
        "not.",
    ]


def test_a_definition_that_is_not_there_is_a_key_error(path: Path) -> None:
    with pytest.raises(KeyError):
        read_literate(path).definition("Switch")


def test_a_text_without_module_line_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "Nothing.tla"
    path.write_text("Init == TRUE\n", encoding="utf-8")

    with pytest.raises(InvalidModule, match=r"Nothing\.tla: no line of the form"):
        read_literate(path)
