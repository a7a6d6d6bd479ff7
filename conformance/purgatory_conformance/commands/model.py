"""The commands about the model: explore it, plant a defect, compare a model of one's own."""

import click

from purgatory_conformance.commands.model_break import break_
from purgatory_conformance.commands.model_check import check_, template
from purgatory_conformance.commands.model_explore import explore_


def register(group: click.Group) -> None:
    """Add the group ``model`` to the root."""
    group.add_command(model)


@click.group()
def model() -> None:
    """Explore the executable model; plant a defect; compare a model of your own."""


for command in (explore_, break_, check_, template):
    model.add_command(command)
