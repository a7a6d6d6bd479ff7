"""Running the models of the manifest, and comparing what is found with what is recorded."""

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from importlib import metadata
from pathlib import Path

from purgatory_tla.checkers.checking import check
from purgatory_tla.checkers.configurations import Configuration
from purgatory_tla.checkers.inductive import induction
from purgatory_tla.checkers.results import CheckResult, Outcome, Statistics
from purgatory_tla.checkers.simulation import simulate
from purgatory_tla.checkers.tlc.log import Progress
from purgatory_tla.checkers.tools import Backend, install_tlc
from purgatory_tla.errors import (
    CheckerError,
    IllTyped,
    InvalidSpecification,
    MissingTool,
)
from purgatory_tla.manifest.manifest import (
    Expected,
    Induction,
    Mode,
    Model,
    RunTime,
    Simulation,
    Symbolic,
)

_PROVERS = threading.Lock()
"""The lock of z3, which works for one thread at a time."""


class Agreement(Enum):
    """The relation of a finding to the expectation."""

    AS_EXPECTED = "as expected"
    DIFFERS = "differs"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the models' runs; ``modules`` is the folder with the modules.

    ``backend`` is the checker that runs what is no proof by z3; ``length`` stands in for the length
    that the manifest names for Apalache.
    """

    modules: Path
    workers: int = 1
    timeout: float | None = None
    jar: Path | None = None
    progress: Callable[[Progress], None] | None = None
    backend: Backend = "tlc"
    length: int | None = None
    apalache: Path | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of running a model; ``differences`` lists the deviations from the record.

    ``found`` is in the words of ``expected_words``. ``result`` is None where no checker gave a
    result.
    """

    model: Model
    standing: Agreement
    found: str
    differences: tuple[str, ...]
    statistics: Statistics | None
    tool: str
    result: CheckResult | None = None
    expected: str = ""

    @property
    def wanted(self) -> str:
        """Return what the run must find, in words: a run of Apalache has words of its own."""
        return self.expected or expected_words(self.model)


def run_model(model: Model, settings: Settings) -> Finding:
    """Run a model and compare.

    Raises:
        MissingTool: a checker, or the Java for a checker, is not installed.
    """
    try:
        if model.mode is Mode.PROOF:
            return _prove(model, settings)
        if settings.backend == "apalache":
            return _by_apalache(model, settings)
        result = checked_by_tlc(model, settings)
    except MissingTool:
        raise
    except InvalidSpecification as error:
        found = "ill-typed" if isinstance(error, IllTyped) else "invalid"
        return Finding(model, Agreement.DIFFERS, found, (_sentence(error),), None, "")
    except CheckerError as error:
        return Finding(model, Agreement.INCONCLUSIVE, "no verdict", (_sentence(error),), None, "")
    differences = tuple(compare(model, result, exactly=settings.workers == 1))
    return Finding(
        model=model,
        standing=Agreement.DIFFERS if differences else Agreement.AS_EXPECTED,
        found=_words(result.outcome.value, result.violated),
        differences=differences,
        statistics=result.statistics,
        tool=_tool(result),
        result=result,
    )


def _by_apalache(model: Model, settings: Settings) -> Finding:
    """Run what the manifest names for Apalache, and compare.

    Raises:
        CheckerError: there is no verdict.
    """
    asked = model.apalache or Symbolic(length=settings.length)
    if asked.induction is not None:
        return _induction(model, asked.induction, settings)
    steps = settings.length or asked.length
    if model.module is None or model.configuration is None or steps is None:
        raise InvalidSpecification(f"the manifest names no run of Apalache for {model.name}")
    result = check(
        settings.modules / f"{model.module}.tla",
        settings.modules / "models" / model.configuration,
        constants=model.constants or None,
        invariants=model.invariants,
        properties=(),  # these are for TLC: Apalache knows no fairness
        specification=model.specification,
        backend="apalache",
        length=steps,
        timeout=settings.timeout,
        apalache=settings.apalache,
    )
    within = f"within {steps} steps"
    held = f"no violation {within}"
    wanted = held if model.violated is None else f"{model.violated} violated {within}"
    found = held if result.violated is None else f"{result.violated} violated {within}"
    if result.outcome is Outcome.INVARIANT and result.violated is None:
        found = f"an invariant violated {within}"
    return _compared(model, wanted, found, _tool(result), result.statistics.seconds)


def _induction(model: Model, asked: Induction, settings: Settings) -> Finding:
    made = induction(
        settings.modules / f"{model.module}.tla",
        Configuration(),
        inductive_invariant=asked.invariant,
        next=asked.next,
        implies=asked.implies,
        backend="apalache",
        timeout=settings.timeout,
        apalache=settings.apalache,
    )
    holds = "inductive for every size"
    wanted = holds if asked.fails is None else f"{asked.fails} fails"
    found = holds if made.failed is None else f"{made.failed} fails"
    runs = [each for each in (made.base, made.step, made.implication) if each is not None]
    seconds = sum(each.statistics.seconds for each in runs)
    return _compared(model, wanted, found, _tool(made.base), seconds)


def _compared(model: Model, wanted: str, found: str, tool: str, seconds: float) -> Finding:
    same = wanted == found
    return Finding(
        model,
        Agreement.AS_EXPECTED if same else Agreement.DIFFERS,
        found,
        () if same else (f"expected {wanted}, found {found}",),
        Statistics(None, None, None, seconds),
        tool,
        expected=wanted,
    )


def checked_by_tlc(model: Model, settings: Settings) -> CheckResult:
    """Return the result of the checker, whether or not it is the expected one.

    Raises:
        CheckerError: there is none.
    """
    if model.module is None or model.configuration is None:
        raise InvalidSpecification(f"{model.name} has no module to check")
    if model.simulation is not None:
        return _simulated(model, model.module, model.configuration, model.simulation, settings)
    return check(
        settings.modules / f"{model.module}.tla",
        settings.modules / "models" / model.configuration,
        constants=model.constants or None,
        invariants=model.invariants,
        properties=model.properties,
        specification=model.specification,
        symmetry=model.symmetry,
        constraints=model.constraints,
        deadlock=model.deadlock,
        workers=settings.workers,
        timeout=settings.timeout,
        jar=settings.jar,
        progress=settings.progress,
        java_options=_java_options(model),
    )


def _java_options(model: Model) -> tuple[str, ...]:
    """Return Java's options: less compiling where a run is short."""
    return ("-XX:TieredStopAtLevel=1",) if model.run_time is RunTime.SMALL else ()


def _simulated(
    model: Model, module: str, configuration: str, simulation: Simulation, settings: Settings
) -> CheckResult:
    """Return a simulation's result as a check's: generated states, and the longest way."""
    began = time.monotonic()
    made = simulate(
        settings.modules / f"{module}.tla",
        settings.modules / "models" / configuration,
        traces=simulation.behaviours,
        depth=simulation.length,
        seed=simulation.seed,
        constants=model.constants or None,
        invariants=model.invariants,
        properties=model.properties,
        specification=model.specification,
        constraints=model.constraints,
        deadlock=model.deadlock,
        timeout=settings.timeout,
        jar=settings.jar,
        progress=settings.progress,
    )
    lengths = [len(trace.states) for trace in made.traces]
    statistics = Statistics(sum(lengths), None, max(lengths, default=0), time.monotonic() - began)
    return CheckResult(
        made.outcome,
        made.violated,
        statistics,
        made.violation,
        made.tool,
        made.version,
        made.raw_log,
    )


def _tool(result: CheckResult) -> str:
    """Return the tool with its version's number alone."""
    number = re.search(r"\d+(?:\.\d+)+", result.version)
    return f"{result.tool} {number[0] if number else result.version}"


def expected_words(model: Model) -> str:
    """Return the finding that a run must have, in one or two words."""
    return _words(model.expected.value, model.violated)


def _words(outcome: str, violated: str | None) -> str:
    return outcome if violated is None else f"{violated} violated"


def compare(model: Model, result: CheckResult, *, exactly: bool) -> list[str]:
    """Return the differences from the record, a sentence each.

    With several workers (not ``exactly``) a search that a violation ends visits more or less by
    chance, and the depth is never exact: then only what does not depend on chance is compared.
    """
    differences: list[str] = []
    if result.outcome.value != model.expected.value:
        differences.append(f"expected {model.expected.value}, found {result.outcome.value}")
    if result.violated != model.violated:
        differences.append(
            f"expected {model.violated or 'nothing'} to be violated, "
            f"found {result.violated or 'nothing'}"
        )
    if differences:
        return differences
    if model.mode is Mode.SIMULATION:  # random behaviours are another TLC's other behaviours
        return []
    counts = ["generated", "distinct"] if exactly or result.outcome is Outcome.SUCCESS else []
    for name in [*counts, *(["depth"] if exactly else [])]:
        recorded: int | None = getattr(model, name)
        counted: int | None = getattr(result.statistics, name)
        unknown = name == "depth" and recorded is None  # TLC 2.15 tells none of a lasso
        if recorded != counted and not unknown:
            differences.append(f"expected {name} {recorded}, found {counted}")
    return differences


def _prove(model: Model, settings: Settings) -> Finding:
    try:  # z3 comes with the extra: all other runs work without z3
        from purgatory_tla.proofs import PROOFS
        from purgatory_tla.proofs.obligations import ProofVerdict, prove
    except ModuleNotFoundError as error:
        raise MissingTool(f"the prover z3 is not installed: {install_tlc()}") from error
    proof = PROOFS.get(model.proof or "")
    if proof is None:
        unknown = f"there is no proof {model.proof!r}"
        return Finding(model, Agreement.DIFFERS, "invalid", (unknown,), None, "")
    with _PROVERS:
        result = prove(proof, seconds=settings.timeout or 60.0)
    standing, differences = Agreement.AS_EXPECTED, []
    wanted = {Expected.SUCCESS: ProofVerdict.PROVED, Expected.REFUTED: ProofVerdict.REFUTED}
    if result.verdict is not wanted.get(model.expected):
        undecided = result.verdict is ProofVerdict.UNDECIDED
        standing = Agreement.INCONCLUSIVE if undecided else Agreement.DIFFERS
        differences = [
            f"{each.name}: {each.verdict.value}"
            for each in result.discharged
            if each.verdict is not ProofVerdict.PROVED
        ] or ["every obligation is proved"]
    seconds = sum(each.seconds for each in result.discharged)
    found = "success" if result.verdict is ProofVerdict.PROVED else result.verdict.value
    statistics = Statistics(None, None, None, seconds)
    return Finding(
        model,
        standing,
        found,
        tuple(differences),
        statistics,
        f"z3 {metadata.version('z3-solver')}",
    )


def _sentence(error: CheckerError) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
