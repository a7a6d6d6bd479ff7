"""``purgatory profile propose``: a profile in JSON, with the evidence of each line as a comment."""

import json
from pathlib import Path

import pytest

from purgatory_conformance.kits import Clock, Language, project, write
from purgatory_conformance.running.campaign import SUITES, Budget
from purgatory_spec.profiles import Component
from tests.conformance.command import purgatory

DOWN = 'due_tick = expiry_ms - expiry_ms % self.tick_ms  # rounding "down", the default'
UP = "due_tick = -(-expiry_ms // self.tick_ms) * self.tick_ms"


@pytest.fixture
def timer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The timer of ``purgatory init``, in a folder of its own."""
    monkeypatch.setitem(SUITES, "quick", Budget(60, minimum_visits=1, shrink_runs=100))
    write(project(Language.PYTHON, [Component.TIMER], Clock.VIRTUAL, "mine"), tmp_path / "mine")
    return tmp_path / "mine" / "heap_timer.py"


def changed(source: Path, old: str, new: str) -> None:
    text = source.read_text(encoding="utf-8")
    assert old in text
    source.write_text(text.replace(old, new), encoding="utf-8")


def without_comments(document: str) -> object:
    lines = [line for line in document.split("\n") if not line.strip().startswith("//")]
    return json.loads("\n".join(lines))


def test_a_choice_is_proposed_with_the_case_that_needs_it(timer: Path) -> None:
    """The lines without comments are the part of the greeting; the file has the same."""
    changed(timer, DOWN, UP)
    folder = timer.parents[1]
    run = purgatory(folder, "profile", "propose", "mine")
    assert run.returncode == 0, run.stderr
    offers = {
        "severe_throw": "as_ordinary",
        "features": [
            *("cancel", "change_delay", "elapse", "reachable", "readd", "script_add"),
            *("script_advance", "script_cancel", "script_throw", "script_throw_severe", "shutdown"),
        ],
        "observables": ["advance_result", "queued", "size"],
    }
    assert without_comments(run.stdout) == {"timer": {"rounding": "up", **offers}}
    assert "// rounding up: otherwise TIMER-ROUNDING is broken by: " in run.stdout
    assert "with this profile: conformant" in run.stderr
    file = folder / "purgatory-work" / "mine" / "profile.jsonc"
    assert file.read_text(encoding="utf-8") == run.stdout
    (replay,) = (file.parent / "profile").iterdir()
    again = purgatory(folder, "replay", str(replay), "--subject", "mine")
    assert again.returncode == 1
    assert "TIMER-ROUNDING" in again.stdout


def test_a_fault_is_not_explained_by_a_choice(timer: Path) -> None:
    """A timer a tick late keeps its profile, and is told what stays broken."""
    changed(timer, "self.heap[0][0] <= self.now_ms", "self.heap[0][0] + 1 <= self.now_ms")
    run = purgatory(timer.parents[1], "profile", "propose", "mine")
    assert run.returncode == 1
    assert "//" not in run.stdout
    told = [line for line in run.stderr.splitlines() if "TIMER-NOT-LATE" in line]
    assert told[0].startswith("not explained by any choice: ")
    assert told[0].endswith(".jsonl")  # a pipe wraps nothing
