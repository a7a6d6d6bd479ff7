"""Ctrl-C while the command line is still loading its modules."""

import click
import pytest

from purgatory_conformance import command_line
from purgatory_conformance.problems import EXIT_INTERRUPTED


def test_ctrl_c_while_commands_are_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It exits 130 with a word, as it does later."""

    def interrupt(group: click.Group, context: click.Context, name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line.LazyGroup, "get_command", interrupt)
    monkeypatch.setattr("sys.argv", ["purgatory", "check"])
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    assert ended.value.code == EXIT_INTERRUPTED
    assert capsys.readouterr().err.strip() == "purgatory: interrupted"
