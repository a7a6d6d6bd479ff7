"""The process in which a user's model runs: compares the models, reports the result, and ends.

It is started by ``model_check_command`` with its task on the command line, as JSON. The exit code
of the process is the exit code of the command.
"""

import signal
import sys
import time
import traceback
from pathlib import Path

import click
import msgspec
from rich.console import Console

from purgatory_conformance.command_line import (
    EXIT_CLOSED_PIPE,
    EXIT_INCONCLUSIVE,
    EXIT_SUBJECT_FAILED,
    EXIT_USAGE,
    flushed,
    reader_has_gone,
)
from purgatory_conformance.own_model.asking import OwnModelFailure
from purgatory_conformance.own_model.blaming import blamed
from purgatory_conformance.own_model.comparison import Difference
from purgatory_conformance.own_model.exploring import Bounds, Explored, explore_small
from purgatory_conformance.own_model.generating import Generated, generate
from purgatory_conformance.own_model.loading import InvalidOwnModel, OwnModel, load
from purgatory_conformance.own_model.watch import DONE, Watch
from purgatory_conformance.own_model.words import print_agreement, print_difference

EXIT_ITSELF_FAILED = 70
"""This project's own code failed; no answer of somebody else's can lead to it."""


class Task(msgspec.Struct, frozen=True):
    """The models to compare, and the extent of the comparison.

    ``seconds`` is for all, ``time_limit`` for a single answer of the file's code. ``alive`` is the
    file that is touched as long as the process is in order.
    """

    file: str
    component: str
    seed: int
    cases: int
    pairs: int
    seconds: float
    time_limit: float
    alive: str


def main() -> None:
    """Carry out the task that the command line gives."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process ends this process
    task = msgspec.json.decode(sys.argv[1], type=Task)
    try:
        code = _compare(task)
    except InvalidOwnModel as error:
        code = _say(str(error), EXIT_USAGE)
    except OwnModelFailure as error:
        code = _say(str(error), EXIT_SUBJECT_FAILED)
    except SystemExit as ended:
        if not reader_has_gone(ended):
            raise
        code = EXIT_CLOSED_PIPE
    except Exception:
        traceback.print_exc()
        code = EXIT_ITSELF_FAILED
    Path(task.alive).write_text(DONE, encoding="utf-8")
    sys.exit(flushed(code))


def _compare(task: Task) -> int:
    console = Console(highlight=False)
    path = Path(task.file)
    watch = Watch(path, task.time_limit, EXIT_SUBJECT_FAILED, Path(task.alive))
    own = load(path, task.component, watch)
    began = time.monotonic()
    # Exploring may take half of the time, so that something is generated in any case.
    explored = explore_small(own, Bounds(task.pairs, began + task.seconds / 2))
    if explored.difference is not None:
        return _difference(console, own, explored.difference)
    bounds = Bounds(task.pairs, began + task.seconds)
    generated = generate(own, task.seed, task.cases, bounds)
    if generated.difference is not None:
        console.print(f"found in case {generated.found_in} of seed {task.seed}, and made shorter:")
        return _difference(console, own, generated.difference)
    return _agreement(console, own, explored, generated)


def _difference(console: Console, own: OwnModel, difference: Difference) -> int:
    print_difference(console, difference, blamed(difference, own.profile), own.profile)
    return 1


def _agreement(console: Console, own: OwnModel, explored: Explored, generated: Generated) -> int:
    if explored.operations == 0 and generated.steps == 0:
        return _say("nothing was compared: give it more --seconds", EXIT_INCONCLUSIVE)
    print_agreement(console, own, explored, generated)
    return 0


def _say(sentence: str, code: int) -> int:
    click.echo(f"purgatory: {sentence}", err=True)
    return code


if __name__ == "__main__":
    main()
