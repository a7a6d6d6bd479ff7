"""Which mutants a share is about, and which of them the suite kills as users run it."""

from collections.abc import Iterable, Sequence
from enum import Enum

from purgatory_lab.mutation.mutants import Mutant
from purgatory_lab.mutation.runner import Result
from purgatory_lab.mutation.scope import IMPORT, MODULES, left_out_of


class Scope(Enum):
    """Which mutants a figure is about; each of the three is a part of the one before."""

    ALL = "all"
    ONE_THREAD = "of one thread"
    IN_SCOPE = "in scope"

    def of(self, results: Iterable[Result]) -> list[Result]:
        """Return the mutants of this scope."""
        return [result for result in results if self._holds(result.mutant)]

    def _holds(self, mutant: Mutant) -> bool:
        left_out = left_out_of(mutant.module, mutant.definition, mutant.line)
        match self:
            case Scope.ALL:
                return True
            case Scope.ONE_THREAD:
                return left_out is None or not left_out.of_threads
            case Scope.IN_SCOPE:
                return left_out is None


_TRIALS = frozenset(trial for trials in MODULES.values() for trial in trials)
_AS_USERS_RUN = frozenset([IMPORT, *(trial.name for trial in _TRIALS if trial.as_users_run)])
_AS_SHIPPED = frozenset([IMPORT, *(trial.name for trial in _TRIALS if trial.as_shipped)])


def as_users_run(result: Result) -> bool:
    """Decide whether ``purgatory check bundled --suite standard`` kills a mutant."""
    return result.end.killed and result.stage in _AS_USERS_RUN


def as_shipped(result: Result) -> bool:
    """Decide whether that command kills a mutant for one of the subjects on a virtual clock."""
    return result.end.killed and result.stage in _AS_SHIPPED


def share(count: int, of: Sequence[Result]) -> float:
    """Return a count as a share of all; 0 of none."""
    return count / len(of) if of else 0.0
