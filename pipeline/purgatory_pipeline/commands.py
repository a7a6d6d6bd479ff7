"""The pipeline's commands: ``purgatory trace``, ``campaign``, ``study``."""

import click

from purgatory_pipeline.campaign_command import campaign
from purgatory_pipeline.check_command import check
from purgatory_pipeline.convert_command import convert


@click.group()
def trace() -> None:
    """Judge what running systems wrote down of their calls."""


def register(root: click.Group) -> None:
    """Add the commands to the command line."""
    trace.add_command(check)
    trace.add_command(convert)
    root.add_command(trace)
    root.add_command(campaign)
