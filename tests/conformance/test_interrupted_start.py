"""Ctrl-C while the command line is still loading its modules."""

import pytest

from purgatory_conformance import command_line


def test_ctrl_c_while_commands_are_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """
    Given a command line that loads the commands of the packages
    When Ctrl-C is pressed before they are there
    Then it exits 130 with a word, as it does later
    """

    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line, "_register_commands", interrupt)
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    assert ended.value.code == command_line.EXIT_INTERRUPTED
    assert capsys.readouterr().err == "purgatory: interrupted\n"
