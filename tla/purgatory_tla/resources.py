"""Where modules, configurations and manifest are: in a wheel with us, in the sources above us."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def modules_folder() -> Path:
    """The folder with the modules (``*.tla``), ``models/*.cfg`` and ``manifest.json``."""
    packaged = _PACKAGE / "data"
    return packaged if packaged.is_dir() else _PACKAGE.parent
