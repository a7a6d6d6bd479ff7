"""Decision whether an executable model and a TLA+ module have one state graph.

Both sides are explored completely and put into the same numbers. Equal means: the same states, and
the same triples of a state, a label with its arguments, and a state.
"""

import tempfile
import time
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TypeVar

from purgatory_model.claims.state_graph import TooManyStates
from purgatory_model.overlapping.interleaving import Step
from purgatory_tla.checkers.checking import check
from purgatory_tla.checkers.configurations import Configuration
from purgatory_tla.checkers.results import Statistics
from purgatory_tla.checkers.tlc.log import Progress
from purgatory_tla.comparing.binding import Binding
from purgatory_tla.comparing.graph_differences import Differences, differences
from purgatory_tla.comparing.history_dump import STEP, HistoryDump, read_history
from purgatory_tla.comparing.numbering import Numbering
from purgatory_tla.comparing.state_graph import MapIsNotOneToOne, NumberedGraph, model_graph
from purgatory_tla.errors import TimedOut, UnexpectedOutput
from purgatory_tla.modules.module_text import ModuleText, read_module
from purgatory_tla.resources import modules_folder

SPECIFICATION = "HistorySpec"
MOST_STATES = 200_000
"""A model with more states than this is not compared."""

QUICK = ("-XX:TieredStopAtLevel=1",)
"""Words for Java that make runs of a few seconds shorter, and long ones longer."""

State = TypeVar("State", bound=Hashable)


class GraphVerdict(Enum):
    """The verdict of a comparison."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNFIT = "unfit"
    """The binding lacks a variable or an action, or names a missing one."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of a comparison.

    Attributes:
        verdict: Whether the graphs are equal.
        states: How many states the module has at rest; 0 where it was not explored.
        edges: The number of labelled steps between the states.
        seconds: How long it took, both sides together.
        problems: What the binding maps wrongly, in sentences.
        differences: Where the graphs differ.
    """

    verdict: GraphVerdict
    states: int
    edges: int
    seconds: float
    problems: tuple[str, ...] = ()
    differences: Differences | None = None


@dataclass(frozen=True, slots=True)
class CompareSettings:
    """The settings of TLC for a module's graph; ``modules`` is the modules' folder.

    ``timeout`` bounds each of the two explorations, in seconds.
    """

    modules: Path
    jar: Path | None = None
    timeout: float | None = None
    java_options: tuple[str, ...] = ()
    progress: Callable[[Progress], None] | None = None


@dataclass(frozen=True, slots=True)
class Dump:
    """TLC's dump of a state graph: the file, and the numbers of states that TLC reports."""

    path: Path
    statistics: Statistics


def compare(binding: Binding[State], settings: CompareSettings | None = None) -> Comparison:
    """Explore both sides and compare.

    Raises:
        TimedOut: one of the two took longer than ``settings`` allow.
        CheckerError: TLC gave no graph, or not that of a history.
    """
    settings = settings or CompareSettings(modules_folder())
    timed = replace(binding, steps=_until(settings.timeout, binding.steps))
    return _compared(timed, settings.modules, lambda path: explore_module(binding, settings, path))


def _until(
    seconds: float | None, steps: Callable[[State], Iterable[tuple[Step, State]]]
) -> Callable[[State], Iterable[tuple[Step, State]]]:
    """Return the steps of a model, which raise ``TimedOut`` once the time is over."""
    if seconds is None:
        return steps
    end = time.monotonic() + seconds

    def timed(state: State) -> Iterable[tuple[Step, State]]:
        if time.monotonic() > end:
            raise TimedOut(f"the executable model was not explored within {seconds:g} s")
        return steps(state)

    return timed


def compare_with(
    binding: Binding[State], dump: Dump, modules: Path, *, arguments: bool = True
) -> Comparison:
    """Compare a model with a dump that ``explore_module`` has made before.

    Without ``arguments`` labels are the actions' names alone, as those that TLC itself writes at
    the edges of a graph: so it can be seen what these labels hide.

    Raises:
        CheckerError: it is no graph, or not that of a history.
    """
    return _compared(binding, modules, lambda _: dump, arguments=arguments)


def explore_module(binding: Binding[State], settings: CompareSettings, path: Path) -> Dump:
    """Let TLC write the graph of a binding's module to a file.

    Raises:
        CheckerError: there is none.
    """
    result = check(
        settings.modules / f"{binding.module}.tla",
        Configuration(specification=SPECIFICATION, constants=binding.constants),
        dump=path,
        timeout=settings.timeout,
        jar=settings.jar,
        java_options=settings.java_options,
        progress=settings.progress,
    )
    return Dump(path, result.statistics)


def _compared(
    binding: Binding[State],
    modules: Path,
    explore: Callable[[Path], Dump],
    *,
    arguments: bool = True,
) -> Comparison:
    began = time.monotonic()
    module = read_module(modules / f"{binding.module}.tla")
    problems = _misnamed(binding, module)
    if problems:
        return Comparison(GraphVerdict.UNFIT, 0, 0, time.monotonic() - began, problems)
    numbering = Numbering(tuple(sorted(binding.variables)), arguments)
    try:
        model = model_graph(binding, numbering, limit=MOST_STATES)
    except (TooManyStates, MapIsNotOneToOne) as error:
        return Comparison(GraphVerdict.UNFIT, 0, 0, time.monotonic() - began, (str(error),))
    with tempfile.TemporaryDirectory(prefix="purgatory-tla-") as name:
        checker = _read(explore(Path(name) / "graph.dot"), module, numbering)
    found = differences(model, checker, numbering)
    problems = _unmapped(binding, numbering)
    return Comparison(
        GraphVerdict.DIFFERENT if found else GraphVerdict.UNFIT if problems else GraphVerdict.EQUAL,
        len(checker.states),
        len(checker.edges),
        time.monotonic() - began,
        problems,
        found or None,
    )


def _read(dump: Dump, module: ModuleText, numbering: Numbering) -> NumberedGraph:
    with dump.path.open(encoding="utf-8", newline="") as lines:
        read = read_history(lines, numbering, module.annotations.types)
    _refuse_partial(read, dump.statistics)
    return read.graph


def _refuse_partial(read: HistoryDump, statistics: Statistics) -> None:
    """Refuse a dump with fewer states or steps than TLC says that it found."""
    generated = read.edges + len(read.graph.initial)
    if (read.nodes, generated) != (statistics.distinct, statistics.generated):
        raise UnexpectedOutput(
            f"TLC's graph has {read.nodes} states, {generated} generated, and TLC says that it "
            f"found {statistics.distinct}, {statistics.generated} generated"
        )


def _misnamed(binding: Binding[State], module: ModuleText) -> tuple[str, ...]:
    """Return the naming problems of variables and actions, without an exploration."""
    declared = set(module.variables) - {STEP}
    problems = []
    if STEP not in module.variables:
        problems.append(f"{module.name} has no variable '{STEP}': it is no history module")
    for name in sorted(declared - binding.variables.keys()):
        problems.append(f"the variable {name} of {module.name} is not mapped")
    for name in sorted(binding.variables.keys() - declared):
        problems.append(f"the variable {name} is mapped, and {module.name} has none of that name")
    for name in sorted(binding.actions.keys() - module.definitions.keys()):
        problems.append(f"the action {name} is mapped, and {module.name} has none of that name")
    return tuple(problems)


def _unmapped(binding: Binding[State], numbering: Numbering) -> tuple[str, ...]:
    """Return problems of actions that occur and are not mapped, or the other way round."""
    occurring = {str(label[0]) for label in numbering.labels}
    return (
        *(
            f"the action {name} occurs and is not mapped"
            for name in sorted(occurring - binding.actions.keys())
        ),
        *(
            f"the action {name} is mapped and never occurs in this instance"
            for name in sorted(binding.actions.keys() - occurring)
        ),
    )
