"""A peer that cannot be built says why, and is not measured."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from purgatory_conformance.problems import Problem
from purgatory_lab.benchmarks.bench import building
from purgatory_lab.benchmarks.bench.building import (
    NotBuilt,
    build_compiled,
    build_go,
    build_jvm,
    build_rust,
    find_checkout,
    fingerprint,
)
from purgatory_lab.benchmarks.bench.roster import OLD_PURE, ROLLS, WORKLOAD_ROLLS, Place
from purgatory_lab.benchmarks.bench.team import Team

from .peers import silent

ROOT = Path(__file__).resolve().parents[4]
FOREIGN = {"kafka": "Java 17", "netty": "Java 17", "go": "Go", "go-wheel": "Go", "rust": "Rust"}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "build.log"


def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    rolls = [roll for roll in ROLLS if roll.name in FOREIGN]
    with Team(rolls, Place(ROOT, tmp_path / "work"), silent) as team:
        reasons = {each.name: each.facts().reason for each in team.members}
        assert team.able("hot/virtual") == []
    for name, tool in FOREIGN.items():
        assert reasons[name].startswith(f"{tool} is not installed (no `")


def test_without_a_checkout_only_this_python_is_measured(tmp_path: Path) -> None:
    place = Place(None, tmp_path / "work")
    said: dict[str, str] = {}
    for roll in (*ROLLS, *WORKLOAD_ROLLS, OLD_PURE):
        try:
            roll.start(place)
        except NotBuilt as problem:
            said[roll.name] = str(problem)
    assert set(said) == {*FOREIGN, "compiled", "old-design"}
    assert all("--checkout" in reason for reason in said.values())


def tool(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def test_a_tool_that_fails_says_what_it_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log: Path
) -> None:
    tool(tmp_path, "go", "echo first; echo './main.go:3: error: no such thing'; echo; exit 3")
    tool(tmp_path, "cargo", "echo thinking; echo gave up; exit 1")
    tool(tmp_path, "java", "exit 0")
    tool(tmp_path, "mvn", "echo '[ERROR] no jars: '$*; exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotBuilt, match=r"`go` has failed with 3: \./main\.go:3: error: no such"):
        build_go(ROOT, tmp_path, log)
    with pytest.raises(NotBuilt, match=r"`cargo` has failed with 1: gave up"):
        build_rust(ROOT, tmp_path, log)
    # Offline first, and with a network when that has failed.
    with pytest.raises(NotBuilt, match=r"`mvn` has failed with 1: \[ERROR\] no jars: .* compile"):
        build_jvm(ROOT, log)
    assert "[ERROR] no jars: -q -Dstyle.color=never -o compile" in log.read_text(encoding="utf-8")


def test_a_tool_that_takes_too_long_is_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log: Path
) -> None:
    tool(tmp_path, "go", f"exec {shutil.which('sleep')} 30")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(building, "_BUILD_SECONDS", 0.3)
    with pytest.raises(NotBuilt, match="building took more than"):
        build_go(ROOT, tmp_path, log)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A few files in the places of a checkout's sources."""
    folder = tmp_path / "checkout"
    for name in (
        "pyproject.toml",
        "wheel_hook.py",
        "wheel_setup.py",
        "constraints.txt",
        "impl/purgatory_impl/timer.py",
        "impl/purgatory_impl/notes.md",
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    return folder


def test_a_changed_source_is_noticed(copy: Path) -> None:
    before = fingerprint(copy)
    (copy / "impl/purgatory_impl/notes.md").write_text("other", encoding="utf-8")
    assert fingerprint(copy) == before
    (copy / "impl/purgatory_impl/timer.py").write_text("other", encoding="utf-8")
    assert fingerprint(copy) != before


def test_an_environment_of_the_same_sources_is_used_again(
    copy: Path, tmp_path: Path, log: Path
) -> None:
    made = tmp_path / "work" / "compiled"
    made.mkdir(parents=True)
    (made / "made-of").write_text(fingerprint(copy), encoding="utf-8")
    assert build_compiled(copy, tmp_path / "work", log).parent.parent == made
    assert not log.exists()


def test_a_checkout_is_where_its_peers_are(tmp_path: Path) -> None:
    assert find_checkout(None) == ROOT
    assert find_checkout(ROOT) == ROOT
    with pytest.raises(Problem, match=r"is no checkout: it has no lab/peers/README\.md"):
        find_checkout(tmp_path)


def test_the_compiled_environment_gets_what_a_peer_imports(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log: Path
) -> None:
    asked: list[list[str]] = []

    def run(command: Sequence[str | Path], *_: object) -> None:
        asked.append([str(word) for word in command])
        if "wheel" in asked[-1]:
            folder = Path(asked[-1][asked[-1].index("--wheel-dir") + 1])
            folder.mkdir(parents=True)
            (folder / "purgatory_spec-1-py3-none-any.whl").touch()
        (tmp_path / "compiled").mkdir(exist_ok=True)

    monkeypatch.setattr(building, "_run", run)
    build_compiled(ROOT, tmp_path, log)
    (install,) = (words for words in asked if "install" in words)
    assert install[-1].endswith(".whl[conformance]")
