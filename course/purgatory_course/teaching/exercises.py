"""The exercises that can be graded, by ``LESSON.EXERCISE``, and of what kind their answers are."""

from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from purgatory_spec import profiles
from purgatory_spec.cases import Case, Step, case_header
from purgatory_spec.jsonlines import encode_line
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
from purgatory_spec.outcomes import Outcome, completed, expired, tried


@dataclass(frozen=True)
class Built:
    """A Python file with a class, which the suite judges in the place of a naive one.

    ``replaces`` is the file of the adapter project that it stands for. ``names`` are those that the
    file defines, each with the name that the project calls.
    """

    task: str
    component: profiles.Component
    replaces: str
    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Compared:
    """A Python file with a class of the lesson's own shape, compared with the model."""

    task: str
    name: str
    wheel_size: int = 0
    """Buckets of one level, which bounds what is asked; 0 where there is no wheel."""


@dataclass(frozen=True)
class Predicted:
    """A case file with the outcomes that the student predicts; the model says which are right."""

    task: str
    configuration: profiles.Configuration
    profile: profiles.Profile
    steps: tuple[Operation, ...]


@dataclass(frozen=True)
class Run:
    """A case file whose steps, from a small instance of the model, make a claim false."""

    task: str
    component: profiles.Component
    claim: str


@dataclass(frozen=True)
class Judged:
    """A Python file with a subject for the suite; ``rule`` must be broken, or none if empty."""

    task: str
    name: str
    rule: str = ""


Gradable: TypeAlias = Built | Compared | Predicted | Run | Judged

_WHEEL = profiles.TimerProfile(
    executor=profiles.Executor.STEPPED,
    structure=profiles.Structure.DELAY_QUEUE_WHEEL,
    features=frozenset({profiles.Feature.CANCEL, profiles.Feature.READD}),
)
_PURGATORY = profiles.PurgatoryProfile(
    executor=profiles.Executor.STEPPED,
    structure=profiles.Structure.DELAY_QUEUE_WHEEL,
    features=frozenset({profiles.PurgatoryFeature.FORCE, profiles.PurgatoryFeature.DUPLICATE_KEYS}),
)
_FETCH = Watch("fetch", ("p0", "p1"), 500)
_ABC: tuple[Operation, ...] = tuple(Watch(name, ("k",), 2) for name in "abc")
_EXPIRED: tuple[Operation, ...] = (*_ABC, Advance(2), RunOne(), RunOne(), RunOne())
_FOURTH: tuple[Operation, ...] = (Watch("d", ("k",), 90), Force("d"), Advance(9))
_FIFTH: tuple[Operation, ...] = (Watch("e", ("k",), 90), Force("e"), Advance(10))


def _timer(task: str, *steps: Operation, size: int = 4, shows: str = "") -> Predicted:
    shown = frozenset(map(profiles.Observable, shows.split()))
    profile = msgspec.structs.replace(_WHEEL, observables=shown)
    return Predicted(task, profiles.TimerConfiguration(wheel_size=size), profile, steps)


def _purgatory(
    task: str,
    *steps: Operation,
    shows: str = "",
    accounting: profiles.Accounting = profiles.Accounting.PROPOSAL,
    executor: profiles.Executor = profiles.Executor.STEPPED,
    purge_interval: int = 1000,
) -> Predicted:
    shown = frozenset(map(profiles.PurgatoryObservable, shows.split()))
    profile = msgspec.structs.replace(
        _PURGATORY, observables=shown, accounting=accounting, executor=executor
    )
    made_with = profiles.PurgatoryConfiguration(purge_interval=purge_interval)
    return Predicted(task, made_with, profile, steps)


EXERCISES: dict[str, Gradable] = {
    "1.1": _purgatory(
        "Predict entries and time-outs of a consumer that waits for two partitions.",
        *(_FETCH, Satisfy("fetch"), Check("p0")),
        shows="entries stale_entries timer_size",
    ),
    "1.2": _purgatory(
        "Predict what a request costs whose condition is true from the beginning.",
        *(Satisfy("fetch"), _FETCH),
        shows="entries timer_size",
    ),
    "2.2": Compared(
        "SweepingTimer(), a heap with add(task, due_ms), cancel(task) and advance(now_ms), which "
        "gives the expired tasks; after a cancel its list heap has at most 16 entries, or twice as "
        "many as are armed.",
        "SweepingTimer",
    ),
    "3.2": Compared(
        "OneWheel(tick_ms, wheel_size) with add(task, due_ms), cancel(task) and advance(to_ms), "
        "which gives the expired tasks.",
        "OneWheel",
        wheel_size=8,
    ),
    "4.1": _timer(
        "Predict how a task that is due at 17 comes down a wheel of 3 buckets.",
        *(Add("t", 17), Advance(9), Advance(15), Advance(17)),
        size=3,
        shows="levels next_expiry_ms",
    ),
    "4.2": Run(
        "Find a run, with few steps, in which an advance returns true and expires no task.",
        profiles.Component.TIMER,
        "true-means-expired",
    ),
    "4.3": Built(
        "Write a timer: Timer(tick_ms, start_ms) with now_ms, which the caller sets; "
        "add(task, delay_ms), cancel(task), and advance(run), which calls run(task) for each task "
        "that is due, tick after tick, and says whether there was one. pending has the tasks that "
        "are armed; its length is the size. A delay of 2**31 ms or more is an OverflowError.",
        profiles.Component.TIMER,
        "heap_timer.py",
        (("Timer", "HeapTimer"),),
    ),
    "5.1": _timer(
        "Predict buckets and tasks when a task is cancelled and added again.",
        *(Add("a", 2), Cancel("a"), Add("a", 9), Advance(8), Advance(9)),
        shows="queued_buckets size",
    ),
    "5.2": _timer(
        "Predict how often a task runs that is cancelled and added while it waits to run.",
        *(Add("a", 0), Advance(0), Cancel("a"), Add("a", 1), RunOne(), Advance(1), RunOne()),
    ),
    "6.1": _purgatory(
        "Predict what is called when a condition becomes true and nobody checks.",
        *(Watch("o", ("k",), 3), Satisfy("o"), Advance(3), RunOne()),
    ),
    "6.2": _purgatory(
        "Predict the tries of an operation that is watched twice under one key.",
        *(Watch("o", ("k", "k"), 9), Check("k"), Satisfy("o"), Check("k")),
        shows="entries",
    ),
    "7.1": _purgatory(
        "Predict whether operations under four and under three keys are purged.",
        *(Watch("a", ("k1", "k2", "k3", "k4"), 90), Satisfy("a"), Check("k1"), Advance(1)),
        *(Watch("b", ("k1", "k2", "k3"), 90), Satisfy("b"), Check("k1"), Advance(2)),
        shows="entries stale_entries",
        accounting=profiles.Accounting.EXACT,
        purge_interval=2,
    ),
    "7.2": _purgatory(
        "Predict the entries that stay when three expire in one advance, published count.",
        *_EXPIRED,
        Advance(9),
        shows="entries estimate",
        purge_interval=2,
    ),
    "8.1": _purgatory(
        "Predict entries, estimate and timer size until the purge that takes out the forgotten.",
        *(*_EXPIRED, *_FOURTH, *_FIFTH),
        shows="entries estimate timer_size",
        purge_interval=1,
    ),
    "8.2": _purgatory(
        "Predict the entries that stay under an executor that runs inline.",
        *_ABC,
        Advance(2),
        shows="entries",
        executor=profiles.Executor.INLINE,
        purge_interval=1,
    ),
    "9.1": Predicted(
        "Predict what is granted in a pool of 10 bytes, and whether anything is after a release.",
        profiles.MemoryPoolConfiguration(10, 6),
        profiles.MemoryPoolProfile(
            observables=frozenset({profiles.MemoryPoolObservable.AVAILABLE})
        ),
        (Allocate("a", 6), Allocate("b", 6), Allocate("c", 1), Release("a"), Allocate("d", 1)),
    ),
    "9.2": Run(
        "Find a run after which a release leaves nothing available.",
        profiles.Component.MEMORY_POOL,
        "release-restores",
    ),
    "9.3": Built(
        "Write a memory pool: MemoryPool(size_bytes, max_single_bytes, strict) as in the naive "
        "pool of `purgatory init --lang python --component memory-pool`, with its Buffer and its "
        "UnboundedPool, and release a buffer only once.",
        profiles.Component.MEMORY_POOL,
        "naive_memory_pool.py",
        (
            ("Buffer", "Buffer"),
            ("MemoryPool", "MemoryPool"),
            ("UnboundedPool", "UnboundedPool"),
        ),
    ),
    "11.1": Judged("A class Mine, the subject of the lesson with both faults mended.", "Mine"),
    "11.2": Judged(
        "A class Mine that shows a size which counts what has expired.", "Mine", "TIMER-SIZE"
    ),
}
"""The exercises that can be graded; the others are answered on paper."""


_SMALL: dict[profiles.Component, tuple[profiles.Configuration, profiles.Profile]] = {
    profiles.Component.TIMER: (profiles.TimerConfiguration(wheel_size=2), _WHEEL),
    profiles.Component.MEMORY_POOL: (
        profiles.MemoryPoolConfiguration(3, 2),
        profiles.MemoryPoolProfile(),
    ),
}
_SOME_OPERATION: dict[profiles.Component, Operation] = {
    profiles.Component.TIMER: Add("a", 1),
    profiles.Component.MEMORY_POOL: Allocate("a", 1),
}
_SOME_EVENT = {
    profiles.Component.TIMER: (expired("a"),),
    profiles.Component.PURGATORY: (tried("o"), completed("o")),
    profiles.Component.MEMORY_POOL: (),
}


def beginning(exercise: Predicted | Run) -> str:
    """Return the case file that an answer begins with: steps without outcomes, or a header."""
    if isinstance(exercise, Run):
        return f"{encode_line(case_header('run', *_SMALL[exercise.component]))}\n"
    header = case_header("prediction", exercise.configuration, exercise.profile)
    case = Case(header, tuple(map(Step, exercise.steps)))
    return "".join(f"{encode_line(line)}\n" for line in (case.header, *case.steps))


def some_outcome(exercise: Predicted) -> str:
    """Return an example of an outcome: a result, an event, and observables."""
    events = _SOME_EVENT[profiles.component_of(exercise.configuration)]
    shown = {each.value: 0 for each in exercise.profile.observables}
    return f'"outcome":{encode_line(Outcome(True, events=events, observed=shown))}'


def what_to_add(exercise: Predicted | Run) -> str:
    """Return the student's additions to the file of ``beginning``, in words."""
    if isinstance(exercise, Run):
        operation = encode_line(Step(_SOME_OPERATION[exercise.component]))
        return f"Add steps to it, one a line, such as {operation}"
    return (
        f"Add an outcome to each step, behind its operation, such as {some_outcome(exercise)}\n"
        "Leave out a result, events or observables where a step has none."
    )
