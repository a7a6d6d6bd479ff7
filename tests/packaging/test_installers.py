"""The lines of the page on installing work as they stand: pip, pipx and uvx, from the wheel."""

import shlex
import sys
from pathlib import Path

import pytest

from tests.packaging.wheels import ROOT, run

pytestmark = [pytest.mark.verify, pytest.mark.package, pytest.mark.slow]

PAGE = (ROOT / "docs/how-to/install.md").read_text(encoding="utf-8")
PIPX = "pipx==1.18.4"
"""Run by uvx, which is a program of its own: one dependency less."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a wheel where the page has it, and an environment that is active in it."""
    folder = tmp_path_factory.mktemp("reader")
    run([sys.executable, "-m", "build", "--wheel", "--outdir", folder / "dist", ROOT], folder)
    run([sys.executable, "-m", "venv", folder / "venv"], folder)
    return folder


@pytest.mark.parametrize("tool", ["python -m pip", "pipx", "uvx"])
def test_a_line_of_the_page_judges_or_installs(tool: str, folder: Path) -> None:
    (line,) = [
        each.removeprefix("$ ")
        for each in PAGE.splitlines()
        if each.startswith(f"$ {tool} ") and each.endswith(("quick", "[conformance]'"))
    ]
    words = shlex.split(line)
    if tool == "pipx":
        words = ["uvx", PIPX, *words[1:]]
    uv = Path(sys.prefix) / "bin" / "uvx"
    programs: dict[str, list[str | Path]] = {
        "uvx": [uv],
        "python": [folder / "venv" / "bin" / "python"],
    }
    homes = {"PIPX_HOME": str(folder / "pipx"), "UV_CACHE_DIR": str(folder / "uv")}
    output = run([*programs[words[0]], *words[1:]], folder, 0, **homes)
    if tool == "python -m pip":
        judge: list[str | Path] = [folder / "venv" / "bin" / "purgatory", "check", "bundled"]
        output = run([*judge, "--suite", "quick"], folder)
    assert "✓ conformant: every applicable rule was put to the test and held" in output
