"""The adapter of the tutorial is the kit's, and needs nothing of ours."""

# That its page leads a newcomer to what it says is shown by running its blocks.

import ast
import sys
from pathlib import Path

import pytest

from purgatory_conformance.kits import COMPONENTS, Clock, Language, project
from purgatory_spec.profiles import Component

from .code_blocks import ROOT, blocks_of

pytestmark = pytest.mark.documentation

PAGE = ROOT / "docs" / "tutorial" / "first-adapter.md"
KIT = project(Language.PYTHON, [Component.TIMER], Clock.VIRTUAL, "my-timer")


def test_the_kit_in_python_imports_nothing_of_ours() -> None:
    files = project(Language.PYTHON, COMPONENTS, Clock.VIRTUAL, "mine")
    sources = {path.stem: text for path, text in files.items() if path.suffix == ".py"}
    imported: set[str] = set()
    for text in sources.values():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                imported |= {name.name.split(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").split(".")[0])
    assert imported - sources.keys() <= sys.stdlib_module_names


def test_the_pieces_of_the_page_are_pieces_of_the_kit() -> None:
    timer = KIT[Path("heap_timer.py")]
    pieces = [each for each in blocks_of(PAGE) if each.language == "python" and not each.title]
    defining = [each for each in pieces if each.text.startswith(("import", "class"))]
    assert [each.where for each in defining if each.text not in timer] == []
    assert len(defining) == 2
    whole = [each for each in blocks_of(PAGE) if each.title and each.language == "python"]
    assert [each.text for each in whole] == [KIT[Path("timer_case.py")]]


def test_what_the_page_on_real_clocks_shows_is_in_the_kits() -> None:
    page = ROOT / "docs" / "how-to" / "judge-real-clock-code.md"
    shown = [each for each in blocks_of(page) if each.title]
    languages = {each.value: each for each in Language}
    for block in shown:
        language = languages[block.language]
        kit = project(language, [Component.TIMER], Clock.WALL, "mine")
        code = "\n".join(line.strip() for line in "\n".join(kit.values()).splitlines())
        assert "\n".join(line.strip() for line in block.text.strip().splitlines()) in code
    assert len(shown) == 5
