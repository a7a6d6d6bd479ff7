"""The outcomes that golden vectors record, judged without a subject."""

import msgspec
import pytest

from purgatory_conformance.knowledge import all_vectors
from purgatory_judge.judgement import Judgement
from purgatory_judge.registry import judged
from purgatory_spec.cases import Case, Step
from purgatory_spec.profiles import Component

COUNTED = {
    Component.TIMER: "queued",
    Component.PURGATORY: "entries",
    Component.MEMORY_POOL: "used_bytes",
    Component.CHANNEL_MUTING: "available_bytes",
}
"""An observable that every vector of the component shows after its last step."""

NOT_VISITED = {"levels-of-default-wheel": {"TIMER-SPAN"}}
"""Rules that a vector shows although their breach would be seen only later."""


def judgements_of(vector: Case) -> list[Judgement]:
    """Return the judgement of each recorded outcome under the vector's own profile."""
    header = vector.header
    judge = judged(vector.component).judge(header.configuration, header.profile, ())
    outcomes = [(step.operation, step.outcome) for step in vector.steps]
    return [judge.step(operation, outcome) for operation, outcome in outcomes if outcome]


@pytest.mark.parametrize("vector", all_vectors(), ids=lambda vector: vector.header.case)
def test_recorded_outcomes_of_every_vector_are_right(vector: Case) -> None:
    """Each is what the model expects, and the rules that it names were put to the test."""
    judgements = judgements_of(vector)
    assert len(judgements) == len(vector.steps) > 0
    assert [each.divergence for each in judgements] == [None] * len(judgements)
    visited = set().union(*(each.visited for each in judgements))
    assert set(vector.header.rules) - visited <= NOT_VISITED.get(vector.header.case, set())


@pytest.mark.parametrize("vector", all_vectors(), ids=lambda vector: vector.header.case)
def test_a_changed_count_in_a_vector_is_noticed(vector: Case) -> None:
    last = vector.steps[-1]
    assert last.outcome is not None
    counts = [each for each, count in last.outcome.observed.items() if isinstance(count, int)]
    name = next((each for each in counts if each == COUNTED[vector.component]), counts[0])
    count = last.outcome.observed[name]
    assert isinstance(count, int)
    observed = {**last.outcome.observed, name: count + 1}
    wrong = Step(last.operation, msgspec.structs.replace(last.outcome, observed=observed))
    *before, divergence = (
        each.divergence
        for each in judgements_of(
            msgspec.structs.replace(vector, steps=(*vector.steps[:-1], wrong))
        )
    )
    assert set(before) <= {None}
    assert divergence is not None
    assert divergence.seen == f"{name} = {count + 1}"
