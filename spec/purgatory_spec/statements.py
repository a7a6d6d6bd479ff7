"""Statements of rules in the sources: each package tells of its own.

A package that states rules names a function in the entry-point group ``purgatory.statements``.
It is given a rule's id and returns the package's statements of that rule; so the command line
shows them all without importing any of these packages by name.
"""

from collections.abc import Callable
from dataclasses import dataclass

ENTRY_POINT_GROUP = "purgatory.statements"
"""The group in which a package names its function."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A function, class or property that states a rule, and the line on which it begins.

    ``package`` is what stands for the whole family of statements, for example
    ``purgatory_model``; ``module`` is the part of it that holds this one.
    """

    package: str
    module: str
    name: str
    line: int


StatementsOf = Callable[[str], tuple[Statement, ...]]
"""The statements of the rule with this id; none is an answer like any other."""
