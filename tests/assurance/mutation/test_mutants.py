"""Which changes count as mutants, and which do not."""

import ast
import importlib
from pathlib import Path

import pytest

pytest.importorskip("cosmic_ray")

from purgatory_assurance.mutation.mutants import mutants_of
from purgatory_assurance.mutation.scope import (
    LEFT_OUT,
    MODULES,
    MODULES_LEFT_OUT,
    LeftOut,
    definitions,
)

IMPLEMENTATION = Path(__file__).parents[3] / "impl" / "purgatory_impl"

SOURCE = '''
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from somewhere import Something

class Counter:
    """More than 1."""

    count: int | None = 1

    def add(self, *, most: int | None) -> "Something | None":
        return self.sleep(most)

    def sleep(self, most):
        return most > 1
'''


def test_types_are_no_mutants() -> None:
    """
    Given: a module with annotations and an import for the type checker
    When:  mutants are made of it
    Then:  the numbers outside of them are changed, and what is left out is counted
    """
    sleeps = LeftOut("counter", "Counter.sleep", "sleeps")
    found = mutants_of("counter", SOURCE, [sleeps])

    assert [(m.definition, m.line, m.mutated) for m in found.judged] == [
        ("Counter", "count: int | None = 1", "count: int | None = 2"),
        ("Counter", "count: int | None = 1", "count: int | None = 0"),
    ]
    # Eleven other operators for the argument's bar and for the star before it, which Cosmic Ray
    # takes for a product; and a ``not`` for the import.
    assert found.in_types == 23
    assert (found.no_program, found.repeated) == (0, 0)
    # Five other comparisons, two other numbers.
    assert dict(found.left_out) == {sleeps: 7}


def test_decorators_for_the_compiler_are_no_mutants() -> None:
    """
    Given: a class with a decorator for the compiler, one for the type checker, and one that acts
    When:  mutants are made of it
    Then:  to take the last one off, or to change it, is a mutant, and nothing else
    """
    decorators = "@mypyc_attr(native_class=True)\n@final\n@dataclass(frozen=True)\n"

    found = mutants_of("counter", f"{decorators}class Counter:\n    pass\n")

    assert {(m.line, m.mutated) for m in found.judged} == {
        ("@dataclass(frozen=True)", ""),
        ("@dataclass(frozen=True)", "@dataclass(frozen=False)"),
    }
    assert found.in_types > 0


def test_a_single_line_may_be_left_out() -> None:
    """
    Given: two lines with mutants in one function
    When:  one of them is left out
    Then:  the mutants of the other one remain
    """
    source = "def add(a):\n    b = a + 1\n    return b\n\ndef more(a):\n    return a > 1\n"
    line = LeftOut("sums", "add", "no matter", "b = a + 1")

    found = mutants_of("sums", source, [line])

    assert {mutant.definition for mutant in found.judged} == {"more"}
    # Eleven other operators, two other numbers.
    assert dict(found.left_out) == {line: 13}


def test_a_mutant_says_where_it_is() -> None:
    """
    Given: a module
    When:  mutants are made of it
    Then:  each names line, definition and change, and its source has just that change
    """
    found = mutants_of("counter", SOURCE)
    greater = next(m for m in found.judged if m.mutated == "return most >= 1")

    assert (greater.line_number, greater.line) == (16, "return most > 1")
    assert greater.definition == "Counter.sleep"
    assert greater.source == SOURCE.replace("most > 1", "most >= 1")


def test_every_module_is_mutated_or_left_out_with_a_reason() -> None:
    """
    Given: the implementation's modules
    When:  they are compared with the lists
    Then:  each is on exactly one of them
    """
    modules = [path.stem for path in IMPLEMENTATION.glob("*.py")]

    assert sorted(modules) == sorted([*MODULES, *MODULES_LEFT_OUT])


@pytest.mark.parametrize("left_out", LEFT_OUT, ids=lambda each: each.definition)
def test_what_is_left_out_exists(left_out: LeftOut) -> None:
    """
    Given: a function that is left out
    When:  it is looked for
    Then:  its module is mutated and has it
    """
    source = (IMPLEMENTATION / f"{left_out.module}.py").read_text(encoding="utf-8")

    assert left_out.module in MODULES
    assert left_out.definition in {"", *(name for _, name in definitions(ast.parse(source)))}
    assert left_out.line in {"", *(line.strip() for line in source.splitlines())}


@pytest.mark.large
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("module", MODULES)
def test_whatever_is_left_out_would_have_mutants(module: str) -> None:
    """
    Given: what is left out of a module
    When:  mutants are made of the module
    Then:  each entry leaves out at least one change; one without any is no reason for anything
    """
    left_out = [each for each in LEFT_OUT if each.module == module]
    source = (IMPLEMENTATION / f"{module}.py").read_text(encoding="utf-8")

    found = mutants_of(module, source, left_out)

    assert [each for each in left_out if not found.left_out[each]] == []


def test_a_constant_that_is_smaller_exists_and_is_smaller() -> None:
    """
    Given: the constants that are smaller in some trials
    When:  they are compared with the implementation's own
    Then:  each is there, and greater
    """
    sizes = {size for trials in MODULES.values() for trial in trials for size in trial.sizes}

    assert {size.name for size in sizes} == {"CHUNK", "BATCH", "_STEPS_PER_HOLD"}
    for size in sizes:
        assert getattr(importlib.import_module(size.module), size.name) > size.value
