"""Steps of made-up runs, component by component, without end.

Each is a formula: in millisecond ``n`` the same few calls are made with names that end in ``n``,
and what was begun ``delay_ms`` before comes to its end.
"""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from itertools import count
from typing import TypeAlias

from purgatory_spec.profiles import Component


class Fault(Enum):
    """The fault of a made-up run: one of the system, or one of its lines."""

    NONE = "none"
    MISSING = "missing"
    """Something that is due does not happen: an expiry, the grant of a buffer."""
    EARLY = "early"
    """A task runs, or an operation times out, one advance too early."""
    TWICE = "twice"
    """A task runs twice, an operation is completed twice."""
    RESULT = "result"
    """A call says something wrong: a check of how many it completed, a pool that it granted."""
    TRUNCATED = "truncated"
    """The last fifth of the lines is missing."""
    GAP = "gap"
    """A line is missing."""
    REPEATED = "repeated"
    """A line is there twice."""
    UNUSABLE = "unusable"
    """A line has a key that nobody knows."""
    CUT_OFF = "cut_off"
    """A line ends in the middle, so that not even its run can be read."""


PlannedStep: TypeAlias = tuple[str, bool]
"""The fields of a step as JSON without braces, and whether it is the fault."""


def _timer_steps(delay_ms: int, fault: Fault, middle: int) -> Iterator[PlannedStep]:
    """Yield steps that add a task each millisecond, and cancel every seventh at once."""
    seq, planted = 0, fault is Fault.NONE
    for now_ms in count():
        yield f'"operation":{{"op":"add","task":"t{now_ms}","delay_ms":{delay_ms}}}', False
        seq += 1
        if now_ms % 7 == 3:
            yield f'"operation":{{"op":"cancel","task":"t{now_ms}"}}', False
            seq += 1
        seq += 1
        due = now_ms + 1 - delay_ms
        ran = [due] if due >= 0 and due % 7 != 3 else []
        wrong = not planted and seq >= middle and bool(ran) and (due + 1) % 7 != 3
        if wrong:
            planted = True
            ran = {Fault.MISSING: [], Fault.EARLY: [due, due + 1], Fault.TWICE: [due, due]}[fault]
        events = ",".join([f'{{"kind":"ran","task":"t{each}"}}' for each in ran])
        happened = f',"events":[{events}]' if events else ""
        yield f'"operation":{{"op":"advance","to_ms":{now_ms + 1}}}{happened}', wrong


def _purgatory_steps(delay_ms: int, fault: Fault, middle: int) -> Iterator[PlannedStep]:
    """Yield steps that watch an operation each millisecond, and check every fourth."""
    seq, planted = 0, fault is Fault.NONE
    in_check = fault in (Fault.RESULT, Fault.TWICE)
    for now_ms in count():
        name = f"o{now_ms}"
        watch = f'"op":"watch","operation":"{name}","keys":["a{now_ms}","b{now_ms}"]'
        tried = f'{{"kind":"tried","task":"{name}"}}'
        yield (
            f'"operation":{{{watch},"delay_ms":{delay_ms}}},"result":false,'
            f'"events":[{tried},{tried}]',
            False,
        )
        seq += 1
        if now_ms % 4 == 1:
            yield f'"operation":{{"op":"satisfy","operation":"{name}"}}', False
            seq += 2
            wrong = not planted and in_check and seq >= middle
            planted = planted or wrong
            completed = f'{{"kind":"completed","task":"{name}"}}'
            if wrong and fault is Fault.TWICE:
                completed = f"{completed},{completed}"
            result = 2 if wrong and fault is Fault.RESULT else 1
            yield (
                f'"operation":{{"op":"check","key":"a{now_ms}"}},"result":{result},'
                f'"events":[{tried},{completed}]',
                wrong,
            )
        seq += 1
        due = now_ms + 1 - delay_ms
        expired = [due] if due >= 0 and due % 4 != 1 else []
        wrong = not planted and not in_check and seq >= middle and due % 4 == 2
        if wrong:
            planted = True
            expired = [due, due + 1] if fault is Fault.EARLY else []
        events = ",".join(
            [
                f'{{"kind":"completed","task":"o{each}"}},{{"kind":"timed_out","task":"o{each}"}}'
                for each in expired
            ]
        )
        happened = f',"events":[{events}]' if events else ""
        yield f'"operation":{{"op":"advance","to_ms":{now_ms + 1}}}{happened}', wrong


def _memory_pool_steps(delay_ms: int, fault: Fault, middle: int) -> Iterator[PlannedStep]:
    """Yield steps that fill the pool, then refuse a request and exchange the oldest buffer."""
    seq, planted = 0, fault is Fault.NONE
    for number in count():
        filled = number >= delay_ms
        if filled:
            seq += 1
            wrong = not planted and fault is Fault.RESULT and seq >= middle
            planted = planted or wrong
            result = "true" if wrong else "false"
            yield _allocate(f"r{number}", result), wrong
            oldest = number - delay_ms
            seq += 1
            yield f'"operation":{{"op":"release","buffer":"b{oldest}"}}', False
        seq += 1
        wrong = not planted and fault is Fault.MISSING and seq >= middle
        planted = planted or wrong
        yield _allocate(f"b{number}", "false" if wrong else "true"), wrong


def _allocate(name: str, result: str) -> str:
    return f'"operation":{{"op":"allocate","buffer":"{name}","size_bytes":10}},"result":{result}'


BEGINNINGS: Mapping[Component, str] = {
    Component.TIMER: '"instance":{"component":"timer"}',
    Component.PURGATORY: (
        '"instance":{"component":"purgatory","configuration":{"purge_interval":10}}'
    ),
    Component.MEMORY_POOL: (
        '"instance":{"component":"memory_pool","configuration":'
        '{"size_bytes":@0,"max_single_bytes":10}}'
    ),
}
"""The instance as a first line says it; ``@`` stands for the delay."""

STEPS: Mapping[Component, Callable[[int, Fault, int], Iterator[PlannedStep]]] = {
    Component.TIMER: _timer_steps,
    Component.PURGATORY: _purgatory_steps,
    Component.MEMORY_POOL: _memory_pool_steps,
}
"""The steps of a run without end, by delay, fault, and the line from which on the fault may
come."""
