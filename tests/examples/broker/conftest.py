"""Fixtures that the tests of the broker share."""

import time
from collections.abc import Iterator

import pytest

from tests.examples.broker.running import LONG_MS


@pytest.fixture
def no_long_wait() -> Iterator[None]:
    """No request waits to the end of its long time: what is to be answered at once is."""
    # A request that nobody answers ends by its time-out, often with the same response.
    began = time.monotonic()
    yield
    assert time.monotonic() - began < LONG_MS / 1000
