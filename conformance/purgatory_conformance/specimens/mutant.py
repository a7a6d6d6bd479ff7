"""Mutants: subjects that break a rule on purpose, each registered where it is written.

``@breaks("TIMER-ROUNDING")`` registers a class. Where one changed method is all, the class need not
be written: ``@breaks("TIMER-ROUNDING").by(SmallTimer.due_tick)`` makes it of a function,
whose first parameter says which class it changes. Either is named and described by itself.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar

from purgatory_conformance.specimens.small import channel_muting, purgatory
from purgatory_conformance.specimens.small.channel_muting import SmallServer, small_server_subject
from purgatory_conformance.specimens.small.memory_pool import (
    SmallMemoryPool,
    SmallUnboundedPool,
    small_pool_subject,
)
from purgatory_conformance.specimens.small.purgatory import SmallPurgatory, small_purgatory
from purgatory_conformance.specimens.small.timer import SmallTimer, small_subject
from purgatory_conformance.subjects.subject import Subject
from purgatory_spec.profiles import Component, Profile
from purgatory_spec.requirements import component_of_rule

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Small = TypeVar("Small", bound=SmallTimer | SmallPurgatory | SmallMemoryPool | SmallServer)


class Kind(StrEnum):
    """The means by which a suite meets a bug that people reported."""

    OLD_CLOCKS = "old clocks"
    FAR_DELAYS = "far delays"
    CROWDS = "crowds"
    BATCHES = "combinations in a batch"
    HISTORIES = "histories of one object"
    ORDER = "order among several"
    SIZES = "sizes"
    ARITHMETIC = "rounding and arithmetic"
    THROWS = "throws"
    OPERATION = "operations"
    OBSERVABLE = "observables"
    NAMES = "names"
    THREADS = "threads"
    LEGAL = "legal"


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
    report: str = ""
    """The public report that tells of the mechanism, ``project#number``; empty for our own."""
    kind: Kind | None = None
    """The kind of a reported bug."""

    @property
    def component(self) -> Component:
        """The component that states the rule."""
        return component_of_rule(self.rule)


REGISTERED: list[Mutant] = []
"""The mutants of the modules that were imported; ``mutants()`` imports all."""

_SUBJECTS: tuple[tuple[type, str, Callable[..., Subject]], ...] = (
    (SmallTimer, "", small_subject),
    (SmallPurgatory, "", small_purgatory),
    (SmallUnboundedPool, "pool-", partial(small_pool_subject, SmallMemoryPool)),
    (SmallMemoryPool, "pool-", small_pool_subject),
    (SmallServer, "channels-", small_server_subject),
)
"""The function that makes a class a subject, and the prefix of the names of its mutants."""


class Breach:
    """Register the wrong subject below for the rule that it breaks.

    Args:
        rule: The rule that must be blamed.
        also: Rules that may be blamed with equal right.
        profile: What the subject declares; all that the suite can ask for if None.
        suffix: The end of the name, where the same class is registered under two profiles.
        report: The public report of the bug, ``project#number``; several are divided by commas.
        kind: What a suite needs in order to meet the reported bug.
    """

    def __init__(
        self,
        rule: str,
        *also: str,
        profile: Profile | None = None,
        suffix: str = "",
        report: str = "",
        kind: Kind | None = None,
    ) -> None:
        self._rules = rule, also
        self._report = report, kind
        self._profile = {} if profile is None else {"profile": profile}
        self._suffix = suffix

    def __call__(self, wrong: type[Small]) -> type[Small]:
        """Register a class, and return it."""
        prefix, subject = next(
            (prefix, subject) for small, prefix, subject in _SUBJECTS if issubclass(wrong, small)
        )
        words = re.sub(r"(?<!^)(?=[A-Z])|_", "-", wrong.__name__).lower()
        origin = "reported-" if self._report[0] else ""
        name = f"{origin}{prefix}{words}{self._suffix}"
        make = partial(subject, wrong, name=name, **self._profile)
        summary = inspect.cleandoc(wrong.__doc__ or "")
        REGISTERED.append(Mutant(name, summary, *self._rules, make, *self._report))
        return wrong

    def by(
        self, method: Callable[Concatenate[Any, Parameters], Result]
    ) -> Callable[[Callable[Concatenate[Small, Parameters], Result]], type[Small]]:
        """Return a decorator that makes a class of a function, which replaces this method."""

        def made(function: Callable[Concatenate[Small, Parameters], Result]) -> type[Small]:
            base: type[Small] = next(iter(function.__annotations__.values()))
            members = {
                "__doc__": function.__doc__,
                "__module__": function.__module__,
                method.__name__: function,
            }
            return self(type(function.__name__, (base,), members))

        return made


breaks = Breach
"""Register what stands below for a rule: ``@breaks(RULE)`` or ``@breaks(RULE).by(M)``."""

unseen = partial(breaks, profile=purgatory.SILENT_PROFILE, suffix="-unseen")
"""Register a purgatory that shows nothing but events and results."""

everyone = partial(breaks, profile=channel_muting.EVERYONE_PROFILE, suffix="-everyone")
"""Register a server where all that wait ask again, and newcomers with them."""
