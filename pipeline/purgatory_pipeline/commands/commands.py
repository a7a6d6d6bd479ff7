"""The pipeline's commands: ``purgatory trace``, ``campaign``, ``study``."""

import click

from purgatory_pipeline.commands.campaign import campaign
from purgatory_pipeline.commands.check import check
from purgatory_pipeline.commands.convert import convert
from purgatory_pipeline.commands.linearize import linearize
from purgatory_pipeline.commands.record import record
from purgatory_pipeline.commands.study import study
from purgatory_pipeline.commands.watch import watch


@click.group()
def trace() -> None:
    """Judge what running systems wrote down of their calls."""


def register(root: click.Group) -> None:
    """Add the commands to the command line."""
    trace.add_command(check)
    trace.add_command(convert)
    trace.add_command(record)
    trace.add_command(watch)
    trace.add_command(linearize)
    root.add_command(trace)
    root.add_command(campaign)
    root.add_command(study)
