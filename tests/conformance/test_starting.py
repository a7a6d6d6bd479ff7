"""The start of the command line, and of the plugin, where the suite's packages are missing."""

import shlex
import tomllib
from pathlib import Path

import pytest

from purgatory_conformance import starting
from purgatory_conformance.starting import EXTRA, NEEDED, main, what_is_missing
from purgatory_spec.installing import command_for

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[2]


def test_what_is_needed_is_what_the_extra_brings() -> None:
    """The extra is what the start looks for, and the distribution itself needs nothing."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    brought = project["optional-dependencies"][EXTRA]
    assert [requirement.partition(">=")[0] for requirement in brought] == list(NEEDED)
    assert project["dependencies"] == []


def test_nothing_is_missing_here() -> None:
    assert what_is_missing() is None


def without(monkeypatch: pytest.MonkeyPatch, *missing: str) -> None:
    monkeypatch.setattr(starting, "find_spec", lambda name: None if name in missing else name)


def test_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It names the two and the line that installs the extra, and ends with code 5."""
    without(monkeypatch, "rich", "jinja2")
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 5
    said = capsys.readouterr().err.strip()
    assert said == f"Error: the suite needs jinja2, rich, not installed here: {command_for(EXTRA)}"
    assert shlex.split(command_for(EXTRA))[-1].endswith("[conformance]")


def test_the_plugin_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, pytester: pytest.Pytester
) -> None:
    """The first run is a usage error that says what to install, and the second is as ever."""
    without(monkeypatch, "msgspec")
    pytester.makepyfile("def test_it(): pass")
    ended = pytester.runpytest_inprocess("--purgatory", "bundled")
    assert ended.ret == pytest.ExitCode.USAGE_ERROR
    ended.stderr.fnmatch_lines(["*the suite needs msgspec, not installed here:*"])
    assert pytester.runpytest_inprocess().ret == pytest.ExitCode.OK
