"""The command line imports a command when it is used, and not before."""

import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata

import click
import pytest

from purgatory_conformance.command_line import LazyGroup, purgatory

_AFTERWARDS = """
import sys
from purgatory_conformance.command_line import main
sys.argv = ["purgatory", *sys.argv[1:]]
try:
    main()
except SystemExit:
    print(*sorted(sys.modules), file=sys.stderr)
"""


def modules_after(*words: str) -> set[str]:
    finished = subprocess.run(
        [sys.executable, "-c", _AFTERWARDS, *words], capture_output=True, text=True, check=True
    )
    return set(finished.stderr.split())


def imported_for_commands(modules: set[str]) -> set[str]:
    libraries = {"hypothesis", "rich", "jinja2", "msgspec", "pyspark"}
    ours = {each for each in modules if each.startswith("purgatory_")}
    return (modules & libraries) | (
        ours
        - {"purgatory_conformance", "purgatory_conformance.command_line"}
        - {"purgatory_spec", "purgatory_spec.nearest", "purgatory_conformance.problems"}
    )


@pytest.mark.parametrize("words", [["--version"], ["trace", "bogus"]])
def test_no_command_is_imported_for_a_version_or_a_mistake(words: list[str]) -> None:
    """No library that a command needs is imported, and only the groups that were named."""
    groups = {"purgatory_traces", "purgatory_traces.commands"}
    of_groups = groups | {"purgatory_traces.commands.trace"}
    assert imported_for_commands(modules_after(*words)) <= (
        of_groups if words == ["trace", "bogus"] else set()
    )


def test_help_imports_no_command() -> None:
    """No command was imported: the lines are read from the sources."""
    modules = modules_after("--help")
    assert not {each for each in modules if ".commands." in each}
    of_check = imported_for_commands(modules_after("check", "--help"))
    assert of_check >= {"jinja2", "rich", "purgatory_conformance.running.shrinking"}
    assert "hypothesis" not in of_check


def commands_of(group: click.Group, words: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, name
        yield f"{words} {name}", command
        if isinstance(command, click.Group):
            yield from commands_of(command, f"{words} {name}")


def test_every_command_can_be_imported_and_says_in_the_help_what_it_says_itself() -> None:
    """The line of the help, read from the source, is the command's own."""
    commands = dict(commands_of(purgatory, "purgatory"))
    assert {each.name for each in metadata.entry_points(group="purgatory.commands")} == {
        words.split()[1] for words in commands
    }
    groups = [purgatory, *(each for each in commands.values() if isinstance(each, LazyGroup))]
    assert len(groups) >= 5
    for group in groups:
        context = click.Context(group, terminal_width=1000, max_content_width=1000)
        lines = [" ".join(line.split()) for line in group.get_help(context).splitlines()]
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None, name
            assert f"{name} {command.get_short_help_str(900)}" in lines
