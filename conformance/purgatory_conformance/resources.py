"""Where the adapters are: in the wheel as package data, in the source tree beside the package."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def adapters_folder() -> Path:
    """The folder that holds all adapters."""
    packaged = _PACKAGE / "data" / "adapters"
    return packaged if packaged.is_dir() else _PACKAGE.parent / "adapters"


def adapter_folder(name: str) -> Path:
    """The folder of one adapter, for example ``kafka``."""
    return adapters_folder() / name


def model_template(component: str) -> str:
    """The text of a small model to begin with, for example of a ``timer``."""
    path = _PACKAGE / "own_model" / "templates" / f"{component}.py"
    return path.read_text(encoding="utf-8")
