"""The programs in the texts for other systems' authors print what the texts say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from purgatory_conformance.opening import adapter_command

from .adapter_process import WORK_FOLDER
from .test_projects import fetched

TEXTS = Path(__file__).parents[3] / "docs" / "findings"
PROGRAMS = {
    "apscheduler": ("apscheduler-debug", sys.executable),
    "gevent": ("gevent", sys.executable),
    "node-schedule": ("npm-node-schedule", "node"),
    "retimer": ("npm-retimer", "node"),
    "timer-wheel": ("npm-timer-wheel", "node"),
}
"""By the page: the word of the system, whose build has the package, and what runs the program."""

_PROGRAM = re.compile(r'^```(?:python no-run|javascript) title="(.*)"\n(.*?)^```$', re.M | re.S)
_PRINTS = re.compile(r"^(?:#|//) prints: (.*)$", re.M)


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.parametrize("page", PROGRAMS)
def test_a_program_prints_what_its_text_says(page: str, tmp_path: Path) -> None:
    word, runner = PROGRAMS[page]
    fetched(word)
    command, _ = adapter_command(word, work_folder=WORK_FOLDER)
    build = Path(command[-1])
    ((title, program),) = _PROGRAM.findall((TEXTS / f"{page}.md").read_text(encoding="utf-8"))
    (tmp_path / title).write_text(program, encoding="utf-8")
    packages = {"PYTHONPATH": str(build), "NODE_PATH": str(build / "node_modules")}
    ended = subprocess.run(
        [runner, title],
        cwd=tmp_path,
        env={**os.environ, **packages},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert ended.stdout.splitlines() == _PRINTS.findall(program), ended.stderr


def test_every_text_with_a_program_is_run() -> None:
    with_one = {
        path.stem
        for path in TEXTS.glob("*.md")
        if _PROGRAM.search(path.read_text(encoding="utf-8"))
    }
    assert with_one == set(PROGRAMS)
