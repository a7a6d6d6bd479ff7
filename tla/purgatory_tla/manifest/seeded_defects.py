"""Name the models that must fail, with their property: the entry point of this package."""

import re

from purgatory_spec.seeded_defects import SeededDefect
from purgatory_tla.manifest.manifest import Kind, Model, read_manifest
from purgatory_tla.modules.vocabulary import vocabulary
from purgatory_tla.resources import modules_folder

_NAME = re.compile(r'"([^"]+)"')


def seeded_defects() -> tuple[SeededDefect, ...]:
    """Return the models that must fail for a named property, in the order of the manifest."""
    return tuple(
        _seeded(model, model.module, model.violated)
        for model in read_manifest().models
        if model.kind is Kind.MUST_FAIL and model.module is not None and model.violated is not None
    )


def _seeded(model: Model, module: str, violated: str) -> SeededDefect:
    """Return a model as a seeded defect, in the form that other packages use."""
    stated = vocabulary(modules_folder(), module)[violated]
    return SeededDefect(
        package="purgatory_tla",
        name=model.name,
        module=module,
        planted=tuple(_NAME.findall(model.constants.get("Defects", ""))),
        summary=model.title,
        fails=violated,
        rules=stated.definition.rules,
    )
