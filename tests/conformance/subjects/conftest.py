"""Start and end adapters for tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.subjects.started_adapters import Adapters


@pytest.fixture
def adapters(tmp_path: Path) -> Iterator[Adapters]:
    """No process and no thread survives a test, whatever happened in it."""
    started = Adapters(tmp_path / "pids")
    yield started
    for subject in started.subjects:
        subject.close()
    started.assert_none_left()
