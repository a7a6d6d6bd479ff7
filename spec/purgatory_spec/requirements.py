"""The numbered rules as values, read from the normative Markdown.

A rule is a third-level heading with its id, followed by a line that gives its level and, where it
does not apply to every subject, the condition. The paragraphs up to the next heading are its text.
"""

import re
from enum import Enum
from functools import cache
from pathlib import Path

import msgspec

from purgatory_spec.profiles import (
    Clock,
    Executor,
    Feature,
    NegativeDelay,
    Observable,
    Rounding,
    SameTickOrder,
    Structure,
    TimerProfile,
)
from purgatory_spec.resources import specification_folder


class Level(Enum):
    """How binding a rule is."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


class Requirement(msgspec.Struct, frozen=True):
    """One rule: its id, level, title, condition and text (Markdown)."""

    id: str
    level: Level
    title: str
    condition: str
    text: str

    def applies_to(self, profile: TimerProfile) -> bool:
        """Whether a subject of this profile is judged by the rule."""
        return all(_holds(term.strip(), profile) for term in self.condition.split("and") if term)


_HEADING = re.compile(r"^### (?P<id>[A-Z]+(?:-[A-Z]+)+): (?P<title>.+)$")
_LEVEL_LINE = re.compile(r"^Level: (?P<level>MUST|SHOULD|MAY)(?:\. Applies: (?P<condition>.+))?$")
_TERM = re.compile(r"`(?P<name>[a-z_]+) (?P<relation>is|has|is not) (?P<value>[a-z0-9_]+)`")
_CHOICES: dict[str, type[Enum]] = {
    "rounding": Rounding,
    "same_tick_order": SameTickOrder,
    "clock": Clock,
    "executor": Executor,
    "structure": Structure,
    "negative_delay": NegativeDelay,
    "features": Feature,
    "observables": Observable,
}


def _holds(term: str, profile: TimerProfile) -> bool:
    match = _TERM.fullmatch(term)
    if match is None or match["name"] not in _CHOICES:
        raise ValueError(f"not a condition: {term!r}")
    value = _CHOICES[match["name"]](match["value"])
    declared: object = getattr(profile, match["name"])
    if match["relation"] == "has":
        return isinstance(declared, frozenset) and value in declared
    return (declared is value) == (match["relation"] == "is")


def parse_requirements(markdown: str, source: str = "<text>") -> tuple[Requirement, ...]:
    """The rules of a page, in its order.

    Raises:
        ValueError: a heading without level line, or an id given twice.
    """
    lines = markdown.splitlines()
    starts = [(number, m) for number, line in enumerate(lines) if (m := _HEADING.match(line))]
    found: dict[str, Requirement] = {}
    for number, heading in starts:
        level = _LEVEL_LINE.match(lines[number + 1]) if number + 1 < len(lines) else None
        if level is None:
            raise ValueError(
                f"{source}:{number + 1}: rule {heading['id']} has no level line below its heading"
            )
        if heading["id"] in found:
            raise ValueError(f"{source}:{number + 1}: rule {heading['id']} is stated twice")
        body: list[str] = []
        for line in lines[number + 2 :]:
            if line.startswith("#"):
                break
            body.append(line)
        requirement = Requirement(
            id=heading["id"],
            level=Level(level["level"]),
            title=heading["title"],
            condition=level["condition"] or "",
            text="\n".join(body).strip(),
        )
        requirement.applies_to(TimerProfile())
        found[requirement.id] = requirement
    return tuple(found.values())


@cache
def requirements(component: str = "timer") -> tuple[Requirement, ...]:
    """The rules of a component, read once from its normative page."""
    page: Path = specification_folder() / f"{component}.md"
    return parse_requirements(page.read_text(encoding="utf-8"), page.name)


def requirement(identifier: str) -> Requirement:
    """The rule with this id.

    Raises:
        KeyError: no component states such a rule.
    """
    for rule in requirements("timer"):
        if rule.id == identifier:
            return rule
    raise KeyError(identifier)
