"""The executable models and the TLA+ modules have one state graph each."""

from pathlib import Path

import pytest

from purgatory_model.claims.state_graph import complete_graph
from purgatory_model.timing_wheel import Bucket
from purgatory_tla.bindings import timing_wheel
from purgatory_tla.bindings.figures import FIGURES
from purgatory_tla.bindings.registry import reported_bindings, small_bindings
from purgatory_tla.comparing import comparing
from purgatory_tla.comparing.report import told
from purgatory_tla.resources import modules_folder

from ..record import REPORTED_AND_RECORDED, agree_with_the_record, found_by_comparison, marks_of

REPORTED = reported_bindings()
SMALL = small_bindings()


def equal(name: str, found: comparing.Comparison) -> None:
    assert found.verdict is comparing.GraphVerdict.EQUAL, "\n".join(told(found))
    agree_with_the_record("comparison", name, found_by_comparison(found))


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=marks_of("comparison", name))
        if name in REPORTED_AND_RECORDED
        else pytest.param(name, marks=pytest.mark.large)
        for name in REPORTED
    ],
)
def test_a_reported_pair_is_equal_and_as_large_as_is_told(name: str) -> None:
    found = comparing.compare(REPORTED[name])
    equal(name, found)
    assert (found.states, found.edges) == (FIGURES[name].states, FIGURES[name].edges)


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=marks_of("comparison", name)) for name in SMALL]
)
def test_a_small_pair_is_equal(name: str) -> None:
    found = comparing.compare(
        SMALL[name], comparing.CompareSettings(modules_folder(), java_options=comparing.QUICK)
    )
    equal(name, found)


def test_the_figures_are_those_of_the_reported_bindings() -> None:
    assert FIGURES.keys() == REPORTED.keys()
    assert all(10_000 <= each.states <= 100_000 for each in FIGURES.values())
    assert not REPORTED.keys() & SMALL.keys()


def test_the_page_of_figures_has_them() -> None:
    page = Path(__file__).parents[3] / "docs" / "reference" / "figures.md"
    rows = [
        f"| `{name}` | {each.states:,} | {each.edges:,} | {each.seconds} |"
        for name, each in FIGURES.items()
    ]
    below = page.read_text(encoding="utf-8").partition("| binding | states | edges | seconds |\n")
    table = below[2].partition("\n\n")[0].splitlines()[1:]
    assert table == rows


def test_every_map_is_told_in_words() -> None:
    told_of: dict[tuple[str, str], str] = {}
    for binding in (*REPORTED.values(), *SMALL.values()):
        words = {name: each.words for name, each in binding.variables.items()}
        for name, sentence in {**words, **binding.actions}.items():
            assert sentence
            assert told_of.setdefault((binding.module, name), sentence) == sentence


@pytest.mark.slow
@pytest.mark.parametrize(
    "made",
    [pytest.param(timing_wheel.binding, marks=pytest.mark.large), timing_wheel.small_binding],
)
def test_the_wheel_has_three_levels_a_cascade_and_a_cancelled_bucket(
    made: timing_wheel.Made,
) -> None:
    binding = made()
    graph = complete_graph(binding.initial, binding.steps)
    assert max(state.store.levels for state in graph.states) >= 3
    cascades: set[tuple[Bucket, Bucket]] = set()
    emptied: set[Bucket] = set()
    for source, label, target in graph.edges():
        if graph.labels[label].action == "Advance":
            before, after = graph.states[source].store, graph.states[target].store
            moved = set(after.places) & set(before.places)
            cascades |= {(before.places[task], after.places[task]) for task in moved}
            gone = set(before.buckets) - set(after.buckets)
            emptied |= {bucket for bucket in gone if not before.buckets[bucket]}
    assert any(above[1] > below[1] for above, below in cascades)
    assert {level for _, level in emptied} >= {1, 2}
