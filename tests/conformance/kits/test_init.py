"""``purgatory init``: a project for each language, component, clock; nothing is overwritten."""

import re
from itertools import combinations
from pathlib import Path

import pytest
import yaml

from purgatory_conformance.kits import (
    COMPONENTS,
    WITHOUT_WALL,
    Clock,
    Language,
    NoSuchKit,
    project,
)
from purgatory_spec.profiles import Component
from tests.conformance.command import purgatory

CHOICES = [
    chosen for count in range(1, len(COMPONENTS) + 1) for chosen in combinations(COMPONENTS, count)
]
BUILDING = {
    *("go.mod", "Cargo.toml", "rustfmt.toml", "pom.xml", "jvm.config", "package.json"),
    *("jsconfig.json", "Makefile"),
}


@pytest.mark.parametrize("language", Language)
def test_a_project_names_its_files_and_no_others(language: Language) -> None:
    """README.md has a row for each source and each declaration, and for nothing else."""
    chosen = [(each, Clock.VIRTUAL) for each in CHOICES]
    if language not in WITHOUT_WALL:
        chosen.append(((Component.TIMER,), Clock.WALL))
    for components, clock in chosen:
        files = project(language, components, clock, "mine")
        readme = files[Path("README.md")]
        rows = [row.split("|")[1] for row in readme.splitlines() if row[:3] == "| `"]
        named = re.findall(r"`([^`]+)`", "".join(rows))
        there = {path.as_posix(): path for path in files}
        assert [name for name in named if not any(each.endswith(name) for each in there)] == []
        told = {each for each in there if any(each.endswith(name) for name in named)}
        others = {Path(each).name for each in there.keys() - told}
        assert others <= {"LICENSE", "README.md", ".gitignore", *BUILDING}
        assert all("only:" not in text and "@NAME@" not in text for text in files.values())


def test_what_is_written_is_what_the_kit_has(tmp_path: Path) -> None:
    finished = purgatory(tmp_path, "init", "--lang", "python", "mine")
    assert finished.returncode == 0, finished.stderr
    written = {
        path.relative_to(tmp_path / "mine"): path.read_text(encoding="utf-8")
        for path in (tmp_path / "mine").rglob("*")
        if path.is_file()
    }
    assert written == project(Language.PYTHON, [Component.TIMER], Clock.VIRTUAL, "mine")
    assert 'name = "mine"' in written[Path("purgatory.toml")]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """The file is named, and neither it nor any other is written."""
    (tmp_path / "purgatory.toml").write_text("mine", encoding="utf-8")
    finished = purgatory(tmp_path, "init", "--lang", "python")
    assert finished.returncode == 2
    assert "purgatory.toml: already there" in finished.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["purgatory.toml"]
    assert (tmp_path / "purgatory.toml").read_text(encoding="utf-8") == "mine"


def test_a_folder_named_like_a_subject_of_the_suite_is_not_mixed_up_with_it(tmp_path: Path) -> None:
    """The line to type names the folder, and the bare word is refused: it could be either."""
    begun = purgatory(tmp_path, "init", "--lang", "python", "heap-timer")
    assert "purgatory check ./heap-timer --suite quick" in begun.stdout
    for command in ("check", "doctor"):
        refused = purgatory(tmp_path, command, "heap-timer")
        assert refused.returncode == 2, refused.stdout
        assert "./heap-timer is the folder" in refused.stderr
    doctor = purgatory(tmp_path, "doctor", "./heap-timer")
    assert doctor.returncode == 0, doctor.stderr
    assert "heap-timer/purgatory.toml runs " in doctor.stdout


@pytest.mark.parametrize(
    "others", [[Component.PURGATORY], [Component.TIMER, Component.MEMORY_POOL]]
)
def test_only_a_timer_has_a_project_on_the_real_clock(others: list[Component]) -> None:
    with pytest.raises(NoSuchKit, match="only a timer is judged on the real clock"):
        project(Language.PYTHON, others, Clock.WALL, "mine")


@pytest.mark.parametrize("language", WITHOUT_WALL)
def test_a_language_without_a_kit_for_the_real_clock_says_so(language: Language) -> None:
    with pytest.raises(NoSuchKit, match=r"there is no kit in .* for the real clock"):
        project(language, [Component.TIMER], Clock.WALL, "mine")


@pytest.mark.parametrize("components", [[], [Component.CHANNEL_MUTING]])
def test_there_is_no_kit_for_channels(components: list[Component]) -> None:
    with pytest.raises(NoSuchKit, match="no kit has the component"):
        project(Language.PYTHON, components, Clock.VIRTUAL, "mine")


@pytest.mark.parametrize("language", Language)
def test_the_workflow_runs_the_test_of_the_project(language: Language) -> None:
    """The command before the summary is the one that README.md gives for the test."""
    files = project(language, COMPONENTS, Clock.VIRTUAL, "mine")
    workflow = yaml.safe_load(files[Path(".github/workflows/conformance.yml")])
    runs = [step["run"] for step in workflow["jobs"]["conformance"]["steps"] if "run" in step]
    assert len(runs) == 3
    assert f"    {runs[1]} " in files[Path("README.md")]
    assert "pip install" in runs[0]
    assert "python -m pip install '" in files[Path("README.md")]
    assert "purgatory-work/mine/results.jsonl" in runs[2]
