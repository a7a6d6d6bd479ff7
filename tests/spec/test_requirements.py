"""The rules are read from the normative page, and each is stated wherever it has to be."""

import re
from pathlib import Path

import pytest

from purgatory_conformance.knowledge import all_vectors, statements
from purgatory_conformance.specimens.mutants import mutants
from purgatory_conformance.specimens.profile_subjects import profile_subjects
from purgatory_spec import profiles
from purgatory_spec.messages import schema_text
from purgatory_spec.requirements import (
    Level,
    all_requirements,
    component_of_rule,
    parse_requirements,
    requirement,
    requirements,
)
from purgatory_spec.resources import specification_folder
from purgatory_tla.manifest.seeded_defects import seeded_defects

EVERYTHING = profiles.TimerProfile(
    executor=profiles.Executor.STEPPED,
    structure=profiles.Structure.DELAY_QUEUE_WHEEL,
    features=frozenset(profiles.Feature),
    observables=frozenset(profiles.Observable),
)
ONLY_ELSEWHERE = {"TIMER-LATENESS"}
"""Stated about a real clock, which neither the model nor a vector has."""
STATED_RULES = [rule.id for rule in all_requirements() if rule.id not in ONLY_ELSEWHERE]
OF_SERVERS = {"MUTING-BOTH-BOUNDS", "MUTING-GAUGES"}
"""Stated by the implementation alone, whose tests run a server under load."""
NEED_THREADS = {rule.id for rule in all_requirements() if rule.needs_threads}


def test_rules_have_a_level_and_a_text() -> None:
    rules = requirements(profiles.Component.TIMER)
    assert len(rules) == 42
    assert all(len(rule.text) > 35 for rule in rules)
    should = {rule.id for rule in rules if rule.level is Level.SHOULD}
    assert should == {"TIMER-LATENESS", "TIMER-SHUTDOWN-CLOSED"}


def test_every_rule_is_stated_in_model_and_implementation() -> None:
    """Name each in a function of the model, and those of the timer in one of the implementation."""
    packages = {rule: {each.package for each in statements(rule)} for rule in STATED_RULES}
    assert {r for r, stated in packages.items() if "purgatory_model" not in stated} == OF_SERVERS
    assert all("purgatory_impl" in packages[rule] for rule in OF_SERVERS)
    timer = [rule for rule in packages if component_of_rule(rule) is profiles.Component.TIMER]
    unstated = {rule for rule in timer if "purgatory_impl" not in packages[rule]}
    assert unstated <= {"TIMER-SAME-TICK-ORDER"}


def test_every_rule_of_the_timer_has_a_vector_or_a_sibling() -> None:
    """Show each by one; the order inside a tick, which vectors leave free, is a profile's."""
    shown = {rule for vector in all_vectors() for rule in vector.header.rules}
    every = {rule.id for rule in requirements(profiles.Component.TIMER)}
    assert every - shown <= ONLY_ELSEWHERE | {"TIMER-SAME-TICK-ORDER"}


def test_every_rule_is_broken_by_a_specimen() -> None:
    """Break all but the rule about real clocks, and those that no sequence of steps breaks."""
    broken = {mutant.rule for mutant in mutants()}
    broken |= {each.sibling_rule for each in profile_subjects() if each.sibling_rule}
    assert {rule.id for rule in all_requirements()} - broken == ONLY_ELSEWHERE | NEED_THREADS


@pytest.mark.parametrize("rule", sorted(NEED_THREADS - OF_SERVERS))
def test_a_rule_that_needs_threads_is_stated_and_broken_where_threads_are(rule: str) -> None:
    assert {"purgatory_model", "purgatory_tla"} <= {each.package for each in statements(rule)}
    assert any(rule in each.rules for each in seeded_defects())
    assert not requirement(rule).applies_to(
        profiles.PurgatoryProfile(accounting=profiles.Accounting.EXACT)
    )


def test_a_rule_leads_to_its_component() -> None:
    for component in profiles.Component:
        assert {component_of_rule(rule.id) for rule in requirements(component)} == {component}
    with pytest.raises(KeyError):
        component_of_rule("TIMER-NONE")


def test_conditions_decide_where_a_rule_applies() -> None:
    weakest = {
        rule.id
        for rule in requirements(profiles.Component.TIMER)
        if rule.applies_to(profiles.TimerProfile())
    }
    assert "TIMER-NOT-EARLY" in weakest
    assert "TIMER-CANCEL" not in weakest
    assert "TIMER-CASCADE" not in weakest
    everything = {
        rule.id for rule in requirements(profiles.Component.TIMER) if rule.applies_to(EVERYTHING)
    }
    rest = {rule.id for rule in requirements(profiles.Component.TIMER)} - everything
    assert rest == {"TIMER-LATENESS", "TIMER-SAME-TICK-ORDER"}
    assert not requirement("TIMER-READD-CANCELLED").applies_to(
        profiles.TimerProfile(features=frozenset({profiles.Feature.READD}))
    )


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ("### TIMER-A: a\ntext", "page:1: rule TIMER-A has no level line below its heading"),
        (
            "### TIMER-A: a\nLevel: MUST\n\nSymptom: c.\n\n### TIMER-A: b\nLevel: MUST\n",
            "page:6: rule TIMER-A is stated twice",
        ),
        ("### TIMER-A: a\nLevel: MUST\n\ntext", "page:1: rule TIMER-A has no symptom"),
        (
            "### TIMER-A: a\nLevel: MUST. Applies: sometimes\n\nSymptom: c.\n",
            "not a condition: 'sometimes'",
        ),
        (
            "### TIMER-A: a\nLevel: MUST. Applies: `rounding is sideways`\n\nSymptom: c.\n",
            "'sideways' is not a valid Rounding",
        ),
    ],
)
def test_a_page_that_is_no_list_of_rules_is_rejected(page: str, problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)):
        parse_requirements(page, "page")


def test_each_rule_has_a_symptom_of_its_own_on_one_line() -> None:
    symptoms = [rule.symptom for rule in all_requirements()]
    assert len(set(symptoms)) == len(symptoms)
    for rule in all_requirements():
        assert re.fullmatch(r"\S.{19,119}\.", rule.symptom), rule.id
        assert rule.symptom not in rule.text
        assert rule.told == f"Symptom: {rule.symptom}\n\n{rule.text}"


def test_schema_is_that_of_the_types() -> None:
    path: Path = specification_folder() / "schema" / "protocol.schema.json"
    assert path.read_text(encoding="utf-8") == schema_text()
