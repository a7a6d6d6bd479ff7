"""Adapters that name a build: it runs before they start, and its failure is said."""

import json
import shlex
import sys
from pathlib import Path

from purgatory_conformance.describing.words import printable
from purgatory_conformance.kits import Clock, Language, project, write
from purgatory_spec.profiles import Component

from .command import purgatory

COPIES = "import shutil, sys; shutil.copytree('sources', sys.argv[1], dirs_exist_ok=True)"


def declared(folder: Path, *build: str) -> None:
    """Lay out an adapter whose program only its build makes."""
    sources = project(Language.PYTHON, [Component.TIMER], Clock.VIRTUAL, "mine")
    write(sources, folder / "sources")
    (folder / "purgatory.toml").write_text(
        f'[subject]\nname = "my timer"\nbuild = {json.dumps(build)}\n'
        f"command = {json.dumps(['{python}', '{build}/adapter.py'])}\n",
        encoding="utf-8",
    )


def test_an_adapter_is_built_before_it_is_examined(tmp_path: Path) -> None:
    """It is fine as built, and the second look sees the change."""
    declared(tmp_path, sys.executable, "-c", COPIES, "{build}")
    ended = purgatory(tmp_path, "doctor")
    first, second, *_ = ended.stdout.splitlines()
    assert (ended.returncode, second[:2]) == (0, "ok"), ended.stderr
    (built,) = (tmp_path / "purgatory-work/adapters").glob("my-timer-*/adapter.py")
    build = shlex.join([sys.executable, "-c", COPIES, str(built.parent)])
    runs = f"{build}, then {shlex.join([sys.executable, str(built)])}"
    assert first == printable(f"purgatory.toml runs {runs}")

    source = tmp_path / "sources" / "adapter.py"
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace('"protocol": 1', '"protocol": 7'), encoding="utf-8")
    assert purgatory(tmp_path, "doctor").returncode == 3


def test_the_folder_of_a_build_is_there_before_it_runs(tmp_path: Path) -> None:
    """A compiler makes no folder for its output."""
    copies = "import shutil, sys; shutil.copy('sources/adapter.py', sys.argv[1])"
    declared(tmp_path, sys.executable, "-c", copies, "{build}/adapter.py")
    ended = purgatory(tmp_path, "doctor")
    assert "ModuleNotFoundError: No module named 'case'" in ended.stderr + ended.stdout
    assert list((tmp_path / "purgatory-work/adapters").glob("my-timer-*/adapter.py"))


def test_a_build_that_does_not_name_the_folder_makes_none(tmp_path: Path) -> None:
    declared(tmp_path, sys.executable, "-c", "")
    text = (tmp_path / "purgatory.toml").read_text(encoding="utf-8")
    (tmp_path / "purgatory.toml").write_text(text.replace("{build}", "sources"), encoding="utf-8")
    assert purgatory(tmp_path, "doctor").returncode == 0
    assert [each.suffix for each in (tmp_path / "purgatory-work/adapters").iterdir()] == [".lock"]


def test_a_build_that_fails_shows_what_it_said(tmp_path: Path) -> None:
    """The exit code is that of a subject that failed, and the build's words are shown."""
    declared(tmp_path, sys.executable, "-c", "raise SystemExit('no such module')")
    ended = purgatory(tmp_path, "check", "--suite", "quick")
    assert ended.returncode == 3
    assert "the build of my timer ended with exit code 1\nno such module" in ended.stderr


def test_a_missing_tool_of_a_build_is_named(tmp_path: Path) -> None:
    declared(tmp_path, "no-such-compiler")
    ended = purgatory(tmp_path, "check", "--suite", "quick")
    assert ended.returncode == 5
    assert "'no-such-compiler' is not installed" in ended.stderr


def test_a_build_needs_a_command(tmp_path: Path) -> None:
    (tmp_path / "purgatory.toml").write_text(
        '[subject]\nname = "mine"\npython = "mine:subject"\nbuild = ["make"]\n', encoding="utf-8"
    )
    ended = purgatory(tmp_path, "check")
    assert ended.returncode == 2
    assert "has a build, but no command" in ended.stderr
