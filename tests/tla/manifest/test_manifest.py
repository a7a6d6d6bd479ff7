"""The manifest: read strictly, written in one way."""

import json
from pathlib import Path

import pytest

from purgatory_tla.manifest.manifest import (
    Expected,
    InvalidManifest,
    Kind,
    checked,
    parse_manifest,
    read_manifest,
)
from purgatory_tla.resources import modules_folder

from .manifest_checks import TYPE_INVARIANT, format_manifest, problems

ENTRY = {"name": "a", "title": "A.", "module": "A", "configuration": "A.cfg"}


def text(*entries: object) -> str:
    return json.dumps({"version": 1, "models": entries})


def test_an_entry_has_its_defaults() -> None:
    (model,) = parse_manifest(text(ENTRY)).models
    assert (model.kind, model.expected, model.invariants) == (Kind.CLAIM, Expected.SUCCESS, None)


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (text({**ENTRY, "colour": "red"}), "a: Object contains unknown field `colour`"),
        (text({**ENTRY, "depth": "3"}), "a: Expected `int | null`, got `str` - at `$.depth`"),
        (text({**ENTRY, "kind": "guess"}), "a: Invalid enum value 'guess' - at `$.kind`"),
        (text({"title": "A."}), "entry 1: Object missing required field `name`"),
        (text(ENTRY, ENTRY), "name given twice: a"),
        (text("a"), "entry 1: Expected `object`, got `str`"),
        ('{"version": 1, "models": [{"name": "a", "name": "a"}]}', "a: key given twice: name"),
        ('{"version": 2, "models": []}', "its version must be 1, and is 2"),
        ('{"models": []}', "the keys 'version' and 'models' alone"),
        ('{"version": 1, "models": {}}', "'models' must be a list"),
        ("[", "Expecting value"),
    ],
)
def test_a_faulty_manifest_is_explained(broken: str, sentence: str) -> None:
    with pytest.raises(InvalidManifest) as raised:
        parse_manifest(broken)
    assert sentence in str(raised.value)


def test_a_missing_manifest_is_explained(tmp_path: Path) -> None:
    with pytest.raises(InvalidManifest, match=r"m\.json: cannot be read"):
        read_manifest(tmp_path / "m.json")
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidManifest, match=r"other\.json: it must be an object"):
        read_manifest(tmp_path / "other.json")


def test_the_manifest_is_in_its_one_form() -> None:
    path = modules_folder() / "manifest.json"
    assert format_manifest(read_manifest()) == path.read_text(encoding="utf-8")


def test_the_manifest_fits_the_modules() -> None:
    assert problems(read_manifest(), modules_folder()) == ()


WITHOUT_TYPES = {
    "MemoryPoolInductive": "Values has them, in the invariant",
    "PurgatoryProposalPasses": "it has the variables of PurgatoryProposal, and a label",
}


def test_every_module_claims_the_types_of_its_variables() -> None:
    claims = [each for each in read_manifest().models if each.kind is Kind.CLAIM]
    typed = {
        each.module
        for each in claims
        if any(name.endswith(TYPE_INVARIANT) for name in checked(each, modules_folder()))
    }
    modules = {each.module for each in claims if each.module is not None}
    assert modules - typed == WITHOUT_TYPES.keys()
