"""The purgatory that coroutines wait in."""

from collections.abc import Iterator

import pytest

from purgatory_impl import Purgatory
from tests.impl.event_loops.mailboxes import listed


@pytest.fixture
def purgatory() -> Iterator[Purgatory[str]]:
    """A purgatory with threads; nothing that the test has waited for is left in it."""
    with Purgatory[str](purge_interval=0) as purgatory:
        yield purgatory
        assert (purgatory.timer_size, purgatory.pending) == (0, 0)
        assert all(one.is_completed or one.is_abandoned for one in listed(purgatory))
