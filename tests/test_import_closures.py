"""A command loads the part of the house that it needs, and no more."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

_RUNS_AND_TELLS = """
import atexit, json, os, sys

def tell():
    files = {
        name: str(getattr(module, "__file__", None))
        for name, module in list(sys.modules.items())
        if name.startswith("purgatory_")
    }
    ours = {name: file for name, file in files.items() if file.endswith(".py")}
    with open(os.environ["MODULES"], "w") as target:
        json.dump(ours, target)

atexit.register(tell)
sys.argv[0] = "purgatory"
from purgatory_conformance.starting import main
main()
"""

IMPLEMENTATION = "purgatory_impl"
SPECIMENS = "purgatory_conformance.specimens"
GENERATION = "purgatory_conformance.generation"
DRAWING = "purgatory_conformance.drawing"


def loaded(folder: Path, *words: str) -> dict[str, int]:
    """Run a command in a folder; return the lines of each module of ours that it has loaded."""
    target = folder / "modules.json"
    done = subprocess.run(
        [sys.executable, "-c", _RUNS_AND_TELLS, *words],
        cwd=folder,
        env={**os.environ, "MODULES": str(target)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode in (0, 1, 4), done.stdout + done.stderr
    files = json.loads(target.read_text())
    return {name: len(Path(file).read_text().splitlines()) for name, file in files.items()}


def parts(modules: dict[str, int], *names: str) -> set[str]:
    """Name the modules that lie in one of these packages."""
    return {each for each in modules for name in names if f"{each}.".startswith(f"{name}.")}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with a recorded trace and a project of one's own."""
    folder = tmp_path_factory.mktemp("project")
    loaded(folder, "init", "--lang", "python", "--component", "timer", "mine")
    record = ("trace", "record", "bundled", "--events", "300", "--component")
    for component in ("timer", "purgatory", "memory_pool"):
        modules = loaded(folder, *record, component, "--out", f"{component}.jsonl")
        assert parts(modules, IMPLEMENTATION), "the control: a recording runs the implementation"
    return folder


MOST_LINES = {
    ("trace", "check", "timer.jsonl"): 20_000,
    ("trace", "check", "purgatory.jsonl"): 20_000,
    ("trace", "check", "memory_pool.jsonl"): 20_000,
    ("trace", "linearize", "timer.jsonl"): 23_600,
    ("check", "mine", "--suite", "quick"): 33_100,
}
"""The lines of ours that a command may load, by its words."""


@pytest.mark.parametrize("words", MOST_LINES, ids=" ".join)
def test_a_command_loads_no_more_lines_than_it_may(project: Path, words: tuple[str, ...]) -> None:
    modules = loaded(project, *words)
    lines = sum(modules.values())
    print(f"{' '.join(words)}: {len(modules)} modules, {lines:,} lines")
    assert 5_000 < lines <= MOST_LINES[words]
    assert not parts(modules, IMPLEMENTATION, SPECIMENS)
    if words[0] == "trace":
        assert not parts(modules, GENERATION, "purgatory_conformance.subjects", "purgatory_spark")
    if words[1] == "check":
        assert not parts(modules, DRAWING)


def test_what_is_named_is_loaded(project: Path) -> None:
    """Load the implementation or a wrong subject where a user names one: the control."""
    quick = ("--suite", "quick", "--component", "memory_pool")
    assert parts(loaded(project, "check", "bundled", *quick), IMPLEMENTATION)
    mutant = loaded(project, "check", "mutant:pool-first-byte-stays", *quick)
    assert parts(mutant, SPECIMENS)
    assert not parts(mutant, IMPLEMENTATION)
