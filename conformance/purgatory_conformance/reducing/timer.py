"""Smaller cases of a timer: numbers made smaller, time taken out, scripts told from outside."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter

import msgspec

from purgatory_conformance.reducing.times import clock_goes_on, smaller
from purgatory_spec.operations import (
    Add,
    AddInside,
    Advance,
    AdvanceInside,
    Cancel,
    Elapse,
    Operation,
    RunOne,
    Throw,
)
from purgatory_spec.profiles import Feature, TimerConfiguration, TimerProfile

_NOT_PLAIN = 10
"""A delay of zero counts as this, a negative one as more, and a tick above 1 ms as twice this.

Other rules govern such numbers: a failure of another rule shows with plainer numbers too.
"""


@dataclass(frozen=True)
class TimerCase:
    """The configuration of a timer and the operations to carry out under it."""

    configuration: TimerConfiguration
    operations: tuple[Operation, ...]

    @property
    def size(self) -> tuple[int, int, int, int]:
        """Smaller is simpler: operations, actions in scripts, where it starts, the numbers."""
        actions = sum(len(op.script) for op in self.operations if isinstance(op, Add))
        numbers = sum(_magnitude(op) for op in self.operations)
        tick_ms = self.configuration.tick_ms
        numbers += self.configuration.wheel_size + tick_ms + (_NOT_PLAIN * 2 if tick_ms > 1 else 0)
        start_ms = self.configuration.start_ms
        where = 2 if start_ms < 0 else int(start_ms > 0)
        return len(self.operations), actions, where, numbers + abs(start_ms)

    @property
    def delays_agree(self) -> bool:
        """Whether each task has one delay throughout, from outside and from inside."""
        delays: dict[str, int] = {}
        for add in (op for op in self.operations if isinstance(op, Add)):
            for task, delay_ms in [
                (add.task, add.delay_ms),
                *((action.task, action.delay_ms) for action in _adds_inside(add)),
            ]:
                if delays.setdefault(task, delay_ms) != delay_ms:
                    return False
        return True

    @property
    def comes_to_rest(self) -> bool:
        """Whether no task is due again at once because it has run: by itself, or by others."""
        tick_ms = self.configuration.tick_ms
        makes_due: dict[str, set[str]] = {}
        for add in (operation for operation in self.operations if isinstance(operation, Add)):
            at_once = {each.task for each in _adds_inside(add) if each.delay_ms < tick_ms}
            makes_due.setdefault(add.task, set()).update(at_once)
        try:
            TopologicalSorter(makes_due).prepare()
        except CycleError:
            return False
        return True


def simpler_timer_cases(profile: TimerProfile, case: TimerCase) -> Iterator[TimerCase]:
    """Simpler cases: in configuration, times, numbers or scripts.

    Some of them are not to be asked where a task's delay cannot change; see ``delays_agree``.
    """
    yield from _simpler_configurations(case)
    yield from _shorter_times(profile, case)
    for index, operation in enumerate(case.operations):
        for other in _simpler_operations(operation):
            changed = list(case.operations)
            changed[index] = other
            if isinstance(other, Add) and Feature.CHANGE_DELAY not in profile.features:
                changed = [_with_delay(op, other.task, other.delay_ms) for op in changed]
            if clock_goes_on(case.configuration.start_ms, changed):
                yield replace(case, operations=tuple(changed))
    for outside in _taken_out_of_scripts(case.operations):
        yield replace(case, operations=outside)


def _shorter_times(profile: TimerProfile, case: TimerCase) -> Iterator[TimerCase]:
    """Take time out of a case: what comes later moves with it, or delays make up for it."""
    now = case.configuration.start_ms
    for index, operation in enumerate(case.operations):
        before, after = case.operations[:index], case.operations[index + 1 :]
        if isinstance(operation, Advance | Elapse):
            gap = operation.to_ms - now
            now = operation.to_ms
            longer = tuple(_shifted(op, 0, gap) for op in after)
            if Feature.CHANGE_DELAY in profile.features or not _adds_again(case.operations):
                yield replace(case, operations=before + longer)
            for rest in (*smaller(gap), *_less_whole_turns(gap, case.configuration)):
                moved = tuple(_shifted(op, rest - gap) for op in (operation, *after))
                yield replace(case, operations=before + moved)
        elif isinstance(operation, Add):
            plainer = _plainer_delays(operation.delay_ms)
            aligned = _less_whole_turns(operation.delay_ms, case.configuration)
            for rest in (*plainer, *aligned):
                by_ms = rest - operation.delay_ms
                sooner = tuple(_shifted(op, by_ms) for op in after)
                changed = (*before, Add(operation.task, rest, operation.script), *sooner)
                if Feature.CHANGE_DELAY not in profile.features:
                    changed = tuple(_with_delay(op, operation.task, rest) for op in changed)
                if clock_goes_on(case.configuration.start_ms, changed):
                    yield replace(case, operations=changed)


def _taken_out_of_scripts(operations: tuple[Operation, ...]) -> Iterator[tuple[Operation, ...]]:
    """What a running task adds or cancels, added or cancelled from outside in place of a run."""
    runs = [index for index, operation in enumerate(operations) if isinstance(operation, RunOne)]
    for index, operation in enumerate(operations):
        for position, action in enumerate(operation.script if isinstance(operation, Add) else ()):
            if not isinstance(operation, Add) or isinstance(action, Throw | AdvanceInside):
                continue
            left = operation.script[:position] + operation.script[position + 1 :]
            outside: Operation = Cancel(action.task)
            if isinstance(action, AddInside):
                outside = Add(action.task, action.delay_ms)
            changed = list(operations)
            changed[index] = Add(operation.task, operation.delay_ms, left)
            for run in (run for run in runs if run > index):
                yield (*changed[:run], outside, *changed[run + 1 :])
            for other in range(index + 1, len(operations) + 1):
                yield (*changed[:other], outside, *changed[other:])


def _adds_again(operations: tuple[Operation, ...]) -> bool:
    """Whether some task is added twice, so that its delay must not change."""
    tasks = [op.task for op in operations if isinstance(op, Add)]
    tasks += [a.task for op in operations if isinstance(op, Add) for a in _adds_inside(op)]
    return len(set(tasks)) < len(tasks)


def _adds_inside(operation: Add) -> list[AddInside]:
    return [action for action in operation.script if isinstance(action, AddInside)]


def _simpler_configurations(case: TimerCase) -> Iterator[TimerCase]:
    given = case.configuration
    for tick_ms in (1, 2):
        if tick_ms < given.tick_ms:
            yield replace(case, configuration=msgspec.structs.replace(given, tick_ms=tick_ms))
    if given.tick_ms > 1:
        scaled = tuple(_scaled(op, given.tick_ms) for op in case.operations)
        start_ms = given.start_ms // given.tick_ms
        unit = msgspec.structs.replace(given, tick_ms=1, start_ms=start_ms)
        yield TimerCase(unit, scaled)
    for size in (2, 3):
        if size < given.wheel_size:
            yield replace(case, configuration=msgspec.structs.replace(given, wheel_size=size))
    for start in (0, 1, given.start_ms // 2) if given.start_ms > 0 else (0, -1):
        if abs(start) < abs(given.start_ms) and clock_goes_on(start, case.operations):
            yield replace(case, configuration=msgspec.structs.replace(given, start_ms=start))
    if given.start_ms:
        moved = tuple(_shifted(op, -given.start_ms) for op in case.operations)
        yield TimerCase(msgspec.structs.replace(given, start_ms=0), moved)
    if given.start_ms < 0:
        # By a whole turn of a high level: every reading keeps its place in all levels below.
        turn_ms = given.tick_ms * given.wheel_size**4
        turn_ms *= -(given.start_ms // turn_ms)
        moved = tuple(_shifted(op, turn_ms) for op in case.operations)
        start_ms = given.start_ms + turn_ms
        yield TimerCase(msgspec.structs.replace(given, start_ms=start_ms), moved)


def _simpler_operations(operation: Operation) -> Iterator[Operation]:
    match operation:
        case Add(task, delay_ms, script):
            for index, action in enumerate(script):
                yield Add(task, delay_ms, script[:index] + script[index + 1 :])
                if isinstance(action, AddInside):
                    for number in _plainer_delays(action.delay_ms):
                        inside = AddInside(action.task, number)
                        yield Add(task, delay_ms, (*script[:index], inside, *script[index + 1 :]))
            for number in _plainer_delays(delay_ms):
                yield Add(task, number, script)
        case Advance(to_ms):
            for number in smaller(to_ms):
                yield Advance(number)
        case Elapse(to_ms):
            for number in smaller(to_ms):
                yield Elapse(number)
        case _:
            return


def _less_whole_turns(time_ms: int, configuration: TimerConfiguration) -> Iterator[int]:
    """Shorter times that end at the same place of their tick or of a level, the shortest first."""
    turn_ms = configuration.tick_ms
    turns: list[int] = []
    while turn_ms < time_ms:
        turns.append(turn_ms)
        turn_ms *= configuration.wheel_size
    yield from (time_ms % turn for turn in turns)
    yield from (time_ms - turn for turn in reversed(turns))


def _plainer_delays(delay_ms: int) -> Iterator[int]:
    """Plainer delays: an ordinary one for zero and below, where rules of their own begin."""
    if delay_ms <= 0:
        yield 1
    yield from smaller(delay_ms)


def _with_delay(operation: Operation, task: str, delay_ms: int) -> Operation:
    if not isinstance(operation, Add):
        return operation
    script = tuple(
        AddInside(task, delay_ms) if isinstance(a, AddInside) and a.task == task else a
        for a in operation.script
    )
    own = delay_ms if operation.task == task else operation.delay_ms
    return Add(operation.task, own, script)


def _shifted(operation: Operation, by_ms: int, delay_by_ms: int = 0) -> Operation:
    """The operation at another time, or with another delay."""
    match operation:
        case Advance(to_ms):
            return Advance(to_ms + by_ms)
        case Elapse(to_ms):
            return Elapse(to_ms + by_ms)
        case Add(task, delay_ms, script) if delay_by_ms:
            return Add(task, delay_ms + delay_by_ms, script)
        case _:
            return operation


def _scaled(operation: Operation, tick_ms: int) -> Operation:
    """The operation with its times in ticks instead of milliseconds."""
    match operation:
        case Advance(to_ms):
            return Advance(to_ms // tick_ms)
        case Elapse(to_ms):
            return Elapse(to_ms // tick_ms)
        case Add(task, delay_ms, script):
            inside = tuple(
                AddInside(a.task, a.delay_ms // tick_ms) if isinstance(a, AddInside) else a
                for a in script
            )
            return Add(task, delay_ms // tick_ms, inside)
        case _:
            return operation


def _magnitude(operation: Operation) -> int:
    match operation:
        case Add(_, delay_ms, script):
            delays = [delay_ms, *(a.delay_ms for a in script if isinstance(a, AddInside))]
            return sum(delay if delay > 0 else _NOT_PLAIN - delay for delay in delays)
        case Advance(to_ms) | Elapse(to_ms):
            return abs(to_ms)
        case _:
            return 0
