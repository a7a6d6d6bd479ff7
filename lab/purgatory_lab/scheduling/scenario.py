"""A scenario: what each thread calls, on what, and what must hold when all have returned."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeAlias

from purgatory_lab.scheduling.errors import CheckFailed
from purgatory_lab.scheduling.history import RecordedHistory
from purgatory_lab.scheduling.run import AtRest, Record, Strategy
from purgatory_lab.scheduling.scheduler import Scheduler
from purgatory_lab.scheduling.yield_points import Injection
from purgatory_spec.operations import Operation


@dataclass(frozen=True, slots=True)
class Observe:
    """The counts are read, one after the other; no operation, since every step shows them."""


Call: TypeAlias = Operation | Observe


@dataclass(frozen=True, slots=True)
class Program:
    """The calls of a thread, in sequence."""

    thread: str
    calls: tuple[Call, ...]


class World(Protocol):
    """The implementation under test, as a run finds it and leaves it."""

    history: RecordedHistory

    def prepare(self, operations: Sequence[Operation]) -> None:
        """Make what the calls name: delayed operations, tasks."""

    def observe(self) -> None:
        """Read the counts in the running thread."""

    def perform(self, operation: Operation) -> None:
        """Carry out a call in the running thread, and note it with its result."""

    def close(self) -> None:
        """End the threads that the world has started; in a thread of the run, when it is quiet."""

    def inspect(self) -> list[str]:
        """Return the problems of the world at this instant; asked at each yield point."""

    def problems(self) -> list[str]:
        """Return the problems of the world after the return of every call."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario to run: programs of threads in a world.

    Attributes:
        name: For the command line.
        about: The calls that are interleaved, in words.
        programs: The threads.
        make: Makes a fresh world.
        setup: Calls that are over before the threads begin.
    """

    name: str
    about: str
    programs: tuple[Program, ...]
    make: Callable[[Scheduler], World]
    setup: tuple[Operation, ...] = ()

    def operations(self) -> tuple[Operation, ...]:
        """Return every operation that the setup and the programs call."""
        calls = [call for program in self.programs for call in program.calls]
        return (*self.setup, *(call for call in calls if not isinstance(call, Observe)))


Look: TypeAlias = Callable[[World], list[str]]
"""Looks for problems at the end of a run, in addition to the world's own checks."""


class Runs:
    """Makes the runs of a scenario under a scheduler.

    Attributes:
        world: What the last run has left.
        looks: What is asked after each run.
    """

    def __init__(
        self,
        scenario: Scenario,
        injection: Injection,
        looks: Sequence[Look] = (),
    ) -> None:
        """Prepare the runs of a scenario.

        Args:
            scenario: What is run.
            injection: Of the table of the implementation; it has to be active.
            looks: Asked after each run.
        """
        self.world: World
        self.scenario = scenario
        self.injection = injection
        self.looks = tuple(looks)

    def __call__(self, strategy: Strategy) -> Record:
        """Make a run and check the world at its end."""
        scheduler, scenario = self.injection.scheduler, self.scenario
        self.injection.begin()
        callers = [
            scheduler.start(program.thread, partial(self._play, program))
            for program in scenario.programs
        ]
        self.world = world = scenario.make(scheduler)
        world.prepare(scenario.operations())
        for operation in scenario.setup:
            world.perform(operation)
        scheduler.inspect = world.inspect
        scheduler.start("closing", world.close, AtRest(callers))
        record = scheduler.execute(strategy)
        if record.failure is None:
            # What the world looks at last it lets finish before.
            problems = [problem for look in self.looks for problem in look(world)]
            problems += world.problems()
            if problems:
                record.failure = CheckFailed("; ".join(problems))
        return record

    def _play(self, program: Program) -> None:
        for call in program.calls:
            if isinstance(call, Observe):
                self.world.observe()
            else:
                self.world.perform(call)
