"""What needs an extra that is not installed says so, and nothing else is kept from working."""

from importlib import metadata

import pytest
from click.testing import CliRunner

from purgatory_conformance import command_line, extensions
from purgatory_conformance.command_line import Problem


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> metadata.EntryPoint:
    """An entry point whose extra is not installed, the only one there is."""
    entry_point = metadata.EntryPoint("far", "no_such_module:register [far]", "a.group")
    monkeypatch.setattr(extensions.metadata, "entry_points", lambda group: [entry_point])
    return entry_point


def test_an_entry_point_without_its_extra_brings_nothing(absent: metadata.EntryPoint) -> None:
    """
    Given an entry point whose module is not installed, and which names an extra
    When the extensions are listed
    Then it brings None, and how to install it is known
    """
    assert list(extensions.extensions("a.group")) == [(absent, None)]
    assert extensions.how_to_install(absent) == "pip install 'purgatory-spec[far]'"


def test_an_entry_point_without_an_extra_must_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Given an entry point whose module does not exist, and which names no extra
    When the extensions are listed
    Then that is an error
    """
    broken = metadata.EntryPoint("far", "no_such_module:register", "a.group")
    monkeypatch.setattr(extensions.metadata, "entry_points", lambda group: [broken])
    with pytest.raises(ModuleNotFoundError):
        list(extensions.extensions("a.group"))


def test_its_command_says_what_to_install(absent: metadata.EntryPoint) -> None:
    """
    Given a command whose extra is not installed
    When it is called with any words
    Then the exit code is 5, and the sentence is the command to run
    """
    command = command_line._not_installed(absent)
    result = CliRunner().invoke(command, ["check", "--all"])
    assert isinstance(result.exception, Problem)
    assert result.exception.exit_code == 5
    assert "pip install 'purgatory-spec[far]'" in str(result.exception)
