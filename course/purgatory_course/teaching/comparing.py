"""Compares a class of a lesson with the model on random steps, and shortens what goes wrong.

It runs in a process of its own, ``FILE NAME WHEEL_SIZE SEED``, and prints what came of it as JSON:
the class is a student's, and may print, loop or exit.
"""

import random
import runpy
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from purgatory_conformance.describing.steps import describe_operation
from purgatory_model.pending_tasks import Store
from purgatory_model.timer import TimerModel, declared_timer_model
from purgatory_model.timing_wheel import TimingWheel
from purgatory_spec.operations import Add, Advance, Cancel, Operation
from purgatory_spec.profiles import Executor, Structure, TimerConfiguration, TimerProfile

_RUNS = 200
_STEPS = 30
_LEAST_ROOM = 16
"""Entries that a sweeping heap may hold after a cancel, whatever is armed."""


class Comparison(msgspec.Struct, frozen=True):
    """The result of a comparison: runs and steps; at a difference the steps and answers."""

    runs: int
    compared: int
    steps: tuple[str, ...] = ()
    expected: str = ""
    seen: str = ""


class Timer(Protocol):
    """The methods of the lessons' classes."""

    def add(self, task: str, due_ms: int) -> object:
        """Arm a task for a time."""

    def cancel(self, task: str) -> object:
        """Disarm a task before it expires."""

    def advance(self, to_ms: int) -> object:
        """Return the tasks that expire."""


class Difference(msgspec.Struct, frozen=True):
    """The steps up to the one that is answered wrongly, and both answers."""

    steps: tuple[Operation, ...]
    expected: str
    seen: str


def difference(
    make: Callable[[], Timer], size: int, steps: Sequence[Operation]
) -> Difference | None:
    """Return the difference of a class from the model, on steps for a wheel of one level."""
    model, timer = _model(size), make()
    state, taken = model.initial(), []
    for step in steps:
        outcome, after = next(iter(model.successors(state, step)))
        store = after.store
        if isinstance(step, Add) and _is_off_the_wheel(store, step.task):
            continue
        taken.append(step)
        expected = sorted(event.task for event in outcome.events)
        wrong = _wrong(timer, step, state.now_ms, expected, len(after.store.due_ticks))
        if wrong is not None:
            told = ", ".join(expected) or "nothing"
            return Difference(tuple(taken), wrong[0] or f"{told} expires", wrong[1])
        state = after
    return None


def _is_off_the_wheel(store: object, task: str) -> bool:
    """Decide whether a task was put above the first level, or expired at once."""
    return isinstance(store, TimingWheel) and store.places.get(task, (0, 2))[1] > 1


def _wrong(
    timer: Timer, step: Operation, now_ms: int, expected: list[str], armed: int
) -> tuple[str, str] | None:
    """Return the expected and the seen answer of a wrong step; empty means the expiries."""
    try:
        if isinstance(step, Add):
            timer.add(step.task, now_ms + step.delay_ms)
        elif isinstance(step, Cancel):
            timer.cancel(step.task)
        elif isinstance(step, Advance):
            answer = timer.advance(step.to_ms)
            if not isinstance(answer, set | frozenset | list | tuple):
                return "", f"{answer!r}, which is no collection of tasks"
            if sorted(map(str, answer)) != expected:
                return "", f"{', '.join(sorted(map(str, answer))) or 'nothing'} expires"
    except Exception as error:
        return "no exception", repr(error)
    heap = getattr(timer, "heap", None)
    most = max(_LEAST_ROOM, 2 * armed)
    if isinstance(step, Cancel) and isinstance(heap, list) and len(heap) > most:
        return f"at most {most} entries in heap", f"{len(heap)} entries"
    return None


def _model(size: int) -> TimerModel[Store]:
    """Return the model of a wheel of this size, or of any timer where it is 0."""
    structure = Structure.DELAY_QUEUE_WHEEL if size else Structure.ANY
    profile = TimerProfile(executor=Executor.STEPPED, structure=structure)
    return declared_timer_model(TimerConfiguration(tick_ms=1, wheel_size=size or 20), profile)


def drawn(chance: random.Random) -> list[Operation]:
    """Draw random steps: every task has a name of its own, and the clock does not go back."""
    steps: list[Operation] = []
    now_ms, added = 0, 0
    cancels = chance.choice((0.1, 0.8))
    for _ in range(chance.randrange(2, _STEPS * 4 if cancels > 0.5 else _STEPS)):
        if added and chance.random() < cancels / 2:
            steps.append(Cancel(f"t{chance.randrange(added) + 1}"))
        elif chance.random() < 0.7:
            added += 1
            steps.append(Add(f"t{added}", chance.randrange(1, 9)))
        else:
            now_ms += chance.randrange(4)
            steps.append(Advance(now_ms))
    return steps


def shortened(make: Callable[[], Timer], size: int, found: Difference) -> Difference:
    """Return the difference with as few steps as leaving out one at a time leads to."""
    at = 0
    while at < len(found.steps):
        without = difference(make, size, found.steps[:at] + found.steps[at + 1 :])
        if without is None:
            at += 1
        else:
            found, at = without, 0
    return found


def compared(make: Callable[[], Timer], size: int, seed: int) -> Comparison:
    """Compare all runs up to the first difference, which is shortened."""
    steps = 0
    for number in range(1, _RUNS + 1):
        run = drawn(random.Random(f"{seed}-{number}"))
        found = difference(make, size, run)
        steps += len(run)
        if found is not None:
            least = shortened(make, size, found)
            words = tuple(map(describe_operation, least.steps))
            return Comparison(number, steps, words, least.expected, least.seen)
    return Comparison(_RUNS, steps)


def _main(file: str, name: str, size: str, seed: str) -> None:
    sys.path.append(str(Path(file).parent))  # last, so that nothing of ours is hidden by it
    made = runpy.run_path(file)[name]
    arguments = (1, int(size)) if int(size) else ()
    found = compared(lambda: made(*arguments), int(size), int(seed))
    sys.stdout.write(f"\n{msgspec.json.encode(found).decode()}\n")


if __name__ == "__main__":
    _main(*sys.argv[1:])
