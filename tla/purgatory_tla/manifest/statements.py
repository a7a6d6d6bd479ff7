"""Statements of a rule in TLA+: checked properties whose comments name the rule's id.

A property that no model of the manifest checks as a claim states nothing, and is not counted.
"""

from functools import cache

from purgatory_spec.statements import Statement
from purgatory_tla.manifest.manifest import Kind, checked, read_manifest
from purgatory_tla.modules.vocabulary import Owned, vocabulary
from purgatory_tla.resources import modules_folder


def statements(rule: str) -> tuple[Statement, ...]:
    """Return the properties that state a rule, by module and line, for other packages."""
    return tuple(
        Statement("purgatory_tla", each.module, each.definition.name, each.definition.line)
        for each in _claims()
        if rule in each.definition.rules
    )


@cache
def _claims() -> tuple[Owned, ...]:
    """Return every property that some model checks as a claim."""
    folder = modules_folder()
    found: set[Owned] = set()
    for model in read_manifest().models:
        if model.kind is Kind.CLAIM and model.module is not None:
            known = vocabulary(folder, model.module)
            found.update(known[name] for name in checked(model, folder))
    return tuple(sorted(found, key=lambda each: (each.module, each.definition.line)))
