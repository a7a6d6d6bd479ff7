"""Runs that must fail: defects that packages plant in their own statements of the rules.

A statement that nothing can break says nothing. A package that plants defects to see its checks
fail names a function in the entry-point group ``purgatory.seeded_defects``. The function returns
all of them, so that the command line can show beside a wrong implementation which other statement
has been given the same defect, without importing any of these packages by name.
"""

from collections.abc import Callable
from dataclasses import dataclass

ENTRY_POINT_GROUP = "purgatory.seeded_defects"
"""The group in which a package names its function."""


@dataclass(frozen=True, slots=True)
class SeededDefect:
    """A run that must fail, since a defect was planted or a design is wrong as it stands.

    ``name`` is what the run goes by in its package, ``module`` what it is a run of, ``planted``
    the defects by name, none where the fault is in the design. ``fails`` is the property that
    must be found broken, ``rules`` are the ids of those that the property states.
    """

    package: str
    name: str
    module: str
    planted: tuple[str, ...]
    summary: str
    fails: str
    rules: tuple[str, ...]


SeededDefects = Callable[[], tuple[SeededDefect, ...]]
"""All runs of a package that must fail."""
