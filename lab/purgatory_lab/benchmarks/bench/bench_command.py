"""``purgatory bench``: the measures, the proposal's workload, and reports of what was measured."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

import click
from click.core import ParameterSource

from purgatory_conformance.command_line import LazyGroup
from purgatory_conformance.problems import EXIT_MISSING_TOOL, EXIT_USAGE, Problem
from purgatory_lab.benchmarks.bench import results as files
from purgatory_lab.benchmarks.bench.building import find_checkout
from purgatory_lab.benchmarks.bench.catalogue import FULL, MEASURES, QUICK, Sizes, settings
from purgatory_lab.benchmarks.bench.kept import keep
from purgatory_lab.benchmarks.bench.page import publish
from purgatory_lab.benchmarks.bench.plots import draw_plots
from purgatory_lab.benchmarks.bench.report import gate_problem, report
from purgatory_lab.benchmarks.bench.results import Results, Setting
from purgatory_lab.benchmarks.bench.roster import OLD_PURE, ROLLS, Place, Roll, own_roll
from purgatory_lab.benchmarks.bench.rounds import Plan
from purgatory_lab.benchmarks.bench.run import Book, measure_all
from purgatory_traces.errors import MissingExtra

WORK: Final = Path("purgatory-work") / "bench"
_FOLDER: Final = click.Path(path_type=Path, file_okay=False)
_FILE: Final = click.Path(path_type=Path, dir_okay=False)


_Command = TypeVar("_Command", bound=Callable[..., object])

_GATE: Final = click.option(
    "--gate", is_flag=True, help="Exit with 1 where a goal's figure is missed."
)
_OF_A_RUN: Final = (
    click.option("--peer", "peers", multiple=True, help="Ask this peer; repeatable."),
    click.option(
        "--with",
        "own",
        type=(str, str),
        multiple=True,
        metavar="NAME COMMAND",
        help="Ask a peer of your own, too; repeatable.",
    ),
    click.option(
        "--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the inputs."
    ),
    click.option(
        "--patience",
        type=click.FloatRange(0, min_open=True),
        default=120.0,
        show_default=True,
        help="Seconds that any answer may take, besides the time for its size.",
    ),
    click.option(
        "--work", type=_FOLDER, default=WORK, show_default=True, help="For builds and logs."
    ),
    click.option("--checkout", type=_FOLDER, help="Where the sources of the peers are."),
    _GATE,
)


def options_of_a_run(command: _Command) -> _Command:
    """Add the options that the measures and the workload share."""
    for option in reversed(_OF_A_RUN):
        command = option(command)
    return command


@click.group(
    cls=LazyGroup,
    targets={
        "network": "purgatory_lab.benchmarks.network.command:network",
        "floods": "purgatory_lab.benchmarks.network.floods:floods",
        "workload": "purgatory_lab.benchmarks.bench.workload_command:workload",
    },
    invoke_without_command=True,
)
@click.option("--only", multiple=True, metavar="MEASURE", help="Take this measure; repeatable.")
@click.option("--rounds", type=click.IntRange(1), help="That count: 5, or 3 with --quick.")
@click.option("--warm-up", type=click.IntRange(0), help="Before: 3, or 2 with --quick.")
@click.option("--quick", is_flag=True, help="Small numbers, some minutes in all.")
@click.option("--pending", type=click.IntRange(1), multiple=True, help="Timers; repeatable.")
@click.option("--operations", type=click.IntRange(1), help="Of the timer and the pool.")
@click.option("--out", type=_FILE, default=WORK / "bench.json", show_default=True)
@options_of_a_run
@click.pass_context
def bench(
    context: click.Context,
    only: tuple[str, ...],
    peers: tuple[str, ...],
    own: tuple[tuple[str, str], ...],
    rounds: int | None,
    warm_up: int | None,
    quick: bool,
    pending: tuple[int, ...],
    operations: int | None,
    seed: int,
    patience: float,
    out: Path,
    work: Path,
    checkout: Path | None,
    gate: bool,
) -> None:
    """Measure the implementation beside its peers, in interleaved rounds.

    What cannot be measured is said, with the reason; a goal that is missed is a finding.
    """
    if context.invoked_subcommand is not None:
        _refuse_options(context)
        return
    place = Place(find_checkout(checkout), work.resolve())
    chosen = chosen_rolls(ROLLS, own, peers)
    asked = _chosen_settings(_sizes(quick, pending, operations), only)
    plan = Plan(
        rounds=rounds or (3 if quick else 5),
        warm_up=(2 if quick else 3) if warm_up is None else warm_up,
        seed=seed,
        patience_s=patience,
    )
    options: dict[str, files.Option] = {
        "quick": quick,
        "rounds": plan.rounds,
        "warm_up": plan.warm_up,
        "seed": seed,
        "patience_s": patience,
        "only": tuple(only),
        "peers": tuple(roll.name for roll in chosen),
        "pending": pending,
        "operations": operations,
    }
    book = Book("measures", out, options, place.checkout)
    finish([measure_all(book, chosen, place, asked, plan, say)], out, gate=gate)


@bench.command("report")
@click.argument("paths", type=_FILE, nargs=-1, metavar="[FILE...]")
@click.option(
    "--write", type=_FOLDER, help="Keep the FILEs in this folder of the site; make its page anew."
)
@click.option("--plots", type=_FOLDER, help="Draw the plots into this folder.")
@_GATE
def report_files(
    paths: tuple[Path, ...], write: Path | None, plots: Path | None, gate: bool
) -> None:
    """Report what FILEs tell, that `bench` and `bench workload` have written.

    With --write each part of the FILEs takes the place of the one that was kept of this machine;
    without FILEs the page follows from what is kept.
    """
    if not paths and write is None:
        raise Problem("name the files of results that are to be reported", EXIT_USAGE)
    read = [files.read_results(path) for path in paths]
    try:
        if plots is not None:
            for drawn in draw_plots(read, plots).values():
                for path in drawn:
                    say(str(path))
        if write is not None:
            for path in (*keep(write, read), *publish(write)):
                say(str(path))
    except MissingExtra as problem:
        raise Problem(str(problem), EXIT_MISSING_TOOL) from problem
    if read:
        click.echo(report(read))
        close_gate(read, gate)


@bench.command("schema")
def print_schema() -> None:
    """Print the JSON schema of the files of results."""
    click.echo(files.schema())


def finish(read: Sequence[Results], out: Path, *, gate: bool) -> None:
    """Print the report, draw the plots beside the file, and judge the gate."""
    click.echo(report(read))
    try:
        draw_plots(read, out.parent / "plots")
        say(f"plots: {out.parent / 'plots'}")
    except MissingExtra as problem:
        say(f"plots were not drawn: {problem}")
    say(f"results: {out}")
    close_gate(read, gate)


def close_gate(read: Sequence[Results], gate: bool) -> None:
    """Exit with 1 where a gate is asked for and the results do not pass the gate."""
    if gate and (problem := gate_problem(read)):
        say(f"gate: {problem}")
        raise click.exceptions.Exit(1)


def say(what: str) -> None:
    """Tell a person what is under way."""
    click.echo(what, err=True)


def chosen_rolls(
    rolls: Sequence[Roll], own: Sequence[tuple[str, str]], names: Sequence[str]
) -> list[Roll]:
    """Return the peers of these names, in the order of the roster; all of the roster without names.

    Args:
        rolls: The roster.
        own: Names and commands of peers that are asked besides.
        names: The names of the peers to ask.

    Raises:
        Problem: no peer has the name, or two peers have the same name.
    """
    added = [own_roll(name, command) for name, command in own]
    known = {roll.name: roll for roll in (*rolls, OLD_PURE)}
    for roll in added:
        if roll.name in known:
            raise Problem(f"there is a peer {roll.name!r} already", EXIT_USAGE)
        known[roll.name] = roll
    if unknown := [name for name in names if name not in known]:
        said = ", ".join(known)
        raise Problem(f"there is no peer {unknown[0]!r}; there are: {said}", EXIT_USAGE)
    if not names:
        return [*rolls, *added]
    return [roll for roll in known.values() if roll.name in names]


def _refuse_options(context: click.Context) -> None:
    """Refuse options of the measures for other commands.

    Raises:
        Problem: some were given.
    """
    for name in context.params:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            command = context.invoked_subcommand
            raise Problem(f"put the options of `bench {command}` behind it", EXIT_USAGE)


def _sizes(quick: bool, pending: tuple[int, ...], operations: int | None) -> Sizes:
    sizes = QUICK if quick else FULL
    if pending:
        sizes = replace(sizes, pending=tuple(dict.fromkeys(pending)))
    if operations is not None:
        sizes = replace(sizes, operations=operations)
    return sizes


def _chosen_settings(sizes: Sizes, only: Sequence[str]) -> list[Setting]:
    """Return the settings of these measures; `hot` stands for `hot/virtual` and `hot/system`.

    Raises:
        Problem: there is no such measure.
    """
    known = {name for each in MEASURES for name in (each.name, each.name.partition("/")[0])}
    if unknown := [name for name in only if name not in known]:
        said = ", ".join(each.name for each in MEASURES)
        raise Problem(f"there is no measure {unknown[0]!r}; there are: {said}", EXIT_USAGE)
    return [
        each
        for each in settings(sizes)
        if not only or each.measure in only or each.measure.partition("/")[0] in only
    ]
