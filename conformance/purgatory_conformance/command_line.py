"""The root of the command line; each package brings its own commands by an entry point."""

import sys
from collections.abc import Callable
from importlib import metadata

import click

EXIT_USAGE = 2
EXIT_SUBJECT_FAILED = 3
EXIT_INCONCLUSIVE = 4
EXIT_MISSING_TOOL = 5
EXIT_INTERRUPTED = 130

_EPILOG = (
    "Exit codes: 0 conformant or done, 1 not conformant, 2 usage, 3 subject or protocol failure, "
    "4 inconclusive, 5 a needed tool is missing, 130 interrupted."
)


class Problem(Exception):
    """A foreseen problem of any package's command: the sentence to print, and its exit code."""

    def __init__(self, sentence: str, exit_code: int) -> None:
        """Keep both."""
        super().__init__(sentence)
        self.exit_code = exit_code


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EPILOG)
@click.version_option(metadata.version("purgatory-spec"), prog_name="purgatory")
def purgatory() -> None:
    """Check implementations of Kafka's delayed-request machinery against its specification."""


def _register_commands() -> None:
    for entry_point in sorted(
        metadata.entry_points(group="purgatory.commands"), key=lambda each: each.name
    ):
        register: Callable[[click.Group], None] = entry_point.load()
        register(purgatory)


def main() -> None:
    """Run the command line; every foreseen problem is one sentence and its exit code."""
    try:
        code = _run()
    except (click.exceptions.Abort, KeyboardInterrupt):
        code = _say("interrupted", EXIT_INTERRUPTED)
    sys.exit(code or 0)


def _run() -> int | None:
    """Load the commands and run one; loading takes a second, in which Ctrl-C may come, too."""
    from purgatory_conformance.subjects.declaration import InvalidDeclaration
    from purgatory_conformance.subjects.kafka import BuildFailed, MissingTool
    from purgatory_conformance.subjects.registry import UnknownSubject
    from purgatory_spec.jsonlines import InvalidDocument

    _register_commands()
    try:
        code: int | None = purgatory.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = EXIT_USAGE
    except Problem as error:
        code = _say(str(error), error.exit_code)
    except (UnknownSubject, InvalidDeclaration, InvalidDocument) as error:
        code = _say(str(error), EXIT_USAGE)
    except MissingTool as error:
        code = _say(str(error), EXIT_MISSING_TOOL)
    except BuildFailed as error:
        code = _say(str(error), EXIT_SUBJECT_FAILED)
    return code


def _say(sentence: str, code: int) -> int:
    click.echo(f"purgatory: {sentence}", err=True)
    return code
