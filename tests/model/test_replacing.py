"""The model's own ``replace`` does what that of the standard library does."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purgatory_model.pending_tasks import PendingTasks
from purgatory_model.replacing import replace
from purgatory_model.timer import TimerState

STATE = TimerState(5, PendingTasks(), ("a",))

CHANGES = st.fixed_dictionaries(
    {}, optional={"now_ms": st.integers(), "queue": st.tuples(st.text()), "closed": st.booleans()}
)


@given(CHANGES)
def test_it_replaces_the_named_fields_and_leaves_the_value_alone(changes: dict[str, int]) -> None:
    """That gives the state that the standard library gives, and leaves the first one as it was."""
    assert replace(STATE, **changes) == dataclasses.replace(STATE, **changes)  # type: ignore[arg-type]
    assert TimerState(5, PendingTasks(), ("a",)) == STATE


def test_what_it_gives_is_frozen() -> None:
    """Given a state that was made by replacing a field: that fails, as it does for any other."""
    changed = replace(STATE, now_ms=6)
    with pytest.raises(dataclasses.FrozenInstanceError):
        changed.now_ms = 7  # type: ignore[misc]
    assert hash(changed) == hash(dataclasses.replace(STATE, now_ms=6))
