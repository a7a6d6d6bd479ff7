"""The pages of the rules and of the protocol, made from the normative files.

The id of a rule is the anchor. Links below the rule lead to code, vectors and mutants.
"""

import re
from typing import Final

from purgatory_conformance.knowledge import all_vectors
from purgatory_conformance.specimens.mutants import mutants
from purgatory_lab.site_pages.annotated import IMPLEMENTATION, MODEL, Annotated
from purgatory_lab.site_pages.checkout import (
    ROOT,
    RULE,
    linked,
    page_of,
    with_anchors_of_site,
)
from purgatory_lab.site_pages.examples import link_to_mutant, link_to_vector
from purgatory_lab.site_pages.pieces import pieces
from purgatory_spec.profiles import Component
from purgatory_tla.manifest.statements import statements

_RULE_HEADING: Final = re.compile(rf"^### (?P<id>{RULE.pattern}): (?P<title>.+)$", re.MULTILINE)


def normative(page: str) -> str:
    """Return a page of the specification, with links as the reference has them."""
    text = (ROOT / "spec" / page).read_text(encoding="utf-8")
    return with_anchors_of_site(text.replace("(../docs/", "(../"))


def rules_page(component: Component) -> str:
    """Return a page of rules, each with its id as anchor and with its places."""
    text = normative(page_of(component))
    text = re.sub(r"^(Level: .+)$", r"\1\n{ .level }", text, flags=re.MULTILINE)
    head, *sections = re.split(r"^(?=#{2,3} )", text, flags=re.MULTILINE)
    return head + "".join(_with_places(section) for section in sections)


def _with_places(section: str) -> str:
    heading = _RULE_HEADING.match(section)
    if heading is None:
        return section
    identifier = heading["id"]
    label = f'{{ #{identifier} data-toc-label="{identifier}" }}'
    body = section[heading.end() :].rstrip()
    return f"{heading[0]} {label}{body}\n\n{_places(identifier)}\n\n"


def _places(identifier: str) -> str:
    """Return links to the code that states a rule, to its vectors and to its mutants."""
    stated = {
        "Model": _pieces_of(MODEL, identifier),
        "Implementation": _pieces_of(IMPLEMENTATION, identifier),
        "TLA+": [
            f"[`{each.module}.{each.name}`](tla/{each.module}.md#{each.module}.{each.name})"
            for each in statements(identifier)
        ],
        "Vectors": [
            link_to_vector(each) for each in all_vectors() if identifier in each.header.rules
        ],
        "Mutants": [link_to_mutant(each) for each in mutants() if each.rule == identifier],
    }
    lines = [f"{label}: {', '.join(places)}" for label, places in stated.items() if places]
    return "<br>\n".join(lines) + "\n{ .places }" if lines else ""


def _pieces_of(shown: Annotated, identifier: str) -> list[str]:
    return [shown.link(piece) for piece in pieces(shown.package) if identifier in piece.rules]


def protocol_page() -> str:
    """Return ``spec/protocol.md`` with its rules as links."""
    return linked(normative("protocol.md"))
