"""The root of the command line; each package names its commands by entry points.

A command's module is imported when the command is used and not before: ``--version`` and
``--help`` import none. An entry point's name is the command's, its value ``module:function``.
"""

import ast
import os
import sys
import traceback
from collections.abc import Mapping
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import click

from purgatory_conformance.problems import (
    EXIT_CLOSED_PIPE,
    EXIT_INTERRUPTED,
    EXIT_SUBJECT_FAILED,
    EXIT_USAGE,
    Problem,
    exit_code_of,
)

_COMPLETIONS: Final = ("_PURGATORY_COMPLETE", "_PURGATORY_SPEC_COMPLETE")
"""The variables by which a shell has click complete a line of one of the two scripts."""

_EPILOG = (
    "Exit codes: 0 conformant or done, 1 not conformant, 2 usage, 3 subject or protocol failure, "
    "4 inconclusive, 5 a needed tool is missing, 6 the model contradicts a golden vector, "
    "130 interrupted, 141 the reader of the output has gone."
)


AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def print_json(value: object) -> None:
    """Print a value as JSON: structs and dataclasses as objects, enumerations as their values."""
    import msgspec

    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


class LazyGroup(click.Group):
    """A group of commands that are imported when they are used."""

    def __init__(self, *arguments: object, targets: Mapping[str, str], **settings: object) -> None:
        """Take where each command is, ``module:function``, by the command's name."""
        super().__init__(*arguments, **settings)  # type: ignore[arg-type]
        self._targets: Final = dict(sorted(targets.items()))

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands, in the order of the alphabet."""
        return sorted({*self._targets, *self.commands})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command and return the command."""
        if cmd_name not in self._targets:
            return super().get_command(ctx, cmd_name)
        if ctx.resilient_parsing:  # a shell completes
            from purgatory_conformance.completion import stand_in

            if (quick := stand_in(cmd_name)) is not None:
                return quick
        command = metadata.EntryPoint(cmd_name, self._targets[cmd_name], "").load()
        assert isinstance(command, click.Command), self._targets[cmd_name]
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of the first word, or say which commands are like it.

        Raises:
            UsageError: there is no such command.
        """
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if args[0] in metadata.entry_points(group="purgatory.commands").names:
                raise click.UsageError(
                    f"{args[0]!r} is a command of the lab, which a checkout of the project holds "
                    "and an installed wheel does not",
                    ctx,
                ) from None
            from purgatory_spec.nearest import did_you_mean

            hint = did_you_mean(args[0], self.list_commands(ctx), "").capitalize()
            raise click.UsageError(f"{error.message} {hint}".rstrip(), ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line for each command, from its docstring, without importing the command."""
        names = self.list_commands(ctx)
        room = formatter.width - 6 - max(map(len, names))
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._line(ctx, name, room)) for name in names])

    def _line(self, ctx: click.Context, name: str, room: int) -> str:
        text = _docstring(self._targets[name]) if name in self._targets else None
        command = self.get_command(ctx, name) if text is None else click.Command(name, help=text)
        return command.get_short_help_str(room) if command is not None else ""


def _docstring(target: str) -> str | None:
    """Return the docstring of ``module:function``, read from its source; None without source."""
    module, _, function = target.partition(":")
    found = find_spec(module)
    if found is None or found.origin is None or not found.origin.endswith(".py"):
        return None
    for statement in ast.parse(Path(found.origin).read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.FunctionDef) and statement.name == function:
            return ast.get_docstring(statement)
    return None


def registered(group: str) -> dict[str, str]:
    """Return the commands of an entry-point group by their names, each as ``module:function``.

    A wheel names the commands of the lab, which only a checkout holds: these are left out.
    """
    found = {each.name: each.value for each in metadata.entry_points(group=group)}
    held = {package for package in map(_package, found.values()) if find_spec(package)}
    return {name: target for name, target in found.items() if _package(target) in held}


def _package(target: str) -> str:
    return target.partition(".")[0]


@click.group(
    cls=LazyGroup,
    targets=registered("purgatory.commands"),
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EPILOG,
)
@click.version_option(metadata.version("purgatory-spec"), prog_name="purgatory")
def purgatory() -> None:
    """Check implementations of Kafka's delayed-request machinery against its specification."""


def main() -> None:
    """Run the command line; every foreseen problem is one sentence and its exit code."""
    output = sys.stdout
    try:
        code = _run()
    except (click.exceptions.Abort, KeyboardInterrupt):
        code = _say("interrupted", EXIT_INTERRUPTED)
    except SystemExit as ended:
        # click puts another file in the place of an output that nobody reads.
        if any(name in os.environ for name in _COMPLETIONS):
            raise  # click has answered a shell that completes
        if sys.stdout is output and not reader_has_gone(ended):
            # No other command ends like this: with its own code, what is tested would judge.
            code = _say("the code under test has ended this program", EXIT_SUBJECT_FAILED)
        else:
            code = EXIT_CLOSED_PIPE
    sys.exit(flushed(code or 0))


def reader_has_gone(ended: SystemExit) -> bool:
    """Decide whether rich ended the process because the reader of the output has gone."""
    return isinstance(ended.__context__, BrokenPipeError)


def flushed(code: int) -> int:
    """Return the exit code after the last output was written, or could not be."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more to fail on
        return EXIT_CLOSED_PIPE
    return code


def _run() -> int | None:
    """Run one command; importing it takes part of a second, in which Ctrl-C may come, too."""
    try:
        code: int | None = purgatory.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return EXIT_USAGE
    except click.exceptions.Abort:
        raise  # told by the caller
    except Problem as error:
        return _say(str(error), error.exit_code)
    except (KeyboardInterrupt, SystemExit):
        raise  # told by the caller
    except BaseException as error:
        exit_code = exit_code_of(error)
        if exit_code is None:
            traceback.print_exception(error)  # the interpreter would end with 1: not conformant
            return _say(f"a defect of this program: {error!r}", EXIT_SUBJECT_FAILED)
        return _say(str(error), exit_code)
    return code


def _say(sentence: str, code: int) -> int:
    """Print a sentence, in which a file or an adapter may have written anything; the code."""
    from purgatory_conformance.describing.words import printable

    lines = map(printable, sentence.split("\n"))
    click.echo("purgatory: " + "\n".join(lines), err=True)
    return code
