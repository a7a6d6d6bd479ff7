"""Each project that ``purgatory init`` writes is conformant as it is, and found out if broken.

The test that a project brings is run by the command of its workflow: it builds the adapter and has
it judged. Where many projects are built the tests are large.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from purgatory_conformance.kits import COMPONENTS, Clock, Language, project
from purgatory_spec.profiles import Component
from tests.conformance.command import purgatory

QUICK = ("--suite", "quick", "--seed", "1")
ALL = tuple(option for each in COMPONENTS for option in ("--component", each.value))
MOST_LINES = 250


@dataclass(frozen=True)
class Kit:
    """A language: the tools it needs, and a defect of its naive timer that runs nothing in time."""

    language: Language
    tools: tuple[str, ...]
    timer: str
    right: str
    wrong: str


KITS = {
    Language.PYTHON: Kit(
        Language.PYTHON,
        (),
        "heap_timer.py",
        "self.heap[0][0] <= self.now_ms",
        "self.heap[0][0] < self.now_ms",
    ),
    Language.GO: Kit(
        Language.GO,
        ("go",),
        "heap_timer.go",
        "t.heap[0].dueTick <= t.nowMs",
        "t.heap[0].dueTick < t.nowMs",
    ),
    Language.RUST: Kit(
        Language.RUST,
        ("cargo",),
        "src/heap_timer.rs",
        "due.0 <= self.now_ms",
        "due.0 < self.now_ms",
    ),
    Language.JAVA: Kit(
        Language.JAVA,
        ("java", "mvn"),
        "src/main/java/adapter/HeapTimer.java",
        "heap.peek().dueTick() <= nowMs",
        "heap.peek().dueTick() < nowMs",
    ),
}
SLOW = {Language.GO: [pytest.mark.slow], Language.RUST: [pytest.mark.slow]}
SLOW[Language.JAVA] = [pytest.mark.slow, pytest.mark.java]
EACH = [pytest.param(kit, id=each.value, marks=SLOW.get(each, [])) for each, kit in KITS.items()]
LARGE_BUT_PYTHON = [
    pytest.param(
        kit,
        id=each.value,
        marks=[pytest.mark.slow] if each is Language.PYTHON else [*SLOW[each], pytest.mark.large],
    )
    for each, kit in KITS.items()
]


def need(kit: Kit) -> None:
    """Skip without the tools of a language; where REQUIRE_TOOLCHAINS=1 the test fails instead.

    REQUIRE_TOOLCHAINS=0 says that the tools are there, and cannot fetch anything.
    """
    if {"cargo", "go"} & {*kit.tools} and os.environ.get("REQUIRE_TOOLCHAINS") == "0":
        pytest.skip("nothing can be fetched for Go and Rust here (REQUIRE_TOOLCHAINS=0)")
    missing = [tool for tool in kit.tools if shutil.which(tool) is None]
    if missing and os.environ.get("REQUIRE_TOOLCHAINS") != "1":
        pytest.skip(
            f"not installed: {', '.join(missing)} (REQUIRE_TOOLCHAINS=1 makes it a failure)"
        )


def written(folder: Path, kit: Kit, *options: str) -> Path:
    """Write a project into the folder ``mine``."""
    need(kit)
    finished = purgatory(folder, "init", "--lang", kit.language.value, *options, "mine")
    assert finished.returncode == 0, finished.stderr
    return folder / "mine"


def verdicts(folder: Path, name: str = "mine") -> dict[str, str]:
    """The verdict of each component, from the results of a check."""
    text = (folder / "purgatory-work" / name / "results.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    judged = [line["component"] for line in lines if line["line"] == "header"]
    return dict(
        zip(judged, [line["verdict"] for line in lines if line["line"] == "footer"], strict=True)
    )


def code_lines(text: str) -> int:
    """Lines of code; blank lines, and lines that hold a comment alone, are none."""
    lines = [line.strip() for line in text.splitlines()]
    return sum(bool(line) and not line.startswith(("//", "#", "/*", "*", "*/")) for line in lines)


def own_test(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the project's test as its workflow does, but let Go repeat an old result if it can."""
    workflow = yaml.safe_load((folder / ".github/workflows/conformance.yml").read_text("utf-8"))
    runs = [step["run"] for step in workflow["jobs"]["conformance"]["steps"] if "run" in step]
    words = [word for word in shlex.split(runs[1]) if word != "-count=1"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        [sys.executable if word == "python" else word for word in words],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )


@pytest.mark.parametrize("kit", EACH)
def test_the_test_of_a_project_passes_until_its_timer_is_broken(kit: Kit, tmp_path: Path) -> None:
    """
    Given a project with a naive timer
    When the command of its workflow runs its test, and the doctor examines it
    Then every rule was put to the test and held, and the doctor finds nothing to mend
    When its timer passes over the tick that has come
    Then the same command fails, and names the rule
    """
    folder = written(tmp_path, kit)
    done = own_test(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert verdicts(folder) == {"timer": "conformant"}
    doctor = purgatory(tmp_path, "doctor", "mine")
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr
    timer = folder / kit.timer
    text = timer.read_text(encoding="utf-8")
    assert text.count(kit.right) == 1
    timer.write_text(text.replace(kit.right, kit.wrong), encoding="utf-8")
    broken = own_test(folder)
    assert broken.returncode != 0
    assert "broken  TIMER-NOT-LATE (MUST)" in broken.stdout + broken.stderr


@pytest.mark.parametrize("kit", LARGE_BUT_PYTHON)
def test_all_components_are_conformant_as_they_are(kit: Kit, tmp_path: Path) -> None:
    """
    Given a project with a naive timer, purgatory and memory pool
    When it is examined by the doctor, and checked
    Then the doctor has nothing to say, and every component is conformant
    """
    written(tmp_path, kit, *ALL)
    doctor = purgatory(tmp_path, "doctor", "mine")
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr
    assert "note" not in doctor.stdout
    finished = purgatory(tmp_path, "check", "mine", *QUICK)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert verdicts(tmp_path) == dict.fromkeys(map(str, COMPONENTS), "conformant")


@pytest.mark.parametrize("kit", LARGE_BUT_PYTHON)
def test_code_for_the_real_clock_is_judged_in_virtual_time(kit: Kit, tmp_path: Path) -> None:
    """
    Given a project whose timer runs by itself
    When it is checked in virtual time
    Then it is conformant, and no step was one of the real clock
    """
    folder = written(tmp_path, kit, "--clock", "wall")
    finished = purgatory(tmp_path, "check", "mine", *QUICK)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "clock manual" in finished.stdout
    doctor = purgatory(tmp_path, "doctor", str(folder / "real-clock.toml"))
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr


@pytest.mark.slow
@pytest.mark.large
@pytest.mark.parametrize("kit", EACH)
def test_code_for_the_real_clock_is_judged_on_it(kit: Kit, tmp_path: Path) -> None:
    """The control: the same program without virtual time. On a busy machine a task may be late."""
    written(tmp_path, kit, "--clock", "wall")
    finished = purgatory(tmp_path, "check", "mine/real-clock.toml", *QUICK)
    assert "clock wall" in finished.stdout
    assert finished.returncode in (0, 1, 4), finished.stdout + finished.stderr
    results = tmp_path / "purgatory-work/mine-real-clock/results.jsonl"
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    assert {line["rule"] for line in lines if line["line"] == "cause"} <= {"TIMER-LATENESS"}


@pytest.mark.parametrize("language", Language)
def test_the_code_that_stays_is_short(language: Language) -> None:
    """
    Given the files that README.md says stay, for every choice of components and clock
    Then they have at most 250 lines of code
    """
    timer = [Component.TIMER]
    for components, clock in ((COMPONENTS, Clock.VIRTUAL), (timer, Clock.WALL)):
        files = project(language, components, clock, "mine")
        rows = [row.split("|") for row in files[Path("README.md")].splitlines() if row[:1] == "|"]
        stay = " ".join(row[1] for row in rows if row[3].strip() in ("stays", "stay"))
        sources = [path for path in files if path.suffix in (".py", ".go", ".rs", ".java")]
        staying = [path for path in sources if f"{path.name}`" in stay]
        assert len(staying) >= 3
        counted = {path.name: code_lines(files[path]) for path in staying}
        assert sum(counted.values()) <= MOST_LINES, counted
