"""Runs of Apalache, the symbolic checker: command lines, its words, its counterexamples.

Apalache looks at all behaviours up to a length, so that what it does not find is ``BOUNDED``. Its
answer is taken from three places that must agree: the line ``The outcome is: ...``, the line
``EXITCODE: ...`` and the exit code (0 nothing found, 12 a violation, 75 it cannot evaluate the
module, 120 a type error, 150 a syntax error, 255 anything else). The counterexample is the ITF file
``violation1.itf.json`` in the folder of the run.

``tests`` run a stand-in that answers as documented, and the real Apalache on machines that have it:
it is in no package index.
"""

import json
import re
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from purgatory_tla.checkers.apalache.errors import failure
from purgatory_tla.checkers.configurations import Configuration
from purgatory_tla.checkers.results import CheckResult, Outcome, Statistics, TypecheckResult
from purgatory_tla.checkers.tlc.log import BoundedText
from purgatory_tla.checkers.tool_process import run_tool
from purgatory_tla.checkers.tools import find_apalache
from purgatory_tla.errors import IllTyped, TimedOut, UnexpectedOutput, VacuousRun
from purgatory_tla.modules.module_text import ModuleText, read_module
from purgatory_tla.values.itf import make_state, make_trace, read_trace
from purgatory_tla.values.type_annotations import type_text
from purgatory_tla.values.values import normalised

if TYPE_CHECKING:
    from itf_py import Trace

DEFAULT_LENGTH = 10
_CONFIGURATION = "purgatory-tla.cfg"
_COUNTEREXAMPLES = ("violation1.itf.json", "violation.itf.json")
_OUTCOME = re.compile(r"The outcome is: (\w+)")
_VERSION = re.compile(r"APALACHE version:?\s*([\w.\-]+)", re.IGNORECASE)
_ENDED_WELL = "EXITCODE: OK"
_VIOLATION = 12
_WRAPPER = "PurgatoryTlaTyped"
_TYPED = "PurgatoryTlaTyped"
_EMPTY_SET = re.compile(r"\{\s*\}|<<\s*>>")
_CANONICAL = re.compile(r"==\s*(?P<init>\w+)\s*/\\\s*\[\]\[(?P<next>\w+)\]_")
_BEFORE_FAIRNESS = re.compile(r"==\s*(?:/\\\s*)?(\w+)\s*/\\")


@dataclass(frozen=True, slots=True)
class ApalacheSettings:
    """The settings of a run of Apalache; ``length`` counts steps."""

    length: int = DEFAULT_LENGTH
    deadlock: bool = False
    memory_megabytes: int | None = None
    timeout: float | None = None
    apalache: Path | None = None


@dataclass(frozen=True, slots=True)
class _Ended:
    code: int
    log: str
    seconds: float

    @property
    def version(self) -> str:
        """Return the version in the banner; empty where there is none."""
        match = _VERSION.search(self.log)
        return match[1] if match is not None else ""


def run_check(
    module: ModuleText, configuration: Configuration, settings: ApalacheSettings
) -> CheckResult:
    """Look at all behaviours up to a length.

    Raises:
        CheckerError: there is no verdict.
        ValueError: the configuration asks for what Apalache does not do.
    """
    _refuse(configuration)
    configuration = safety_alone(module, configuration)
    with tempfile.TemporaryDirectory(prefix="purgatory-tla-") as name:
        folder = Path(name)
        wrapper = typed_wrapper(module, configuration)
        defined = {each: f"<- {_TYPED}{each}" for each in _untyped(configuration)}
        asked = configuration.with_changes(constants=defined or None)
        (folder / _CONFIGURATION).write_text(asked.text(), encoding="utf-8")
        words = ["check", f"--config={_CONFIGURATION}", f"--length={settings.length}"]
        words += [] if settings.deadlock else ["--no-deadlock"]
        ended = _run(module, words, folder, settings, wrapper)
        outcome = _outcome(ended, settings)
        trace = None
        if outcome is not Outcome.BOUNDED:
            trace = _counterexample(folder / "run", module, ended)
        elif _deadlocked(ended) and _trace_file(folder / "run") is None:
            raise VacuousRun("there is no initial state: nothing was checked", raw_log=ended.log)
    if outcome is Outcome.INVARIANT and configuration.properties:
        outcome = Outcome.PROPERTY
    return CheckResult(
        outcome=outcome,
        violated=_violated(outcome, configuration),
        statistics=Statistics(None, None, None, ended.seconds),
        trace=trace,
        tool="Apalache",
        version=ended.version,
        raw_log=ended.log,
    )


def typecheck(
    module: Path, *, apalache: Path | None = None, timeout: float | None = None
) -> TypecheckResult:
    """Check the types of everything in a module.

    Args:
        module: the module's file; extended modules may stand beside it.
        apalache: Apalache's program.
        timeout: seconds after which the run is ended.

    Raises:
        IllTyped: the types are not right; in Apalache's words, with the place.
        CheckerError: there is no verdict.
    """
    settings = ApalacheSettings(timeout=timeout, apalache=apalache)
    with tempfile.TemporaryDirectory(prefix="purgatory-tla-") as name:
        ended = _run(read_module(Path(module)), ["typecheck"], Path(name), settings)
    if ended.code or _ENDED_WELL not in ended.log:
        raise failure(ended.code, ended.log)
    return TypecheckResult("Apalache", ended.version, ended.log)


def _refuse(configuration: Configuration) -> None:
    if configuration.constraints or configuration.action_constraints:
        raise ValueError("Apalache does not know constraints; bound the behaviours by 'length'")
    if configuration.invariants and configuration.properties:
        raise ValueError(
            "Apalache does not say which kind is violated: check invariants and properties apart"
        )


def safety_alone(module: ModuleText, configuration: Configuration) -> Configuration:
    r"""Return a configuration without the fairness of its specification, for invariants alone.

    A behaviour that is unfair so far can go on fairly, so fairness rules out no reachable state.
    Apalache knows one form, ``Init /\ [][Next]_vars``, and refuses all that stands beside it.
    """
    name = configuration.specification
    if name is None or configuration.properties:
        return configuration
    seen: set[str] = set()
    while name in module.definitions and name not in seen:
        seen.add(name)
        text = _definition(module, name)
        if form := _CANONICAL.search(text):
            return configuration.with_changes(init=form["init"], next=form["next"])
        inner = _BEFORE_FAIRNESS.search(text)
        name = inner[1] if inner else ""
    return configuration


def typed_wrapper(module: ModuleText, configuration: Configuration) -> str:
    """Return a module that defines the constants in which a set is empty, with their types.

    A configuration cannot say of what type the elements of ``{}`` are, and Apalache refuses it.
    The module is empty where there is no such constant.

    Raises:
        IllTyped: such a constant has no type in the module.
    """
    lines = []
    for name in _untyped(configuration):
        declared = module.annotations.types.get(name)
        if declared is None:
            raise IllTyped(
                f"{module.name} declares no type for the constant {name}, whose value has an "
                "empty set in it",
                module=module.name,
            )
        lines += [
            f"\\* @type: () => {type_text(declared)};",
            f"{_TYPED}{name} == {configuration.constants[name]}",
        ]
    return "\n".join([f"---- MODULE {_WRAPPER} ----", f"EXTENDS {module.name}", *lines, "====\n"])


def _untyped(configuration: Configuration) -> tuple[str, ...]:
    """Return the constants in whose value a set is empty."""
    return tuple(
        name for name, value in configuration.constants.items() if _EMPTY_SET.search(value)
    )


def _definition(module: ModuleText, name: str) -> str:
    place = module.definitions[name]
    path = module.path.parent / f"{place.module}.tla"
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(lines[place.first_line - 1 : place.last_line])


def _run(
    module: ModuleText,
    words: Sequence[str],
    folder: Path,
    settings: ApalacheSettings,
    wrapper: str | None = None,
) -> _Ended:
    """Run Apalache on a copy of the module and of those beside it, or on a wrapper of them."""
    program = find_apalache(settings.apalache)
    for path in module.path.absolute().parent.glob("*.tla"):
        shutil.copy(path, folder)
    file = module.path.name
    if wrapper is not None:
        file = f"{_WRAPPER}.tla"
        (folder / file).write_text(wrapper, encoding="utf-8")
    memory = settings.memory_megabytes
    log = BoundedText()
    began = time.monotonic()
    ended = run_tool(
        [
            program,
            *words,
            f"--out-dir={folder / 'output'}",
            f"--run-dir={folder / 'run'}",
            file,
        ],
        folder=folder,
        on_line=log.add,
        timeout=settings.timeout,
        environment={} if memory is None else {"JVM_ARGS": f"-Xmx{memory}m"},
    )
    if ended.timed_out:
        raise TimedOut(
            f"Apalache was ended after {settings.timeout:g} s, before it had finished",
            raw_log=str(log),
        )
    return _Ended(ended.code, str(log), time.monotonic() - began)


def _outcome(ended: _Ended, settings: ApalacheSettings) -> Outcome:
    said = _OUTCOME.findall(ended.log)
    outcome = said[-1] if said else None
    if ended.code == 0 and outcome in ("NoError", "ExecutionsTooShort"):
        if _ENDED_WELL in ended.log:
            return Outcome.BOUNDED
    elif ended.code == _VIOLATION and outcome == "Error":
        return Outcome.INVARIANT
    elif ended.code == _VIOLATION and outcome == "Deadlock":
        # It stops at a deadlock even if told not to look for one: no longer behaviour exists.
        return Outcome.DEADLOCK if settings.deadlock else Outcome.BOUNDED
    raise failure(ended.code, ended.log)


def _deadlocked(ended: _Ended) -> bool:
    return _OUTCOME.findall(ended.log)[-1:] == ["Deadlock"]


def _trace_file(folder: Path) -> Path | None:
    return next((folder / name for name in _COUNTEREXAMPLES if (folder / name).is_file()), None)


def _counterexample(folder: Path, module: ModuleText, ended: _Ended) -> "Trace | None":
    """Return the counterexample; a deadlock in no state at all has none."""
    path = _trace_file(folder)
    if path is None:
        if _deadlocked(ended):
            return None
        raise UnexpectedOutput("Apalache reports a violation, but no behaviour", raw_log=ended.log)
    try:
        read = read_trace(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnexpectedOutput(
            f"Apalache's counterexample cannot be read: {error}", raw_log=ended.log
        ) from error
    states = [
        make_state(
            {**state.meta, "index": index},
            {name: normalised(value) for name, value in state.values.items()},
        )
        for index, state in enumerate(read.states)
    ]
    if not states:
        raise UnexpectedOutput("Apalache's counterexample has no state", raw_log=ended.log)
    return make_trace(states, read.loop, {"source": module.path.name})


def _violated(outcome: Outcome, configuration: Configuration) -> str | None:
    """Return the name of the violation: Apalache counts parts of formulas and names none."""
    checked: tuple[str, ...] = ()
    if outcome is Outcome.INVARIANT:
        checked = configuration.invariants
    elif outcome is Outcome.PROPERTY:
        checked = configuration.properties
    return checked[0] if len(checked) == 1 else None
