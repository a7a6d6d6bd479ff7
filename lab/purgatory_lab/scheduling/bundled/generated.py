"""Generated scenarios: two or three threads with random programs, determined by a number.

For what nobody has thought of. There are too many interleavings of three threads for a search, so
their schedules are random as well; a failure names the scenario and its schedule, and both can be
had again.
"""

import re
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Final, TypeAlias

from purgatory_lab.scheduling.bundled.purgatory.scenarios import Accounting
from purgatory_lab.scheduling.bundled.purgatory.world import PurgatoryWorld
from purgatory_lab.scheduling.bundled.timer.world import TimerWorld
from purgatory_lab.scheduling.scenario import Program, Scenario
from purgatory_spec import operations as op

Calls: TypeAlias = tuple[op.Operation, ...]

KINDS: Final = ("exact", "proposal", "timer")
"""The purgatory with either accounting, and the timer."""

_NAME: Final = re.compile(rf"generated-({'|'.join(KINDS)})-(\d+)")
_THREADS: Final = ("first", "second", "third")
_MOST_CALLS: Final = 3
_KEYS: Final = "kl"
_OPERATIONS: Final = "123"
_TASKS: Final = "abc"
_DELAYS_MS: Final = (0, 1, 1, 2, 3, 5)


def generated_scenario(name: str) -> Scenario:
    """Return the scenario of a name such as ``generated-exact-17``.

    Raises:
        KeyError: the name has another form.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise KeyError(name)
    kind = found[1]
    random = Random(name)
    if kind == "timer":
        make: Callable[..., PurgatoryWorld | TimerWorld] = TimerWorld
    else:
        accounting: Accounting = "exact" if kind == "exact" else "proposal"
        interval = random.choice((0, 0, 2))
        make = partial(PurgatoryWorld, accounting=accounting, purge_interval=interval)
    threads = _THREADS[: random.choice((2, 3))]
    call = _timer_call if kind == "timer" else _purgatory_call
    programs = {thread: _calls(random, call, 1) for thread in threads}
    setup = _calls(random, call, 0)
    if kind == "timer":
        setup = tuple(each for each in setup if not isinstance(each, op.Advance | op.Shutdown))
        programs = {thread: _in_time(programs[thread], thread) for thread in threads}
    return Scenario(
        name,
        "random programs",
        tuple(Program(thread, calls) for thread, calls in programs.items()),
        make,
        setup,
    )


def _calls(random: Random, call: Callable[[Random], Calls], least: int) -> Calls:
    drawn = [call(random) for _ in range(random.randint(least, _MOST_CALLS))]
    return tuple(operation for calls in drawn for operation in calls)


def _purgatory_call(random: Random) -> Calls:
    key, name = random.choice(_KEYS), random.choice(_OPERATIONS)
    keys = tuple(random.sample(_KEYS, random.randint(1, len(_KEYS))))
    ways: tuple[tuple[int, Calls], ...] = (
        (3, (op.Watch(name, keys, random.choice((0, 1, 2))),)),
        (2, (op.Satisfy(name), op.Check(key))),
        (1, (op.Check(key),)),
        (1, (op.CancelForKey(key),)),
        (1, (op.Force(name),)),
        (1, (op.Advance(random.choice((0, 1, 2))),)),
        (1, (op.RunOne(),)),
    )
    return _drawn(random, ways)


def _timer_call(random: Random) -> Calls:
    task = random.choice(_TASKS)
    ways: tuple[tuple[int, Calls], ...] = (
        (9, (op.Add(task, random.choice(_DELAYS_MS)),)),
        (3, (op.Cancel(task),)),
        (4, (op.Advance(1),)),
        (3, (op.RunOne(),)),
        (1, (op.Shutdown(),)),
    )
    return _drawn(random, ways)


def _drawn(random: Random, ways: tuple[tuple[int, Calls], ...]) -> Calls:
    (chosen,) = random.choices([calls for _, calls in ways], [weight for weight, _ in ways])
    return chosen


def _in_time(calls: Calls, thread: str) -> Calls:
    """Return the calls so that one thread alone sets the clock, and does not turn it back."""
    kept: list[op.Operation] = []
    now_ms = 0
    for call in calls:
        if not isinstance(call, op.Advance):
            kept.append(call)
        elif thread == _THREADS[0]:
            now_ms += 1
            kept.append(op.Advance(now_ms))
    return tuple(kept)
