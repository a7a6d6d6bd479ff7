"""The folder of results: a file for each setting, by which a run goes on where it was ended.

OUT/settings/NAME.parquet    one row; NAME tells setting and code
OUT/STUDY.parquet            the rows of a study in its order, once all are there
"""

import ast
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from purgatory_lab.studies import tables
from purgatory_lab.studies.catalogue import Study
from purgatory_lab.studies.setting import Setting
from purgatory_traces.errors import PipelineError

_COUNTING: Final = (
    "bundled",
    "counts",
    "designs",
    "key_layouts",
    "purging",
    "setting",
    "simulation",
    "timers",
    "watcher_counts",
    "workload",
)


@cache
def code_digest() -> str:
    """Return a digest of the counting modules: results of other code are not used.

    Of their syntax trees, so that layout, comments and docstrings do not matter.
    """
    folder = Path(__file__).parent
    digest = sha256()
    for name in _COUNTING:
        tree = ast.parse((folder / f"{name}.py").read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                node.value.value = None
        digest.update(ast.dump(tree).encode())
    return digest.hexdigest()[:8]


class ResultsFolder:
    """The results in a folder."""

    def __init__(self, folder: Path) -> None:
        """Open the folder, which is made if missing."""
        self._folder = folder
        self._settings = folder / "settings"
        self._settings.mkdir(parents=True, exist_ok=True)

    def missing(self, settings: Sequence[Setting]) -> list[Setting]:
        """Return the settings without a result of this code."""
        return [setting for setting in settings if not self._path(setting).exists()]

    def write(self, setting: Setting, row: tables.Row) -> None:
        """Keep the result of a setting."""
        tables.write_parquet([row], self._path(setting))

    def write_study(self, study: Study) -> Path:
        """Put the results of all settings of a study into one file; its path."""
        rows = [
            row for setting in study.settings for row in tables.read_parquet(self._path(setting))
        ]
        path = self._study(study.name)
        tables.write_parquet(rows, path)
        return path

    def read_study(self, name: str) -> list[tables.Row]:
        """Return the rows of a study whose settings have all been run.

        Raises:
            PipelineError: they have not.
        """
        path = self._study(name)
        if not path.exists():
            raise PipelineError(f"{path} is not there: run the study {name} first")
        return tables.read_parquet(path)

    def _study(self, name: str) -> Path:
        return self._folder / f"{name}.parquet"

    def _path(self, setting: Setting) -> Path:
        return self._settings / f"{setting.name}-{code_digest()}.parquet"
