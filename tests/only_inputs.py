"""A plugin of pytest: a recorded test that opens a file which is no input of the record fails.

``make record`` loads it. The record would otherwise keep a result that no longer follows from its
digest. A file outside the checkout is the test's own.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from purgatory_spec.resources import specification_folder
from tests.recorded import ROOT

_watched: list[str] = []
"""The recorded tests under way, by name: one, or none."""


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse to open what is no input while a recorded test is under way."""
    if not _watched or event != "open" or not isinstance(arguments[0], str | bytes | os.PathLike):
        return
    path = Path(os.fsdecode(arguments[0])).absolute()
    if is_further_input(path):
        raise PermissionError(f"{_watched[-1]} is recorded, and {path} is no input of the record")


def is_further_input(path: Path) -> bool:
    """Decide whether a file is of the checkout, and not among what a digest is made of."""
    if not path.is_relative_to(ROOT) or path.is_relative_to(specification_folder()):
        return False
    hidden = path.relative_to(ROOT).parts[0].startswith(".")  # environment and caches
    return not hidden and path.suffix not in {".py", ".pyc"} and "__pycache__" not in path.parts


@contextmanager
def only_inputs(test: str) -> Iterator[None]:
    """Refuse further inputs meanwhile."""
    _watched.append(test)
    try:
        yield
    finally:
        _watched.pop()


def pytest_configure() -> None:
    """Watch this process from now on."""
    sys.addaudithook(_refuse)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Watch a recorded test with its fixtures."""
    if item.get_closest_marker("recorded") is None:
        return (yield)
    with only_inputs(item.nodeid):
        return (yield)
