"""Compares a class of a lesson with the model on random steps, and shortens what goes wrong.

It runs in a process of its own, ``FILE SEED EXERCISE``, the exercise as JSON, and prints what came
of it as JSON: the class is a student's, and may print, loop or exit. Of a wheel the ring is looked
at after each step, and in the end the work of a call is counted among few tasks and among many.
"""

import inspect
import random
import runpy
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from purgatory_conformance.describing.steps import describe_operation
from purgatory_course.teaching.counting import grown
from purgatory_course.teaching.gradable import Compared
from purgatory_model.pending_tasks import Store
from purgatory_model.timer import TimerModel, declared_timer_model
from purgatory_model.timing_wheel import TimingWheel
from purgatory_spec.operations import Add, Advance, Cancel, Operation
from purgatory_spec.profiles import Executor, Structure, TimerConfiguration, TimerProfile

_RUNS = 200
_STEPS = 30


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
    make: Callable[[], Timer], exercise: Compared, steps: Sequence[Operation]
) -> Difference | None:
    """Return the difference of a class from the model, on steps for a wheel of one level."""
    model, timer = _model(exercise.wheel_size), make()
    places = inspect.getattr_static(timer, "places", None)
    state, taken = model.initial(), []
    for step in steps:
        outcome, after = next(iter(model.successors(state, step)))
        store = after.store
        if isinstance(step, Add) and _is_off_the_wheel(store, step.task):
            continue
        taken.append(step)
        expected = sorted(event.task for event in outcome.events)
        wrong = _wrong(timer, step, state.now_ms, expected)
        if wrong is None and exercise.wheel_size:
            wrong = _ring_fault(timer, exercise, store.due_ticks, places)
        if wrong is None and exercise.most_entries:
            is_swept = isinstance(step, Cancel)
            wrong = _heap_fault(timer, exercise.most_entries, len(store.due_ticks), is_swept)
        if wrong is not None:
            told = ", ".join(expected) or "nothing"
            return Difference(tuple(taken), wrong[0] or f"{told} expires", wrong[1])
        state = after
    return None


def _is_off_the_wheel(store: object, task: str) -> bool:
    """Decide whether a task was put above the first level, or expired at once."""
    return isinstance(store, TimingWheel) and store.places.get(task, (0, 2))[1] > 1


def _wrong(
    timer: Timer, step: Operation, now_ms: int, expected: list[str]
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
    return None


def _ring_fault(
    timer: Timer, exercise: Compared, armed: Mapping[str, int], first: object
) -> tuple[str, str] | None:
    """Return the expected and the seen ring where its places do not hold what is armed.

    ``first`` are the places that the timer was made with: a ring is used again, and not replaced.
    """
    size = exercise.wheel_size
    places = inspect.getattr_static(timer, "places", None)
    if type(places) is not list or [type(each) for each in places] != [set] * size:
        return f"places, an attribute that is a list of {size} sets", _kind(places)
    if places is not first:
        return "the list places that the wheel was made with", "another list"
    for place, seen in enumerate(places):
        due = {t for t, at in armed.items() if (at + exercise.first_place) % size == place}
        if seen != due:
            return f"{_listed(due)} in place {place}", _listed(seen)
    return None


def _kind(places: object) -> str:
    """Return the sort of a thing that is no ring."""
    if not isinstance(places, list):
        return "no places" if places is None else f"{type(places).__name__}"
    return f"a list of {len(places)}: {', '.join(sorted({type(each).__name__ for each in places}))}"


def _listed(tasks: Iterable[str]) -> str:
    return ", ".join(sorted(map(str, tasks))) or "nothing"


def _heap_fault(
    timer: Timer, least_room: int, armed: int, is_swept: bool
) -> tuple[str, str] | None:
    """Return the expected and the seen size of a collection that is too small or too large."""
    held = vars(timer)
    heap = held.get("heap")
    if not isinstance(heap, list) or len(heap) < armed:
        seen = f"{len(heap)} entries" if isinstance(heap, list) else "no list"
        return f"at least {armed} entries in heap", seen
    most = max(least_room, 2 * armed)
    for name, held_there in held.items() if is_swept else ():
        if isinstance(held_there, list | dict | set | tuple | deque) and len(held_there) > most:
            return f"at most {most} entries in {name}", f"{len(held_there)} entries"
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


def shortened(make: Callable[[], Timer], exercise: Compared, found: Difference) -> Difference:
    """Return the difference with as few steps as leaving out one at a time leads to."""
    at = 0
    while at < len(found.steps):
        without = difference(make, exercise, found.steps[:at] + found.steps[at + 1 :])
        if without is None:
            at += 1
        else:
            found, at = without, 0
    return found


def compared(make: Callable[[], Timer], exercise: Compared, seed: int) -> Comparison:
    """Compare all runs up to the first difference, which is shortened; then count the work."""
    steps = 0
    for number in range(1, _RUNS + 1):
        run = drawn(random.Random(f"{seed}-{number}"))
        found = difference(make, exercise, run)
        steps += len(run)
        if found is not None:
            least = shortened(make, exercise, found)
            words = tuple(map(describe_operation, least.steps))
            return Comparison(number, steps, words, least.expected, least.seen)
    more = grown(make, exercise.wheel_size) if exercise.wheel_size else None
    if more is not None:
        step, expected, seen = more.told()
        return Comparison(_RUNS, steps, (step,), expected, seen)
    return Comparison(_RUNS, steps)


def _main(file: str, seed: str, described: str) -> None:
    exercise = msgspec.json.decode(described, type=Compared)
    sys.path.append(str(Path(file).parent))  # last, so that nothing of ours is hidden by it
    made = runpy.run_path(file)[exercise.name]
    arguments = (1, exercise.wheel_size) if exercise.wheel_size else ()
    found = compared(lambda: made(*arguments), exercise, int(seed))
    sys.stdout.write(f"\n{msgspec.json.encode(found).decode()}\n")


if __name__ == "__main__":
    _main(*sys.argv[1:])
