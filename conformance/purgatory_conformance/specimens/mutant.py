"""Mutants: subjects that break a rule on purpose."""

from collections.abc import Callable
from dataclasses import dataclass

from purgatory_conformance.subjects.subject import Subject
from purgatory_spec.profiles import Component


@dataclass(frozen=True)
class Mutant:
    """An implementation that breaks a rule on purpose.

    ``rule`` is the requirement that must be blamed for its shortest failing case; the rules in
    ``also`` may be blamed with equal right.
    """

    name: str
    summary: str
    rule: str
    also: tuple[str, ...]
    make: Callable[[], Subject]
    component: Component = Component.TIMER
