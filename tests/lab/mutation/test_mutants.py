"""Which changes count as mutants, and which do not."""

import ast
import importlib
from pathlib import Path

import pytest

pytest.importorskip("cosmic_ray")

from purgatory_lab.mutation import scope
from purgatory_lab.mutation.mutants import mutants_of

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
    found = mutants_of("counter", SOURCE)

    assert [(m.definition, m.line, m.mutated) for m in found.judged][:4] == [
        ("Counter", "count: int | None = 1", "pass"),
        ("Counter", "count: int | None = 1", "count: int | None = 2"),
        ("Counter", "count: int | None = 1", "count: int | None = 0"),
        ("Counter.add", "return self.sleep(most)", "pass"),
    ]
    assert {m.definition for m in found.judged[4:]} == {"Counter.sleep"}
    # Eleven other operators for the argument's bar and for the star before it, which Cosmic Ray
    # takes for a product; and a ``not`` for the import.
    assert found.in_types == 23
    assert (found.no_program, found.repeated) == (0, 0)


def test_decorators_for_the_compiler_are_no_mutants() -> None:
    decorators = "@mypyc_attr(native_class=True)\n@final\n@dataclass(frozen=True)\n"

    found = mutants_of("counter", f"{decorators}class Counter:\n    pass\n")

    assert {(m.line, m.mutated) for m in found.judged} == {
        ("@dataclass(frozen=True)", ""),
        ("@dataclass(frozen=True)", "@dataclass(frozen=False)"),
    }
    assert found.in_types > 0


def test_a_statement_is_taken_out() -> None:
    source = (
        "class Sums:\n"
        '    """Sums."""\n'
        '    __slots__ = ("total",)\n'
        "    def add(self, é):\n"
        "        from sums import (\n            more)\n"
        "        self.x(é); self.total = more(\n            é)\n"
        "        return é\n"
    )
    taken_out = [m for m in mutants_of("sums", source).judged if m.operator == "DeleteStatement"]

    assert [(m.line_number, m.mutated) for m in taken_out] == [
        (7, "pass; self.total = more("),
        (7, "self.x(é); pass"),
        (9, "pass"),
    ]
    assert [m.source.splitlines().index("        return é") for m in taken_out[:2]] == [8, 8]


def test_a_line_or_a_function_is_left_out() -> None:
    line = scope.LeftOut("sums", "add", "no matter", "b = a + 1")
    function = scope.LeftOut("sums", "add", "no matter")

    assert line.holds("sums", "add", "b = a + 1")
    assert not line.holds("sums", "add", "return b")
    assert function.holds("sums", "add", "return b")
    assert function.holds("sums", "add.inner", "return b")
    assert not function.holds("sums", "add_all", "return b")
    assert not function.holds("others", "add", "return b")
    assert not function.of_threads


def test_what_takes_a_second_thread_is_told_apart() -> None:
    reaper = scope.left_out_of("timer", "Timer._reap", "pass")
    percent = scope.left_out_of("depletion", "DrySpells.percent", "pass")

    assert reaper is not None
    assert reaper.of_threads
    assert percent is not None
    assert not percent.of_threads
    assert scope.left_out_of("timer", "Timer.add", "pass") is None


def test_a_mutant_says_where_it_is() -> None:
    found = mutants_of("counter", SOURCE)
    greater = next(m for m in found.judged if m.mutated == "return most >= 1")

    assert (greater.line_number, greater.line) == (16, "return most > 1")
    assert greater.definition == "Counter.sleep"
    assert greater.source == SOURCE.replace("most > 1", "most >= 1")


def test_every_module_is_mutated_or_left_out_with_a_reason() -> None:
    modules = [path.stem for path in IMPLEMENTATION.glob("*.py")]

    assert sorted(modules) == sorted([*scope.MODULES, *scope.MODULES_LEFT_OUT])


@pytest.mark.parametrize("left_out", scope.LEFT_OUT, ids=lambda each: each.definition)
def test_what_is_left_out_exists(left_out: scope.LeftOut) -> None:
    source = (IMPLEMENTATION / f"{left_out.module}.py").read_text(encoding="utf-8")

    assert left_out.module in scope.MODULES
    assert left_out.definition in {"", *(name for _, name in scope.definitions(ast.parse(source)))}
    assert left_out.line in {"", *(line.strip() for line in source.splitlines())}


@pytest.mark.large
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("module", scope.MODULES)
def test_whatever_is_left_out_would_have_mutants(module: str) -> None:
    source = (IMPLEMENTATION / f"{module}.py").read_text(encoding="utf-8")

    found = mutants_of(module, source)

    left_out = {scope.left_out_of(each.module, each.definition, each.line) for each in found.judged}
    assert [each for each in scope.LEFT_OUT if each.module == module and each not in left_out] == []


def test_a_constant_that_is_smaller_exists_and_is_smaller() -> None:
    sizes = {size for trials in scope.MODULES.values() for trial in trials for size in trial.sizes}

    assert {size.name for size in sizes} == {"CHUNK", "BATCH", "_STEPS_PER_HOLD"}
    for size in sizes:
        assert getattr(importlib.import_module(size.module), size.name) > size.value
