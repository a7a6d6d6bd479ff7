"""The commands about the model: explore it, plant a defect, compare a model of one's own."""

import click

from purgatory_conformance.command_line import LazyGroup, registered


@click.group(
    cls=LazyGroup,
    targets={
        "check": "purgatory_conformance.commands.model_check:check_",
        "explore": "purgatory_conformance.commands.model_explore:explore_",
        "template": "purgatory_conformance.commands.model_check:template",
        **registered("purgatory.commands.model"),
    },
)
def model() -> None:
    """Explore the executable model; plant a defect; compare a model of your own."""
