"""The suite's own wrong subjects: each breaks one rule, and the suite must say which.

They measure the suite. A mutant that is not caught shows a situation that is not generated or not
judged; a mutant that is caught by another rule than its own shows that the suite blames wrongly.
"""

from functools import cache

from purgatory_conformance.specimens import reported as reported
from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.wrong import REGISTERED
from purgatory_spec.requirements import all_requirements


@cache
def mutants() -> tuple[Mutant, ...]:
    """Return all mutants, component after component, in the order of the rules that they break."""
    place = {rule.id: number for number, rule in enumerate(all_requirements())}
    return tuple(sorted(REGISTERED, key=lambda each: place[each.rule]))


def mutant(name: str) -> Mutant:
    """Return the mutant of this name.

    Raises:
        KeyError: there is none.
    """
    for candidate in mutants():
        if candidate.name == name:
            return candidate
    raise KeyError(name)
