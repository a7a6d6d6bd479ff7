"""The exercises that can be graded, by ``LESSON.EXERCISE``.

Each has variants by number: other sizes, other steps, or another choice, so that the solution
beside the exercise gives no answer away. Variant 0 is the one that the lesson has.
"""

from collections.abc import Callable

import msgspec

from purgatory_course.teaching.gradable import (
    Built,
    Compared,
    Draw,
    Gradable,
    Judged,
    Predicted,
    Run,
)
from purgatory_model.arithmetic import level_end
from purgatory_spec import profiles
from purgatory_spec.operations import (
    Add,
    Advance,
    Allocate,
    Cancel,
    Check,
    Force,
    Operation,
    Release,
    RunOne,
    Satisfy,
    Watch,
)

WHEEL = profiles.TimerProfile(
    executor=profiles.Executor.STEPPED,
    structure=profiles.Structure.DELAY_QUEUE_WHEEL,
    features=frozenset({profiles.Feature.CANCEL, profiles.Feature.READD}),
)
_PURGATORY = profiles.PurgatoryProfile(
    executor=profiles.Executor.STEPPED,
    structure=profiles.Structure.DELAY_QUEUE_WHEEL,
    features=frozenset({profiles.PurgatoryFeature.FORCE, profiles.PurgatoryFeature.DUPLICATE_KEYS}),
)


def _timer(task: str, *steps: Operation, size: int = 4, shows: str = "") -> Predicted:
    shown = frozenset(map(profiles.Observable, shows.split()))
    profile = msgspec.structs.replace(WHEEL, observables=shown)
    return Predicted(task, profiles.TimerConfiguration(wheel_size=size), profile, steps)


def _purgatory(
    task: str,
    *steps: Operation,
    shows: str = "",
    accounting: profiles.Accounting = profiles.Accounting.PROPOSAL,
    executor: profiles.Executor = profiles.Executor.STEPPED,
    purge_interval: int = 1000,
    counts_only: bool = False,
) -> Predicted:
    shown = frozenset(map(profiles.PurgatoryObservable, shows.split()))
    profile = msgspec.structs.replace(
        _PURGATORY, observables=shown, accounting=accounting, executor=executor
    )
    made_with = profiles.PurgatoryConfiguration(purge_interval=purge_interval)
    return Predicted(task, made_with, profile, steps, counts_only)


def _keys(count: int) -> tuple[str, ...]:
    return tuple(f"p{number}" for number in range(count))


def _consumer(draw: Draw) -> Gradable:
    count = draw.of(2, 3, 4, 5)
    checked = draw.of("p0", *_keys(count))
    return _purgatory(
        f"Predict entries and time-outs of a consumer that waits for {count} partitions.",
        *(Watch("fetch", _keys(count), 500), Satisfy("fetch"), Check(checked)),
        shows="entries stale_entries timer_size",
        counts_only=True,
    )


def _at_once(draw: Draw) -> Gradable:
    others = draw.of(0, 1, 2, 3)
    waiting = (Watch("other", _keys(others), 300),) if others else ()
    return _purgatory(
        "Predict what a request costs whose condition is true from the beginning.",
        *(*waiting, Satisfy("fetch"), Watch("fetch", ("p0", "p1"), 500)),
        shows="entries timer_size",
        counts_only=True,
    )


def _sweeping(draw: Draw) -> Gradable:
    most = draw.of(16, 8, 12, 20)
    return Compared(
        "SweepingTimer(), a heap with add(task, due_ms), cancel(task) and advance(now_ms), which "
        f"gives the expired tasks; after a cancel no collection of it has more than {most} "
        "entries, or twice as many as are armed. Its list heap has all that are armed.",
        "SweepingTimer",
        most_entries=most,
    )


def _ring(draw: Draw) -> Gradable:
    first = draw.of(0, 1, 2, 3, 5)
    return Compared(
        "OneWheel(tick_ms, wheel_size) with add(task, due_ms), cancel(task) and advance(to_ms), "
        "which gives the expired tasks. Its list places has wheel_size sets, and stays the same "
        f"list. The tick that begins at time 0 has place {first}, the next one place {first + 1}, "
        "and so round the ring. The work of a call does not grow with the number of tasks.",
        "OneWheel",
        wheel_size=8,
        first_place=first,
    )


def _way_down(due_ms: int, size: int) -> list[int]:
    """Return the times at which the buckets of a task are popped, on wheels with a tick of 1 ms."""
    popped = [0]
    while popped[-1] < due_ms:
        tick = 1
        while level_end(popped[-1], tick, size) <= due_ms:
            tick *= size
        popped.append(due_ms - due_ms % tick)
    return popped[1:]


def _down(draw: Draw) -> Gradable:
    size, due_ms = draw.of((3, 17), (3, 14), (3, 25), (3, 22), (4, 39), (4, 58), (4, 27))
    steps: list[Operation] = [Add("t", due_ms)]
    steps += (Advance(to_ms) for to_ms in _way_down(due_ms, size))
    return _timer(
        f"Predict how a task that is due at {due_ms} comes down a wheel of {size} buckets.",
        *steps,
        size=size,
        shows="levels next_expiry_ms",
    )


def _true_means_expired(draw: Draw) -> Gradable:
    start_ms, size = draw.of((0, 2), (1, 2), (0, 3), (1, 3), (2, 3))
    return Run(
        "Find a run, with few steps, in which an advance returns true and expires no task.",
        profiles.Component.TIMER,
        "true-means-expired",
        profiles.TimerConfiguration(wheel_size=size, start_ms=start_ms),
    )


_AN_HOUR_MS, _A_DAY_MS = 3_600_000, 86_400_000


def _built_timer(draw: Draw) -> Gradable:
    rounding, refused_ms = draw.of(
        ("down", 2**31),
        *(("down", each) for each in (_AN_HOUR_MS, _A_DAY_MS)),
        *(("up", each) for each in (2**31, _AN_HOUR_MS, _A_DAY_MS)),
    )
    is_rounded_up, has_own_limit = rounding == "up", refused_ms != 2**31
    limit = f"{refused_ms:_}" if has_own_limit else "2**31"
    return Built(
        "Write a timer: Timer(tick_ms, start_ms) with now_ms, which the caller sets; "
        "add(task, delay_ms), cancel(task), and advance(run), which calls run(task) for each task "
        "that is due, tick after tick, and says whether there was one. An expiry is rounded "
        f"{rounding} to its tick. pending has the tasks that are armed; its length is the size. A "
        f"delay of {limit} ms or more is an OverflowError. The work of a call does not grow with "
        "the number of tasks.",
        profiles.Component.TIMER,
        "heap_timer.py",
        (("Timer", "HeapTimer"),),
        (("rounding", "up"),) * is_rounded_up
        + (("largest_delay_ms", refused_ms - 1),) * has_own_limit,
        not_asked=("shutdown", "class Closed(Exception): ..."),
        constant_work=True,
    )


def _added_again(draw: Draw) -> Gradable:
    near_ms, far_ms = draw.of((2, 9), (1, 6), (3, 10), (1, 13), (3, 7), (2, 15))
    return _timer(
        "Predict buckets and tasks when a task is cancelled and added again.",
        *(Add("a", near_ms), Cancel("a"), Add("a", far_ms)),
        *(Advance(far_ms - far_ms % 4), Advance(far_ms)),
        shows="queued_buckets size",
    )


def _while_it_waits_to_run(draw: Draw) -> Gradable:
    due = Add("a", 0), Advance(0)
    steps: tuple[Operation, ...] = draw.of(
        (Cancel("a"), Add("a", 1), RunOne(), Advance(1), RunOne()),
        (Add("a", 1), RunOne(), Advance(1), RunOne()),
        (Cancel("a"), RunOne(), Add("a", 1), Advance(1), RunOne()),
        (Cancel("a"), Add("a", 1), Advance(1), RunOne(), RunOne()),
        (Add("a", 1), Cancel("a"), RunOne(), Advance(1), RunOne()),
    )
    return _timer(
        "Predict how often a task runs that is cancelled or added while it waits to run.",
        *(*due, *steps),
    )


def _nobody_checks(draw: Draw) -> Gradable:
    watched = Watch("o", ("k",), 3)
    steps: tuple[Operation, ...] = draw.of(
        (watched, Satisfy("o"), Advance(3), RunOne()),
        (watched, Satisfy("o"), Check("other"), Advance(3), RunOne()),
        (watched, Advance(3), Satisfy("o"), Check("k"), RunOne()),
        (watched, Check("k"), Satisfy("o"), Advance(3), RunOne()),
        (Satisfy("o"), watched, Check("k"), Advance(3)),
    )
    task = "Predict what is called when a condition becomes true and nobody checks, or few do."
    return _purgatory(task, *steps)


def _under_one_key(draw: Draw) -> Gradable:
    keys = draw.of(("k", "k"), ("k", "k", "k"), ("k", "m", "k"), ("m", "k", "k", "m"))
    return _purgatory(
        "Predict the tries of an operation that is watched more than once under one key.",
        *(Watch("o", keys, 9), Check("k"), Satisfy("o"), Check("k")),
        shows="entries",
    )


def _purged_or_not(draw: Draw) -> Gradable:
    more, fewer, interval = draw.of(
        (4, 3, 2), (3, 2, 1), (5, 4, 3), (2, 3, 1), (3, 4, 2), (4, 5, 3)
    )
    steps: list[Operation] = []
    for now_ms, (name, count) in enumerate((("a", more), ("b", fewer)), start=1):
        keys = tuple(f"k{number}" for number in range(1, count + 1))
        steps += (Watch(name, keys, 90), Satisfy(name), Check("k1"), Advance(now_ms))
    return _purgatory(
        f"Predict whether operations under {more} and under {fewer} keys are purged, "
        f"purge interval {interval}.",
        *steps,
        shows="entries stale_entries",
        accounting=profiles.Accounting.EXACT,
        purge_interval=interval,
        counts_only=True,
    )


def _waiting(count: int) -> tuple[Operation, ...]:
    return tuple(Watch(name, ("k",), 2) for name in "abcde"[:count])


def _expired(count: int) -> tuple[Operation, ...]:
    return (*_waiting(count), Advance(2), *(RunOne() for _ in range(count)))


def _mass_expiry(draw: Draw) -> Gradable:
    count, interval = draw.of((3, 2), (4, 2), (5, 3), (4, 3), (2, 1))
    return _purgatory(
        f"Predict the entries that stay when {count} expire in one advance, published count, "
        f"purge interval {interval}.",
        *(*_expired(count), Advance(9)),
        shows="entries estimate",
        purge_interval=interval,
        counts_only=True,
    )


def _forgotten(draw: Draw) -> Gradable:
    count = draw.of(3, 2, 4, 5)
    later: list[Operation] = []
    for now_ms, name in ((9, "x"), (10, "y")):
        later += (Watch(name, ("k",), 90), Force(name), Advance(now_ms))
    return _purgatory(
        "Predict entries, estimate and timer size until the purge that takes out the forgotten.",
        *(*_expired(count), *later),
        shows="entries estimate timer_size",
        purge_interval=1,
        counts_only=True,
    )


def _inline(draw: Draw) -> Gradable:
    count, interval = draw.of((3, 1), (2, 1), (4, 2), (5, 3), (5, 2))
    return _purgatory(
        f"Predict the entries that stay of {count} under an executor that runs inline, purge "
        f"interval {interval}.",
        *(*_waiting(count), Advance(2)),
        shows="entries",
        executor=profiles.Executor.INLINE,
        purge_interval=interval,
        counts_only=True,
    )


def _granted(draw: Draw) -> Gradable:
    size, most = draw.of((10, 6), (12, 7), (9, 5), (14, 8), (20, 12))
    return Predicted(
        f"Predict what is granted in a pool of {size} bytes with buffers of at most {most}, and "
        "whether anything is after a release.",
        profiles.MemoryPoolConfiguration(size, most),
        profiles.MemoryPoolProfile(
            observables=frozenset({profiles.MemoryPoolObservable.AVAILABLE})
        ),
        (
            Allocate("a", most),
            Allocate("b", most),
            Allocate("c", 1),
            Release("a"),
            Allocate("d", 1),
        ),
    )


def _release_restores(draw: Draw) -> Gradable:
    return Run(
        "Find a run after which a release leaves nothing available.",
        profiles.Component.MEMORY_POOL,
        "release-restores",
        profiles.MemoryPoolConfiguration(*draw.of((3, 2), (4, 2), (4, 3), (5, 3))),
    )


def _built_pool(draw: Draw) -> Gradable:
    nothing = draw.of("reject", "refuse", "grant")
    means = {
        "reject": "a request for 0 bytes is a ValueError",
        "refuse": "a request for 0 bytes gets no buffer, whatever is available",
        "grant": "a request for 0 bytes gets an empty buffer while there is something left",
    }
    return Built(
        "Write a memory pool: MemoryPool(size_bytes, max_single_bytes, strict) as in the naive "
        "pool of `purgatory init --lang python --component memory-pool`, with its Buffer and its "
        f"UnboundedPool, and release a buffer only once; {means[nothing]}.",
        profiles.Component.MEMORY_POOL,
        "naive_memory_pool.py",
        (
            ("Buffer", "Buffer"),
            ("MemoryPool", "MemoryPool"),
            ("UnboundedPool", "UnboundedPool"),
        ),
        (("zero_request", nothing),) if nothing != "reject" else (),
    )


def _mended(draw: Draw) -> Gradable:
    due, reject = profiles.NegativeDelay.ALREADY_DUE, profiles.NegativeDelay.REJECT
    rounding, negative = draw.of(
        (profiles.Rounding.DOWN, due),
        (profiles.Rounding.DOWN, reject),
        (profiles.Rounding.UP, due),
        (profiles.Rounding.UP, reject),
    )
    profile = profiles.TimerProfile(
        features=frozenset({profiles.Feature.CANCEL}), rounding=rounding, negative_delay=negative
    )
    rounds = f"rounding {rounding.value}"
    rejects = (
        ", a delay below zero is rejected as an invalid argument" if negative is reject else ""
    )
    task = f"A class Mine, the subject of the lesson with both faults mended, {rounds}{rejects}."
    return Judged(task, "Mine", profile)


def _wrong_size(draw: Draw) -> Gradable:
    counted = draw.of("expired", "been cancelled")
    kind: type[Operation] = Advance if counted == "expired" else Cancel
    return Judged(
        f"A class Mine that shows a size which also counts what has {counted}.",
        "Mine",
        profiles.TimerProfile(features=frozenset({profiles.Feature.CANCEL})),
        "TIMER-SIZE",
        (Add, kind),
    )


_DRAWN: dict[str, Callable[[Draw], Gradable]] = {
    "1.1": _consumer,
    "1.2": _at_once,
    "2.2": _sweeping,
    "3.2": _ring,
    "4.1": _down,
    "4.2": _true_means_expired,
    "4.3": _built_timer,
    "5.1": _added_again,
    "5.2": _while_it_waits_to_run,
    "6.1": _nobody_checks,
    "6.2": _under_one_key,
    "7.1": _purged_or_not,
    "7.2": _mass_expiry,
    "8.1": _forgotten,
    "8.2": _inline,
    "9.1": _granted,
    "9.2": _release_restores,
    "9.3": _built_pool,
    "11.1": _mended,
    "11.2": _wrong_size,
}


def exercise(number: str, variant: int = 0) -> Gradable:
    """Return a variant of an exercise.

    Raises:
        KeyError: there is no exercise of this number that can be graded.
    """
    return _DRAWN[number](Draw(number, variant))


EXERCISES: dict[str, Gradable] = {number: exercise(number) for number in _DRAWN}
"""The exercises of the lessons that can be graded; the others are answered on paper."""
