"""The bundled memory pool behind the step vocabulary: what each step is translated into."""

from collections.abc import Iterable

import pytest

from purgatory_conformance.subjects.bundled.memory_pool import MemoryPoolInstance
from purgatory_spec.operations import (
    Advance,
    Allocate,
    Construct,
    Elapse,
    Lose,
    Operation,
    Release,
    ReleaseForeign,
    ReleaseForm,
    ReleaseNothing,
)
from purgatory_spec.outcomes import Outcome, Value
from purgatory_spec.profiles import MemoryPoolConfiguration, TimerConfiguration
from purgatory_spec.reasons import Reason

SMALL = MemoryPoolConfiguration(size_bytes=10, max_single_bytes=8)


def outcomes(
    operations: Iterable[Operation], configuration: MemoryPoolConfiguration = SMALL
) -> list[Outcome]:
    """What comes of a sequence of steps on a fresh pool."""
    instance = MemoryPoolInstance(configuration)
    done = [instance.do(operation) for operation in operations]
    instance.close()
    return done


def rejections(operations: Iterable[Operation]) -> list[Reason | None]:
    return [outcome.rejected for outcome in outcomes(operations)]


def test_a_spell_step_by_step() -> None:
    """Given a pool of 10 bytes.

    When 8 and 8 are granted, one is refused, 5 ms pass, and the first comes back.
    Then every outcome is as the rules have it.
    """
    steps: list[Operation] = [
        Allocate("a", 8),
        Allocate("b", 8),
        Allocate("c", 1),
        Elapse(5),
        Release("a"),
    ]

    def shown(available: int, granted: int | None, spells: int, dry_ms: int) -> dict[str, Value]:
        return {
            "available_bytes": available,
            "used_bytes": 10 - available,
            "size_bytes": 10,
            "out_of_memory": available <= 0,
            "buffer_bytes": granted,
            "depleted_spells": spells,
            "depleted_ms": dry_ms,
        }

    assert outcomes(steps) == [
        Outcome(True, observed=shown(2, 8, 0, 0)),
        Outcome(True, observed=shown(-6, 8, 0, 0)),
        Outcome(False, observed=shown(-6, None, 0, 0)),
        Outcome(observed=shown(-6, None, 0, 0)),
        Outcome(observed=shown(2, None, 1, 5)),
    ]


def test_what_is_no_buffer_that_is_out_is_rejected() -> None:
    """Given a buffer that was granted.

    When it is released as a slice, a copy, itself, and again, besides strangers.
    Then only itself is accepted, once; a name that was never granted is unknown.
    """
    invalid = Reason.INVALID_ARGUMENT
    forms = [ReleaseForm.SLICE, ReleaseForm.COPY, ReleaseForm.ITSELF]
    steps: list[Operation] = [Allocate("a", 4), *(Release("a", form) for form in forms)]
    steps += [Release("a", form) for form in forms]
    steps += [ReleaseForeign(4), ReleaseNothing(), Release("z"), Allocate("b", 9)]
    assert rejections(steps) == [
        None,
        *[invalid, invalid, None],
        *[invalid, invalid, invalid],
        *[invalid, invalid, Reason.UNKNOWN_NAME, invalid],
    ]


def test_a_lost_buffer_is_credited_and_its_name_forgotten() -> None:
    """Given two buffers, one of which has come back.

    When both are lost, and the lost one is released.
    Then the first is credited, and the others are unknown.
    """
    steps: list[Operation] = [
        Allocate("a", 4),
        Allocate("b", 5),
        Release("b"),
        Lose("a"),
        Lose("b"),
        Release("a"),
    ]
    done = outcomes(steps)
    assert [outcome.observed["available_bytes"] for outcome in done] == [6, 1, 6, 10, 10, 10]
    assert [outcome.rejected for outcome in done[3:]] == [
        None,
        Reason.UNKNOWN_NAME,
        Reason.UNKNOWN_NAME,
    ]


def test_constructing_another_pool() -> None:
    steps: list[Operation] = [Construct(1, 1), Construct(0, 1), Construct(5, 6), Construct(5, 0)]
    assert rejections(steps) == [None, *[Reason.INVALID_ARGUMENT] * 3]


def test_a_pool_without_a_bound() -> None:
    """Given the pool that stands for having none.

    When buffers of any size are asked for and anything is released.
    Then nothing but a negative size is rejected.
    """
    steps: list[Operation] = [Allocate("a", 0), Allocate("b", 1000), Allocate("c", -1)]
    steps += [Release("b"), Release("b", ReleaseForm.SLICE), ReleaseNothing(), Lose("a")]
    done = outcomes(steps, MemoryPoolConfiguration(unbounded=True))
    assert [outcome.result for outcome in done[:3]] == [True, True, None]
    assert [outcome.rejected for outcome in done] == [
        *[None, None, Reason.INVALID_ARGUMENT],
        *[None] * 4,
    ]
    assert {outcome.observed["used_bytes"] for outcome in done} == {0}


def test_what_is_none_of_a_pools_is_refused() -> None:
    with pytest.raises(ValueError, match="no such operation"):
        MemoryPoolInstance(SMALL).do(Advance(1))
    with pytest.raises(TypeError):
        MemoryPoolInstance(TimerConfiguration())
