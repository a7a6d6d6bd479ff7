"""Only looks name an object that was dropped."""

import pytest

from purgatory_conformance.generation.fields import Operations
from purgatory_conformance.generation.looks import drops_are_kept
from purgatory_spec.operations import Add, AddInside, Advance, Cancel, Reachable

ARMED, LOOK = Add("a", 1), Reachable("a")


@pytest.mark.parametrize(
    ("operations", "are_kept"),
    [
        ((ARMED, Cancel("a")), True),
        ((ARMED, LOOK, Advance(1), LOOK), True),
        ((ARMED, LOOK, Add("b", 1), Advance(1)), True),
        ((ARMED, LOOK, Cancel("a")), False),
        ((ARMED, LOOK, Add("b", 1, (AddInside("a", 1),))), False),
        ((Add("b", 1, (AddInside("a", 1),)), ARMED, LOOK), False),
    ],
)
def test_no_operation_and_no_script_names_what_was_dropped(
    operations: Operations, are_kept: bool
) -> None:
    assert drops_are_kept(operations) is are_kept
