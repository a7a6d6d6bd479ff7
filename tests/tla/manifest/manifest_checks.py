"""Checks that the manifest is in its one form, fits the modules, and has no claim alone."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from purgatory_tla.manifest.manifest import Expected, Kind, Manifest, Mode, Model, checked
from purgatory_tla.modules.vocabulary import vocabulary

TYPE_INVARIANT = "TypeOK"
_LACKING = {Kind.MUST_FAIL: "must-fail sibling", Kind.WITNESS: "witness"}

_HOLDS = (Expected.SUCCESS, Expected.BOUNDED)


def format_manifest(manifest: Manifest) -> str:
    """The one way to write a manifest: two spaces of indentation, fields in the types' order."""
    models = [_without_defaults(msgspec.to_builtins(model)) for model in manifest.models]
    whole = {"version": manifest.version, "models": models}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _without_defaults(entry: Mapping[str, object]) -> dict[str, object]:
    """An entry states mode, kind, expectation and run time even where the usual values hold."""
    usual = {"mode": "exhaustive", "kind": "claim", "expected": "success", "run_time": "small"}
    whole = {**usual, **entry}
    return {field: whole[field] for field in Model.__struct_fields__ if field in whole}


def problems(manifest: Manifest, folder: Path) -> tuple[str, ...]:
    """Return what is wrong, each in a sentence that begins with the entry's name."""
    found: list[str] = []
    readable: list[Model] = []
    for model in manifest.models:
        wrong = [*_wrong_form(model)]
        if model.module is not None and model.configuration is not None:
            names = [*_wrong_names(model, model.module, model.configuration, folder)]
            wrong += names or [*_wrong_companion(model, folder)]
            readable += [] if names else [model]
        found += [f"{model.name}: {each}" for each in wrong]
    return (*found, *_lonely_claims(readable, folder))


def _wrong_form(model: Model) -> Iterator[str]:
    if model.mode is Mode.PROOF:
        if model.proof is None or model.module is not None or model.configuration is not None:
            yield "a proof has the field 'proof', and neither 'module' nor 'configuration'"
        return
    if model.proof is not None or model.module is None or model.configuration is None:
        yield "what is not a proof has 'module' and 'configuration', and no field 'proof'"
    if model.mode is Mode.EXHAUSTIVE and not _counted(model):
        yield "an exhaustive run has exact counts: 'generated', 'distinct' and 'depth'"
    broken = model.expected in (Expected.INVARIANT, Expected.PROPERTY)
    if broken != (model.violated is not None):
        yield "'violated' names what is broken where an invariant or property is, else nothing"
    if (model.mode is Mode.SIMULATION) != (model.simulation is not None):
        yield "a simulation, and nothing else, has the field 'simulation'"
    if model.kind is Kind.CLAIM and model.expected not in _HOLDS:
        yield "a claim holds; one that does not is a must-fail"
    if model.kind is not Kind.CLAIM and model.expected in _HOLDS:
        yield f"a {model.kind.value} cannot be expected to succeed"
    if model.kind is not Kind.CLAIM and not model.about:
        yield "'about' must say of which claims it is the sibling or witness"
    if model.kind is Kind.MUST_FAIL and not model.explanation:
        yield "a must-fail explains its counterexample"


def _counted(model: Model) -> bool:
    """Decide whether the counts are there; TLC 2.15 tells no depth of a broken property."""
    depth = model.depth is not None or model.expected is Expected.PROPERTY
    return depth and model.generated is not None and model.distinct is not None


def _wrong_names(model: Model, module: str, configuration: str, folder: Path) -> Iterator[str]:
    if not (folder / f"{module}.tla").is_file():
        yield f"there is no module {module}"
        return
    if not (folder / "models" / configuration).is_file():
        yield f"there is no configuration {configuration}"
        return
    known = vocabulary(folder, module)
    named = [*checked(model, folder), *model.about, *model.lacks, *(model.constraints or ())]
    named += [name for name in (model.violated, model.specification, model.symmetry) if name]
    for name in dict.fromkeys(named):
        if name not in known:
            yield f"{module} does not define {name}"


def _wrong_companion(model: Model, folder: Path) -> Iterator[str]:
    """A must-fail run checks a single property, so that nothing else can make the run fail."""
    names = checked(model, folder)
    if model.kind is Kind.CLAIM:
        if not names and not model.deadlock:
            yield "nothing is checked"
    elif model.violated is not None and names != (model.violated,):
        yield f"it must check {model.violated} alone, and checks {', '.join(names) or 'nothing'}"


def _lonely_claims(models: Sequence[Model], folder: Path) -> Iterator[str]:
    """Each checked claim has a must-fail and a witness in its module, or a reason why not."""
    # A type invariant is none of these claims: it is there to catch slips in the module.
    companions = {(each.kind, each.module, name) for each in models for name in each.about}
    claims = [each for each in models if each.kind is Kind.CLAIM]
    told = {(each.module, name) for each in claims for name in each.lacks}
    for model in claims:
        for name in checked(model, folder):
            if (model.module, name) in told or name.endswith(TYPE_INVARIANT):
                continue
            told.add((model.module, name))
            for kind, words in _LACKING.items():
                if (kind, model.module, name) not in companions:
                    yield f"{model.name}: {name} has no {words}"
