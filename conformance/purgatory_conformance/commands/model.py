"""The commands about the model: explore it, plant a defect, compare a model of one's own."""

import click

from purgatory_conformance.command_line import LazyGroup


@click.group(
    cls=LazyGroup,
    targets={
        "break": "purgatory_course.commands.model_break:break_",
        "check": "purgatory_conformance.commands.model_check:check_",
        "explore": "purgatory_conformance.commands.model_explore:explore_",
        "template": "purgatory_conformance.commands.model_check:template",
    },
)
def model() -> None:
    """Explore the executable model; plant a defect; compare a model of your own."""
