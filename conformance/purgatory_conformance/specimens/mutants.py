"""The suite's own wrong subjects: each breaks one rule, and the suite must say which.

They measure the suite. A mutant that is not caught shows a situation that is not generated or not
judged; a mutant that is caught by another rule than its own shows that the suite blames wrongly.
"""

from purgatory_conformance.specimens.channel_muting_mutants import channel_muting_mutants
from purgatory_conformance.specimens.memory_pool_mutants import memory_pool_mutants
from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.purgatory_mutants import purgatory_mutants
from purgatory_conformance.specimens.timer_mutants import timer_mutants


def mutants() -> tuple[Mutant, ...]:
    """All mutants, component after component, in the order of the rules that they break."""
    return timer_mutants() + purgatory_mutants() + memory_pool_mutants() + channel_muting_mutants()


def mutant(name: str) -> Mutant:
    """The mutant of this name.

    Raises:
        KeyError: there is none.
    """
    for candidate in mutants():
        if candidate.name == name:
            return candidate
    raise KeyError(name)
