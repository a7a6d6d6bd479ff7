"""Which mutants a share is about, and which of them the suite kills as users run it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import Enum

from purgatory_assurance.mutation.mutants import Mutant
from purgatory_assurance.mutation.runner import Result
from purgatory_assurance.mutation.scope import IMPORT, MODULES, left_out_of


class Scope(Enum):
    """Which mutants a figure is about; each of the three is a part of the one before."""

    ALL = "all"
    ONE_THREAD = "of one thread"
    IN_SCOPE = "in scope"

    def of(self, results: Iterable[Result]) -> list[Result]:
        """The mutants of this scope."""
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


_AS_USERS_RUN = frozenset(
    [IMPORT, *(trial.name for trials in MODULES.values() for trial in trials if trial.as_users_run)]
)
"""The stages that a user's ``purgatory check bundled --suite standard`` goes through."""


def as_users_run(result: Result) -> bool:
    """Whether ``purgatory check bundled --suite standard`` kills a mutant."""
    return result.end.killed and result.stage in _AS_USERS_RUN


def killed_before(
    mutants: Iterable[Mutant], earlier: Iterable[Result]
) -> tuple[list[Result], list[Mutant]]:
    """The earlier results of the mutants that a user's run killed, and the other mutants.

    Where several mutants have one key, as equal lines of a function have, all must be killed.
    """
    by_key: dict[tuple[str, str, str, str], list[Result]] = {}
    for result in earlier:
        by_key.setdefault(result.mutant.key, []).append(result)
    kept: list[Result] = []
    rest: list[Mutant] = []
    for mutant in mutants:
        found = by_key.get(mutant.key, [])
        if found and all(map(as_users_run, found)):
            kept.append(replace(found[0], mutant=mutant))
        else:
            rest.append(mutant)
    return kept, rest


def share(count: int, of: Sequence[Result]) -> float:
    """A count as a part of all; 0 of none."""
    return count / len(of) if of else 0.0
