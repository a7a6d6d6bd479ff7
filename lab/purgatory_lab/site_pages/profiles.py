"""The page of the profiles. It is checked in: its source is Python that a reader need not read."""

import inspect

from purgatory_conformance.describing.words import noun
from purgatory_conformance.knowledge import ProfileField, profile_fields
from purgatory_conformance.specimens.profile_subjects import profile_subjects
from purgatory_lab.site_pages.checkout import BARE_RULE, anchor_in_checkout, page_of, shown_table
from purgatory_spec.profiles import Component, TimerProfile
from purgatory_spec.requirements import component_of_rule, requirement, requirements

PROFILE_PAGE = "reference/profile.md"
"""The path of the page below the folder of the pages."""


def profile_page() -> str:
    """Return every field of each profile: values, meanings, dependent rules."""
    parts = [_PROFILE_HEAD]
    for component in Component:
        parts.append(f"## The {noun(component)}\n")
        for field in profile_fields(component):
            owner = "" if component is Component.TIMER else f"{noun(component)}: "
            parts.append(f"### {owner}{field.name}\n")
            parts.append(_field(component, field))
    rows = [
        (f"`profile:{each.name}`", noun(each.component), _code(each.value))
        for each in profile_subjects()
    ]
    parts += [_SUBJECTS_HEAD, shown_table(("subject", "component", "declares"), rows)]
    return "\n".join(parts)


_PROFILE_HEAD = """# Profiles

A profile declares the legal choices of an implementation. The rules are judged under it, and
nothing that is not declared is asked for or compared. Every default is the weakest choice.
"""

_SUBJECTS_HEAD = """
## A subject for every value

Each value has a small specimen that conforms under it and fails under its sibling. `purgatory
check` takes these names.
"""


def _field(component: Component, field: ProfileField) -> str:
    if field.choice is None:
        meaning = TimerProfile.says[field.name]
        return f"An integer, {field.default} when absent: {meaning}.\n"
    rows: list[tuple[str, ...]] = []
    for value in field.choice:
        mark = " (default)" if value is field.default else ""
        word = "has" if field.several else "is"
        condition = f"`{field.name} {word} {value.value}`"
        rows.append((f"`{value.value}`{mark}", value.says, _rules_of(component, condition)))
    explanation = _code(inspect.cleandoc(field.choice.__doc__ or ""))
    values = shown_table(("value", "meaning", "rules that apply only then"), rows)
    return f"{explanation}\n\n{values}\n"


def _rules_of(component: Component, condition: str) -> str:
    bound = [rule for rule in requirements(component) if condition in rule.condition]
    return ", ".join(_link_to_source(rule.id) for rule in bound)


def _code(text: str) -> str:
    """Return a docstring as Markdown."""
    return BARE_RULE.sub(lambda rule: _link_to_source(rule[0]), text.replace("``", "`"))


def _link_to_source(identifier: str) -> str:
    """Return a rule as a link to its normative file; the words alone without such a rule."""
    try:
        page = page_of(component_of_rule(identifier))
    except KeyError:
        return identifier
    slug = anchor_in_checkout(identifier, requirement(identifier).title)
    return f"[{identifier}](../../spec/{page}#{slug})"
