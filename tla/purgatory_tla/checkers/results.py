"""The results of checkers, in the same shape for every backend."""

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from itf_py import Trace


class Outcome(Enum):
    """The end of a run; a run that could not be made is an error instead (see ``errors``).

    ``SUCCESS`` is a complete exploration without a violation. ``BOUNDED`` says that nothing was
    found as far as the run looked: a simulation, or a bounded symbolic search.
    """

    SUCCESS = "success"
    BOUNDED = "bounded"
    INVARIANT = "invariant"
    PROPERTY = "property"
    DEADLOCK = "deadlock"
    ASSERTION = "assertion"


@dataclass(frozen=True, slots=True)
class Statistics:
    """The extent of a run's exploration.

    ``generated`` counts states computed and ``distinct`` those that differ; ``depth`` is the
    number of states on the longest shortest path, the initial one included. They are None where
    a tool does not say. ``seconds`` is the whole run by the wall clock, the tool's start included.
    """

    generated: int | None
    distinct: int | None
    depth: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The answer of one run.

    ``violated`` names the invariant or property that is broken, None where the tool does not name
    one (a deadlock). ``trace`` leads to the violation; every state's ``meta`` holds ``index`` and,
    where the tool says it, ``action``; ``trace.loop`` is the index of the state to which a lasso
    returns (the last state itself where it stutters).
    """

    outcome: Outcome
    violated: str | None
    statistics: Statistics
    trace: "Trace | None"
    tool: str
    version: str
    raw_log: str


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """Random behaviours, and the violation, if any, that ended the simulation.

    ``outcome`` is ``BOUNDED`` where nothing was found: a simulation shows no more than what it
    visited. Otherwise ``violation`` is the behaviour that violates ``violated``, and the simulation
    stopped there: ``traces`` are the behaviours before it, which may be fewer than asked for.
    """

    outcome: Outcome
    violated: str | None
    traces: "tuple[Trace, ...]"
    violation: "Trace | None"
    tool: str
    version: str
    raw_log: str


@dataclass(frozen=True, slots=True)
class InductionResult:
    """The three parts of a proof by induction.

    ``base``: every initial state satisfies the invariant. ``step``: every step from a state with
    the invariant leads to a state with the invariant. ``implication``: the invariant implies the
    claim; None where none was given. The trace of a failed step has two states and need not be
    reachable.
    """

    base: CheckResult
    step: CheckResult
    implication: CheckResult | None

    @property
    def holds(self) -> bool:
        """Decide whether no part is violated."""
        return self.failed is None

    @property
    def failed(self) -> str | None:
        """Return the first part that is violated: ``base``, ``step`` or ``implication``."""
        parts = {"base": self.base, "step": self.step, "implication": self.implication}
        passed = (Outcome.SUCCESS, Outcome.BOUNDED)
        for name, result in parts.items():
            if result is not None and result.outcome not in passed:
                return name
        return None


@dataclass(frozen=True, slots=True)
class TypecheckResult:
    """A module whose types a checker found to be right."""

    tool: str
    version: str
    raw_log: str
