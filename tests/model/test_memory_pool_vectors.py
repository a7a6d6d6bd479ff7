"""The golden vectors of the memory pool are what the model predicts, one way unless they say so."""

import pytest

from purgatory_model.claims.memory_pool import broken_invariants
from purgatory_model.memory_pool import MemoryPoolModel
from purgatory_spec import profiles
from purgatory_spec.cases import Case, read_case
from purgatory_spec.requirements import requirements
from purgatory_spec.resources import specification_folder

PATHS = sorted((specification_folder() / "vectors" / "memory-pool").glob("*.jsonl"))
VECTORS = [read_case(path) for path in PATHS]


def model_of(vector: Case) -> MemoryPoolModel:
    configuration, profile = vector.header.configuration, vector.header.profile
    assert isinstance(configuration, profiles.MemoryPoolConfiguration)
    assert isinstance(profile, profiles.MemoryPoolProfile)
    return MemoryPoolModel(configuration, profile)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.header.case)
def test_recorded_outcomes_are_the_only_ones(vector: Case) -> None:
    """Each recorded outcome is the only one that there is, and breaks no invariant."""
    model = model_of(vector)
    state = model.initial()
    for step in vector.steps:
        assert step.outcome is not None
        ways = list(model.successors(state, step.operation))
        assert len(ways) == 1 or vector.header.others_allowed
        (reached,) = (state for outcome, state in ways if outcome == step.outcome)
        assert model.accept(state, step.operation, step.outcome) == {reached}
        assert list(broken_invariants(model, reached)) == []
        state = reached


def test_vectors_are_named_after_their_files_and_say_what_they_need() -> None:
    """Names are those of the files, titles and origins are given, the sort of pool is declared."""
    for path, vector in zip(PATHS, VECTORS, strict=True):
        model = model_of(vector)
        given = model.configuration
        sort = (
            profiles.MemoryPoolFeature.STRICT
            if given.strict
            else profiles.MemoryPoolFeature.NON_STRICT
        )
        sort = profiles.MemoryPoolFeature.UNBOUNDED if given.unbounded else sort
        assert vector.header.case == path.stem
        assert vector.header.title
        assert vector.header.origin
        assert sort in model.profile.features


def test_each_rule_is_shown_by_a_vector() -> None:
    """Given the rules of the memory pool: they are all of them."""
    shown = {rule for vector in VECTORS for rule in vector.header.rules}
    assert shown == {rule.id for rule in requirements(profiles.Component.MEMORY_POOL)}
