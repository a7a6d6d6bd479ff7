"""Sources of the pages, and the names and links of rules on them."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from markdown.extensions.toc import slugify

from purgatory_lab.documents import table
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import all_requirements, component_of_rule

ROOT: Final = Path(__file__).resolve().parents[3]
RULE: Final = re.compile(r"\b(?:TIMER|PURGATORY|POOL|MUTING)(?:-[A-Z]+)+\b")
BARE_RULE: Final = re.compile(rf"(?<![\[#]){RULE.pattern}")


def page_of(component: Component) -> str:
    """Return the file name of the component's rules."""
    return f"{component.value.replace('_', '-')}.md"


def link_to_rule(identifier: str, up: str = "") -> str:
    """Return a rule as a link to its page on the site; the words alone where there is no such rule.

    Args:
        identifier: Of the rule.
        up: What leads from the page to the folder of the reference.
    """
    try:
        page = page_of(component_of_rule(identifier))
    except KeyError:
        return identifier
    return f"[{identifier}]({up}{page}#{identifier})"


def linked(text: str, up: str = "") -> str:
    """Return the text with every rule that is not a link yet as one."""
    return BARE_RULE.sub(lambda rule: link_to_rule(rule[0], up), text)


def anchor_in_checkout(identifier: str, title: str) -> str:
    """Return the anchor of a rule's heading in its normative file."""
    anchor: str = slugify(f"{identifier}: {title}", "-")
    return anchor


def with_anchors_of_site(text: str) -> str:
    """Return the text with the site's links to the headings of rules: by the rules' ids."""
    for rule in all_requirements():
        text = text.replace(f"#{anchor_in_checkout(rule.id, rule.title)})", f"#{rule.id})")
    return text


def piece_name(anchor: str, name: str) -> str:
    """Return a piece's name in HTML: Markdown would take underscores for its own."""
    return f'<strong class="piece-name" id="{anchor}">{name}</strong>'


def shown_table(headers: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table without the columns that would be empty."""
    lines = list(rows)
    used = [column for column in range(len(headers)) if any(row[column] for row in lines)]
    head = [headers[column] for column in used]
    return table(head, [[row[column] for column in used] for row in lines], head)
