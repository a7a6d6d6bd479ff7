"""Programs: which calls each thread makes, run over a concurrent model in every interleaving.

A thread that has a program may begin only the call that is next in it; which one a step begins is
told by its history. What a thread does inside a call is the model's. Threads without a program,
an executor or a reaper, may do whatever the model lets them do, or be held back.

``Satisfy`` is no call: it says that an event has come about which the purgatory is not told of. A
model that raises an event together with the check of its key shows both in the history of one
step, and a program names the check alone.

Programs over a model are a concurrent model again, whose states know how far each program is.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import eq
from typing import Generic

from purgatory_model.overlapping.interleaving import (
    Called,
    ConcurrentModel,
    HistoryEvent,
    Returned,
    State,
    Step,
    thread_of,
)
from purgatory_spec.operations import Operation, Satisfy


@dataclass(frozen=True, slots=True)
class Progress(Generic[State]):
    """The progress of a run: the model's state, and the state of the programs.

    Attributes:
        state: The state of the concurrent model.
        begun: How many calls of its program each thread has begun, threads in alphabetical order.
        inside: The threads that are inside a call, with or without a program.
    """

    state: State
    begun: tuple[int, ...]
    inside: frozenset[str] = frozenset()


def settles_always(_: object) -> bool:
    """Return true: any state will do as the last one."""
    return True


def leaves_nothing_out(_: object, __: str, ___: Operation) -> bool:
    """Return false: every call of every program is made."""
    return False


@dataclass(frozen=True, slots=True)
class Programmed(Generic[State]):
    """A concurrent model in which threads follow programs.

    Attributes:
        model: The concurrent model.
        programs: The calls that each thread makes, in their order.
        background: The threads without a program that may take steps; None: all of them.
        fits: Whether the call that a program wants (first) is the one that a step begins (second).
        settled: What the model's state has to be like, besides, where a run is over: for example
            that the executor's queue is empty.
        leaves_out: Whether in a state a thread between two calls passes over this call, because it
            makes no sense there: a release of what was refused. It must not depend on what other
            threads do meanwhile.
    """

    model: ConcurrentModel[State]
    programs: Mapping[str, tuple[Operation, ...]]
    background: frozenset[str] | None = None
    fits: Callable[[Operation, Operation], bool] = eq
    settled: Callable[[State], bool] = settles_always
    leaves_out: Callable[[State, str, Operation], bool] = leaves_nothing_out

    def __post_init__(self) -> None:
        """Reject a thread that would both follow a program and run in the background."""
        both = self.programs.keys() & (self.background or frozenset())
        if both:
            raise ValueError(f"thread {min(both)!r} has a program and is in the background too")

    @property
    def threads(self) -> tuple[str, ...]:
        """Return the threads that have a program, in the order of ``Progress.begun``."""
        return tuple(sorted(self.programs))

    def initial(self) -> Progress[State]:
        """Return the progress before any program has begun."""
        return Progress(self.model.initial(), (0,) * len(self.programs))

    def steps(self, progress: Progress[State]) -> Iterator[tuple[Step, Progress[State]]]:
        """Yield the model's steps that the programs allow."""
        for step, after in self.model.steps(progress.state):
            thread = thread_of(step)
            if not self._may_move(thread):
                continue
            events = self.model.history(progress.state, step, after)
            begun = self._begun(progress, thread, events)
            if begun is not None:
                yield step, Progress(after, begun, inside_after(progress.inside, events))

    def history(
        self, before: Progress[State], step: Step, after: Progress[State]
    ) -> tuple[HistoryEvent, ...]:
        """Return the visible events of a step, as in the model."""
        return self.model.history(before.state, step, after.state)

    def is_over(self, progress: Progress[State]) -> bool:
        """Decide whether every program is at its end and no thread is inside a call."""
        return not progress.inside and not self.wanted(progress) and self.settled(progress.state)

    def wanted(self, progress: Progress[State]) -> Mapping[str, Operation]:
        """Return the call that each thread makes next, of those whose program is not at its end."""
        places = {thread: self._next(progress, thread) for thread in self.threads}
        return {
            thread: self.programs[thread][place]
            for thread, place in places.items()
            if place < len(self.programs[thread])
        }

    def _may_move(self, thread: str) -> bool:
        return thread in self.programs or self.background is None or thread in self.background

    def _next(self, progress: Progress[State], thread: str) -> int:
        """Return the place in its program of the call that a thread makes next."""
        place = progress.begun[self.threads.index(thread)]
        program = self.programs[thread]
        if thread not in progress.inside:
            while place < len(program) and self.leaves_out(progress.state, thread, program[place]):
                place += 1
        return place

    def _begun(
        self, progress: Progress[State], thread: str, events: tuple[HistoryEvent, ...]
    ) -> tuple[int, ...] | None:
        """Return the numbers of begun calls after a thread's step, None where it is forbidden."""
        called = [
            event.operation
            for event in events
            if isinstance(event, Called) and not isinstance(event.operation, Satisfy)
        ]
        if not called or thread not in self.programs:
            return progress.begun
        program = self.programs[thread][(first := self._next(progress, thread)) :]
        if len(called) > len(program) or not all(map(self.fits, program, called)):
            return None
        place = self.threads.index(thread)
        begun = progress.begun
        return (*begun[:place], first + len(called), *begun[place + 1 :])


def inside_after(inside: frozenset[str], events: tuple[HistoryEvent, ...]) -> frozenset[str]:
    """Return the threads that are inside a call after these events."""
    for event in events:
        if isinstance(event, Called):
            inside = inside | {event.thread}
        elif isinstance(event, Returned):
            inside = inside - {event.thread}
    return inside
