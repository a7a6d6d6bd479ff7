"""Sources of behaviours: TLC's simulation, and its counterexamples of the models."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from purgatory_tla.cases import memory_pool, timer, timing_wheel
from purgatory_tla.cases.behaviours import Behaviour, Constants, behaviour_of
from purgatory_tla.cases.instances import INSTANCES, Instance
from purgatory_tla.cases.predictions import Driven, NotDrivable
from purgatory_tla.cases.purgatory import exact, proposal
from purgatory_tla.checkers.checking import check
from purgatory_tla.checkers.configurations import Configuration
from purgatory_tla.checkers.simulation import simulate
from purgatory_tla.errors import InvalidSpecification, VacuousRun
from purgatory_tla.manifest.manifest import Kind, Model
from purgatory_tla.manifest.models import Settings

_DRIVERS: Mapping[str, Callable[[Behaviour, Constants], Driven]] = {
    "Timer": timer.drive,
    "TimingWheel": timing_wheel.drive,
    "MemoryPool": memory_pool.drive,
    "PurgatoryProposal": proposal.drive,
    "PurgatoryExact": exact.drive,
}

DRIVEN_MODULES = tuple(_DRIVERS)
"""The modules whose behaviours are cases."""

_FOR_EVER = "the counterexample goes on for ever: no finite case shows it"


@dataclass(frozen=True, slots=True)
class Found:
    """A behaviour made by TLC, up to the last step that can be driven, and its origin."""

    name: str
    title: str
    origin: str
    driven: Driven


def instance_of(model: Model, modules: Path) -> Instance:
    """Return the instance that a model of the manifest checks.

    Raises:
        InvalidSpecification: no cases are made of its module.
    """
    named = model.module or "no module"
    module = next((each for each in DRIVEN_MODULES if _extends(named, each)), None)
    if module is None or model.configuration is None:
        raise InvalidSpecification(
            f"{model.name} is of {named}; cases are made of {', '.join(DRIVEN_MODULES)}"
        )
    read = Configuration.read(modules / "models" / model.configuration)
    constants = {**read.constants, **model.constants}
    extension = named.removeprefix(module) or "History"
    return Instance(model.name, model.title, module, constants, extension=extension)


def _extends(module: str, bound: str) -> bool:
    """Decide whether a module's behaviours are those of the bound one, or some of them."""
    return module.removeprefix(bound) in ("", "History", "Passes") and module.startswith(bound)


def named_instance(name: str) -> Instance | None:
    """Return the instance for simulations with this name; None if no instance has the name."""
    return next((each for each in INSTANCES if each.name == name), None)


def simulated(
    instance: Instance, settings: Settings, *, traces: int, depth: int, seed: int
) -> Iterator[Found]:
    """Yield random behaviours of an instance; ``depth`` counts the steps of the module.

    Raises:
        CheckerError: TLC has no result.
    """
    made = simulate(
        instance.file(settings.modules),
        instance.configuration,
        traces=traces,
        depth=2 * depth + 1,
        seed=seed,
        timeout=settings.timeout,
        jar=settings.jar,
    )
    told = f"{instance.name} ({instance.module}), {_tool(made.tool, made.version)}, seed {seed}"
    for number, trace in enumerate(made.traces, start=1):
        yield Found(
            f"{instance.name}-seed-{seed}-behaviour-{number}",
            f"Behaviour {number} of a simulation of {instance.module}",
            f"TLC's simulation of {told}, behaviour {number}",
            _driven(instance, behaviour_of(trace)),
        )


def counterexample(model: Model, settings: Settings, *, sequential: bool = False) -> Found:
    """Return the behaviour with which TLC answers a must-fail model or a witness.

    Args:
        model: Of the manifest.
        settings: How TLC is run.
        sequential: Look for a behaviour whose calls follow each other.

    Raises:
        InvalidSpecification: no cases are made of the model.
        VacuousRun: TLC finds no such behaviour.
        CheckerError: TLC has no result.
    """
    if model.kind is Kind.CLAIM:
        raise InvalidSpecification(f"{model.name} is a claim that holds: it has no counterexample")
    instance = instance_of(model, settings.modules)
    if sequential:
        instance = instance.in_sequence()
    result = check(
        instance.file(settings.modules),
        instance.configuration,
        invariants=model.invariants,
        properties=model.properties,
        workers=1,
        timeout=settings.timeout,
        jar=settings.jar,
        java_options=("-XX:TieredStopAtLevel=1",),
    )
    if result.trace is None:
        how = "with one call at a time " if sequential else ""
        raise VacuousRun(f"{model.name} {how}is not violated: there is no behaviour to replay")
    word = "witness" if model.kind is Kind.WITNESS else "counterexample"
    how = ", one call at a time" if sequential else ""
    driven = _driven(instance, behaviour_of(result.trace))
    if result.trace.loop is not None:
        driven = Driven(
            driven.configuration, driven.profile, (), driven.length, NotDrivable(1, _FOR_EVER)
        )
    tool = _tool(result.tool, result.version)
    origin = f"TLC's {word} of {model.name} ({instance.module}{how}), {tool}"
    return Found(model.name, model.title, origin, driven)


def _driven(instance: Instance, behaviour: Behaviour) -> Driven:
    return _DRIVERS[instance.module](behaviour, Constants(instance.constants))


def _tool(tool: str, version: str) -> str:
    number = re.search(r"\d+(?:\.\d+)+", version)
    return f"{tool} {number[0] if number else version}"
