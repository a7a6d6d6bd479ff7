"""The commands about traces: ``purgatory trace``."""

import click

from purgatory_conformance.command_line import LazyGroup


@click.group(
    cls=LazyGroup,
    targets={
        "check": "purgatory_traces.commands.check:check",
        "convert": "purgatory_traces.commands.convert:convert",
        "linearize": "purgatory_traces.commands.linearize:linearize",
        "record": "purgatory_traces.commands.record:record",
        "watch": "purgatory_spark.commands.watch:watch",
    },
)
def trace() -> None:
    """Judge what running systems wrote down of their calls."""
