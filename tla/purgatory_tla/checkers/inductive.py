r"""Proofs by induction: an invariant that every step keeps, from any state at all.

Three runs: the initial states satisfy the invariant; every step from a state that satisfies it
leads to one that does; the invariant implies the claim.

Apalache does this for unbounded values, by behaviours of no step, one step and no step. TLC does it
for finite instances, where the invariant can be enumerated as an initial predicate: its first
mention of each variable must be ``x \in S`` or ``x = e``. Both answer a vacuous question (no
initial state, no state that satisfies the invariant) by ``VacuousRun``.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from purgatory_tla.checkers.apalache.running import ApalacheSettings
from purgatory_tla.checkers.apalache.running import run_check as run_apalache
from purgatory_tla.checkers.configurations import Configuration, configuration_for, refuse_unfit
from purgatory_tla.checkers.results import CheckResult, InductionResult, Outcome
from purgatory_tla.checkers.tlc.outcome import check_result
from purgatory_tla.checkers.tlc.running import WRAPPER, TlcSettings, run
from purgatory_tla.checkers.tools import Backend
from purgatory_tla.errors import VacuousRun
from purgatory_tla.modules.module_text import ModuleText, read_module

_NO_STEP = "PurgatoryTlaNoStep"


def induction(
    module: Path,
    configuration: Configuration | Path | None = None,
    *,
    inductive_invariant: str,
    init: str = "Init",
    next: str = "Next",  # noqa: A002
    implies: str | None = None,
    constants: Mapping[str, str] | None = None,
    backend: Backend = "tlc",
    memory_megabytes: int | None = None,
    timeout: float | None = None,
    jar: Path | None = None,
    apalache: Path | None = None,
) -> InductionResult:
    """Check that an invariant is inductive, and that it implies the claim ``implies``, if given.

    Args:
        module: the module's file.
        configuration: the source of the constants; nothing else in the configuration is used.
        inductive_invariant: the name of the invariant; it must restrict every variable.
        init: the name of the initial predicate.
        next: the name of the next-state relation.
        implies: the name of the claim that the invariant is to imply.
        constants: replace those of the configuration, name by name.
        backend: the checker.
        memory_megabytes: Java's largest heap.
        timeout: seconds for each of the runs.
        jar: TLC's jar.
        apalache: Apalache's program.

    Returns:
        All runs; ``holds`` says whether the proof is complete.

    Raises:
        CheckerError: a run has no verdict.
    """
    text = read_module(Path(module))
    base = configuration_for(text, configuration).with_changes(constants=constants)
    constants_alone = Configuration(constants=base.constants)

    def obligation(begin: str, steps: int, claim: str) -> CheckResult:
        asked = constants_alone.with_changes(init=begin, next=next, invariants=(claim,))
        refuse_unfit(text, asked)
        if backend == "apalache":
            return _by_apalache(text, asked, steps, memory_megabytes, timeout, apalache)
        settings = TlcSettings(memory_megabytes=memory_megabytes, timeout=timeout, jar=jar)
        return _by_tlc(text, asked, steps, settings)

    return InductionResult(
        base=obligation(init, 0, inductive_invariant),
        step=obligation(inductive_invariant, 1, inductive_invariant),
        implication=obligation(inductive_invariant, 0, implies) if implies is not None else None,
    )


def _by_tlc(
    module: ModuleText, asked: Configuration, steps: int, settings: TlcSettings
) -> CheckResult:
    """Return one run of TLC.

    A step that leaves the invariant is found from an initial state; if there is none, every state
    that TLC reaches is an initial one. So the length need not be bounded.
    """
    wrapper = (
        f"---- MODULE {WRAPPER} ----\nEXTENDS {module.name}\n"
        f"{_NO_STEP} == FALSE /\\ UNCHANGED <<{', '.join(module.variables)}>>\n====\n"
    )
    if not steps:
        asked = asked.with_changes(next=_NO_STEP)
    with tempfile.TemporaryDirectory(prefix="purgatory-tla-") as name:
        return check_result(run(module, asked, settings, Path(name), wrapper=wrapper))


def _by_apalache(
    module: ModuleText,
    asked: Configuration,
    steps: int,
    memory_megabytes: int | None,
    timeout: float | None,
    apalache: Path | None,
) -> CheckResult:
    # Deadlocks are looked for: that is how Apalache says that no state satisfies a predicate.
    settings = ApalacheSettings(steps, True, memory_megabytes, timeout, apalache)
    result = run_apalache(module, asked, settings)
    if result.outcome is Outcome.DEADLOCK:
        raise VacuousRun(
            f"no state satisfies {asked.init}, or none of them has a step: nothing was shown",
            raw_log=result.raw_log,
        )
    return result
