"""Archives of Java's classes: written by a process that ends well, used by the next."""

import subprocess
import sys
from pathlib import Path

import pytest

from purgatory_spec.class_archives import MOST_ARCHIVES, ClassArchive, class_archive


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "purgatory-program"


@pytest.fixture
def java(tmp_path: Path) -> Path:
    (tmp_path / "jars").mkdir()
    (tmp_path / "java").touch()
    return tmp_path / "java"


def writing(archive: ClassArchive) -> "subprocess.Popen[bytes]":
    """A process that writes an archive, as Java does at its end, and ends."""
    code = f"open({str(archive.unfinished)!r}, 'w').write('classes')"
    return subprocess.Popen([sys.executable, "-c", code])


def ended(java: Path) -> ClassArchive:
    """The archive of a session that has ended well."""
    archive = class_archive("program", java, java.with_name("jars"), makes=True)
    archive.is_wanted = True
    archive.wait_for(writing(archive))
    return archive


def test_it_is_made_by_the_session_that_ends_well_and_used_by_the_next(
    cache: Path, java: Path
) -> None:
    jars = java.with_name("jars")
    assert class_archive("program", java, jars, makes=False) == ClassArchive()
    first = class_archive("program", java, jars, makes=True)
    assert first.options == (f"-XX:ArchiveClassesAtExit={first.unfinished}",)
    first.wait_for(writing(first))
    assert not any(cache.iterdir())

    ended(java)
    (place,) = cache.iterdir()
    second = class_archive("program", java, jars, makes=True)
    assert second == ClassArchive(place)
    assert second.options == (f"-XX:SharedArchiveFile={place}", "-Xlog:disable")
    place.write_bytes(place.read_bytes()[:-1])
    assert class_archive("program", java, jars, makes=True) == ClassArchive()


@pytest.mark.parametrize("dies", [False, True])
def test_a_java_that_writes_none_or_dies_is_asked_once(cache: Path, java: Path, dies: bool) -> None:
    archive = class_archive("program", java, java.with_name("jars"), makes=True)
    assert archive.unfinished is not None
    archive.is_wanted = True
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    if dies:
        archive.unfinished.write_bytes(b"half")
        process.kill()
    process.communicate(b"\n")
    archive.wait_for(process)
    assert [path.stat().st_size for path in cache.iterdir()] == [0]
    assert class_archive("program", java, java.with_name("jars"), makes=True).options == ()


def test_no_more_than_a_few_are_kept(cache: Path, java: Path) -> None:
    for number in range(MOST_ARCHIVES + 2):
        java.write_text("." * number, encoding="utf-8")
        latest = ended(java).place
    assert len([*cache.iterdir()]) == MOST_ARCHIVES
    assert latest is not None
    assert any(cache.glob(f"{latest.stem}-*"))


def test_a_cache_that_cannot_be_written_is_no_error(
    java: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(java))
    assert class_archive("program", java, java.with_name("jars"), makes=True) == ClassArchive()
    assert class_archive("program", java, java.with_name("missing"), makes=True) == ClassArchive()
