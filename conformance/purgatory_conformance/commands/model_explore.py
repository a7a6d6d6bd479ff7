"""The command that explores a small instance of a model and tells how a claim about it breaks."""

from dataclasses import fields
from pathlib import Path

import click
from rich.console import Console

from purgatory_conformance.command_line import AS_JSON, print_json
from purgatory_conformance.commands.options import ComponentName
from purgatory_conformance.exploring.claims import Looked, Shelf, Sizes, UnusableSizes
from purgatory_conformance.exploring.shelves import (
    SHELVES,
    NoSuchClaim,
    check_sizes,
    model_noun,
    options_of,
    shelf_of,
)
from purgatory_conformance.problems import EXIT_INCONCLUSIVE
from purgatory_conformance.reporting.narrative import print_narrative
from purgatory_conformance.reporting.narrative_html import render_narrative
from purgatory_conformance.reporting.terminal_page import print_indented, standard_output
from purgatory_spec.profiles import Accounting, Executor

_LISTED = click.Choice([Accounting.PROPOSAL.value, Accounting.EXACT.value])
_EXECUTORS = click.Choice([Executor.STEPPED.value, Executor.INLINE.value])


class _Modelled(ComponentName):
    """The name of a component of which there is a model to explore."""

    def __init__(self) -> None:
        click.Choice.__init__(self, list(dict.fromkeys(str(each.component) for each in SHELVES)))


@click.command("explore")
@click.option("--list", "listing", is_flag=True, help="List the claims instead.")
@click.option("--component", type=_Modelled(), help="Of which component; the timer if any.")
@click.option("--concurrent", is_flag=True, help="With threads, every access a step of its own.")
@click.option("--claim", default="invariants", show_default=True, help="What to test; see --list.")
@click.option("--limit", type=click.IntRange(1), default=200_000, show_default=True, help="States.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    help="Write a counterexample as a page, too.",
)
@click.option("--tasks", type=int, help="Timer: how many tasks.")
@click.option("--wheel-size", type=int, help="Timer: buckets in a level.")
@click.option("--tick", type=int, help="Timer: ms.")
@click.option("--delay", "delays", type=int, multiple=True, help="Timer, purgatory: ms; several.")
@click.option("--last", type=int, help="Timer, purgatory: last clock reading, ms.")
@click.option("--operations", type=int, help="Purgatory: how many operations.")
@click.option("--keys", type=int, help="Purgatory with threads: how many keys.")
@click.option("--accounting", type=_LISTED, help="Purgatory.")
@click.option("--executor", type=_EXECUTORS, help="Purgatory without threads.")
@click.option("--purge-interval", type=click.IntRange(0), help="Purgatory.")
@click.option("--callers", type=int, help="Purgatory with threads: threads that watch.")
@click.option("--completers", type=int, help="Purgatory with threads: threads that check.")
@click.option("--size", type=int, help="Memory pool, channel muting: bytes of the pool.")
@click.option("--max-single", type=int, help="Memory pool: bytes of the largest buffer.")
@click.option("--strict", is_flag=True, default=None, help="Memory pool: strict admission.")
@click.option("--threads", type=int, help="Memory pool, channel muting: how many threads.")
@click.option("--channels", type=int, help="Channel muting: how many channels.")
@click.option("--buffers", type=int, help="Memory pool without threads: how many at a time.")
@AS_JSON
@click.pass_context
def explore_(
    context: click.Context,
    /,
    listing: bool,
    component: str | None,
    concurrent: bool,
    claim: str,
    limit: int,
    html: Path | None,
    as_json: bool,
    delays: tuple[int, ...],
    **sizes: int | str | None,
) -> None:
    """Visit every state of a small instance; show the shortest way to break a claim.

    Exits with 0 where the claim is true of the instance, 1 where it is false, 4 where the limit was
    reached.
    """
    console = standard_output()
    if listing:
        shelves = _asked_for(component, concurrent)
        if as_json:
            print_json([_as_object(shelf) for shelf in shelves])
        else:
            for shelf in shelves:
                _print_shelf(console, shelf)
        return
    given = Sizes(delays=delays or None, **sizes)  # type: ignore[arg-type]
    try:
        shelf = shelf_of(claim, component, concurrent)
        check_sizes(shelf, given)
        looked = shelf.look(claim, given, limit)
    except (NoSuchClaim, UnusableSizes) as error:
        raise click.UsageError(str(error)) from error
    if looked.narrative is not None and html is not None:
        html.write_text(render_narrative(looked.narrative, looked.run), encoding="utf-8")
    if as_json:
        shown = {each.name: getattr(looked, each.name) for each in fields(looked)}
        del shown["run"]  # the narrative tells the steps
        print_json(shown)
    else:
        _print_looked(console, looked)
    if looked.narrative is not None:
        context.exit(1)
    context.exit(0 if looked.complete else EXIT_INCONCLUSIVE)


def _print_looked(console: Console, looked: Looked) -> None:
    console.print(f"claim: {looked.sentence}", markup=False)
    words = f"{looked.states} states, {looked.edges} steps, depth {looked.depth}"
    if looked.narrative is not None:
        print_narrative(console, looked.narrative)
        console.print(f"false: shown after {words}")
        return
    console.print(looked.instance, markup=False)
    if looked.complete:
        console.print(f"true of this instance, every state visited: {words}")
    else:
        console.print(f"undecided: the limit was reached after {words}")


def _asked_for(component: str | None, concurrent: bool) -> list[Shelf]:
    """Return the shelves that are asked for."""
    return [
        shelf
        for shelf in SHELVES
        if component in (None, shelf.component) and shelf.concurrent >= concurrent
    ]


def _as_object(shelf: Shelf) -> dict[str, object]:
    """Return a shelf as an object of JSON: component, threads, command-line options, claims."""
    return {
        "component": shelf.component,
        "concurrent": shelf.concurrent,
        "options": options_of(shelf),
        "claims": list(shelf.known()),
    }


def _print_shelf(console: Console, shelf: Shelf) -> None:
    threads = ", with threads" if shelf.concurrent else ""
    heading = f"{model_noun(shelf.component)}{threads}: {options_of(shelf)}"
    console.print(heading, style="bold", markup=False)
    for each in shelf.known():
        options = f" {each.options}" if each.options else ""
        console.print(f"  {each.name}{options}: {each.standing.value}", markup=False)
        print_indented(console, each.sentence, 6)
    console.print()
