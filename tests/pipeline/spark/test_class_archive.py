"""Java's classes for Spark: archived at the end of the first check, mapped by later sessions."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from purgatory_pipeline.engines.spark.class_archive import (
    NO_SETTINGS,
    ClassArchive,
    class_archive,
)
from purgatory_pipeline.traces.synthetic import write_corpus
from purgatory_spec.class_archives import MOST_ARCHIVES
from tests.pipeline.processes import PURGATORY

SECONDS = 900


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("JDK_JAVA_OPTIONS", raising=False)
    return tmp_path / "cache" / "purgatory-spark"


@pytest.fixture
def java(tmp_path: Path) -> Path:
    (tmp_path / "jars").mkdir()
    (tmp_path / "java").touch()
    return tmp_path / "java"


def writing(archive: ClassArchive, words: str = "w") -> "subprocess.Popen[bytes]":
    """A process that writes an archive, as Java does at its end, and ends."""
    code = f"open({str(archive.unfinished)!r}, 'w').write({words!r})"
    return subprocess.Popen([sys.executable, "-c", code])


def ended(java: Path) -> ClassArchive:
    """The archive of a session that has ended well."""
    archive = class_archive(java, java.with_name("jars"), makes=True)
    archive.is_wanted = True
    archive.wait_for(writing(archive))
    return archive


def test_it_is_made_by_the_session_that_ends_well_and_used_by_the_next(
    cache: Path, java: Path
) -> None:
    jars = java.with_name("jars")
    assert class_archive(java, jars, makes=False) == ClassArchive()
    first = class_archive(java, jars, makes=True)
    assert first.options.startswith('"-XX:ArchiveClassesAtExit=')
    first.wait_for(writing(first))
    assert not any(cache.iterdir())

    place = ended(java).place
    assert [*cache.iterdir()] == [place]
    second = class_archive(java, jars, makes=True)
    assert second == ClassArchive(place)
    assert second.options == f'"-XX:SharedArchiveFile={place}" -Xlog:disable'


def test_a_java_that_writes_none_is_asked_once(cache: Path, java: Path) -> None:
    archive = class_archive(java, java.with_name("jars"), makes=True)
    archive.is_wanted = True
    archive.wait_for(subprocess.Popen([sys.executable, "-c", ""]))
    assert [path.stat().st_size for path in cache.iterdir()] == [0]
    assert class_archive(java, java.with_name("jars"), makes=True).options == ""


def test_no_more_than_a_few_are_kept(cache: Path, java: Path) -> None:
    for number in range(MOST_ARCHIVES + 2):
        java.write_text("." * number, encoding="utf-8")
        latest = ended(java).place
    assert len([*cache.iterdir()]) == MOST_ARCHIVES
    assert latest in cache.iterdir()


def test_none_is_made_where_the_class_path_may_be_another(
    cache: Path, java: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", str(java.parent))
    assert class_archive(java, java.with_name("jars"), makes=True) == ClassArchive()


def test_a_cache_that_cannot_be_written_is_no_error(
    java: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(java))
    assert class_archive(java, java.with_name("jars"), makes=True) == ClassArchive()
    assert class_archive(java, java.with_name("missing"), makes=True) == ClassArchive()


def test_the_folder_of_settings_does_not_exist() -> None:
    """Java takes no archive for a class path on which a folder has files."""
    assert not NO_SETTINGS.exists()


@pytest.mark.spark
@pytest.mark.large
def test_java_takes_most_classes_from_the_archive(cache: Path, tmp_path: Path) -> None:
    """
    Given a check that has archived Java's classes
    When Spark is started again
    Then most classes that Java loads are from the archive, and the results are the same
    When the archive is damaged
    Then Java does without
    """
    write_corpus(tmp_path / "traces", 9, 60, faulty=2, files=2)

    def check(*words: str) -> tuple[dict[str, object], list[str]]:
        command = [PURGATORY, "trace", "check", "traces", "--master", "local[1]", *words]
        done = subprocess.run(
            [*command, "--format", "json", "--out", "out"],
            cwd=tmp_path,
            env={**os.environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 1, done.stderr
        told = tmp_path / "classes"
        loaded = told.read_text("utf-8").splitlines() if told.exists() else []
        return {**json.loads(done.stdout), "results": ""}, loaded

    logged = f"spark.driver.extraJavaOptions=-Xlog:class+load:file={tmp_path / 'classes'}"
    first, _ = check()
    (archive,) = cache.iterdir()
    assert archive.stat().st_size > 100_000_000
    found, loaded = check("--conf", logged)
    mapped = [line for line in loaded if "shared objects file (top)" in line]
    assert found == first
    assert len(mapped) > 0.8 * len(loaded)

    archive.chmod(0o600)
    with archive.open("r+b") as opened:
        opened.truncate(1_000_000)
    found, loaded = check("--conf", logged)
    assert found == first
    assert not any("shared objects file (top)" in line for line in loaded)
