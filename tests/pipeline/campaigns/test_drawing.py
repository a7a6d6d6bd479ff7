"""Drawing: a number alone says what is drawn, and the id of a run is that of what is asked."""

from collections import Counter
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from purgatory_conformance.generation.source import Source
from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate, ComponentSupport
from purgatory_judge.components import narrowed
from purgatory_spark.campaigns.drawing import Drawing, decode_drawn, encode_drawn, seed_of
from purgatory_spec import profiles
from purgatory_spec.operations import Add
from purgatory_spec.profiles import Profile


def drawing_of(
    component: profiles.Component = profiles.Component.TIMER, seed: int = 7, steps: int = 50
) -> Drawing:
    return Drawing(component, bundled_subject().profiles[component], seed, steps)


@pytest.mark.parametrize("component", profiles.Component)
def test_a_number_draws_the_same_whatever_was_drawn_before(component: profiles.Component) -> None:
    all_of_them = [drawing_of(component).draw(number) for number in range(12)]
    assert drawing_of(component).draw(11) == all_of_them[11]
    assert all(case != all_of_them[11] for case in all_of_them[:11])


@pytest.mark.parametrize("component", profiles.Component)
def test_what_is_drawn_survives_its_encoding(component: profiles.Component) -> None:
    drawing = drawing_of(component)
    for number in range(20):
        case = drawing.draw(number)
        again = decode_drawn(component, encode_drawn(case))
        assert again == case
        assert drawing.run_id(again) == drawing.run_id(case)


def test_large_integers_are_drawn_at_all() -> None:
    """Control the test before: some delay needs all of 53 bits."""
    drawing = drawing_of()
    cases = [drawing.draw(number) for number in range(60)]
    delays = [op.delay_ms for case in cases for op in case.operations if isinstance(op, Add)]
    assert max(delays) >= 2**53 - 1


def test_other_seeds_and_sizes_draw_other_cases() -> None:
    usual = drawing_of().draw(3)
    assert drawing_of(seed=8).draw(3) != usual
    short, longer = drawing_of(steps=6), drawing_of()
    lengths = [(len(short.draw(n).operations), len(longer.draw(n).operations)) for n in range(20)]
    assert sum(few < many for few, many in lengths) > 12
    assert seed_of(7, 3) == "7-3"


def test_the_id_depends_on_all_that_is_asked_and_on_nothing_else() -> None:
    drawing = drawing_of()
    case = drawing.draw(3)
    identity = drawing.run_id(case)
    assert replace(drawing, seed=99, steps=3).run_id(case) == identity
    configuration = narrowed(case.configuration, profiles.TimerConfiguration)
    wider = msgspec.structs.replace(configuration, wheel_size=configuration.wheel_size + 1)
    profile = narrowed(drawing.profile, profiles.TimerProfile)
    ordered = msgspec.structs.replace(profile, same_tick_order=profiles.SameTickOrder.FIFO)
    others = {
        drawing.run_id(Candidate(wider, case.operations)),
        drawing.run_id(replace(case, operations=case.operations[:-1])),
        drawing.run_id(replace(case, operations=case.operations[::-1])),
        replace(drawing, profile=ordered).run_id(case),
    }
    assert len(others | {identity}) == 5
    assert all(len(each) == 32 for each in others)


@pytest.mark.parametrize("component", profiles.Component)
def test_every_second_number_is_steered_towards_one_rule_in_turn(
    component: profiles.Component, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawing = drawing_of(component)
    support = support_of(component)
    wanted: list[frozenset[str]] = []
    draw_configuration = ComponentSupport.draw_configuration

    def spied(
        self: ComponentSupport[Any, Any], profile: Profile, source: Source, rules: frozenset[str]
    ) -> object:
        wanted.append(rules)
        return draw_configuration(self, profile, source, rules)

    monkeypatch.setattr(ComponentSupport, "draw_configuration", spied)
    rules = [rule.id for rule in support.judged.judged_rules(drawing.profile)]
    for number in range(2 * len(rules)):
        drawing.draw(number)
    assert wanted[::2] == [frozenset()] * len(rules)
    assert Counter(rule for each in wanted[1::2] for rule in each) == Counter(rules)
