"""Mutation: the share of automatic mutants that the conformance suite finds by itself.

    python -m purgatory_lab.mutation
    python -m purgatory_lab.mutation --module wheel --module bucket
    python -m purgatory_lab.mutation --again purgatory-work/mutation.json
    python -m purgatory_lab.mutation --write docs/reference/mutation.md

The last one writes the page, and ``results/mutation.json`` beside it, from which the page follows.
With ``--again`` most results of an earlier run stay: of mutants that were killed as shipped, and of
survivors with a reason. The others are judged, by the trials as shipped: for work on the suite or
on the implementation, to see what has been gained; the page says that it was so.

Exit code 1 where a mutant in scope survives that nobody has reviewed, where a reviewed one does not
survive any more, or where too few of one thread are killed as users run the suite.
"""

import gc
import os
import platform
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from purgatory_conformance.commands.options import WORK
from purgatory_conformance.reporting.marked_pages import write_between_marks
from purgatory_lab.documents import read_document, write_in_lines
from purgatory_lab.mutation.figures import (
    RunRecord,
    page_text,
    run_record,
    terminal_table,
)
from purgatory_lab.mutation.judging import (
    AS_USERS_RUN,
    FURTHER,
    IMPLEMENTATION,
    OriginalFails,
    Recording,
    SuiteJudge,
    record,
)
from purgatory_lab.mutation.mutants import Mutant, Mutants, mutants_of
from purgatory_lab.mutation.reviewed import (
    LEAST_SHARE,
    Equivalents,
    Scope,
    problems,
    read_reviewed,
    settled_before,
    with_earlier,
)
from purgatory_lab.mutation.runner import Judge, Result, judge_all
from purgatory_lab.mutation.scope import MODULES, Trial

_FOLDER = Path(__file__).resolve().parents[3] / "impl" / IMPLEMENTATION
_REVIEWED = Path(__file__).with_name("survivors.toml")


def _mutants(modules: Sequence[str]) -> dict[str, Mutants]:
    """Return the mutants of each module."""
    found = {}
    for module in modules:
        click.echo(f"making the mutants of {module} ...", err=True)
        found[module] = mutants_of(module, _source(module))
    return found


def _source(module: str) -> str:
    return (_FOLDER / f"{module}.py").read_text(encoding="utf-8")


def _trials(module: str, *, shipped: bool) -> tuple[Trial, ...]:
    """Return the trials of a module's mutants; on request without those with smaller constants."""
    return tuple(trial for trial in MODULES[module] if trial.as_shipped or not shipped)


def _recorded(trials: Mapping[str, Sequence[Trial]]) -> dict[Trial, Recording]:
    """Return the cases of every trial that these modules need, as the original has passed them.

    Raises:
        click.ClickException: it has not.
    """
    found: dict[Trial, Recording] = {}
    for trial in dict.fromkeys(trial for each in trials.values() for trial in each):
        click.echo(f"judging the original: {trial.name} ...", err=True)
        try:
            found[trial] = record(trial)
        except OriginalFails as failure:
            raise click.ClickException(f"the suite fails the original: {failure}") from failure
    return found


def _check_originals(modules: Sequence[str], judge: Judge, workers: int, limit: float) -> None:
    """Judge each module in place of itself, as if it were a mutant: it has to survive.

    Raises:
        click.ClickException: an original was killed, so that a kill means nothing.
    """
    originals = [Mutant(module, "", "", 0, "", "", _source(module)) for module in modules]
    for result in judge_all(originals, judge, workers=workers, limit_seconds=limit):
        if result.end.killed:
            raise click.ClickException(
                f"the unchanged {result.mutant.module} is killed: "
                f"{result.end.value} {result.detail}"
            )


def _judged(
    everyone: Sequence[Mutant],
    settled: Sequence[Result],
    judge: Judge,
    workers: int,
    limit: float,
) -> list[Result]:
    """Judge the mutants without a settled result; all results in the order of the mutants."""
    place = {id(mutant): number for number, mutant in enumerate(everyone)}
    known = {id(result.mutant) for result in settled}
    rest = [mutant for mutant in everyone if id(mutant) not in known]
    results = list(settled)
    for result in judge_all(rest, judge, workers=workers, limit_seconds=limit):
        results.append(result)
        if len(results) % 50 == 0:
            click.echo(f"{len(results)} of {len(everyone)} judged", err=True)
        if Scope.IN_SCOPE.of([result]) and not result.end.killed:
            mutant = result.mutant
            click.echo(f"survives: {mutant.module}:{mutant.line_number} {mutant.mutated}", err=True)
    return sorted(results, key=lambda result: place[id(result.mutant)])


def _measured_on(seconds: float, judged: int, earlier: RunRecord | None) -> str:
    cases = FURTHER.budget.least_cases
    seeds = " and ".join(str(seed) for seed in FURTHER.seeds)
    (seed,) = AS_USERS_RUN.seeds
    before = (
        f" The others, and all trials, are of the run before: {earlier.measured_on}"
        if earlier
        else ""
    )
    of_them = f"{judged:,} mutants judged again, as shipped. " if earlier else ""
    return (
        f"{of_them}As users run it: `purgatory check bundled --suite standard`, seed {seed}. "
        "As shipped: also `bundled-inline` and `bundled-proposal`. "
        f"All trials: also {cases} cases of each trial with smaller constants, for each of the "
        f"seeds {seeds}. {seconds / 60:.0f} minutes on {platform.python_implementation()} "
        f"{platform.python_version()}, {os.cpu_count()} processors.{before}"
    )


@click.command()
@click.option(
    "--module", "modules", type=click.Choice(list(MODULES)), multiple=True, help="All by default."
)
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True)
@click.option("--limit", type=float, default=3.0, show_default=True, help="Seconds for a case.")
@WORK
@click.option("--again", type=click.Path(exists=True, path_type=Path), help="An earlier run.")
@click.option("--write", type=click.Path(exists=True, path_type=Path), default=None)
def main(
    modules: tuple[str, ...],
    workers: int,
    limit: float,
    work: Path,
    again: Path | None,
    write: Path | None,
) -> None:
    """Make the mutants, judge them, print the table; see the first lines of this module."""
    # What a mutant compares is not for us to warn about.
    warnings.simplefilter("ignore", SyntaxWarning)
    chosen = modules or tuple(MODULES)
    reviewed = read_reviewed(_REVIEWED)
    began = time.monotonic()
    trials = {module: _trials(module, shipped=again is not None) for module in chosen}
    judge = SuiteJudge(trials, _recorded(trials))
    found = _mutants(chosen)
    # Children share the memory of what is never collected; to collect it would copy all of it.
    gc.collect()
    gc.freeze()
    _check_originals(chosen, judge, workers, limit)
    everyone = [mutant for mutants in found.values() for mutant in mutants.judged]
    earlier = None if again is None else read_document(again, RunRecord)
    before = earlier.judged() if earlier else []
    settled, rest = settled_before(everyone, before, reviewed)
    results = with_earlier(_judged(everyone, settled, judge, workers, limit), before)
    # Once more, should somebody have changed the tree meanwhile.
    _check_originals(chosen, judge, workers, limit)
    seconds = time.monotonic() - began
    run = run_record(results, found, _measured_on(seconds, len(rest), earlier))
    write_in_lines(work / "mutation.json", run)
    click.echo(terminal_table(results, chosen, Equivalents.of(reviewed)))
    click.echo(f"{seconds:.0f} s")
    complete = set(chosen) == set(MODULES)
    wrong = problems(results, reviewed, chosen, LEAST_SHARE if complete else 0.0)
    for problem in wrong:
        click.echo(problem)
    if write is not None and complete:
        write_in_lines(write.parent / "results" / "mutation.json", run)
        write_between_marks(write, "mutation", page_text(run, reviewed))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
