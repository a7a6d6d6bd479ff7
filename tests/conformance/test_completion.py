"""Words that a shell completes, as it asks for them, and the time that this takes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from purgatory_conformance.specimens.mutants import mutants
from purgatory_spec.requirements import all_requirements
from tests.conformance.command import SCRIPT

pytestmark = pytest.mark.verify

MOST_MODULES = 330
"""Nearly all of what a shell waits for is imports: with all of the suite there are over 700."""


def completion(line: str) -> dict[str, str]:
    """The environment in which zsh asks for the last word of a line, which may be empty."""
    return {
        **os.environ,
        "_PURGATORY_COMPLETE": "zsh_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }


def completed(folder: Path, line: str) -> list[str]:
    """Return the words that zsh is to offer for the last word of a line, which may be empty."""
    ended = subprocess.run(
        [str(SCRIPT)], cwd=folder, env=completion(line), capture_output=True, text=True, check=True
    )
    return ended.stdout.splitlines()[1::3]


@pytest.mark.parametrize("command", ["check", "doctor", "campaign", "check --suite quick"])
def test_subjects_are_completed(command: str, tmp_path: Path) -> None:
    (tmp_path / "my-timer").mkdir()
    (tmp_path / "my-timer" / "purgatory.toml").touch()
    (tmp_path / "my-notes").mkdir()
    assert completed(tmp_path, f"purgatory {command} my") == ["my-timer"]
    assert completed(tmp_path, f"purgatory {command} kafka-s") == ["kafka-shared-lock"]
    assert {"bundled", "kafka", "mutant:", "my-timer"} <= set(
        completed(tmp_path, f"purgatory {command} ")
    )


def test_names_behind_a_colon_are_completed(tmp_path: Path) -> None:
    known = [f"mutant:{each.name}" for each in mutants() if each.name.startswith("zero")]
    assert known != []
    assert completed(tmp_path, "purgatory check mutant:zero") == known


@pytest.mark.parametrize(
    "line", ["explain", "check --rule", "check bundled --rule", "check --suite quick --rule"]
)
def test_rules_are_completed_in_small_letters_too(line: str, tmp_path: Path) -> None:
    rules = [rule.id for rule in all_requirements() if rule.id.startswith("POOL-R")]
    assert completed(tmp_path, f"purgatory {line} POOL-R") == rules
    assert completed(tmp_path, f"purgatory {line} pool-r") == rules


def test_commands_and_options_are_completed(tmp_path: Path) -> None:
    assert completed(tmp_path, "purgatory ex") == ["explain"]
    assert completed(tmp_path, "purgatory check --sui") == ["--suite"]
    assert completed(tmp_path, "purgatory check --suite st") == ["standard"]
    assert completed(tmp_path, "purgatory model ex") == ["explore"]


def imported(folder: Path, line: str) -> int:
    """Return the number of modules that Python imports to complete the last word of a line."""
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", str(SCRIPT)],
        cwd=folder,
        env=completion(line),
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout != ""
    return ended.stderr.count("import time:") - 1  # the first names the columns


@pytest.mark.parametrize(
    "line",
    ["purgatory ch", "purgatory check k", "purgatory explain TIMER", "purgatory check mutant:z"],
)
def test_a_shell_does_not_wait_for_the_suite_to_be_imported(line: str, tmp_path: Path) -> None:
    assert imported(tmp_path, line) < MOST_MODULES


def test_a_word_that_needs_the_suite_imports_more(tmp_path: Path) -> None:
    assert imported(tmp_path, "purgatory check --suite st") > MOST_MODULES
