"""Each project that ``purgatory init`` writes is conformant as it is, and found out if broken."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.conformance.command import purgatory

QUICK = ("--suite", "quick", "--seed", "1")


def written(folder: Path, language: str, *options: str) -> None:
    """Write a project into the folder ``mine``."""
    finished = purgatory(folder, "init", "--lang", language, *options, "mine")
    assert finished.returncode == 0, finished.stderr


def verdicts(folder: Path) -> dict[str, str]:
    """The verdict of each component, from the results of a check."""
    text = (folder / "purgatory-work/mine/results.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    judged = [line["component"] for line in lines if line["line"] == "header"]
    return dict(
        zip(judged, [line["verdict"] for line in lines if line["line"] == "footer"], strict=True)
    )


def need(*tools: str) -> None:
    """Skip without the tools of a language; where REQUIRE_TOOLCHAINS=1 the test fails instead."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing and os.environ.get("REQUIRE_TOOLCHAINS") != "1":
        pytest.skip(
            f"not installed: {', '.join(missing)} (REQUIRE_TOOLCHAINS=1 makes it a failure)"
        )


LANGUAGES = [
    pytest.param("python", (), id="python"),
    pytest.param("go", ("go",), id="go", marks=pytest.mark.slow),
    pytest.param("rust", ("cargo",), id="rust", marks=pytest.mark.slow),
    pytest.param("java", ("java", "mvn"), id="java", marks=[pytest.mark.slow, pytest.mark.java]),
]


@pytest.mark.parametrize(("language", "tools"), LANGUAGES)
def test_a_timer_is_conformant_as_it_is(
    language: str, tools: tuple[str, ...], tmp_path: Path
) -> None:
    """
    Given a project with a naive timer
    When it is examined by the doctor, and checked
    Then the doctor finds nothing to mend, and every rule was put to the test and held
    """
    need(*tools)
    written(tmp_path, language)
    doctor = purgatory(tmp_path, "doctor", "mine")
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr
    finished = purgatory(tmp_path, "check", "mine", *QUICK)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert verdicts(tmp_path) == {"timer": "conformant"}
