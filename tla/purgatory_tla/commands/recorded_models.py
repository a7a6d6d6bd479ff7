"""The models of the manifest, as the commands take them: by name, with a hint at what is near."""

from purgatory_conformance.problems import EXIT_USAGE, Problem
from purgatory_spec.nearest import did_you_mean
from purgatory_tla.manifest.manifest import InvalidManifest, Model, read_manifest


def recorded_models() -> tuple[Model, ...]:
    """Return all models of the manifest.

    Raises:
        Problem: the manifest is none.
    """
    try:
        return read_manifest().models
    except InvalidManifest as error:
        raise Problem(str(error), EXIT_USAGE) from error


def recorded_model(name: str) -> Model:
    """Return the model of a name.

    Raises:
        Problem: there is none.
    """
    models = {model.name: model for model in recorded_models()}
    if name in models:
        return models[name]
    hint = did_you_mean(name, models, "see: purgatory tla list")
    raise Problem(f"there is no model {name!r}; {hint}", EXIT_USAGE)
