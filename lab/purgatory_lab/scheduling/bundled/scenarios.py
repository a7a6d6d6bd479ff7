"""All scenarios of the bundled implementation, each with what its runs are held against."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Final, TypeAlias

from purgatory_conformance.subjects.bundled.timer import PROFILE
from purgatory_impl import COMPILED
from purgatory_lab.scheduling.bundled.bound_scenarios import BOUND_SCENARIOS
from purgatory_lab.scheduling.bundled.compiled import CompiledInjection
from purgatory_lab.scheduling.bundled.memory_pool.scenarios import (
    BOUND_MEMORY_POOL_SCENARIOS,
    MEMORY_POOL_SCENARIOS,
    pool_ends,
)
from purgatory_lab.scheduling.bundled.purgatory.scenarios import (
    ACCOUNTINGS,
    CROSSING_SCENARIOS,
    Accounting,
    purgatory_scenarios,
)
from purgatory_lab.scheduling.bundled.purgatory.world import PurgatoryWorld
from purgatory_lab.scheduling.bundled.table import BUNDLED
from purgatory_lab.scheduling.bundled.timer.scenarios import (
    EXPLAINED_TIMER_SCENARIOS,
    TIMER_SCENARIOS,
)
from purgatory_lab.scheduling.bundled.timer.world import TICK_MS, WHEEL_SIZE, TimerWorld
from purgatory_lab.scheduling.scenario import Look, Program, Runs, Scenario, World
from purgatory_lab.scheduling.scheduler import Scheduler
from purgatory_lab.scheduling.yield_points import Injection, Table
from purgatory_model.overlapping.calls import OverlappingCalls
from purgatory_model.overlapping.interleaving import History
from purgatory_model.overlapping.linearizability import Explainer, explain
from purgatory_model.overlapping.parts import Part
from purgatory_model.overlapping.projection import Projection
from purgatory_model.overlapping.sequential_rules import Effect
from purgatory_model.overlapping.timer_calls import timer_part
from purgatory_model.timer import TimerModel, TimerState, timing_wheel_model
from purgatory_model.timing_wheel import TimingWheel
from purgatory_spec import operations as op
from purgatory_spec.operations import Cancel, Operation, Watch
from purgatory_spec.outcomes import Value
from purgatory_spec.profiles import Component, TimerConfiguration, TimerProfile

State: TypeAlias = TimerState[TimingWheel]


@dataclass(frozen=True, slots=True)
class TimerRules:
    """The rules of one timer.

    Attributes:
        model: Of the timing wheel.
    """

    model: TimerModel[TimingWheel]

    def initial(self) -> State:
        """Return a timer that was just made."""
        return self.model.initial()

    def effects(self, state: State, operation: Operation, part: Part) -> Iterator[Effect[State]]:
        """Yield the ways in which a part of a call may take effect."""
        taken = timer_part(self.model, state, operation, part)
        if isinstance(taken, Effect):
            yield taken
            return
        pending = operation.task in state.store.due_ticks if isinstance(operation, Cancel) else None
        for outcome, after in self.model.successors(state, taken):
            result = outcome.result if pending is None else pending
            yield Effect(after, outcome.events, result, outcome.rejected)


def timer_rules(configuration: TimerConfiguration, profile: TimerProfile) -> TimerRules:
    """Return the rules of a timing wheel of this configuration and profile."""
    return TimerRules(timing_wheel_model(configuration, profile))


WHOLE_PASSES: Final[Table] = replace(
    BUNDLED, sizes=tuple(size for size in BUNDLED.sizes if "timer" not in size.module)
)
"""The table for explaining the timer: a pass within one hold of the lock is one effect."""


class ExplainedTimer:
    """Explains histories of the timer; each is looked at once.

    Attributes:
        histories: How many different ones were explained.
    """

    def __init__(self) -> None:
        configuration = TimerConfiguration(TICK_MS, WHEEL_SIZE)
        self._rules: TimerRules = timer_rules(configuration, PROFILE)
        self._ends: dict[History, list[Mapping[str, Value]]] = {}

    @property
    def histories(self) -> int:
        """Return the number of different histories."""
        return len(self._ends)

    def __call__(self, world: World) -> list[str]:
        """Return the problems of a run that no order of calls explains."""
        assert isinstance(world, TimerWorld)
        history = tuple(world.history.events)
        if history not in self._ends:
            self._ends[history] = self._ends_of(history)
        ends = self._ends[history]
        if not ends:
            return ["no order of the calls explains what they returned"]
        if world.observed() not in ends:
            return [f"no order of the calls leaves {world.observed()}"]
        return []

    def _ends_of(self, history: History) -> list[Mapping[str, Value]]:
        """Return the counts that the explanations of a history leave; empty where there is none."""
        explainer = Explainer(self._rules)
        moments = explainer.begin()
        for event in history:
            moments = explainer.after(moments, event) or frozenset()
        return [dict(self._rules.model.observe(moment.state)) for moment in moments]


class ExplainedOperations:
    """Explains histories of the purgatory, each operation for itself."""

    def __init__(self) -> None:
        self._explained: dict[tuple[str, History], bool] = {}

    @property
    def histories(self) -> int:
        """Return the number of different histories of an operation."""
        return len(self._explained)

    def __call__(self, world: World) -> list[str]:
        """Return the problems of a run that no order of calls explains."""
        assert isinstance(world, PurgatoryWorld)
        history = tuple(world.history.events)
        return [
            f"no order of the calls explains what happened to {name}"
            for name in world.operations
            if not self._is_explained(name, _projected(name, history, world), world)
        ]

    def _is_explained(self, name: str, history: History, world: PurgatoryWorld) -> bool:
        if (name, history) not in self._explained:
            rules = OverlappingCalls(name, world.purgatory._accounting.time_out_first)
            self._explained[name, history] = explain(history, rules).is_complete
        return self._explained[name, history]


def _projected(name: str, history: History, world: PurgatoryWorld) -> History:
    keys = {
        key
        for operation in world.history.called()
        if isinstance(operation, Watch) and operation.operation == name
        for key in operation.keys
    }
    return Projection(name, frozenset(keys)).of(history)


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


@dataclass(frozen=True, slots=True)
class Prepared:
    """A scenario, and what its runs are held against besides the checks of its world.

    Attributes:
        scenario: What is run.
        component: Of what.
        look: Makes what looks at the ends of a search's runs.
        table: The yield points.
    """

    scenario: Scenario
    component: Component
    look: Callable[[], Look] | None = None
    table: Table = BUNDLED


def _all() -> Iterator[Prepared]:
    for accounting in ACCOUNTINGS:
        for scenario in purgatory_scenarios(accounting):
            yield Prepared(scenario, Component.PURGATORY, ExplainedOperations)
    for scenario in CROSSING_SCENARIOS:
        yield Prepared(scenario, Component.PURGATORY)
    for bound in BOUND_SCENARIOS.values():
        yield Prepared(bound.scenario(), Component.PURGATORY, bound.look)
    for scenario in TIMER_SCENARIOS:
        yield Prepared(scenario, Component.TIMER)
    for scenario in EXPLAINED_TIMER_SCENARIOS:
        yield Prepared(scenario, Component.TIMER, ExplainedTimer, WHOLE_PASSES)
    for scenario in MEMORY_POOL_SCENARIOS:
        yield Prepared(scenario, Component.MEMORY_POOL)
    for scenario in BOUND_MEMORY_POOL_SCENARIOS:
        yield Prepared(scenario, Component.MEMORY_POOL, partial(pool_ends, scenario))


SCENARIOS: Final[dict[str, Prepared]] = {each.scenario.name: each for each in _all()}
"""The scenarios of timer, pool and purgatory, either accounting, with and without its models."""


def prepared_scenario(name: str) -> Prepared:
    """Return the scenario of a name, one of the list or a generated one.

    Raises:
        KeyError: there is no such scenario.
    """
    if name in SCENARIOS:
        return SCENARIOS[name]
    scenario = generated_scenario(name)
    if scenario.make is TimerWorld:
        return Prepared(scenario, Component.TIMER, ExplainedTimer, WHOLE_PASSES)
    return Prepared(scenario, Component.PURGATORY)


@contextmanager
def scheduled(name: str) -> Iterator[Runs]:
    """Have the bundled implementation under control, for runs of a scenario.

    Raises:
        KeyError: there is no such scenario.
    """
    prepared = prepared_scenario(name)
    kind = CompiledInjection if COMPILED else Injection
    injection = kind(prepared.table, Scheduler())
    looks = [] if prepared.look is None else [prepared.look()]
    with injection.active():
        yield Runs(prepared.scenario, injection, looks)
