"""Options that the pipeline's docstrings and messages name are options of its commands."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click

import purgatory_traces
from purgatory_lab.commands.study import study
from purgatory_spark.commands.campaign import campaign
from purgatory_traces.commands.trace import trace

_OPTION = re.compile(r"(?<![\w/-])--[a-z][a-z-]+")


def options_of(command: click.Command) -> Iterator[str]:
    """The options of a command and of those inside it."""
    for parameter in command.params:
        yield from (*parameter.opts, *parameter.secondary_opts)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inside = command.get_command(context, name)
            assert inside is not None
            yield from options_of(inside)


def unknown_options(source: str, known: set[str]) -> set[str]:
    """The options that the texts in a module name and no command has."""
    texts = (
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return {option for text in texts for option in _OPTION.findall(text)} - known


def test_options_that_are_named_exist() -> None:
    known = {option for command in (trace, campaign, study) for option in options_of(command)}
    assert unknown_options('"""Written below ``--output``."""', known) == {"--output"}
    folder = Path(purgatory_traces.__file__).parent
    unknown = {
        (path.relative_to(folder).as_posix(), option)
        for path in folder.rglob("*.py")
        for option in unknown_options(path.read_text(encoding="utf-8"), known)
    }
    assert unknown == set()
