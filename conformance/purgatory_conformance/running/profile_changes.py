"""The changes of a profile that may explain a failure, the ones to prefer first.

A change is another value of a choice, another largest delay, or a feature that is withdrawn. Those
that leave as much to judge come first, then those by which fewer rules can be broken, and last
those by which the suite asks for less.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from functools import cache

from msgspec import structs

from purgatory_conformance.subjects.profile_rules import NEVER_JUDGED, judgeable
from purgatory_judge.registry import judged
from purgatory_spec.operations import Add, Operation
from purgatory_spec.profiles import (
    LARGEST_LONG,
    LARGEST_SAFE_INTEGER,
    Profile,
    TimerProfile,
    component_of,
)

_LEFT_FREE = frozenset({"any", "either", "free", "none"})
"""Values that leave open what the other values of their choices fix."""

_NEVER_SEEN = frozenset({"larger_delay"})
"""Choices whose promise no case lasts long enough to see kept."""

_NOT_OFFERED = "not_offered"

_NO_CHOICES = frozenset({"clock"})
"""Fields that say how the adapter is driven, and not how the implementation behaves."""

WITHDRAWN_BY_DESIGN = frozenset(
    {
        *("script_throw", "script_throw_severe", "rewatch", "readd", "change_delay"),
        *("release_again", "release_slice", "release_copy", "release_foreign"),
    }
)
"""Features that a design may not offer, so that a failure with them need not be a fault."""


class Cost(IntEnum):
    """Grades of what the suite judges less under a change."""

    NOTHING = 0
    FEWER_RULES = 1
    ASKED_FOR_LESS = 2


@dataclass(frozen=True)
class Change:
    """A change of a profile: the field, and its value or the feature that goes."""

    name: str
    value: Enum | int
    cost: Cost = field(default=Cost.NOTHING, compare=False)

    @property
    def withdraws(self) -> str:
        """Return the feature that is withdrawn; empty for another value."""
        return str(self.word) if self.name == "features" else ""

    @property
    def word(self) -> str | int:
        """Return the value as JSON has it."""
        return self.value.value if isinstance(self.value, Enum) else self.value

    @property
    def words(self) -> str:
        """Return the change in words."""
        return f"without {self.word}" if self.withdraws else f"{self.name} {self.word}"

    @property
    def line(self) -> str:
        """Return the profile's line to change; empty for a feature that is withdrawn."""
        return "" if self.withdraws else f'"{self.name}": {json.dumps(self.word)}'

    def agrees(self, other: "Change") -> bool:
        """Decide whether two changes can be made together: a choice has one value."""
        return self.name != other.name or (bool(self.withdraws) and self.value != other.value)


_MOST_LIMITS = 12
"""The most delays that were asked for and are tried as the largest one."""


def changes_of(profile: Profile, operations: Iterable[Operation] = ()) -> tuple[Change, ...]:
    """Return the changes of a profile to try on cases of these operations, cheapest first."""
    found = [*_values(profile), *_limits(profile, operations), *_withdrawals(profile)]
    return tuple(sorted(found, key=lambda change: change.cost))


def under(profile: Profile, changes: Iterable[Change]) -> Profile:
    """Return the profile with these changes, less the features that they leave to chance."""
    return _under(profile, tuple(changes))


@cache
def _under(profile: Profile, changes: tuple[Change, ...]) -> Profile:
    changed = profile
    for change in changes:
        if change.withdraws:
            left = frozenset(each for each in changed.features if each.value != change.withdraws)
            changed = structs.replace(changed, features=left)
        else:
            changed = structs.replace(changed, **{change.name: change.value})
    return judgeable(changed)


def not_judged(profile: Profile, changed: Profile) -> tuple[str, ...]:
    """Return the rules that a subject is judged by under a profile, and not under another."""
    judged_rules = judged(component_of(profile)).judged_rules
    still = {rule.id for rule in judged_rules(changed)}
    return tuple(rule.id for rule in judged_rules(profile) if rule.id not in still)


def _values(profile: Profile) -> Iterator[Change]:
    never = NEVER_JUDGED.get(component_of(profile), frozenset())
    for name in profile.__struct_fields__:
        declared = getattr(profile, name)
        if isinstance(declared, Enum) and name not in _NO_CHOICES:
            for value in type(declared):
                if value is not declared and value not in never:
                    yield Change(name, value, _cost(profile, name, value))


@cache
def _cost(profile: Profile, name: str, value: Enum) -> Cost:
    if value.value == _NOT_OFFERED:
        return Cost.ASKED_FOR_LESS
    changed = under(profile, [Change(name, value)])
    loses = not_judged(profile, changed) and not not_judged(changed, profile)
    if loses or value.value in _LEFT_FREE or name in _NEVER_SEEN:
        return Cost.FEWER_RULES
    return Cost.NOTHING


def _limits(profile: Profile, operations: Iterable[Operation]) -> Iterator[Change]:
    """Yield the largest delays: that of any number, and those just below the ones asked for."""
    if not isinstance(profile, TimerProfile):
        return
    asked = {operation.delay_ms - 1 for operation in operations if isinstance(operation, Add)}
    larger = [LARGEST_LONG, LARGEST_SAFE_INTEGER]
    smaller = sorted((ms for ms in asked if 0 < ms < profile.largest_delay_ms), reverse=True)
    for limit_ms in (*larger, *smaller[:_MOST_LIMITS]):
        if limit_ms != profile.largest_delay_ms:
            is_less = limit_ms < profile.largest_delay_ms
            cost = Cost.FEWER_RULES if is_less else Cost.NOTHING
            yield Change("largest_delay_ms", limit_ms, cost)


def _withdrawals(profile: Profile) -> Iterator[Change]:
    for feature in sorted(profile.features):
        if feature.value in WITHDRAWN_BY_DESIGN:
            yield Change("features", feature, Cost.ASKED_FOR_LESS)
