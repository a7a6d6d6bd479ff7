"""No module of ours imports itself by way of others, not even where only a type checker looks."""

# That no two packages and modules side by side do is a contract in ``pyproject.toml``.

from graphlib import CycleError, TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

import grimp
import pytest

PACKAGES = (
    "purgatory_spec",
    "purgatory_model",
    "purgatory_impl",
    "purgatory_tla",
    "purgatory_judge",
    "purgatory_conformance",
    "purgatory_traces",
    "purgatory_spark",
    "purgatory_course",
    "purgatory_lab",
    "broker",
    "mailboxes",
)


def modules_of(package: str) -> set[str]:
    """The names of a package's modules, by its files; kits are data that lie in the package."""
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    ours = (each for each in folder.rglob("*.py") if (each.parent / "__init__.py").is_file())
    paths = (path.relative_to(folder.parent).with_suffix("") for path in ours)
    return {".".join(path.parts).removesuffix(".__init__") for path in paths}


def imports(*packages: str) -> dict[str, set[str]]:
    """The modules of packages, each with those of them that it imports."""
    graph = grimp.build_graph(*packages, exclude_type_checking_imports=False, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def test_no_module_of_ours_is_in_an_import_circle() -> None:
    """The modules have an order in which each imports earlier ones alone."""
    imported_by = imports(*PACKAGES)
    assert imported_by.keys() == set().union(*map(modules_of, PACKAGES))
    assert set(TopologicalSorter(imported_by).static_order()) == imported_by.keys()


def test_a_circle_that_only_a_type_checker_sees_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The three are named, and nothing else is."""
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

    with pytest.raises(CycleError) as found:
        TopologicalSorter(imports("package_with_a_circle")).prepare()

    circle = [f"package_with_a_circle.{name}" for name in ("task", "timer", "wheel")]
    assert sorted(set(found.value.args[1])) == circle
