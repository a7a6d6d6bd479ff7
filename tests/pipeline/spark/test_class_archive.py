"""Java's classes for Spark: archived at the end of the first check, mapped by later sessions."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from purgatory_spark.engine.session import NO_SETTINGS, archive_of_spark
from purgatory_spec.class_archives import ClassArchive
from purgatory_traces.traces.synthetic import write_corpus
from tests.pipeline.processes import PURGATORY

SECONDS = 900

pytestmark = pytest.mark.spark


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("JDK_JAVA_OPTIONS", raising=False)
    return tmp_path / "cache" / "purgatory-spark"


def test_none_is_written_on_a_cluster_or_where_the_class_path_may_be_another(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = archive_of_spark("local[*]", {}, makes=True)
    assert written.unfinished is not None
    assert written.unfinished.parent == cache
    assert archive_of_spark("spark://host:7077", {}, makes=True) == ClassArchive()
    assert archive_of_spark("local[*]", {"spark.jars": "a.jar"}, makes=True) == ClassArchive()
    monkeypatch.setenv("HADOOP_CONF_DIR", str(cache))
    assert archive_of_spark("local[*]", {}, makes=True) == ClassArchive()


def test_the_folder_of_settings_does_not_exist() -> None:
    """Keep it absent: Java takes no archive for a class path on which a folder has files."""
    assert not NO_SETTINGS.exists()


@pytest.mark.large
def test_java_takes_most_classes_from_the_archive(cache: Path, tmp_path: Path) -> None:
    write_corpus(tmp_path / "traces", 9, 60, faulty=2, files=2)

    def check(*words: str, archives: bool = False) -> tuple[dict[str, object], list[str]]:
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
        assert ("Java writes its classes to an archive" in done.stderr) == archives
        told = tmp_path / "classes"
        loaded = told.read_text("utf-8").splitlines() if told.exists() else []
        return {**json.loads(done.stdout), "results": ""}, loaded

    logged = f"spark.driver.extraJavaOptions=-Xlog:class+load:file={tmp_path / 'classes'}"
    first, _ = check(archives=True)
    (archive,) = cache.iterdir()
    assert archive.stat().st_size > 100_000_000
    found, loaded = check("--conf", logged)
    mapped = [line for line in loaded if "shared objects file (top)" in line]
    assert found == first
    assert len(mapped) > 0.5 * len(loaded)

    archive.chmod(0o600)
    with archive.open("r+b") as opened:
        opened.truncate(1_000_000)
    found, loaded = check("--conf", logged)
    assert found == first
    assert not any("shared objects file (top)" in line for line in loaded)
