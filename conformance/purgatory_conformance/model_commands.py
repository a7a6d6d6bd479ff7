"""The commands about the model: explore a small instance, plant a defect and see who catches it."""

from pathlib import Path

import click
from rich.console import Console

from purgatory_conformance.command_line import EXIT_INCONCLUSIVE
from purgatory_conformance.model_break_command import break_
from purgatory_conformance.model_check_command import check_, template
from purgatory_conformance.reporting.counterexample import narrate
from purgatory_conformance.reporting.narrative import print_narrative
from purgatory_conformance.reporting.narrative_html import render_narrative
from purgatory_model.explorer import explore
from purgatory_model.timer_instances import (
    FALSE_CLAIMS,
    TRUE_CLAIMS,
    Instance,
    breaks,
)
from purgatory_spec.profiles import TimerConfiguration

_TASKS = ("a", "b", "c", "d")


def register(group: click.Group) -> None:
    """Add the group ``model`` to the root."""
    group.add_command(model)


@click.group()
def model() -> None:
    """Explore the executable model; break an implementation and see which rule catches it."""


for command in (break_, check_, template):
    model.add_command(command)


@model.command("explore")
@click.option(
    "--claim",
    type=click.Choice([*TRUE_CLAIMS, *FALSE_CLAIMS]),
    default="invariants",
    show_default=True,
    help="The sentence to test on every step.",
)
@click.option("--tasks", type=click.IntRange(1, len(_TASKS)), default=2, show_default=True)
@click.option("--wheel-size", type=click.IntRange(2), default=2, show_default=True)
@click.option("--tick", type=click.IntRange(1), default=1, show_default=True, help="ms")
@click.option("--delay", "delays", type=int, multiple=True, default=(0, 1, 2, 3, 5), help="ms")
@click.option("--last", type=int, default=6, show_default=True, help="Last clock reading, ms.")
@click.option("--limit", type=int, default=200_000, show_default=True, help="Most states.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    help="Write a counterexample as a page, too.",
)
@click.pass_context
def explore_(
    context: click.Context,
    claim: str,
    tasks: int,
    wheel_size: int,
    tick: int,
    delays: tuple[int, ...],
    last: int,
    limit: int,
    html: Path | None,
) -> None:
    """Visit every state of a small timing wheel; show the shortest way to break a claim."""
    instance = Instance(TimerConfiguration(tick, wheel_size), _TASKS[:tasks], delays, last)
    sentence, _ = {**TRUE_CLAIMS, **FALSE_CLAIMS}[claim]
    console = Console(highlight=False)
    console.print(f"claim: {sentence}")
    initial = instance.model().initial()
    found = explore(initial, instance.steps, breaks(instance, claim), limit=limit)
    words = f"{found.states} states, {found.edges} steps, depth {found.depth}"
    if found.counterexample is not None:
        narrative = narrate(instance, found.counterexample)
        print_narrative(console, narrative)
        if html is not None:
            html.write_text(render_narrative(narrative), encoding="utf-8")
        console.print(f"false: shown after {words}")
        context.exit(1)
    if not found.complete:
        console.print(f"undecided: the limit was reached after {words}")
        context.exit(EXIT_INCONCLUSIVE)
    console.print(f"true of this instance, every state visited: {words}")
