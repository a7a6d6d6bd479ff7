"""The pipeline's commands: ``purgatory trace``, ``campaign``, ``study``."""

import click

from purgatory_pipeline.check_command import check


@click.group()
def trace() -> None:
    """Judge what running systems wrote down of their calls."""


def register(root: click.Group) -> None:
    """Add the commands to the command line."""
    trace.add_command(check)
    root.add_command(trace)
