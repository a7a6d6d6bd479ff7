"""The adapter of the tutorial is short, needs nothing of ours, and is the one in the suite.

That its page leads a newcomer to what it says is shown by running its blocks.
"""

import ast
import sys

import pytest

from .code_blocks import ROOT, Block, blocks_of

pytestmark = pytest.mark.documentation

PAGE = ROOT / "docs" / "tutorial" / "first-adapter.md"
TEMPLATE = ROOT / "conformance" / "adapters" / "python" / "heap_timer_adapter.py"
ADAPTER = "heap_timer_adapter.py"


def block_titled(title: str, language: str) -> Block:
    (block,) = [b for b in blocks_of(PAGE) if b.title == title and b.language == language]
    return block


def test_the_adapter_is_short_and_imports_nothing_of_ours() -> None:
    text = block_titled(ADAPTER, "python").text
    assert len(text.splitlines()) < 100
    imported: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            imported |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").split(".")[0])
    assert imported <= sys.stdlib_module_names


def test_the_page_ends_with_the_adapter_that_comes_with_the_suite() -> None:
    assert block_titled(ADAPTER, "python").text == TEMPLATE.read_text(encoding="utf-8")


def test_the_pieces_of_the_page_are_pieces_of_the_adapter() -> None:
    whole = TEMPLATE.read_text(encoding="utf-8")
    pieces = [b for b in blocks_of(PAGE) if b.language == "python" and not b.title]
    defining = [b for b in pieces if b.text.startswith(("import", "class", "def", "PROFILE"))]
    assert [block.where for block in defining if block.text not in whole] == []
    assert len(defining) == 5
