"""The specimens of all components together."""

from collections import Counter

import pytest

from purgatory_conformance.specimens.mutants import mutant, mutants
from purgatory_conformance.specimens.profile_subjects import profile_subjects
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import component_of_rule


def test_names_are_unique() -> None:
    """
    Given the mutants and the profile subjects of all components
    When their names are counted
    Then each occurs once, since they are words on the command line
    """
    for names in (
        Counter(each.name for each in mutants()),
        Counter(each.name for each in profile_subjects()),
    ):
        assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("component", Component)
def test_each_component_has_specimens(component: Component) -> None:
    """
    Given a component
    When its specimens are asked for
    Then there are some, and they break rules of this component
    """
    mine = [each for each in mutants() if each.component is component]
    assert mine
    assert {component_of_rule(each.rule) for each in mine} == {component}
    siblings = [each for each in profile_subjects() if each.component is component]
    broken = {component_of_rule(each.sibling_rule) for each in siblings if each.sibling_rule}
    assert broken == {component}


@pytest.mark.parametrize("component", Component)
def test_a_specimen_offers_its_component(component: Component) -> None:
    """
    Given the specimens of a component
    When they are made
    Then they declare a profile of it
    """
    makers = [each.make for each in mutants() if each.component is component]
    makers += [each.make for each in profile_subjects() if each.component is component]
    for make in makers:
        subject = make()
        assert component in subject.profiles
        subject.close()


def test_an_unknown_mutant_is_said_to_be_none() -> None:
    """
    Given a name that no mutant has
    When the mutant of this name is asked for
    Then there is none
    """
    with pytest.raises(KeyError):
        mutant("no-such-mutant")
