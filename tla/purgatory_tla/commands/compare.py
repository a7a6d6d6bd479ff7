"""The command ``purgatory tla compare``: do the models and the modules have one state graph?"""

import difflib
from pathlib import Path
from typing import Any

import click

from purgatory_conformance.problems import EXIT_INCONCLUSIVE, EXIT_MISSING_TOOL, EXIT_USAGE, Problem
from purgatory_conformance.reporting.terminal_page import standard_output
from purgatory_tla.bindings.registry import reported_bindings, small_bindings
from purgatory_tla.comparing.binding import Binding
from purgatory_tla.comparing.comparing import QUICK, CompareSettings, GraphVerdict, compare
from purgatory_tla.comparing.report import CompareTable
from purgatory_tla.errors import CheckerError, InvalidSpecification, MissingTool
from purgatory_tla.resources import modules_folder


@click.command("compare")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--small", is_flag=True, help="The small instances, instead of the reported ones.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    help="Seconds for each executable model, and for each run of TLC.",
)
@click.option(
    "--jar", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="TLC's jar."
)
@click.pass_context
def compare_(
    context: click.Context,
    names: tuple[str, ...],
    small: bool,
    timeout: float | None,
    jar: Path | None,
) -> None:
    """Explore the executable models and the TLA+ modules, and compare their state graphs.

    A NAME is that of a binding, by default all of them. Both sides must have the same states and
    the same steps between them, with the same arguments. After a difference the shortest path to a
    state or step of one side alone is printed.

    Exits with 0 where all are equal, 1 where a pair differs, 4 where TLC gave no graph, 5 where
    TLC or Java is missing.
    """
    chosen = _chosen(names, small=small)
    settings = CompareSettings(modules_folder(), jar, timeout, QUICK if small else ())
    table = CompareTable(standard_output(), [binding.name for binding in chosen])
    table.print_header()
    codes = [_compared(binding, settings, table) for binding in chosen]
    context.exit(1 if 1 in codes else max(codes))


def _compared(binding: Binding[Any], settings: CompareSettings, table: CompareTable) -> int:
    """Compare one model with one module, and print the row; the exit code."""
    try:
        found = compare(binding, settings)
    except MissingTool as error:
        raise Problem(str(error), EXIT_MISSING_TOOL) from error
    except CheckerError as error:
        wrong = isinstance(error, InvalidSpecification)
        verdict = GraphVerdict.DIFFERENT.value if wrong else "inconclusive"
        table.print_failure(binding.name, str(error), verdict=verdict)
        return 1 if wrong else EXIT_INCONCLUSIVE
    table.print_row(binding.name, found)
    return 0 if found.verdict is GraphVerdict.EQUAL else 1


def _chosen(names: tuple[str, ...], *, small: bool) -> tuple[Binding[Any], ...]:
    reported, short = reported_bindings(), small_bindings()
    if not names:
        return tuple((short if small else reported).values())
    known = {**reported, **short}
    return tuple(_named(name, known) for name in names)


def _named(name: str, known: dict[str, Binding[Any]]) -> Binding[Any]:
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(known)}"
    raise Problem(f"there is no binding {name!r}; {hint}", EXIT_USAGE)
