"""Rules are found where checked properties state them."""

import re

from purgatory_spec.requirements import all_requirements
from purgatory_tla.manifest.manifest import Kind, checked, read_manifest
from purgatory_tla.manifest.statements import statements
from purgatory_tla.resources import modules_folder


def test_a_rule_leads_to_the_line_of_a_checked_property() -> None:
    claims = {
        name
        for model in read_manifest().models
        if model.kind is Kind.CLAIM
        for name in checked(model, modules_folder())
    }
    found = [each for rule in all_requirements() for each in statements(rule.id)]
    assert found
    for each in found:
        lines = (modules_folder() / f"{each.module}.tla").read_text("utf-8").splitlines()
        assert re.match(rf"{each.name}\b.*==", lines[each.line - 1]), each
        assert each.name in claims


def test_the_rules_of_the_wheel_are_stated() -> None:
    assert statements("TIMER-CASCADE")
    assert statements("TIMER-EXACTLY-ONCE")
    assert statements("TIMER-NONE") == statements("TIMER") == ()
