"""The small module that runs of the checkers are made of."""

from pathlib import Path

import pytest

from .counter import write_counter


@pytest.fixture
def counter(tmp_path: Path) -> Path:
    """The module, in a folder of its own."""
    folder = tmp_path / "modules"
    folder.mkdir()
    return write_counter(folder)
