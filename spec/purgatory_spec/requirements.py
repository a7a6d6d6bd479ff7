"""The numbered rules as values, read from the normative Markdown.

A rule is a third-level heading with its id, followed by a line that gives its level and, where it
does not apply to every subject, the condition. The next paragraph says what a person sees where
this rule alone is broken. The paragraphs up to the next heading are its text.
"""

import re
from enum import Enum
from functools import cache
from pathlib import Path

import msgspec

from purgatory_spec import profiles
from purgatory_spec.choices import Choice
from purgatory_spec.resources import specification_folder


class Level(Enum):
    """The degree to which a rule binds."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


class Requirement(msgspec.Struct, frozen=True):
    """A rule: its id, level, title, condition and text (Markdown).

    ``symptom`` is what a person sees where this rule alone is broken (Markdown), with a full stop.
    """

    id: str
    level: Level
    title: str
    condition: str
    text: str
    symptom: str = ""

    def applies_to(self, profile: profiles.Profile) -> bool:
        """Decide whether a subject of this profile is judged by the rule."""
        return all(_holds(term.strip(), profile) for term in self.condition.split("and") if term)

    @property
    def told(self) -> str:
        """Return the symptom and the text, as every report tells the rule (Markdown)."""
        return f"{_SYMPTOM}{self.symptom}\n\n{self.text}"

    @property
    def needs_threads(self) -> bool:
        """Decide whether only overlapping calls can break the rule, and no sequence of steps."""
        return "`calls is overlapping`" in self.condition


_HEADING = re.compile(r"^### (?P<id>[A-Z]+(?:-[A-Z]+)+): (?P<title>.+)$")
_LEVEL_LINE = re.compile(r"^Level: (?P<level>MUST|SHOULD|MAY)(?:\. Applies: (?P<condition>.+))?$")
_SYMPTOM = "Symptom: "
_TERM = re.compile(r"`(?P<name>[a-z_]+) (?P<relation>is|has|is not) (?P<value>[a-z0-9_]+)`")
_WEAKEST: dict[profiles.Component, profiles.Profile] = {
    profiles.Component.TIMER: profiles.TimerProfile(),
    profiles.Component.PURGATORY: profiles.PurgatoryProfile(),
    profiles.Component.MEMORY_POOL: profiles.MemoryPoolProfile(),
    profiles.Component.CHANNEL_MUTING: profiles.ChannelMutingProfile(),
}


def _holds(term: str, profile: profiles.Profile) -> bool:
    match = _TERM.fullmatch(term)
    declared: object = getattr(profile, match["name"], None) if match else None
    if match and isinstance(declared, Choice):
        is_declared = declared is type(declared)(match["value"])
        return is_declared == (match["relation"] == "is")
    if (
        match
        and isinstance(declared, frozenset)
        and match["value"] in profiles.offers_of(type(profile), match["name"])
    ):
        return match["value"] in declared
    raise ValueError(f"not a condition: {term!r}")


def parse_requirements(
    markdown: str, source: str = "<text>", component: profiles.Component = profiles.Component.TIMER
) -> tuple[Requirement, ...]:
    """Return the rules of a component's page, in its order.

    Raises:
        ValueError: a heading without level line or symptom, or an id given twice.
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
        symptom, _, text = "\n".join(body).strip().partition("\n")
        if not symptom.startswith(_SYMPTOM):
            raise ValueError(f"{source}:{number + 1}: rule {heading['id']} has no symptom")
        requirement = Requirement(
            id=heading["id"],
            level=Level(level["level"]),
            title=heading["title"],
            condition=level["condition"] or "",
            text=text.strip(),
            symptom=symptom.removeprefix(_SYMPTOM),
        )
        requirement.applies_to(_WEAKEST[component])
        found[requirement.id] = requirement
    return tuple(found.values())


@cache
def requirements(component: profiles.Component) -> tuple[Requirement, ...]:
    """Return the rules of a component, read once from its normative page."""
    page: Path = specification_folder() / f"{component.value.replace('_', '-')}.md"
    return parse_requirements(page.read_text(encoding="utf-8"), page.name, component)


def requirements_of_steps(component: profiles.Component) -> tuple[Requirement, ...]:
    """Return the rules of a component that a sequence of steps can break: those without threads."""
    return tuple(rule for rule in requirements(component) if not rule.needs_threads)


def all_requirements() -> tuple[Requirement, ...]:
    """Return the rules of all components."""
    return tuple(rule for component in profiles.Component for rule in requirements(component))


def requirement(identifier: str) -> Requirement:
    """Return the rule with this id.

    Raises:
        KeyError: no component states such a rule.
    """
    found = known_requirement(identifier)
    if found is None:
        raise KeyError(identifier)
    return found


def known_requirement(identifier: str) -> Requirement | None:
    """Return the rule with this id, or None where another version of the suite states it."""
    return next((rule for rule in all_requirements() if rule.id == identifier), None)


def component_of_rule(identifier: str) -> profiles.Component:
    """Return the component that states the rule with this id.

    Raises:
        KeyError: no component states such a rule.
    """
    for component in profiles.Component:
        if any(rule.id == identifier for rule in requirements(component)):
            return component
    raise KeyError(identifier)
