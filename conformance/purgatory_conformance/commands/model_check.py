"""The commands about a model in somebody's file: compare it, and get one to begin with."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click
import msgspec

from purgatory_conformance.command_line import AS_JSON
from purgatory_conformance.commands.options import ComponentName
from purgatory_conformance.own_model.comparing_process import EXIT_ITSELF_FAILED, Task
from purgatory_conformance.own_model.watch import DONE
from purgatory_conformance.problems import EXIT_INCONCLUSIVE, EXIT_SUBJECT_FAILED, Problem
from purgatory_conformance.resources import model_template
from purgatory_judge.components import MODELLED

_STARTING_SECONDS = 20.0
_GRACE_SECONDS = 5.0
_PATIENCE = 3.0
_MORE_SECONDS = 60.0
_LOOKS_EVERY_SECONDS = 0.1


@click.command("check")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--component", type=ComponentName(MODELLED), help="What it is a model of.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the generated cases.")
@click.option("--cases", type=click.IntRange(0), default=300, show_default=True, help="Generated.")
@click.option(
    "--states",
    type=click.IntRange(1),
    default=20_000,
    show_default=True,
    help="Most states to visit in each small instance.",
)
@click.option(
    "--seconds", type=click.FloatRange(0), help="For all; otherwise --states and --cases end it."
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0.1),
    default=10.0,
    show_default=True,
    help="Seconds for a single answer of the code in FILE.",
)
@AS_JSON
@click.pass_context
def check_(
    context: click.Context,
    file: Path,
    component: str | None,
    seed: int,
    cases: int,
    states: int,
    seconds: float | None,
    time_limit: float,
    as_json: bool,
) -> None:
    """Compare the model in FILE with the rules: what does one allow and the other forbid?

    FILE is Python code, which is run, in a process of its own: name files that you trust.

    Small instances are explored completely, then cases are generated. The first difference is told
    step by step, with the rule. FILE defines COMPONENT, initial(configuration) and
    step(state, operation); see: purgatory model template. An initial() without argument stands for
    a tick of 1 ms, a purge interval of 0, or a pool of 3 bytes with buffers of up to 2.

    Exits with 0 where no difference is found, 1 after a difference, 2 if FILE holds no model, 3 if
    the model's code fails or does not come to an end, 4 if nothing could be compared.
    """
    with tempfile.TemporaryDirectory() as folder:
        alive = Path(folder) / "alive"
        alive.touch()
        task = Task(
            str(file),
            component or "",
            seed,
            cases,
            states,
            seconds,
            time_limit,
            str(alive),
            as_json,
        )
        code = _run(task, alive)
        if alive.read_text(encoding="utf-8") != DONE and code >= 0:
            raise Problem(f"{file}: its code has ended the process", EXIT_SUBJECT_FAILED)
    if code == EXIT_ITSELF_FAILED or code < 0:
        raise Problem(
            f"the comparison itself failed, with exit code {code}; this is no fault of {file.name} "
            "unless it has used up the machine's memory",
            EXIT_SUBJECT_FAILED,
        )
    context.exit(code)


def _run(task: Task, alive: Path) -> int:
    """Run the comparison in a separate process, and end a process that is stuck."""
    words = [sys.executable, "-P", "-m", "purgatory_conformance.own_model.comparing_process"]
    process = subprocess.Popen([*words, msgspec.json.encode(task).decode()])
    started, touched = time.time(), alive.stat().st_mtime
    try:
        while True:
            try:
                return process.wait(_LOOKS_EVERY_SECONDS)
            except subprocess.TimeoutExpired:
                pass
            over = time.time() - started - _MORE_SECONDS
            if task.seconds is not None and over > _PATIENCE * task.seconds:
                raise Problem(
                    f"{task.file}: nothing was decided in time; give it fewer --states and --cases",
                    EXIT_INCONCLUSIVE,
                )
            seen = alive.stat().st_mtime
            began = seen if seen > touched else started + _STARTING_SECONDS
            if time.time() - began > task.time_limit + _GRACE_SECONDS:
                raise Problem(
                    f"{task.file}: its code holds the interpreter for more than "
                    f"{task.time_limit:g} seconds, and was ended",
                    EXIT_SUBJECT_FAILED,
                )
    finally:
        process.kill()
        process.wait()


@click.command("template")
@click.argument("component", type=ComponentName(MODELLED))
def template(component: str) -> None:
    """Print a small model of COMPONENT to begin with: purgatory model template timer > mine.py."""
    click.echo(model_template(component), nl=False)
