"""Place of the peers' sources: in a checkout, and not in the wheel."""

from pathlib import Path
from typing import Final

from purgatory_conformance.problems import EXIT_USAGE, Problem

NO_CHECKOUT: Final = (
    "its sources are in a checkout of the project, and this is none; say --checkout FOLDER"
)

_CONTRACT: Final = Path("lab") / "peers" / "README.md"


def find_checkout(told: Path | None) -> Path | None:
    """Return the checkout: the folder given, or else the checkout that contains this module.

    Raises:
        Problem: the folder given is no checkout.
    """
    if told is not None:
        if not (told / _CONTRACT).is_file():
            raise Problem(f"{told} is no checkout: it has no {_CONTRACT.as_posix()}", EXIT_USAGE)
        return told.resolve()
    here = Path(__file__).resolve().parents[4]
    return here if (here / _CONTRACT).is_file() else None
