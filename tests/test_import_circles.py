"""No module of ours imports itself by way of others, not even where only a type checker looks.

Nor does a folder: what lies side by side in a package, modules and shelves, has an order of layers.
"""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

import grimp
import pytest

PACKAGES = (
    "purgatory_spec",
    "purgatory_model",
    "purgatory_impl",
    "purgatory_tla",
    "purgatory_conformance",
    "purgatory_pipeline",
    "purgatory_bench",
    "purgatory_assurance",
)


def modules_of(package: str) -> Iterator[str]:
    """The names of a package's modules, by its files."""
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        yield ".".join(parts).removesuffix(".__init__")


def imports(*packages: str) -> dict[str, frozenset[str]]:
    """The modules of packages, each with those of them that it imports."""
    graph = grimp.build_graph(*packages, exclude_type_checking_imports=False, cache_dir=None)
    return {
        module: frozenset(graph.find_modules_directly_imported_by(module))
        for module in graph.modules
    }


def side_by_side(imported_by: Mapping[str, frozenset[str]]) -> Iterator[dict[str, frozenset[str]]]:
    """For each package what lies in it, with what of that any module inside imports."""
    for package in sorted({module.rpartition(".")[0] for module in imported_by} - {""}):
        inside: dict[str, set[str]] = {}
        for module, imported in imported_by.items():
            if part := _part(package, module):
                parts = {_part(package, other) for other in imported}
                inside.setdefault(part, set()).update(parts - {part, ""})
        yield {part: frozenset(others) for part, others in inside.items()}


def _part(package: str, module: str) -> str:
    """The part of a package in which a module lies; nothing for the package itself and others."""
    if not module.startswith(f"{package}."):
        return ""
    return ".".join(module.split(".")[: package.count(".") + 2])


def circles(imported_by: Mapping[str, frozenset[str]]) -> Iterator[list[str]]:
    """The sets of two and more modules of which each comes, by its imports, to every other one."""
    reached = {module: _reached_from(module, imported_by) for module in imported_by}
    told: set[str] = set()
    for module in sorted(imported_by):
        circle = {other for other in reached[module] if module in reached[other]}
        if len(circle) > 1 and module not in told:
            told |= circle
            yield sorted(circle)


def _reached_from(module: str, imported_by: Mapping[str, frozenset[str]]) -> set[str]:
    reached: set[str] = set()
    open_ends = {module}
    while open_ends:
        reached |= (found := imported_by[open_ends.pop()] - reached)
        open_ends |= found
    return reached


def test_no_module_of_ours_is_in_an_import_circle() -> None:
    """Given every import of every file of our packages, those for type checkers included.

    Then no two modules come to each other.
    """
    imported_by = imports(*PACKAGES)
    assert imported_by.keys() == {module for package in PACKAGES for module in modules_of(package)}
    assert list(circles(imported_by)) == []


def test_no_shelf_of_ours_is_in_an_import_circle() -> None:
    """Given every package of ours and every package inside it.

    Then no two of the modules and packages that lie in it come to each other.
    """
    packages = list(side_by_side(imports(*PACKAGES)))
    assert len(packages) > 50
    assert [circle for inside in packages for circle in circles(inside)] == []


def test_a_circle_of_shelves_without_one_of_modules_is_found() -> None:
    """Given two shelves, each with a module that imports one of the other shelf.

    Then no module is in a circle, and the shelves are; beside them another module is not.
    """
    imported_by = {
        "house": frozenset[str](),
        "house.timer": frozenset[str](),
        "house.timer.wheel": frozenset({"house.lists.keys"}),
        "house.timer.task": frozenset({"house.clock"}),
        "house.lists": frozenset[str](),
        "house.lists.keys": frozenset[str](),
        "house.lists.walks": frozenset({"house.timer.task", "house.lists.keys"}),
        "house.clock": frozenset[str](),
    }
    assert list(circles(imported_by)) == []
    found = [list(circles(inside)) for inside in side_by_side(imported_by)]
    assert found == [[["house.lists", "house.timer"]], [], []]


def test_a_circle_that_only_a_type_checker_sees_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a package with a circle of three modules, one import of which is for types alone.

    And a fourth module that imports one of them, and is imported by none.
    Then the three are named, and nothing else is.
    """
    for_types = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    "
    modules = {
        "__init__": "",
        "task": f"{for_types}from package_with_a_circle.timer import Timer\n",
        "wheel": "from package_with_a_circle import task\n",
        "timer": "import package_with_a_circle.wheel\n\nclass Timer: ...\n",
        "purgatory": "from package_with_a_circle.timer import Timer\n",
    }
    (tmp_path / "package_with_a_circle").mkdir()
    for name, source in modules.items():
        path = tmp_path / "package_with_a_circle" / f"{name}.py"
        path.write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    (found,) = circles(imports("package_with_a_circle"))

    assert found == [f"package_with_a_circle.{name}" for name in ("task", "timer", "wheel")]
