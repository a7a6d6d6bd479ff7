"""What must fail is told with the defect, the property and its rules."""

import re

from purgatory_spec.requirements import requirement
from purgatory_tla.manifest.manifest import Kind, read_manifest
from purgatory_tla.manifest.seeded_defects import seeded_defects
from purgatory_tla.resources import modules_folder


def test_each_model_that_must_fail_for_a_property_is_told() -> None:
    """
    Given the models of the manifest that must fail
    When the seeded defects are asked for
    Then they are those of a module that break a named property, and no others
    """
    must_fail = [
        model.name
        for model in read_manifest().models
        if model.kind is Kind.MUST_FAIL and model.module and model.violated
    ]
    assert [each.name for each in seeded_defects()] == must_fail
    assert len(must_fail) > 150


def test_the_planted_defects_are_constants_of_the_module() -> None:
    """
    Given the defects that are planted
    When the module is searched for their names
    Then each stands there; and more than a hundred runs have some
    """
    planted = [each for each in seeded_defects() if each.planted]
    assert len(planted) > 100
    for each in planted:
        texts = [path.read_text("utf-8") for path in modules_folder().glob("*.tla")]
        for defect in each.planted:
            assert any(f'"{defect}"' in text for text in texts), each
        assert each.summary


def test_the_property_is_defined_and_its_rules_exist() -> None:
    """
    Given the properties that the runs break
    When they are looked up
    Then each is defined in some module, and each rule that it states is one
    """
    defined = {
        name
        for path in modules_folder().glob("*.tla")
        for name in re.findall(r"^(\w+)(?:\([^)]*\))?\s*==", path.read_text("utf-8"), re.MULTILINE)
    }
    for each in seeded_defects():
        assert each.fails in defined, each
        assert all(requirement(rule).id == rule for rule in each.rules)
    assert any(each.rules for each in seeded_defects())
