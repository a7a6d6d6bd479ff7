"""Each project that ``purgatory init`` writes is conformant as it is, and found out if broken."""

# The tests that a project brings are run by the command of its workflow: one builds the adapter and
# has it judged, the others are those of its naive implementations. Where many projects are built
# the tests are large.

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from venv import EnvBuilder

import msgspec
import pytest
import yaml
from _pytest.mark.structures import ParameterSet

from purgatory_conformance.kits import COMPONENTS, WITHOUT_WALL, Clock, Language, project
from purgatory_spec.profiles import Component
from tests.conformance.adapters.bad_lines import assert_each_is_answered
from tests.conformance.command import purgatory
from tests.known_cases import known_rows

QUICK = ("--suite", "quick", "--seed", "1")
ALL = tuple(option for each in COMPONENTS for option in ("--component", each.value))
MOST_LINES = dict.fromkeys(Language, 380) | {Language.C: 650}  # C has no reader of JSON
ACTIVATED = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
WITHOUT_SUITE = os.pathsep.join(
    each
    for each in os.environ["PATH"].split(os.pathsep)
    if not shutil.which("purgatory", path=each)
)


@dataclass(frozen=True)
class Kit:
    """A language: the tools it needs, and a defect of its naive timer that runs nothing in time."""

    language: Language
    tools: tuple[str, ...]
    timer: str
    right: str
    wrong: str


HERE = Path(__file__).parent
KITS = {kit.language: kit for kit in msgspec.convert(known_rows(HERE / "kits.jsonl"), list[Kit])}
SLOW = {each: [pytest.mark.verify, pytest.mark.slow] for each in set(Language) - {Language.PYTHON}}
SLOW[Language.JAVA] = [*SLOW[Language.JAVA], pytest.mark.java]
QUICKLY_BUILT = {Language.JAVASCRIPT, Language.C}
EACH = [pytest.param(kit, id=each.value, marks=SLOW.get(each, [])) for each, kit in KITS.items()]
LARGE_WHERE_BUILT = [
    pytest.param(
        kit,
        id=each.value,
        marks=[
            *SLOW.get(each, [pytest.mark.slow]),
            *([pytest.mark.large] if each in SLOW.keys() - QUICKLY_BUILT else []),
        ],
    )
    for each, kit in KITS.items()
]


def has_wall(parameter: ParameterSet) -> bool:
    """Tell whether a kit has a timer on the real clock."""
    return parameter.id not in {each.value for each in WITHOUT_WALL}


def need(kit: Kit) -> None:
    """Skip without the tools of a language; where REQUIRE_TOOLCHAINS=1 the test fails instead."""
    # REQUIRE_TOOLCHAINS=0 says that the tools are there, and cannot fetch anything.
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


def command(folder: Path) -> list[str]:
    """The command that starts a project's adapter, which has been built."""
    subject = tomllib.loads((folder / "purgatory.toml").read_text(encoding="utf-8"))["subject"]
    return [word.replace("{python}", sys.executable) for word in subject["command"]]


def code_lines(text: str) -> int:
    """Lines of code; blank lines, and lines that hold a comment alone, are none."""
    lines = [line.strip() for line in text.splitlines()]
    return sum(bool(line) and not line.startswith(("//", "#", "/*", "*", "*/")) for line in lines)


def own_test(
    folder: Path, path: str = ACTIVATED, python: str = sys.executable
) -> subprocess.CompletedProcess[str]:
    """Run the project's tests as its workflow does, but let Go repeat an old result if it can."""
    workflow = yaml.safe_load((folder / ".github/workflows/conformance.yml").read_text("utf-8"))
    runs = [step["run"] for step in workflow["jobs"]["conformance"]["steps"] if "run" in step]
    words = [word for word in shlex.split(runs[1]) if word != "-count=1"]
    return subprocess.run(
        [python if word == "python" else word for word in words],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )


def failed(output: str) -> set[str]:
    """Return the names of the tests that failed, as words, whatever the language calls them."""
    found = re.findall(
        r"^(?:FAIL: test_|ERROR: test_|--- FAIL: Test|test (?:\w+::)*|\[ERROR\] +\w+Test\."
        r"|not ok \d+ - |✖ )([\w -]+?)(?: \(| \.\.\. FAILED|:\d+|$)",
        re.sub(r"\x1b\[[\d;]*m", "", output),
        re.MULTILINE,
    )
    words = [re.sub("(?<=[a-z])(?=[A-Z])|(?<=^A)(?=[A-Z])", " ", name) for name in found]
    return {re.sub("[_-]", " ", name).lower() for name in words}


@pytest.mark.parametrize("kit", EACH)
def test_the_test_of_a_project_passes_until_its_timer_is_broken(kit: Kit, tmp_path: Path) -> None:
    """Every rule was put to the test and held, and the doctor finds nothing to mend."""
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


TIMER_TESTS = {"a cancelled task is not kept until it is due", "a task that is moved is kept once"}
TESTS = TIMER_TESTS | {
    "a completed operation is not kept until its time out",
    "a check leaves the entries under other keys to the purge",
    "a cancelled operation is not kept until its time out",
    "an allocation that fails takes nothing",
    "an allocation that fails ends no dry spell",
}


def plant_defects(folder: Path) -> None:
    """Give each naive implementation of a project the defects that its tests are for."""
    planted = 0
    for row in known_rows(HERE / "defects.jsonl"):
        for source in folder.rglob(row["file"]):
            text = source.read_text(encoding="utf-8")
            assert text.count(row["right"]) == 1, row
            source.write_text(text.replace(row["right"], row["wrong"]), encoding="utf-8")
            planted += 1
    assert planted


@pytest.mark.parametrize("kit", EACH)
def test_a_project_finds_out_what_it_keeps_too_long(kit: Kit, tmp_path: Path) -> None:
    """Only the test that needs the suite fails, and says what is missing."""
    folder = written(tmp_path, kit, *ALL)
    python = sys.executable
    if kit.language is Language.PYTHON:
        EnvBuilder(with_pip=False).create(tmp_path / "empty")
        python = str(tmp_path / "empty" / Path(python).parent.name / Path(python).name)
    alone = own_test(folder, WITHOUT_SUITE, python)
    output = alone.stdout + alone.stderr
    assert failed(output) == {"every rule holds"}, output
    assert "there is no command 'purgatory'" in output
    plant_defects(folder)
    broken = own_test(folder, WITHOUT_SUITE, python)
    output = broken.stdout + broken.stderr
    assert failed(output) - {"every rule holds"} == TESTS, output


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.java
def test_a_timer_on_the_real_clock_finds_out_what_it_keeps_too_long(tmp_path: Path) -> None:
    """The heap in Java alone: the timers of the other kits leave it to their runtime."""
    folder = written(tmp_path, KITS[Language.JAVA], "--clock", "wall")
    alone = own_test(folder, WITHOUT_SUITE)
    assert failed(alone.stdout) == {"every rule holds"}, alone.stdout
    plant_defects(folder)
    broken = own_test(folder, WITHOUT_SUITE)
    assert failed(broken.stdout) - {"every rule holds"} == TIMER_TESTS, broken.stdout


@pytest.mark.slow
def test_an_adapter_that_dies_of_a_severe_exception_breaks_a_rule(tmp_path: Path) -> None:
    """Its death is a verdict, with the step in which it died."""
    folder = written(tmp_path, KITS[Language.PYTHON], "--component", "purgatory")
    case = folder / "case.py"
    text = case.read_text(encoding="utf-8")
    assert text.count("except (Exception, *self.REASONS) as error:") == 1
    dies = text.replace("except (Exception, *self.REASONS) as error:", "except Exception as error:")
    case.write_text(dies, encoding="utf-8")
    done = purgatory(folder, "check", *QUICK)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "broken  PURGATORY-FIRST-TRY-THROWS (MUST)" in done.stdout
    assert "tries: throw_severe" in done.stdout


def test_the_kit_in_python_finds_the_suite_beside_its_interpreter(tmp_path: Path) -> None:
    folder = written(tmp_path, KITS[Language.PYTHON])
    done = own_test(folder, WITHOUT_SUITE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert verdicts(folder) == {"timer": "conformant"}


@pytest.mark.parametrize("kit", LARGE_WHERE_BUILT)
def test_all_components_are_conformant_as_they_are(kit: Kit, tmp_path: Path) -> None:
    """The doctor has nothing to say, and every component is conformant."""
    folder = written(tmp_path, kit, *ALL)
    doctor = purgatory(tmp_path, "doctor", "mine")
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr
    assert "note" not in doctor.stdout
    finished = purgatory(tmp_path, "check", "mine", *QUICK)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert verdicts(tmp_path) == dict.fromkeys(map(str, COMPONENTS), "conformant")
    assert_each_is_answered(command(folder), folder, COMPONENTS)


@pytest.mark.parametrize("kit", LARGE_WHERE_BUILT)
def test_the_other_executor_is_conformant_too(kit: Kit, tmp_path: Path) -> None:
    """With a stepped executor more is judged: what it refuses, and what lies between two runs."""
    folder = written(tmp_path, kit, *ALL)
    assert purgatory(tmp_path, "doctor", "mine").returncode == 0  # it is built
    stepped = shlex.join([*command(folder), "--stepped"])
    finished = purgatory(folder, "check", "--command", stepped, *QUICK)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    for rule in ("TIMER-EXECUTOR-REFUSES", "PURGATORY-EXECUTOR-REFUSES", "TIMER-ADVANCE-INSIDE"):
        assert re.search(rf"held +{rule} ", finished.stdout), rule
    has_threads = kit.language is not Language.JAVASCRIPT
    assert bool(re.search("held +PURGATORY-MEANWHILE ", finished.stdout)) is has_threads


@pytest.mark.parametrize("kit", [each for each in LARGE_WHERE_BUILT if has_wall(each)])
def test_code_for_the_real_clock_is_judged_in_virtual_time(kit: Kit, tmp_path: Path) -> None:
    """It is conformant, and no step was one of the real clock."""
    folder = written(tmp_path, kit, "--clock", "wall")
    finished = purgatory(tmp_path, "check", "mine", *QUICK)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "clock manual" in finished.stdout
    assert_each_is_answered(command(folder), folder, [Component.TIMER])
    doctor = purgatory(tmp_path, "doctor", str(folder / "real-clock.toml"))
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "wrong", "rule"),
    [
        ("this.expire(task), delayMs)", "this.expire(task), delayMs + 1)", "TIMER-NOT-LATE"),
        ("this.cancel(task); // an earlier arming", "", "TIMER-READD-PENDING"),
        (
            "this.pending.delete(task);\n    task.run();",
            "task.run();\n    this.pending.delete(task);",
            "TIMER-THROWING-TASK",
        ),
    ],
)
def test_a_wrong_time_out_is_seen_in_virtual_time(
    tmp_path: Path, right: str, wrong: str, rule: str
) -> None:
    folder = written(tmp_path, KITS[Language.JAVASCRIPT], "--clock", "wall")
    timer = folder / "timeout-timer.js"
    text = timer.read_text(encoding="utf-8")
    assert text.count(right) == 1
    timer.write_text(text.replace(right, wrong), encoding="utf-8")
    finished = purgatory(tmp_path, "check", "mine", *QUICK)
    assert finished.returncode == 1, finished.stdout + finished.stderr
    assert re.search(f"broken +{rule} ", finished.stdout), finished.stdout


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.parametrize("design", ["promised", "earliest"])
def test_a_right_timer_of_another_design_is_conformant(tmp_path: Path, design: str) -> None:
    """Given imported time-outs, or a clock that is read: both follow the clock that is moved."""
    folder = written(tmp_path, KITS[Language.JAVASCRIPT], "--clock", "wall")
    shutil.copy(HERE / "javascript" / f"{design}-timer.js", folder / "timeout-timer.js")
    finished = purgatory(tmp_path, "check", "mine", *QUICK)
    assert finished.returncode == 0, finished.stdout + finished.stderr


@pytest.mark.verify
@pytest.mark.slow
def test_virtual_time_in_javascript_answers_as_nodes_does(tmp_path: Path) -> None:
    """Intervals, time-outs moved and cleared, promises, readings of the clock inside a callback."""
    folder = written(tmp_path, KITS[Language.JAVASCRIPT], "--clock", "wall")
    asking = "asks-virtual-time.js"
    shutil.copy(HERE / "javascript" / asking, folder)
    done = subprocess.run(
        ["node", asking], cwd=folder, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines() == [
        "date 1000 5 string 1000",
        "interval 5 10 15 1100",
        "negative 2",
        "aborted",
        "beyond 3",
        "moved 5",
        "awaited 6",
        "inner 15",
        "thrown of a callback",
        "end 10",
    ]


@pytest.mark.slow
@pytest.mark.large
@pytest.mark.parametrize("kit", [each for each in EACH if has_wall(each)])
def test_code_for_the_real_clock_is_judged_on_it(kit: Kit, tmp_path: Path) -> None:
    """The control: the same program without virtual time. On a busy machine a task may be late."""
    written(tmp_path, kit, "--clock", "wall")
    finished = purgatory(tmp_path, "check", "mine/real-clock.toml", *QUICK)
    assert "clock wall" in finished.stdout
    assert finished.returncode in (0, 1, 4), finished.stdout + finished.stderr
    results = tmp_path / "purgatory-work/mine-real-clock/results.jsonl"
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    assert {line["rule"] for line in lines if line["line"] == "cause"} <= {"TIMER-LATENESS"}


@pytest.mark.verify
@pytest.mark.slow
def test_the_types_of_the_kit_in_javascript_are_right(tmp_path: Path) -> None:
    """The compiler of TypeScript finds nothing, and a message that is no message."""
    kit = replace(KITS[Language.JAVASCRIPT], tools=("node", "npm"))
    folder = written(tmp_path, kit, *ALL)
    real = written(folder, kit, "--clock", "wall")
    packages = ("typescript@5.9.3", "@types/node@20.19.43")
    install = ["npm", "install", "--no-save", "--no-audit", "--no-fund", *packages]
    subprocess.run(install, cwd=folder, check=True, capture_output=True, timeout=600)

    def found(project: Path = folder) -> str:
        options = ["--project", str(project / "jsconfig.json")]
        compiler = ["node", "node_modules/typescript/bin/tsc", *options]
        done = subprocess.run(compiler, cwd=folder, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    assert found() == found(real) == ""
    case = folder / "timer-case.js"
    text = case.read_text(encoding="utf-8")
    case.write_text(text.replace('this.note("expired"', 'this.note("expires"'), encoding="utf-8")
    assert "timer-case.js" in (output := found())
    assert '"expires"' in output


@pytest.mark.parametrize("language", Language)
def test_the_code_that_stays_is_short(language: Language) -> None:
    """They have at most 380 lines of code, in C 650."""
    for components, clock in ((COMPONENTS, Clock.VIRTUAL), ([Component.TIMER], Clock.WALL)):
        if clock is Clock.WALL and language in WITHOUT_WALL:
            continue
        files = project(language, components, clock, "mine")
        rows = [row.split("|") for row in files[Path("README.md")].splitlines() if row[:1] == "|"]
        stay = " ".join(row[1] for row in rows if row[3].strip() in ("stays", "stay"))
        suffixes = {".py", ".go", ".rs", ".java", ".js", ".ts", ".c", ".h"}
        sources = [path for path in files if path.suffix in suffixes]
        staying = [path for path in sources if f"{path.name}`" in stay]
        assert len(staying) >= 3
        counted = {path.name: code_lines(files[path]) for path in staying}
        assert sum(counted.values()) <= MOST_LINES[language], counted
