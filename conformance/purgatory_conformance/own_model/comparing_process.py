"""The process in which a user's model runs: compares the models, reports the result, and ends.

It is started by ``model_check_command`` with its task on the command line, as JSON. The exit code
of the process is the exit code of the command.
"""

import math
import signal
import sys
import time
import traceback
from pathlib import Path

import click
import msgspec

from purgatory_conformance.command_line import flushed, print_json, reader_has_gone
from purgatory_conformance.own_model.asking import OwnModelFailure
from purgatory_conformance.own_model.blaming import blamed
from purgatory_conformance.own_model.exploring import Bounds, explore_small
from purgatory_conformance.own_model.generating import Generated, generate
from purgatory_conformance.own_model.loading import InvalidOwnModel, load
from purgatory_conformance.own_model.watch import DONE, Watch
from purgatory_conformance.own_model.words import (
    as_object,
    print_agreement,
    print_difference,
)
from purgatory_conformance.problems import (
    EXIT_CLOSED_PIPE,
    EXIT_INCONCLUSIVE,
    EXIT_SUBJECT_FAILED,
    EXIT_USAGE,
)
from purgatory_conformance.reporting.terminal_page import standard_output

EXIT_ITSELF_FAILED = 70
"""The exit code of a failure of this project's own code; no answer of a subject leads to it."""


class Task(msgspec.Struct, frozen=True):
    """The models to compare, and the extent of the comparison.

    ``seconds`` is for all, None for no limit; ``time_limit`` for a single answer of the file's
    code. ``alive`` is the file that is touched as long as the process is in order. ``as_json`` asks
    for JSON in place of sentences.
    """

    file: str
    component: str
    seed: int
    cases: int
    pairs: int
    seconds: float | None
    time_limit: float
    alive: str
    as_json: bool


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
    path = Path(task.file)
    watch = Watch(path, task.time_limit, EXIT_SUBJECT_FAILED, Path(task.alive))
    own = load(path, task.component, watch)
    began = time.monotonic()
    seconds = math.inf if task.seconds is None else task.seconds
    # Exploring may take half of the time, so that something is generated in any case.
    explored = explore_small(own, Bounds(task.pairs, began + seconds / 2))
    generated = Generated()
    if explored.difference is None:
        bounds = Bounds(task.pairs, began + seconds)
        generated = generate(own, task.seed, task.cases, bounds)
        if explored.operations == 0 and generated.steps == 0:
            return _say("nothing was compared: give it more --seconds", EXIT_INCONCLUSIVE)
    difference = explored.difference or generated.difference
    divergence = None if difference is None else blamed(difference, own.profile)
    if task.as_json:
        print_json(as_object(own, explored, generated, difference, divergence))
        return int(difference is not None)
    console = standard_output()
    if difference is None or divergence is None:
        print_agreement(console, own, explored, generated)
        return 0
    if generated.difference is not None:
        console.print(f"found in case {generated.found_in} of seed {task.seed}, and made shorter:")
    print_difference(console, difference, divergence, own.profile)
    return 1


def _say(sentence: str, code: int) -> int:
    click.echo(f"purgatory: {sentence}", err=True)
    return code


if __name__ == "__main__":
    main()
