"""The pages of the golden vectors and of the mutants: what shows a rule, and what breaks one."""

from purgatory_conformance.describing.words import noun
from purgatory_conformance.knowledge import all_vectors
from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.mutants import mutants
from purgatory_conformance.viewing.runs import run_of_case
from purgatory_lab.site_pages.checkout import link_to_rule, page_of, table
from purgatory_spec.cases import Case, encode_case
from purgatory_spec.profiles import Component


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
            table(("mutant", "what it does", "breaks"), rows),
        ]
    return "\n".join([*parts, ""])


_MUTANTS_HEAD = """# Mutants

A mutant is an implementation that is wrong on purpose, in one way. The suite finds each of them:
`purgatory check mutant:NAME` shows how.
"""
