"""Names that are written a little wrong, output that nobody reads, and the module as a program."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from purgatory_conformance.problems import EXIT_CLOSED_PIPE, EXIT_USAGE
from purgatory_spec.nearest import did_you_mean
from tests.conformance.command import SCRIPT, purgatory


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["check", "kafak"], "did you mean kafka?"),
        (["check", "kafak@3.9.2"], "did you mean kafka@3.9.2?"),
        (["check", "bundeld"], "did you mean bundled?"),
        (["check", "mutant:zero-droped"], "did you mean zero-dropped"),
        (["check", "profile:rounding-don"], "did you mean rounding-down"),
        (["check", "bundled", "--rule", "timer-cascad"], "did you mean TIMER-CASCADE"),
        (["explain", "TIMER-CASCAD"], "did you mean TIMER-CASCADE"),
        (["chekc"], "Did you mean check?"),
        (["model", "chek"], "Did you mean check?"),
        (["model", "break", "run", "zero-droped"], "did you mean zero-dropped"),
        (["model", "explore", "--claim", "invariant"], "did you mean invariants"),
        (["tla", "explain", "timer-all-rule"], "did you mean timer-all-rules"),
    ],
)
def test_a_name_that_is_a_little_wrong_is_told_the_right_one(
    words: list[str], meant: str, tmp_path: Path
) -> None:
    ended = purgatory(tmp_path, *words)
    assert ended.returncode == EXIT_USAGE
    assert meant in " ".join(ended.stderr.split())


def test_what_is_like_nothing_is_told_where_names_are_listed() -> None:
    assert did_you_mean("xyzzy", ["kafka", "bundled"], "see: a list") == "see: a list"
    assert did_you_mean("KAFAK", ["kafka", "bundled"], "see: a list") == "did you mean kafka?"


def test_a_rule_is_known_in_small_letters(tmp_path: Path) -> None:
    small = purgatory(tmp_path, "explain", "timer-cascade")
    assert small.returncode == 0
    assert small.stdout == purgatory(tmp_path, "explain", "TIMER-CASCADE").stdout


@pytest.mark.parametrize(
    "words",
    [["check"], ["doctor"], ["deviations", "propose"], ["campaign"]],
)
def test_a_folder_without_a_subject_is_judged_by_no_verdict_on_our_own(
    words: list[str], tmp_path: Path
) -> None:
    """Nothing is asked; the message names what begins a project."""
    ended = purgatory(tmp_path, *words)
    assert (ended.returncode, ended.stdout) == (EXIT_USAGE, "")
    assert "purgatory init --lang python my-timer" in " ".join(ended.stderr.split())
    assert not (tmp_path / "purgatory-work").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["replay", "nofile.jsonl"], "purgatory: nofile.jsonl: no such file"),
        (["report", "nofile.jsonl", "html"], "purgatory: nofile.jsonl: no such file"),
        (["trace", "check", "nofile.jsonl"], "purgatory: nofile.jsonl: no such file or folder"),
        (["check", "nofile.toml"], "purgatory: nofile.toml: no such file or folder"),
        (["check", "here/nothing"], "purgatory: here/nothing: no such file or folder"),
        (["check", "."], "purgatory: .: this folder has no purgatory.toml; a project to begin"),
    ],
)
def test_a_file_that_is_not_there_is_named(words: list[str], told: str, tmp_path: Path) -> None:
    ended = purgatory(tmp_path, *words)
    assert ended.returncode == EXIT_USAGE
    assert told in " ".join(ended.stderr.split())


def test_the_doctor_recommends_what_can_be_judged(tmp_path: Path) -> None:
    """A word that is no subject is no adapter either, and ``check`` would only say so again."""
    unknown = purgatory(tmp_path, "doctor", "bundeld")
    assert "purgatory check" not in unknown.stderr
    assert "did you mean bundled?" in " ".join(unknown.stderr.split())
    known = purgatory(tmp_path, "doctor", "bundled")
    assert "to judge a subject: purgatory check bundled" in " ".join(known.stderr.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["list", "rules"],
        ["explain", "TIMER-CASCADE"],
        ["--help"],
        ["model", "explore", "--list"],
        ["model", "template", "timer"],
        ["model", "check", "own.py", "--cases", "1"],
    ],
    ids=" ".join,
)
def test_output_that_nobody_reads_ends_it_quietly(words: list[str], tmp_path: Path) -> None:
    """It says nothing, blames nobody, and ends with a code of its own."""
    template = purgatory(tmp_path, "model", "template", "timer").stdout
    (tmp_path / "own.py").write_text(template, encoding="utf-8")
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [str(SCRIPT), *words], cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE, timeout=300
    )
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (EXIT_CLOSED_PIPE, b"")


def test_the_module_is_the_command_line(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "purgatory_conformance", "--version"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == purgatory(tmp_path, "--version").stdout
