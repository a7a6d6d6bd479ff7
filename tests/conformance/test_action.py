"""Run the steps of the GitHub Action as a runner runs them, in a folder of their own."""

# A runner of GitHub's is not at hand. Here its part is played by a few lines: expressions are
# filled in, each step has the environment variables and files that GitHub documents, and ``bash``
# starts as it does there. What GitHub's own action for artifacts does is not run: what it is asked
# for is.

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from tests.conformance.command import SCRIPT

pytestmark = pytest.mark.verify

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / "action.yml"
BASH = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail"]

# In place of an interpreter: it makes an "environment" of the scripts of this one.
PYTHON = f"""#!{sys.executable}
import pathlib, sys
folder = pathlib.Path(sys.argv[3]) / "bin"
folder.mkdir(parents=True)
(folder / "purgatory").symlink_to({str(SCRIPT)!r})
pip = folder / "python"
pip.write_text('''#!/bin/sh
if [ "$2" = pip ]; then echo "$@" > "{{}}"; else exec {sys.executable} "$@"; fi
'''.format(pathlib.Path(sys.argv[3]) / "asked-of-pip"))
pip.chmod(0o755)
"""

LATE_TIMER = """
from purgatory_conformance.specimens.mutants import mutant

def make():
    return mutant("zero-dropped").make()
"""


class Described(msgspec.Struct):
    description: str
    default: str = ""
    value: str = ""


class Step(msgspec.Struct, rename="kebab"):
    name: str
    id: str = ""
    condition: str = msgspec.field(default="", name="if")
    shell: str = ""
    env: dict[str, str] = {}
    working_directory: str = "."
    run: str = ""
    uses: str = ""
    options: dict[str, str] = msgspec.field(default_factory=dict, name="with")


class Runs(msgspec.Struct):
    steps: list[Step]


class Action(msgspec.Struct):
    inputs: dict[str, Described]
    outputs: dict[str, Described]
    runs: Runs


@dataclass
class Runner:
    """A stand-in for GitHub's runner, for the steps of a composite action."""

    folder: Path
    given: dict[str, str]
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    uploaded: dict[str, str] | None = None
    code: int = 0
    said: str = ""

    @property
    def summary(self) -> str:
        return (self.folder / "summary").read_text(encoding="utf-8")

    def run(self) -> "Runner":
        action = msgspec.yaml.decode(ACTION.read_bytes(), type=Action)
        assert self.given.keys() <= action.inputs.keys()
        defaults = {name: each.default for name, each in action.inputs.items()}
        self.inputs = {**defaults, **self.given}
        (self.folder / "summary").touch()
        for step in action.runs.steps:
            if self.code == 0 and self.holds(step.condition):
                self.take(step)
        self.results = {name: self.filled(each.value) for name, each in action.outputs.items()}
        return self

    def filled(self, text: str) -> str:
        """The text with the values of its expressions."""
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: self.value(found[1]), text)

    def value(self, expression: str) -> str:
        kind, *names = expression.split(".")
        if kind == "inputs":
            return self.inputs[names[0]]
        assert kind == "steps"
        return self.outputs[names[0]].get(names[2], "")

    def holds(self, condition: str) -> bool:
        terms = re.findall(r"([\w.-]+) != ''", condition)
        assert bool(terms) == bool(condition)
        return all(self.value(term) for term in terms)

    def take(self, step: Step) -> None:
        if step.uses:
            assert step.uses.startswith("actions/upload-artifact@")
            self.uploaded = {name: self.filled(value) for name, value in step.options.items()}
            return
        assert step.shell == "bash"
        output = self.folder / f"output-{len(self.outputs)}"
        script = self.folder / "step.sh"
        script.write_text(step.run, encoding="utf-8")
        finished = subprocess.run(
            [*BASH, str(script)],
            cwd=self.folder / "workspace" / self.filled(step.working_directory),
            env={
                "PATH": os.environ["PATH"],
                "HOME": os.environ["HOME"],
                "COLUMNS": "100",
                "CI": "true",
                "GITHUB_ACTIONS": "true",
                "GITHUB_ACTION_PATH": str(ROOT),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
                "GITHUB_WORKSPACE": str(self.folder / "workspace"),
                "RUNNER_TEMP": str(self.folder / "temp"),
                **{name: self.filled(value) for name, value in step.env.items()},
            },
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        self.code = finished.returncode
        self.said += finished.stdout + finished.stderr
        lines = output.read_text("utf-8").splitlines() if output.exists() else []
        self.outputs[step.id] = dict(line.split("=", 1) for line in lines)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with a subject in a folder of its own, and an interpreter."""
    (tmp_path / "temp").mkdir()
    late = tmp_path / "workspace" / "late timer"
    late.mkdir(parents=True)
    (late / "late.py").write_text(LATE_TIMER, encoding="utf-8")
    declared = '[subject]\nname = "late"\npython = "late:make"\n'
    (late / "purgatory.toml").write_text(declared, encoding="utf-8")
    python = tmp_path / "temp" / "python"
    python.write_text(PYTHON, encoding="utf-8")
    python.chmod(0o755)
    return tmp_path


def ran(folder: Path, **inputs: str) -> Runner:
    given = {"python": str(folder / "temp" / "python"), "suite": "quick", **inputs}
    return Runner(folder, {name.replace("_", "-"): value for name, value in given.items()}).run()


@pytest.mark.slow
def test_a_conformant_subject_ends_well_with_summary_badge_and_artifact(folder: Path) -> None:
    """It ends with 0, the summary and the badge have the verdict, and all files are kept."""
    action = ran(folder, subject="heap-timer", arguments="--component timer")
    assert action.code == 0, action.said
    assert action.summary.startswith("## ✓ conformant: timer of ")
    assert "quick suite, version " in action.summary
    assert "seed 1" in action.summary
    kept = folder / "workspace" / action.results["results"]
    assert action.uploaded == {"name": "purgatory-conformance", "path": action.results["results"]}
    assert {each.name for each in kept.iterdir()} == {
        *("results.jsonl", "report.html", "junit.xml", "badge.json", "subject.json")
    }
    badge = json.loads((kept / "badge.json").read_text("utf-8"))
    assert action.results["verdict"] == badge["message"]
    assert badge["message"].startswith("conformant · ")
    assert action.results["exit-code"] == "0"
    assert (folder / "temp/purgatory/asked-of-pip").read_text("utf-8").split() == [
        *("-m", "pip", "install", "--quiet", f"{ROOT}[conformance]")
    ]


@pytest.mark.slow
def test_a_broken_rule_ends_badly_and_its_replay_file_is_kept(folder: Path) -> None:
    """It ends with 1 after the summary was written, and the replay files are kept."""
    action = ran(folder, working_directory="late timer", package="purgatory-spec==9")
    assert action.code == 1
    assert action.results["exit-code"] == "1"
    assert action.summary.startswith("## ✗ not conformant: timer of ")
    assert "### ✗ TIMER-" in action.summary
    assert action.results["results"] == "late timer/purgatory-work/late"
    kept = folder / "workspace" / action.results["results"]
    assert list((kept / "replays").glob("TIMER-*.jsonl")) != []
    assert action.uploaded is not None
    assert "purgatory-spec==9" in (folder / "temp/purgatory/asked-of-pip").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inputs", "code", "told"),
    [
        ({"subject": "kafak"}, 2, "'kafak' is no subject"),
        ({"subject": "$(touch planted); `touch planted`"}, 2, "is no subject"),
        ({"subject": "--help"}, 2, "'--help' is no subject"),
        ({"subject": "bundled", "arguments": "--rule NO-SUCH"}, 2, "there is no rule NO-SUCH"),
    ],
)
def test_where_nothing_is_judged_the_summary_says_why(
    folder: Path, inputs: dict[str, str], code: int, told: str
) -> None:
    """It ends as the command does, the summary says why, nothing is kept, nothing else is run."""
    action = ran(folder, **inputs)
    assert action.code == code
    assert action.summary.startswith(f"## No verdict: exit code {code}\n\n    ")
    assert told in action.summary
    assert action.uploaded is None
    assert action.results["verdict"] == ""
    assert not list(folder.rglob("planted"))


@pytest.mark.slow
def test_no_artifact_is_made_where_none_is_wanted(folder: Path) -> None:
    action = ran(folder, subject="heap-timer", artifact="")
    assert action.code == 0
    assert action.uploaded is None
    assert action.results["results"] == "./purgatory-work/heap-timer"
