"""Subjects for values that a profile may declare, each with a sibling that declares another."""

from collections.abc import Callable
from dataclasses import dataclass

from purgatory_conformance.subjects.subject import Subject
from purgatory_spec.profiles import Component


@dataclass(frozen=True)
class ProfileSubject:
    """A subject that declares a value, and its sibling, which behaves alike and declares another.

    ``sibling_rule`` is the requirement that the sibling breaks; empty where it breaks none.
    """

    name: str
    value: str
    make: Callable[[], Subject]
    sibling: Callable[[], Subject]
    sibling_rule: str = ""
    component: Component = Component.TIMER
