"""Folders: of adapters and lessons, in a wheel or a checkout, and of everything that is written."""

from pathlib import Path

WORK_FOLDER = Path("purgatory-work")
"""The one folder that everything is written to."""

_PACKAGE = Path(__file__).resolve().parent


def adapters_folder() -> Path:
    """Return the folder that holds all adapters."""
    packaged = _PACKAGE / "data" / "adapters"
    return packaged if packaged.is_dir() else _PACKAGE.parent / "adapters"


def adapter_folder(name: str) -> Path:
    """Return the folder of one adapter, for example ``kafka``."""
    return adapters_folder() / name


def course_folder() -> Path:
    """Return the folder of the lessons, in Markdown."""
    packaged = _PACKAGE / "data" / "course"
    return packaged if packaged.is_dir() else _PACKAGE.parents[1] / "docs" / "course"


def model_template(component: str) -> str:
    """Return the text of a small model to begin with, for example of a ``timer``."""
    path = _PACKAGE / "own_model" / "templates" / f"{component}.py"
    return path.read_text(encoding="utf-8")
