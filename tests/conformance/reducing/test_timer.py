"""Which simpler cases of a timer may be asked."""

import msgspec
import pytest

from purgatory_conformance.subjects.bundled.timer import PROFILE
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate
from purgatory_spec.operations import Add, AddInside, Operation
from purgatory_spec.profiles import Component, Executor, TimerConfiguration

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
