"""The folder of results: a file for each setting, by which a run goes on where it was ended.

    OUT/settings/NAME.parquet    one row; NAME tells setting and code
    OUT/STUDY.parquet            the rows of a study in its order, once all are there
"""

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from purgatory_pipeline.studies import tables
from purgatory_pipeline.studies.catalogue import Study
from purgatory_pipeline.studies.setting import Setting

_COUNTING: Final = (
    "bundled",
    "counts",
    "designs",
    "key_layouts",
    "purging",
    "setting",
    "simulation",
    "tables",
    "timers",
    "watcher_counts",
    "workload",
)


@cache
def code_digest() -> str:
    """Of the modules that counts depend on: results of other code are never taken for these."""
    folder = Path(__file__).parent
    digest = sha256()
    for name in _COUNTING:
        digest.update((folder / f"{name}.py").read_bytes())
    return digest.hexdigest()[:8]


class Results:
    """The results in a folder."""

    def __init__(self, folder: Path) -> None:
        """The folder, which is made where it is not there."""
        self._folder = folder
        self._settings = folder / "settings"
        self._settings.mkdir(parents=True, exist_ok=True)

    def missing(self, settings: Sequence[Setting]) -> list[Setting]:
        """The settings that have no result of this code yet."""
        return [setting for setting in settings if not self._path(setting).exists()]

    def write(self, setting: Setting, row: tables.Row) -> None:
        """Keep the result of a setting."""
        tables.write_parquet([row], self._path(setting))

    def write_study(self, study: Study, settings: Sequence[Setting]) -> Path:
        """Put the results of all settings of a study into one file; its path."""
        rows = [row for setting in settings for row in tables.read_parquet(self._path(setting))]
        path = self._folder / f"{study.name}.parquet"
        tables.write_parquet(rows, path)
        return path

    def _path(self, setting: Setting) -> Path:
        return self._settings / f"{setting.name}-{code_digest()}.parquet"
