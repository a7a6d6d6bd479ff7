"""The folders of sessions that were killed are removed by a later one, and no other folder is."""

import os
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from purgatory_spark.engine.session import remove_left_behind
from purgatory_traces.results.locking import LOCK, only_one


def made(parent: Path, name: str, *, seconds_ago: int | None) -> Path:
    """A folder with a lock of this age, or with none."""
    folder = parent / name
    (folder / "scratch").mkdir(parents=True)
    if seconds_ago is not None:
        with only_one(folder):
            pass
        at = (folder / LOCK).stat().st_mtime - seconds_ago
        os.utime(folder / LOCK, (at, at))
    return folder


def test_only_what_nobody_holds_is_removed(tmp_path: Path) -> None:
    killed = made(tmp_path, "purgatory-spark-killed", seconds_ago=100)
    stays = [
        made(tmp_path, "purgatory-spark-just-made", seconds_ago=0),
        made(tmp_path, "purgatory-spark-without-a-lock", seconds_ago=None),
        made(tmp_path, "something-else", seconds_ago=100),
    ]
    alive = made(tmp_path, "purgatory-spark-alive", seconds_ago=100)
    with only_one(alive):
        remove_left_behind(tmp_path)
    assert not killed.exists()
    assert all(folder.exists() for folder in (*stays, alive))
    remove_left_behind(tmp_path)
    assert not alive.exists()
