"""Fixtures that the tests of the implementation share."""

import logging
import sys
import threading
from collections.abc import Iterator

import pytest


@pytest.fixture
def eager_switching() -> Iterator[None]:
    """Let threads interrupt each other as often as the interpreter can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


@pytest.fixture
def no_thread_left() -> Iterator[None]:
    """The test ends the threads that it, a timer or a purgatory has started."""
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


@pytest.fixture
def logged(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> pytest.LogCaptureFixture:
    """Catch the implementation's log, also where its logger was silenced before."""
    monkeypatch.setattr(logging.getLogger("purgatory"), "disabled", False)
    return caplog
