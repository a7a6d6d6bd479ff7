"""The entrance: check a module, by TLC or by Apalache."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from purgatory_tla.checkers.apalache.running import DEFAULT_LENGTH, ApalacheSettings
from purgatory_tla.checkers.apalache.running import run_check as run_apalache
from purgatory_tla.checkers.configurations import Configuration, configuration_for, refuse_unfit
from purgatory_tla.checkers.results import CheckResult
from purgatory_tla.checkers.tlc.log import Progress
from purgatory_tla.checkers.tlc.running import TlcSettings, run_check
from purgatory_tla.checkers.tools import Backend
from purgatory_tla.errors import VacuousRun
from purgatory_tla.modules.module_text import read_module


def check(
    module: Path,
    configuration: Configuration | Path | None = None,
    *,
    constants: Mapping[str, str] | None = None,
    invariants: Sequence[str] | None = None,
    properties: Sequence[str] | None = None,
    specification: str | None = None,
    symmetry: str | None = None,
    constraints: Sequence[str] | None = None,
    deadlock: bool = False,
    backend: Backend = "tlc",
    workers: int = 1,
    memory_megabytes: int | None = None,
    java_options: Sequence[str] = (),
    timeout: float | None = None,
    length: int | None = None,
    jar: Path | None = None,
    apalache: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    dump: Path | None = None,
) -> CheckResult:
    """Check the properties of a module.

    Args:
        module: the module's file; extended modules may stand beside it.
        configuration: the instance; by default the file of the same name with the suffix
            ``.cfg``, if there is one.
        constants: replace those of the configuration, name by name.
        invariants: replace those of the configuration; empty: none.
        properties: likewise.
        specification: replaces that of the configuration.
        symmetry: likewise.
        constraints: likewise (state constraints).
        deadlock: whether a state without a successor is a violation.
        backend: the checker.
        workers: threads of TLC; with one, its search and its counts are always the same.
        memory_megabytes: Java's largest heap; None leaves it to Java (a quarter of the memory).
        java_options: further words for the Java that runs TLC. ``-XX:TieredStopAtLevel=1`` makes
            runs of a few seconds shorter, and long ones longer.
        timeout: seconds after which the run is ended.
        length: the longest behaviour that Apalache looks at, in steps; 10 if not given. TLC has no
            such bound.
        jar: TLC's jar, see ``tools`` for where it is looked for otherwise.
        apalache: Apalache's program, likewise.
        progress: called with how far TLC is whenever it says so: when it has run for some seconds,
            then once a minute, and at the end. An exception from the callback ends the run.
        dump: a file that the state graph is written to, in DOT, its edges labelled by actions.
            With it, nothing need be checked: the graph is what the run is for. After a violation
            the file holds the states and edges explored so far.

    Returns:
        The verdict; a violation is a result, not an error.

    Raises:
        CheckerError: there is no verdict; ``errors`` lists the kinds.
        ValueError: arguments that do not go together.
    """
    text = read_module(Path(module))
    wanted = configuration_for(text, configuration).with_changes(
        constants=constants,
        invariants=invariants,
        properties=properties,
        specification=specification,
        symmetry=symmetry,
        constraints=constraints,
    )
    refuse_unfit(text, wanted)
    if not (wanted.invariants or wanted.properties or deadlock or dump):
        raise VacuousRun(
            f"nothing is to be checked of {text.name}: name an invariant or a property, "
            "or look for deadlocks"
        )
    if backend == "apalache":
        for name, value in (("jar", jar), ("progress", progress), ("dump", dump)):
            _only_for(name, given=value is not None, tool="TLC")
        _only_for("workers", given=workers != 1, tool="TLC")
        _only_for("java_options", given=bool(java_options), tool="TLC")
        steps = DEFAULT_LENGTH if length is None else length
        return run_apalache(
            text, wanted, ApalacheSettings(steps, deadlock, memory_megabytes, timeout, apalache)
        )
    _only_for("length", given=length is not None, tool="Apalache")
    _only_for("apalache", given=apalache is not None, tool="Apalache")
    settings = TlcSettings(
        deadlock, workers, memory_megabytes, timeout, jar, progress, java_options
    )
    return run_check(text, wanted, settings, dump)


def _only_for(name: str, *, given: bool, tool: str) -> None:
    if given:
        raise ValueError(f"'{name}' is for {tool} alone")
