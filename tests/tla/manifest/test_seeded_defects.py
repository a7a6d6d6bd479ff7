"""Seeded defects are told with the property and its rules."""

from purgatory_spec.requirements import requirement
from purgatory_tla.manifest.seeded_defects import seeded_defects
from purgatory_tla.resources import modules_folder


def test_planted_defects_stand_in_the_modules_and_their_rules_exist() -> None:
    told = seeded_defects()
    texts = [path.read_text("utf-8") for path in modules_folder().glob("*.tla")]
    assert len(told) > 150
    assert sum(bool(each.planted) for each in told) > 100
    for each in told:
        assert each.summary
        assert all(any(f'"{defect}"' in text for text in texts) for defect in each.planted), each
        assert all(requirement(rule).id == rule for rule in each.rules)
    assert any(each.rules for each in told)
