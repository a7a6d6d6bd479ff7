"""Random behaviours of a module, by TLC's simulation."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from purgatory_tla.checkers.configurations import Configuration, configuration_for, refuse_unfit
from purgatory_tla.checkers.results import Outcome, SimulationResult
from purgatory_tla.checkers.tlc.log import Progress
from purgatory_tla.checkers.tlc.outcome import version, violation
from purgatory_tla.checkers.tlc.running import TlcSettings, run
from purgatory_tla.checkers.tlc.traces import simulated_trace, trace_in
from purgatory_tla.errors import UnexpectedOutput, VacuousRun
from purgatory_tla.modules.module_text import read_module

_FILE = "behaviour"


def simulate(
    module: Path,
    configuration: Configuration | Path | None = None,
    *,
    traces: int,
    depth: int,
    seed: int,
    constants: Mapping[str, str] | None = None,
    invariants: Sequence[str] | None = None,
    properties: Sequence[str] | None = None,
    specification: str | None = None,
    constraints: Sequence[str] | None = None,
    deadlock: bool = False,
    memory_megabytes: int | None = None,
    timeout: float | None = None,
    jar: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> SimulationResult:
    """Make random behaviours; the invariants are checked on the way.

    TLC names no actions in these behaviours, so their states' ``meta`` holds ``index`` alone. A
    module that needs the action keeps its name in a variable.

    Args:
        module: the module's file.
        configuration: as for ``check``; nothing need be checked.
        traces: how many behaviours.
        depth: the largest number of states of one behaviour.
        seed: the same seed makes the same behaviours with the same TLC.
        constants: replace those of the configuration, name by name.
        invariants: replace those of the configuration.
        properties: likewise.
        specification: likewise.
        constraints: likewise.
        deadlock: whether a state without a successor is a violation; if not, it ends a behaviour.
        memory_megabytes: Java's largest heap.
        timeout: seconds after which the run is ended.
        jar: TLC's jar.
        progress: called with how many states were generated.

    Returns:
        The behaviours; after a violation the violating behaviour and all before it.

    Raises:
        CheckerError: the run has no result.
        ValueError: a number is not positive, or the seed is negative.
    """
    if traces < 1 or depth < 1 or seed < 0:
        raise ValueError("traces and depth must be positive, and the seed not negative")
    text = read_module(Path(module))
    wanted = configuration_for(text, configuration).with_changes(
        constants=constants,
        invariants=invariants,
        properties=properties,
        specification=specification,
        constraints=constraints,
    )
    refuse_unfit(text, wanted)
    settings = TlcSettings(deadlock, 1, memory_megabytes, timeout, jar, progress)
    with tempfile.TemporaryDirectory(prefix="purgatory-tla-") as name:
        output = Path(name) / "output"
        output.mkdir()
        words = ["-simulate", f"file={output / _FILE},num={traces}"]
        words += ["-depth", str(depth), "-seed", str(seed)]
        ran = run(text, wanted, settings, Path(name), words)
        violated = violation(ran)
        raw_log = str(ran.log.raw)
        files = sorted(output.iterdir(), key=lambda path: int(path.name.rpartition("_")[2]))
        made = tuple(simulated_trace(path, text) for path in files)
    if violated is None and ran.exit_code:
        raise UnexpectedOutput(
            f"TLC ended a simulation with exit code {ran.exit_code}", raw_log=raw_log
        )
    if violated is None and not made:
        raise VacuousRun("the simulation made no behaviour", raw_log=raw_log)
    if violated is None and len(made) != traces:
        raise UnexpectedOutput(
            f"{traces} behaviours were asked for, and TLC made {len(made)}", raw_log=raw_log
        )
    return SimulationResult(
        outcome=Outcome.BOUNDED if violated is None else violated[0],
        violated=None if violated is None else violated[1],
        traces=made,
        violation=None if violated is None else trace_in(ran.log.messages, text),
        tool="TLC",
        version=version(ran.log.messages),
        raw_log=raw_log,
    )
