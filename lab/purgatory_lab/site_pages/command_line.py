"""The page of the command line: every command with its help, its usage and its options."""

import inspect
from collections.abc import Iterator

import click

from purgatory_lab.site_pages.checkout import table
from purgatory_conformance.command_line import purgatory


def command_line_page() -> str:
    """Help, usage and options of every command."""
    parts = ["# Command line\n", f"{purgatory.help}\n", f"{purgatory.epilog}\n"]
    with click.Context(purgatory, info_name="purgatory") as context:
        parts += _commands(purgatory, context)
    return "\n".join(parts)


def _commands(group: click.Group, parent: click.Context) -> Iterator[str]:
    for name in group.list_commands(parent):
        command = group.get_command(parent, name)
        assert command is not None, name
        with click.Context(command, info_name=name, parent=parent) as context:
            yield _command(command, context)
            if isinstance(command, click.Group):
                yield from _commands(command, context)


def _command(command: click.Command, context: click.Context) -> str:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    lines = [f"## {context.command_path}", "", inspect.cleandoc(command.help or ""), ""]
    lines += ["```text", usage, "```", ""]
    records = [
        record
        for each in command.params
        if isinstance(each, click.Option) and (record := each.get_help_record(context))
    ]
    if records:
        rows = [(f"<code>{_cell(names)}</code>", _cell(meaning)) for names, meaning in records]
        lines.append(table(("option", "meaning"), rows))
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    return text.replace("|", "&#124;")
