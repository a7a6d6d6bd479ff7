"""The pages of the rules and of the protocol, of the vectors that show a rule, and of the mutants.

The id of a rule is the anchor. Below the sentence and its reason stand the steps that show the
rule, the wrong implementation that breaks it, and the reported bug that did; then links to code,
vectors and mutants.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from purgatory_conformance.describing.steps import describe_configuration
from purgatory_conformance.describing.words import noun
from purgatory_conformance.knowledge import all_vectors
from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.mutants import mutants
from purgatory_conformance.viewing.runs import run_of_case
from purgatory_lab.documents import read_document
from purgatory_lab.museum.page import Finding, museum
from purgatory_lab.museum.threads import THREADED
from purgatory_lab.site_pages.annotated import IMPLEMENTATION, MODEL, Annotated, pieces
from purgatory_lab.site_pages.checkout import (
    ROOT,
    RULE,
    link_to_rule,
    linked,
    page_of,
    shown_table,
    with_anchors_of_site,
)
from purgatory_lab.site_pages.demonstrations import Demonstration, demonstration
from purgatory_spec.cases import Case, encode_case
from purgatory_spec.profiles import Component
from purgatory_tla.manifest.statements import statements


def link_to_vector(case: Case) -> str:
    """Return a link to a vector, from a page of the reference."""
    name = case.header.case
    return f"[`{name}`](vectors/{page_of(case.component)}#{name})"


def link_to_mutant(mutant: Mutant) -> str:
    """Return a link to a mutant, from a page of the reference."""
    return f"[`{mutant.name}`](mutants.md#{mutant.name})"


def vector_pages() -> dict[str, str]:
    """Return a page of vectors for each component, and an index, by their paths."""
    listed = [f"- [The {noun(each)}]({page_of(each)})" for each in Component]
    pages = {"vectors/index.md": "\n".join([_VECTORS_HEAD, *listed, ""])}
    for component in Component:
        parts = [f"# Golden vectors of the {noun(component)}\n"]
        parts += [_vector(each) for each in all_vectors() if each.component is component]
        pages[f"vectors/{page_of(component)}"] = "\n".join(parts)
    return pages


_VECTORS_HEAD = """# Golden vectors

A vector is a case that is written by hand or taken from the sources: steps, and what any
implementation with the vector's profile answers. They are files in `spec/vectors`, CC0-1.0, to be
copied into any project. `purgatory check` runs those that a subject's profile allows.
"""


def _vector(case: Case) -> str:
    header = case.header
    rules = ", ".join(link_to_rule(rule, "../") for rule in header.rules)
    name = f"## {header.case} {{ #{header.case} }}"
    steps = "\n".join(f"1. {frame.says}" for frame in run_of_case(case).frames[1:])
    lines = "\n".join(f"    {line}" for line in encode_case(case).splitlines())
    file = f'??? note "The vector as a file"\n\n    ```jsonl\n{lines}\n    ```'
    return f"{name}\n\n{header.title}. {rules}.\n\n{steps}\n\n{file}\n"


def mutants_page() -> str:
    """Return tables of all mutants: name, defect, broken rules."""
    parts = [_MUTANTS_HEAD]
    for component in Component:
        rows = [
            (
                f"`{each.name}`{{ #{each.name} }}",
                each.summary,
                ", ".join(link_to_rule(rule) for rule in (each.rule, *each.also)),
            )
            for each in mutants()
            if each.component is component
        ]
        parts += [
            f"\n## The {noun(component)}\n",
            shown_table(("mutant", "what it does", "breaks"), rows),
        ]
    return "\n".join([*parts, ""])


_MUTANTS_HEAD = """# Mutants

A mutant is an implementation that is wrong on purpose, in one way. The suite finds each of them:
`purgatory check mutant:NAME` shows how.
"""


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
    symptom = _SYMPTOM.search(body)
    told = _shown(identifier, symptom["words"] if symptom else "")
    parts = (f"{heading[0]} {label}{_SYMPTOM.sub('', body).rstrip()}", told, _places(identifier))
    return "\n\n".join(filter(None, parts)) + "\n\n"


_SYMPTOM: Final = re.compile(r"^Symptom: (?P<words>.+)\n*", re.MULTILINE)


def _shown(identifier: str, symptom: str) -> str:
    """Return the steps that show a rule, its symptom and mutant, and the report of a bug."""
    shown = demonstration(identifier)
    mutant = shown.mutant if shown and not shown.mutant.report else _own_mutant(identifier)
    parts = [_steps_of(shown)] if shown else list(_last_steps(identifier))
    if symptom:
        parts.append(f"**Where it is broken**, {symptom}")
    if mutant is not None:
        summary = " ".join(mutant.summary.split())
        parts.append(f"**Broken by** {link_to_mutant(mutant)}: {summary}  \n{_command(mutant)}")
    parts += _reported(identifier)
    return "\n\n".join(['<div class="shown" markdown>', *parts, "</div>"]) if parts else ""


def _own_mutant(identifier: str) -> Mutant | None:
    """Return the first mutant of a rule that stands for no report; None where there is none."""
    return next((each for each in mutants() if each.rule == identifier and not each.report), None)


def _steps_of(shown: Demonstration) -> str:
    """Return the steps; the last one has the outcome that the rule wants, and the wrong one."""
    made_with = describe_configuration(shown.vector.header.configuration)
    head = f"**In steps**, of {link_to_vector(shown.vector)} ({made_with}):"
    *before, last = shown.steps
    told = f"{last} → **{shown.expected}**; the wrong one: **{shown.seen}**"
    return f"{head}\n\n" + "\n".join(f"1. {step}" for step in (*before, told))


def _last_steps(identifier: str) -> Iterator[str]:
    """Yield the end of a rule's shortest vector, where no mutant of ours fails one."""
    named = [each for each in all_vectors() if identifier in each.header.rules]
    if named:
        shortest = min(named, key=lambda each: len(each.steps))
        told = [f"1. {frame.says}" for frame in run_of_case(shortest).frames[-_FEW:]]
        yield f"**In steps**, the last of {link_to_vector(shortest)}:\n\n" + "\n".join(told)


_FEW: Final = 3


def _command(mutant: Mutant, suite: str = "quick") -> str:
    return f"`purgatory check mutant:{mutant.name} --suite {suite}`"


@cache
def _findings() -> dict[str, Finding]:
    """Return the measured findings of reported bugs by the names of their subjects."""
    stored = ROOT / "docs" / "reference" / "results" / "bugs-that-people-had.json"
    return read_document(stored, dict[str, Finding])


def _reported(identifier: str) -> Iterator[str]:
    """Yield the first reported bug that broke a rule with its command, and name the others."""
    blamed = [each for each in museum() if _findings()[each.name].rule == identifier]
    threaded = [each for each in THREADED if each.rule == identifier]
    reports = [f"[{each.report}](mutants.md#{each.name})" for each in blamed]
    reports += [each.report for each in threaded]
    if not reports:
        return
    if blamed:
        first = blamed[0]
        mechanism = " ".join(first.summary.split())
        command = _command(first, _findings()[first.name].suite or "standard")
    else:
        mechanism, command = threaded[0].mechanism, f"`purgatory schedule {threaded[0].word}`"
    told = f"**Reported** as {reports[0]}: {mechanism}  \n{command}"
    others = f"  \nOthers: {', '.join(reports[1:])}" if reports[1:] else ""
    yield f"{told}{others}  \n[All reported bugs](bugs-that-people-had.md)"


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
        "Mutants": [
            link_to_mutant(each)
            for each in mutants()
            if each.rule == identifier and not each.report
        ],
    }
    lines = [f"{label}: {', '.join(places)}" for label, places in stated.items() if places]
    return "<br>\n".join(lines) + "\n{ .places }" if lines else ""


def _pieces_of(shown: Annotated, identifier: str) -> list[str]:
    return [shown.link(piece) for piece in pieces(shown.package) if identifier in piece.rules]


def protocol_page() -> str:
    """Return ``spec/protocol.md`` with its rules as links."""
    return linked(normative("protocol.md"))
