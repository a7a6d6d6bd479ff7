"""A newcomer follows the tutorial with nothing but its page, and meets what it says."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from purgatory_conformance.reporting.results import Results
from purgatory_conformance.reporting.results_file import read_results

from .code_blocks import ROOT, Block, PageRun, blocks_of

pytestmark = [pytest.mark.documentation, pytest.mark.slow]

PAGE = ROOT / "docs" / "tutorial" / "first-adapter.md"
TEMPLATE = ROOT / "conformance" / "adapters" / "python" / "heap_timer_adapter.py"
ADAPTER = "heap_timer_adapter.py"
OURS = {"purgatory_spec", "purgatory_model", "purgatory_impl", "purgatory_conformance"}


def block_titled(title: str, language: str) -> Block:
    (block,) = [b for b in blocks_of(PAGE) if b.title == title and b.language == language]
    return block


def edits() -> list[Block]:
    """The changes that the page makes to the adapter, in order."""
    return [block for block in blocks_of(PAGE) if block.language == "diff"]


@pytest.fixture
def newcomer(tmp_path: Path) -> PageRun:
    """A folder with the files that the page gives, and nothing else."""
    run = PageRun(tmp_path)
    run.run(block_titled(ADAPTER, "python"))
    run.run(block_titled("purgatory.toml", "toml"))
    return run


def purgatory(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1", "PYTHONUTF8": "1"}
    return subprocess.run(
        [Path(sys.executable).parent / "purgatory", *words],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def results_in(folder: Path) -> Results:
    return read_results(folder / "purgatory-work" / "heap-timer" / "results.jsonl")[0]


def test_the_adapter_is_short_and_imports_nothing_of_ours() -> None:
    text = block_titled(ADAPTER, "python").text
    assert len(text.splitlines()) < 100
    imported: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            imported |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").split(".")[0])
    assert imported & OURS == set()
    assert imported <= sys.stdlib_module_names


def test_the_page_ends_with_the_adapter_that_comes_with_the_suite() -> None:
    assert block_titled(ADAPTER, "python").text == TEMPLATE.read_text(encoding="utf-8")


def test_the_pieces_of_the_page_are_pieces_of_the_adapter() -> None:
    whole = TEMPLATE.read_text(encoding="utf-8")
    pieces = [b for b in blocks_of(PAGE) if b.language == "python" and not b.title]
    defining = [b for b in pieces if b.text.startswith(("import", "class", "def", "PROFILE"))]
    assert [block.where for block in defining if block.text not in whole] == []
    assert len(defining) == 5


def test_the_doctor_and_the_suite_are_content(newcomer: PageRun) -> None:
    examined = purgatory(newcomer.folder, "doctor")
    assert examined.returncode == 0, examined.stdout
    checked = purgatory(newcomer.folder, "check", "--suite", "quick", "--seed", "1")
    assert checked.returncode == 0, checked.stdout
    assert results_in(newcomer.folder).footer.verdict == "conformant"


def test_a_timer_that_is_late_is_blamed_for_being_late(newcomer: PageRun) -> None:
    newcomer.run(edits()[0])
    checked = purgatory(newcomer.folder, "check", "--suite", "quick", "--seed", "1")
    assert checked.returncode == 1, checked.stdout
    results = results_in(newcomer.folder)
    first = results.causes[0]
    assert first.rule == "TIMER-NOT-LATE"
    replayed = purgatory(newcomer.folder, "replay", first.replay)
    assert replayed.returncode == 1, replayed.stdout
    assert "diverges from TIMER-NOT-LATE" in replayed.stdout

    newcomer.run(edits()[1])
    mended = purgatory(newcomer.folder, "replay", first.replay)
    assert mended.returncode == 0, mended.stdout


def test_a_choice_that_is_not_declared_is_blamed_and_hinted_at(newcomer: PageRun) -> None:
    rounding, declaration = edits()[2:]
    newcomer.run(rounding)
    checked = purgatory(newcomer.folder, "check", "--suite", "quick", "--seed", "1")
    assert checked.returncode == 1, checked.stdout
    results = results_in(newcomer.folder)
    assert results.causes[0].rule == "TIMER-ROUNDING"
    assert "rounding up" in results.footer.hint

    newcomer.run(declaration)
    declared = purgatory(newcomer.folder, "check", "--suite", "quick", "--seed", "1")
    assert declared.returncode == 0, declared.stdout


def test_the_results_are_lines_of_json_with_a_verdict(newcomer: PageRun) -> None:
    purgatory(newcomer.folder, "check", "--suite", "quick", "--seed", "1")
    file = newcomer.folder / "purgatory-work" / "heap-timer" / "results.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert lines[0]["line"] == "header"
    assert lines[-1]["line"] == "footer"
    assert lines[-1]["verdict"] == "conformant"
