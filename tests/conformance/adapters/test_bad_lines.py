"""Our own adapters answer lines that are no requests, or make no sense, and go on."""

import sys

import pytest

from purgatory_conformance.resources import adapter_folder
from purgatory_spec.profiles import Component
from tests.course.playing.node import needs_node

from .bad_lines import assert_each_is_answered


@needs_node
def test_the_adapter_in_javascript_answers_each_line() -> None:
    """A number that is none ended it: the wheel added levels until the memory was full."""
    folder = adapter_folder("javascript")
    assert_each_is_answered(["node", "adapter.js"], folder, [Component.TIMER])


@pytest.mark.slow
def test_the_adapter_of_a_server_answers_each_line() -> None:
    folder = adapter_folder("python-server")
    command = [sys.executable, "adapter.py"]
    assert_each_is_answered(command, folder, [Component.CHANNEL_MUTING])
