"""Which simpler cases of a timer may be asked."""

import msgspec
import pytest

from purgatory_conformance.running.shrinking import simpler_cases
from purgatory_conformance.subjects.bundled.timer import PROFILE
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate
from purgatory_judge.components import narrowed
from purgatory_spec.operations import Add, AddInside, Advance, Operation
from purgatory_spec.profiles import Component, Executor, Feature, Structure, TimerConfiguration

ITSELF = (Add("a", 0, (AddInside("a", 0),)),)
EACH_OTHER = (Add("a", 3, (AddInside("b", 0),)), Add("b", 3, (AddInside("a", 1),)))
LATER = (Add("a", 0, (AddInside("a", 2),)),)
ANOTHER = (Add("a", 0, (AddInside("b", 0),)), Add("b", 3))


@pytest.mark.parametrize("executor", Executor)
@pytest.mark.parametrize(
    ("operations", "comes_to_rest"),
    [(ITSELF, False), (EACH_OTHER, False), (LATER, True), (ANOTHER, True)],
    ids=["itself at once", "each other at once", "itself a tick later", "another at once"],
)
def test_a_case_that_never_ends_is_not_asked(
    executor: Executor, operations: tuple[Operation, ...], comes_to_rest: bool
) -> None:
    """It is asked only of a subject that runs one task for each step."""
    profile = msgspec.structs.replace(PROFILE, executor=executor)
    candidate = Candidate(TimerConfiguration(tick_ms=2), operations)
    usable = support_of(Component.TIMER).usable(profile, candidate)
    assert usable == (comes_to_rest or executor is Executor.STEPPED)


def test_a_simpler_case_goes_over_no_more_ticks() -> None:
    """
    Given a clock that begins late, and a tick of seconds
    When simpler cases are asked for
    Then the clock begins earlier or has a smaller tick, and no case has more ticks than this one
    """
    ticks, tick_ms, start_ms = 2**17, 1000, 2**36
    configuration = TimerConfiguration(tick_ms, 20, start_ms)
    case = Candidate(configuration, (Add("a", 1), Advance(start_ms + ticks * tick_ms)))
    features = PROFILE.features - {Feature.FAR_ADVANCE}
    profile = msgspec.structs.replace(PROFILE, structure=Structure.ANY, features=features)
    cases = list(simpler_cases(profile, case))
    starts_ms: set[int] = set()
    for each in cases:
        made_with = narrowed(each.configuration, TimerConfiguration)
        starts_ms.add(made_with.start_ms)
        for operation in each.operations:
            if isinstance(operation, Advance):
                assert operation.to_ms - made_with.start_ms <= ticks * made_with.tick_ms
    assert {0, start_ms} < starts_ms
