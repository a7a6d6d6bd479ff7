"""The model's own ``replace`` does what that of the standard library does for dataclasses."""

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
    """That gives the state made of the fields of both, and leaves the first one as it was."""
    fields = {name: getattr(STATE, name) for name in TimerState.__struct_fields__}
    assert replace(STATE, **changes) == TimerState(**{**fields, **changes})  # type: ignore[arg-type]
    assert TimerState(5, PendingTasks(), ("a",)) == STATE


def test_what_it_gives_is_frozen() -> None:
    """Given a state that was made by replacing a field: that fails, as it does for any other."""
    changed = replace(STATE, now_ms=6)
    with pytest.raises(AttributeError, match="immutable"):
        changed.now_ms = 7  # type: ignore[misc]
    assert hash(changed) == hash(TimerState(6, PendingTasks(), ("a",)))
