"""Memory pools in readable words."""

import pytest
from immutables import Map

from purgatory_conformance.describing import steps
from purgatory_conformance.describing.states import describe_state
from purgatory_conformance.running.profile_changes import changes_of
from purgatory_model.memory_pool import MemoryPoolState
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.outcomes import Outcome
from purgatory_spec.reasons import Reason


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        (op.Allocate("b1", 40), "ask for b1, 40 bytes"),
        (op.Allocate("b1", 1), "ask for b1, 1 byte"),
        (op.Allocate("b1", 1, fail=True), "ask for b1, 1 byte, made to fail"),
        (op.Release("b1"), "release b1"),
        (op.Release("b1", op.ReleaseForm.SLICE), "release a slice of b1"),
        (op.Release("b1", op.ReleaseForm.COPY), "release a copy of b1"),
        (op.ReleaseForeign(3), "release a foreign buffer of 3 bytes"),
        (op.ReleaseNothing(), "release nothing"),
        (op.Lose("b1"), "lose b1"),
        (op.Fill("b1", 7), "fill b1 with 7"),
        (op.Read("b1"), "read b1"),
        (op.Construct(10, 11), "make another of 10 bytes, at most 11 bytes for one"),
        (op.Elapse(7), "let the clock reach 7"),
        (op.RunOne(), "run one task"),
    ],
)
def test_operations(operation: op.Operation, words: str) -> None:
    assert steps.describe_operation(operation) == words


def test_outcomes() -> None:
    ask = op.Allocate("b1", 1)
    assert steps.describe_outcome(ask, Outcome(True)) == "granted"
    assert steps.describe_outcome(ask, Outcome(False)) == "refused"
    assert steps.describe_outcome(ask, Outcome(3)) == "result 3, no event"
    assert steps.describe_outcome(op.Release("b1"), Outcome()) == "done"
    assert steps.describe_outcome(op.Read("b1"), Outcome(0)) == "0 all over"
    assert steps.describe_outcome(op.Read("b1"), Outcome(7)) == "7 all over"
    rejected = Outcome(rejected=Reason.INVALID_ARGUMENT)
    assert "invalid_argument" in steps.describe_outcome(op.Release("b1"), rejected)


def test_pools() -> None:
    configuration = profiles.MemoryPoolConfiguration(100, 40, strict=True)
    assert steps.describe_configuration(configuration) == "100 bytes, largest buffer 40, strict"
    configuration = profiles.MemoryPoolConfiguration(unbounded=True)
    assert steps.describe_configuration(configuration) == "an unbounded pool"
    profile = profiles.MemoryPoolProfile(release_validation=profiles.ReleaseValidation.IDENTITY)
    assert steps.describe_profile(profile) == "release validation identity, zero request reject"
    assert [change.words for change in changes_of(profile)] == [
        "zero_request refuse",
        "zero_request grant",
        "release_validation none",
        "zero_request not_offered",
    ]


def test_states() -> None:
    """Describe the available bytes and the first of many holders, and say nothing of the rest."""
    state = MemoryPoolState(60, Map(a=40), now_ms=5, spell_began_ms=3)
    words = "clock 5; 60 available; held: a 40; dry since 3"
    assert describe_state(state) == words
    assert describe_state(MemoryPoolState(9)) == "clock 0; 9 available; held: nothing"
    many = MemoryPoolState(0, Map({f"b{number}": 1 for number in range(10)}))
    assert describe_state(many).endswith("b7 1 and 2 more")
    assert describe_state("anything") == ""
