"""Missing requirements are told before Spark is started."""

import importlib.util
import os
import re
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from purgatory_conformance.problems import EXIT_MISSING_TOOL, EXIT_USAGE, Problem
from purgatory_spark.engine.preflight import java_program, java_version, preflight
from purgatory_spark.engine.session import spark_session
from purgatory_spec.installing import command_for

posix = pytest.mark.skipif(os.name == "nt", reason="the programs of these tests are shell scripts")


def java_that_says(folder: Path, words: str, code: int = 0) -> Path:
    (folder / "bin").mkdir(parents=True)
    java = folder / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit {code}\n", encoding="utf-8")
    java.chmod(0o755)
    return java


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    found = importlib.util.find_spec

    def find(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name in names else found(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find)


@pytest.mark.parametrize("name", ["pyspark", "pandas", "pyarrow"])
def test_a_missing_library_names_the_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, name)
    command = command_for("spark")
    with pytest.raises(Problem, match=f"{name}, not installed here: {re.escape(command)}") as told:
        preflight()
    assert told.value.exit_code == EXIT_MISSING_TOOL


def test_connect_needs_its_libraries_and_no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    preflight(needs_java=False, needs_connect=True)
    without(monkeypatch, "grpc")
    with pytest.raises(Problem, match="grpc, not installed"):
        preflight(needs_java=False, needs_connect=True)


@posix
@pytest.mark.parametrize(
    ("words", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "25-ea" 2025-09-16', 25),
        ("no version at all", None),
    ],
)
def test_versions_are_read(words: str, version: int | None, tmp_path: Path) -> None:
    assert java_version(java_that_says(tmp_path, words)) == version


@posix
def test_a_java_that_fails_or_is_none_has_no_version(tmp_path: Path) -> None:
    assert java_version(java_that_says(tmp_path, 'version "17"', code=1)) is None
    assert java_version(tmp_path / "nowhere") is None


@posix
@pytest.mark.parametrize(
    ("words", "why"), [('version "11.0.2"', "is version 11"), ("", "does not say its version")]
)
def test_an_old_java_is_refused(
    words: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = java_that_says(tmp_path, words)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert java_program() == java
    with pytest.raises(Problem, match=rf"Java 17 or later: {java} {why}.*JAVA_HOME") as told:
        preflight()
    assert told.value.exit_code == EXIT_MISSING_TOOL


def test_without_java_it_says_where_it_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(Problem, match="which has no bin/java"):
        preflight()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Problem, match=r"no java on PATH.*--engine local"):
        preflight()
    with pytest.raises(Problem, match=r"JAVA_HOME; instead do that$"):
        preflight(without_java="instead do that")


@posix
def test_a_java_of_the_right_version_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java_that_says(tmp_path, 'openjdk version "17.0.1"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    preflight()


@pytest.mark.parametrize(
    ("master", "remote", "words", "code"),
    [
        ("local[1]", "sc://localhost", "not both", EXIT_USAGE),
        ("", "localhost:15002", "is no address", EXIT_USAGE),
        ("", "sc://localhost:port", "is no address", EXIT_USAGE),
        ("", "sc://", "is no address", EXIT_USAGE),
    ],
)
def test_wrong_places_are_refused(master: str, remote: str, words: str, code: int) -> None:
    with pytest.raises(Problem, match=words) as told, spark_session(master=master, remote=remote):
        pass
    assert told.value.exit_code == code


def test_the_program_that_runs_the_tests_is_not_asked_for_java() -> None:
    assert java_version(Path(sys.executable)) is None
