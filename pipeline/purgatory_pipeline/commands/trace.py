"""The commands about traces: ``purgatory trace``."""

import click

from purgatory_conformance.command_line import LazyGroup


@click.group(
    cls=LazyGroup,
    targets={
        "check": "purgatory_pipeline.commands.check:check",
        "convert": "purgatory_pipeline.commands.convert:convert",
        "linearize": "purgatory_pipeline.commands.linearize:linearize",
        "record": "purgatory_pipeline.commands.record:record",
        "watch": "purgatory_pipeline.commands.watch:watch",
    },
)
def trace() -> None:
    """Judge what running systems wrote down of their calls."""
