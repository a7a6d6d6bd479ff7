"""Mutants and the defects planted in TLA+: both ends exist, and they break the same rules."""

from dataclasses import replace

import pytest

from purgatory_conformance.specimens.mutants import mutant, mutants
from purgatory_course.breaking.counterparts import (
    COUNTERPARTS,
    counterparts_of,
    disagreements,
    seeded_defects,
)
from purgatory_spec.profiles import Component


def test_the_table_agrees_with_both_ends() -> None:
    """Given the table of counterparts: all exist, and each pair breaks a rule in common."""
    assert list(disagreements(COUNTERPARTS, mutants(), seeded_defects())) == []


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"no-such-mutant": ("timer-drops-one-fails",)}, "there is no mutant no-such-mutant"),
        ({"one-tick-late": ("no-such-run",)}, "there is no run no-such-run"),
        ({"one-tick-late": ("timer-all-rules",)}, "there is no run timer-all-rules"),
        ({"one-tick-late": ("timer-any-order-fails",)}, "breaks TickOrder: TIMER-TICK-ORDER"),
        ({"one-tick-late": ("pool-split-not-atomic",)}, "breaks LooksAtomic: no rule"),
    ],
)
def test_a_wrong_entry_is_found(table: dict[str, tuple[str, ...]], words: str) -> None:
    """The entry is named."""
    (found,) = disagreements(table, mutants(), seeded_defects())
    assert words in found


def test_a_rule_that_may_be_blamed_as_well_counts() -> None:
    late = mutant("one-tick-late")
    other = replace(late, rule="TIMER-ROUNDING", also=("TIMER-NOT-LATE",))
    table = {"one-tick-late": ("timer-strictly-later-fails",)}
    assert list(disagreements(table, [other], seeded_defects())) == []
    assert list(disagreements(table, [replace(other, also=())], seeded_defects()))


@pytest.mark.parametrize("component", Component)
def test_each_component_has_counterparts(component: Component) -> None:
    mine = [each for each in mutants() if each.component is component and counterparts_of(each)]
    assert len(mine) >= 5


def test_a_counterpart_names_defect_and_property() -> None:
    (found,) = counterparts_of(mutant("one-tick-late"))
    assert (found.module, found.planted, found.fails) == ("Timer", ("strictly-later",), "NotLate")
    assert counterparts_of(mutant("rounds-up")) == ()
