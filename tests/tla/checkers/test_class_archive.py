"""TLC's classes, archived at the first run: made once, used later, done without where it must."""

from pathlib import Path

import pytest

from purgatory_tla.checkers.tlc.class_archive import class_archive_options
from purgatory_tla.checkers.tools import find_jar, find_java


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "purgatory-tla"


@pytest.mark.java
@pytest.mark.slow
def test_it_is_made_once(cache: Path) -> None:
    options = class_archive_options(find_java(), find_jar())

    (archive,) = cache.iterdir()
    made = archive.stat().st_mtime_ns
    assert archive.stat().st_size > 1_000_000
    assert options[0] == f"-XX:SharedArchiveFile={archive}"
    assert class_archive_options(find_java(), find_jar()) == options
    assert archive.stat().st_mtime_ns == made


def fake_java(folder: Path) -> tuple[Path, Path]:
    """A Java that makes no archive, as those before 13."""
    java, jar = folder / "java", folder / "tool.jar"
    java.write_text("#!/bin/sh\necho 'Unrecognized VM option' >&2\nexit 1\n", encoding="utf-8")
    java.chmod(0o755)
    jar.touch()
    return java, jar


@pytest.mark.skipif("sys.platform == 'win32'", reason="the stand-in is a shell script")
def test_a_java_that_cannot_is_asked_once_and_done_without(cache: Path, tmp_path: Path) -> None:
    java, jar = fake_java(tmp_path)

    assert class_archive_options(java, jar) == ()
    (marker,) = cache.iterdir()
    assert marker.stat().st_size == 0
    asked = marker.stat().st_mtime_ns
    assert class_archive_options(java, jar) == ()
    assert marker.stat().st_mtime_ns == asked


@pytest.mark.skipif("sys.platform == 'win32'", reason="the stand-in is a shell script")
def test_a_folder_that_cannot_be_made_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    java, jar = fake_java(tmp_path)

    assert class_archive_options(java, jar) == ()
