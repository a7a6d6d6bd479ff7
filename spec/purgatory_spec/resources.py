"""Place of the rules, vectors and schema: package data in a wheel, beside us in the sources."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def specification_folder() -> Path:
    """Return the folder with ``timer.md``, ``protocol.md``, ``schema`` and ``vectors``."""
    packaged = _PACKAGE / "data"
    return packaged if packaged.is_dir() else _PACKAGE.parent
