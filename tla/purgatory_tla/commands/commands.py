"""The commands ``purgatory tla``: run the models, list them, and tell their counterexamples.

This module alone of the package imports the command line's own package: the root of the commands,
its exit codes and its renderers are there, and the bindings beside it do without them.
"""

import os
from pathlib import Path
from typing import get_args

import click

from purgatory_conformance.command_line import AS_JSON, LazyGroup, print_json
from purgatory_conformance.problems import EXIT_INCONCLUSIVE, EXIT_MISSING_TOOL, EXIT_USAGE, Problem
from purgatory_conformance.reporting.narrative import print_narrative
from purgatory_conformance.reporting.narrative_html import render_narrative
from purgatory_conformance.reporting.terminal_page import standard_output
from purgatory_tla.checkers.tools import Backend
from purgatory_tla.commands.recorded_models import recorded_model, recorded_models
from purgatory_tla.commands.tables import ModelTable, print_list, progress_line
from purgatory_tla.errors import CheckerError, MissingTool
from purgatory_tla.manifest.campaign import run_models
from purgatory_tla.manifest.manifest import Kind, Model, RunTime
from purgatory_tla.manifest.models import (
    Agreement,
    Finding,
    Settings,
    checked_by_tlc,
    expected_words,
)
from purgatory_tla.resources import modules_folder
from purgatory_tla.views.narration import narrate

_KINDS = click.Choice([kind.value for kind in Kind])
_JAR = click.option(
    "--jar", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="TLC's jar."
)
_TIMEOUT = click.option("--timeout", type=click.FloatRange(min=1), help="Seconds for each model.")


@click.group(
    cls=LazyGroup,
    targets={
        "compare": "purgatory_tla.commands.compare:compare_",
        "replay": "purgatory_tla.commands.replay:replay",
        "simulate": "purgatory_tla.commands.replay:simulate",
        "vectors": "purgatory_tla.commands.vectors:vectors",
    },
)
def tla() -> None:
    """Check the TLA+ models, and tell their counterexamples."""


@tla.command("check")
@click.argument("names", metavar="[MODEL]...", nargs=-1)
@click.option("--large", is_flag=True, help="The models that take long, instead of the others.")
@click.option("--all", "everything", is_flag=True, help="The models that take long as well.")
@click.option("--kind", type=_KINDS, help="Only models of this kind.")
@click.option("--processes", type=click.IntRange(1), help="Models at a time; default: one a core.")
@click.option("--workers", type=click.IntRange(1), default=1, help="TLC's threads for each model.")
@click.option(
    "--with",
    "backend",
    type=click.Choice(get_args(Backend)),
    default="tlc",
    help="The checker; of apalache those models that the manifest names for it.",
)
@click.option("--length", type=click.IntRange(1), help="Apalache's longest behaviour, in steps.")
@click.option(
    "--apalache", type=click.Path(exists=True, path_type=Path), help="Apalache's program or folder."
)
@AS_JSON
@_TIMEOUT
@_JAR
@click.pass_context
def check_(
    context: click.Context,
    names: tuple[str, ...],
    large: bool,
    everything: bool,
    kind: str | None,
    processes: int | None,
    workers: int,
    backend: Backend,
    length: int | None,
    apalache: Path | None,
    as_json: bool,
    timeout: float | None,
    jar: Path | None,
) -> None:
    """Run MODELs, by default all small ones, and compare with what the manifest records.

    Exits with 0 where all is as expected, 1 where something differs, 4 where a run gave no verdict.
    With more than one worker only what does not depend on chance is compared.
    """
    if backend == "apalache":
        chosen = _symbolic(names, kind, length)
    elif length is not None or apalache is not None:
        raise Problem("--length and --apalache go with --with apalache", EXIT_USAGE)
    else:
        chosen = _chosen(names, large, everything, kind)
    console = standard_output()
    table = ModelTable(console, chosen)
    settings = Settings(
        modules_folder(),
        workers=workers,
        timeout=timeout,
        jar=jar,
        backend=backend,
        length=length,
        apalache=apalache,
    )
    at_a_time = processes or max(1, (os.cpu_count() or 1) // workers)
    findings: list[Finding] = []
    try:
        with progress_line(console, len(chosen)) as progress:
            for finding in run_models(chosen, settings, at_a_time, progress.told):
                findings.append(finding)
                progress.finished()
                if not as_json:
                    table.print_row(finding)
    except MissingTool as error:
        raise Problem(str(error), EXIT_MISSING_TOOL) from error
    if as_json:
        print_json([_found(finding) for finding in findings])
    else:
        table.print_summary(findings)
    context.exit(_exit_code(findings))


def _chosen(
    names: tuple[str, ...], large: bool, everything: bool, kind: str | None
) -> tuple[Model, ...]:
    if names:
        return tuple(recorded_model(name) for name in names)
    wanted = {RunTime.LARGE} if large else {RunTime.SMALL}
    models = tuple(
        model
        for model in recorded_models()
        if (everything or model.run_time in wanted) and kind in (None, model.kind.value)
    )
    if not models:
        raise Problem("no model is of that kind and run time", EXIT_INCONCLUSIVE)
    return models


def _symbolic(names: tuple[str, ...], kind: str | None, length: int | None) -> tuple[Model, ...]:
    """Return the models that Apalache is to run; others than the manifest's need a length."""
    for model in map(recorded_model, names):
        if model.apalache is None and (length is None or model.module is None):
            raise Problem(
                f"the manifest names no run of Apalache for {model.name}; "
                "a model with a module is checked up to a length: --length N",
                EXIT_USAGE,
            )
    models = tuple(
        model
        for model in (map(recorded_model, names) if names else recorded_models())
        if (names or model.apalache is not None) and kind in (None, model.kind.value)
    )
    if not models:
        raise Problem("the manifest names no such model for Apalache", EXIT_INCONCLUSIVE)
    return models


def _found(finding: Finding) -> dict[str, object]:
    """Return the finding of a run, for programs."""
    return {
        "model": finding.model.name,
        "standing": finding.standing,
        "expected": finding.wanted,
        "found": finding.found,
        "differences": finding.differences,
        "statistics": finding.statistics,
        "tool": finding.tool,
    }


def _exit_code(findings: list[Finding]) -> int:
    standings = {finding.standing for finding in findings}
    if Agreement.DIFFERS in standings:
        return 1
    return EXIT_INCONCLUSIVE if Agreement.INCONCLUSIVE in standings else 0


@tla.command("list")
@click.option("--kind", type=_KINDS, help="Only models of this kind.")
@AS_JSON
def list_(kind: str | None, as_json: bool) -> None:
    """List the models with the claim of each and the verdict that a run must have."""
    models = [model for model in recorded_models() if kind in (None, model.kind.value)]
    if as_json:
        print_json(models)
        return
    print_list(standard_output(), models)


@tla.command()
@click.argument("name", metavar="MODEL")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write it as a page, too.",
)
@AS_JSON
@_TIMEOUT
@_JAR
@click.pass_context
def explain(
    context: click.Context,
    name: str,
    html: Path | None,
    as_json: bool,
    timeout: float | None,
    jar: Path | None,
) -> None:
    """Run MODEL and tell its counterexample, or its witness, step by step.

    Exits with 0 where the run ends as the manifest records, also where that is a violation.
    """
    model = recorded_model(name)
    console = standard_output()
    if model.module is None:
        raise Problem(f"{name} is a proof: it has no steps; see: purgatory tla check", EXIT_USAGE)
    try:
        result = checked_by_tlc(model, Settings(modules_folder(), timeout=timeout, jar=jar))
    except MissingTool as error:
        raise Problem(str(error), EXIT_MISSING_TOOL) from error
    except CheckerError as error:
        raise Problem(f"{name}: {error}", EXIT_INCONCLUSIVE) from error
    as_recorded = (result.outcome.value, result.violated) == (model.expected.value, model.violated)
    narrative = None if result.trace is None else narrate(model, result, modules_folder())
    if narrative is not None and html is not None:
        html.write_text(render_narrative(narrative), encoding="utf-8")
    if as_json:
        print_json(
            {
                "model": model.name,
                "as_recorded": as_recorded,
                "outcome": result.outcome,
                "distinct": result.statistics.distinct,
                "narrative": narrative,
            }
        )
        context.exit(0 if as_recorded else 1)
    if narrative is None:
        console.print(f"{model.title}\n", markup=False)
        states = f"{result.statistics.distinct} distinct states"
        console.print(f"It holds: {states}, and no run breaks what is checked.")
        if html is not None:
            console.print("There are no steps to tell, so no page was written.")
    else:
        print_narrative(console, narrative)
    if not as_recorded:
        console.print(f"\nThe manifest expects something else: {expected_words(model)}.")
    context.exit(0 if as_recorded else 1)
