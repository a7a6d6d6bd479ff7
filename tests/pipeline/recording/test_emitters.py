"""The emitters of the how-to page: compiled, used by several threads, and judged."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.documentation.code_blocks import ROOT, blocks_of

from .recordings import verdict

pytestmark = pytest.mark.verify

PAGE = ROOT / "docs" / "how-to" / "emit-traces.md"
PROGRAMS = Path(__file__).parent / "emitters"
LIE_MS = 200
"""The time by which a trace lies about each delay, ms: so the task ran early."""


def lay_out(folder: Path, *titles: str) -> None:
    """Write blocks of the page into a folder, by their titles."""
    texts = {block.title: block.text for block in blocks_of(PAGE)}
    for title in titles:
        (folder / title).write_text(texts[title], encoding="utf-8")


def run(folder: Path, *command: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr.decode()


def by_python(folder: Path, lie_ms: int) -> None:
    lay_out(folder, "tracing.py", "use.py")
    use = folder / "use.py"
    told = "task=name, delay_ms=delay_ms"
    text = use.read_text(encoding="utf-8")
    assert text.count(told) == 1
    use.write_text(text.replace(told, f"{told} + {lie_ms}"), encoding="utf-8")
    run(folder, sys.executable, "use.py")


def by_java(folder: Path, lie_ms: int) -> None:
    if shutil.which("javac") is None:
        pytest.skip("javac is not installed")
    lay_out(folder, "Trace.java", "Around.java")
    shutil.copy(PROGRAMS / "Workload.java", folder)
    run(
        folder,
        "javac",
        "-Xlint:all",
        "-Werror",
        "-d",
        ".",
        "Trace.java",
        "Around.java",
        "Workload.java",
    )
    run(folder, "java", "-cp", ".", "Workload", "trace.jsonl", str(lie_ms))


def by_go(folder: Path, lie_ms: int) -> None:
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    lay_out(folder, "trace.go", "around.go")
    shutil.copy(PROGRAMS / "workload.go", folder)
    run(folder, "go", "vet", "trace.go", "around.go", "workload.go")
    run(folder, "go", "run", "trace.go", "around.go", "workload.go", "trace.jsonl", str(lie_ms))


EMITTERS = [
    pytest.param(by_python, id="python"),
    pytest.param(by_java, id="java", marks=pytest.mark.java),
    pytest.param(by_go, id="go"),
]


@pytest.mark.slow
@pytest.mark.parametrize("emit", EMITTERS)
def test_a_trace_of_three_threads_conforms(
    emit: Callable[[Path, int], None], tmp_path: Path
) -> None:
    emit(tmp_path, 0)
    found = verdict([tmp_path / "trace.jsonl"])
    assert (found.verdict, found.reason) == ("conforms", "")
    assert found.judged == found.events > 600


@pytest.mark.slow
@pytest.mark.parametrize("emit", EMITTERS)
def test_a_task_that_ran_early_is_found(emit: Callable[[Path, int], None], tmp_path: Path) -> None:
    emit(tmp_path, LIE_MS)
    found = verdict([tmp_path / "trace.jsonl"])
    assert found.verdict == "diverges"
    # The others where the task had been cancelled, long before it was due by the trace.
    assert found.rule in ("TIMER-NOT-EARLY", "TIMER-EXACTLY-ONCE", "TIMER-CANCEL")
