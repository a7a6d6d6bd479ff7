"""Steps that show a rule: they are a part of a vector, and each of them is needed."""

import re
from functools import cache

import pytest

from purgatory_conformance.knowledge import vectors
from purgatory_conformance.running.case_run import run_case
from purgatory_conformance.specimens.small.timer import small_subject
from purgatory_lab.site_pages.demonstrations import demonstration
from purgatory_lab.site_pages.rules import rules_page
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import requirements

SHOWN = ("TIMER-NOT-LATE", "TIMER-CANCEL", "PURGATORY-FORCE-AGAIN", "POOL-RELEASE-AGAIN")


@pytest.mark.parametrize("rule", SHOWN)
def test_a_demonstration_is_the_part_of_a_vector_that_a_mutant_fails(rule: str) -> None:
    """The mutant breaks the rule, the last step tells both outcomes apart, and three are enough."""
    shown = demonstration(rule)
    assert shown is not None
    assert shown.mutant.rule == rule
    assert rule in shown.vector.header.rules
    assert 1 <= len(shown.steps) <= 3
    assert len(shown.steps) <= len(shown.vector.steps)
    assert shown.expected != shown.seen


def test_the_steps_of_a_late_timer_are_an_add_and_an_advance() -> None:
    shown = demonstration("TIMER-NOT-LATE")
    assert shown is not None
    assert shown.steps == ("add a, delay 5 ms → no event", "advance to 5")
    assert (shown.expected, shown.seen) == ("a expired", "no event")
    right = next(each for each in vectors(Component.TIMER) if each == shown.vector)
    run = run_case(small_subject(), "right", right.header.configuration, right.operations)
    assert run.divergence is None


def test_a_rule_that_no_vector_states_has_no_demonstration() -> None:
    assert demonstration("TIMER-LATENESS") is None


@cache
def sections(component: Component) -> dict[str, str]:
    """The sections of the page of a component by their rules."""
    _, *parts = re.split(r"(?m)^### ", rules_page(component))
    return {part.partition(":")[0]: part for part in parts}


PARTS = ("**In steps**", "**Where it is broken**", "**Broken by**", "**Reported**")


@pytest.mark.slow
@pytest.mark.parametrize("component", [Component.TIMER, Component.MEMORY_POOL])
def test_a_rule_has_its_parts_in_one_order(component: Component) -> None:
    """Sentence, steps, symptom, mutant and report follow each other; few rules lack one."""
    found = sections(component)
    assert set(found) >= {each.id for each in requirements(component)}
    lacking = []
    for rule in requirements(component):
        places = [found[rule.id].find(part) for part in PARTS]
        there = [place for place in places if place >= 0]
        assert there == sorted(there)
        assert "\nSymptom: " not in found[rule.id]
        if -1 in places[:3]:
            lacking.append(rule.id)
    assert (
        lacking
        == {
            Component.TIMER: ["TIMER-LATENESS"],
            Component.MEMORY_POOL: ["POOL-BOUND"],
        }[component]
    )


@pytest.mark.slow
def test_a_section_names_the_mutant_the_report_and_how_to_run_them() -> None:
    section = sections(Component.TIMER)["TIMER-CANCEL"]
    for words in (
        "1. advance to 30 → **no event**; the wrong one: **a expired**",
        "`purgatory check mutant:cancel-ignored --suite quick`",
        "[cpython#79124](mutants.md#reported-takes-an-equal-one)",
        "`purgatory check mutant:reported-looks-in-the-present-level --suite quick`",
    ):
        assert words in section
