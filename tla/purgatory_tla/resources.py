"""Place of modules, configurations and manifest: in the wheel, or in the sources."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def modules_folder() -> Path:
    """Return the folder with the modules (``*.tla``), ``models/*.cfg`` and ``manifest.json``."""
    packaged = _PACKAGE / "data"
    return packaged if packaged.is_dir() else _PACKAGE.parent
