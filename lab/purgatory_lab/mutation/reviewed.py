"""The reviewed survivors of the scope: who may survive, and why; nobody else, and nobody less."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Annotated

import msgspec

from purgatory_lab.mutation.mutants import Mutant
from purgatory_lab.mutation.runner import Result
from purgatory_lab.mutation.scope import IMPORT, MODULES, left_out_of


class Scope(Enum):
    """The mutants that a figure is about; each of the three is a part of the one before."""

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


LEAST_SHARE = 0.9
"""The share of the mutants in scope, without the equivalent, that a user's run must kill."""


Key = tuple[str, str, str, str]
"""A mutant's module, definition, line, and the text in place of the line."""


class Kind(Enum):
    """The degree to which a survivor differs from the original.

    ``equivalent``: no caller of one thread can tell it, but for memory and time. ``visible``: a
    caller could; no step asks, no rule speaks, or the rules leave it free.
    """

    EQUIVALENT = "equivalent"
    VISIBLE = "visible"


class Reviewed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Mutants of a line that survive for the same reason."""

    module: str
    definition: str
    line: str
    mutated: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    kind: Kind
    reason: Annotated[str, msgspec.Meta(pattern=r"\S")]

    @property
    def keys(self) -> tuple[Key, ...]:
        """Return the keys of the mutants that the entry means."""
        return tuple((self.module, self.definition, self.line, each) for each in self.mutated)


def read_reviewed(path: Path) -> tuple[Reviewed, ...]:
    """Read the list; see its first lines for the form.

    Raises:
        msgspec.ValidationError: an entry lacks a part, or has an empty reason.
        ValueError: an entry names a mutant once more.
    """
    tables = msgspec.toml.decode(path.read_bytes(), type=dict[str, tuple[Reviewed, ...]])
    entries = tables.get("survivors", ())
    seen: set[Key] = set()
    for key in (key for entry in entries for key in entry.keys):
        if key in seen:
            raise ValueError(f"reviewed twice: {key}")
        seen.add(key)
    return entries


@dataclass(frozen=True)
class Equivalents:
    """The mutants that no caller of one thread can tell from the original, if they survive."""

    reviewed: frozenset[Key]

    @staticmethod
    def of(reviewed: Iterable[Reviewed]) -> "Equivalents":
        """Return the equivalent mutants of the list and of the left out lines."""
        found = (entry for entry in reviewed if entry.kind is Kind.EQUIVALENT)
        return Equivalents(frozenset(key for entry in found for key in entry.keys))

    def holds(self, mutant: Mutant) -> bool:
        """Decide whether the list means a mutant."""
        left_out = left_out_of(mutant.module, mutant.definition, mutant.line)
        return mutant.key in self.reviewed or (left_out is not None and left_out.is_equivalent)

    def others(self, results: Iterable[Result]) -> list[Result]:
        """Return the results without the equivalent survivors: the mutants that can be killed."""
        return [each for each in results if each.end.killed or not self.holds(each.mutant)]


def settled_before(
    mutants: Sequence[Mutant], earlier: Iterable[Result], reviewed: Iterable[Reviewed]
) -> tuple[list[Result], list[Mutant]]:
    """Return the earlier results that stay, and the mutants that are judged again.

    The results of mutants stay that the trials as shipped killed, and of survivors with a reason.
    Judged are mutants that smaller constants killed, and survivors that are not on the list.
    """
    known = {key for entry in reviewed for key in entry.keys}
    kept: list[Result] = []
    rest: list[Mutant] = []
    for mutant, found in _paired(mutants, earlier):
        if found is not None and _is_settled(found, known):
            kept.append(replace(found, mutant=mutant))
        else:
            rest.append(mutant)
    return kept, rest


def with_earlier(results: Sequence[Result], earlier: Iterable[Result]) -> list[Result]:
    """Return results as shipped; a kill by another trial stays where one is a survivor."""
    pairs = _paired([each.mutant for each in results], earlier)
    return [
        replace(found, mutant=result.mutant)
        if found and found.end.killed and not (as_shipped(found) or result.end.killed)
        else result
        for result, (_, found) in zip(results, pairs, strict=True)
    ]


def _paired(
    mutants: Sequence[Mutant], earlier: Iterable[Result]
) -> Iterator[tuple[Mutant, Result | None]]:
    """Yield each mutant with its earlier result; both in the order of lines.

    A mutant has none where its key, as equal lines of a function have it, is there more often or
    less often than before.
    """
    by_key: dict[Key, list[Result]] = {}
    for result in earlier:
        by_key.setdefault(result.mutant.key, []).append(result)
    counts = Counter(mutant.key for mutant in mutants)
    seen = Counter[Key]()
    for mutant in mutants:
        found = by_key.get(mutant.key, [])
        number = seen[mutant.key]
        seen[mutant.key] += 1
        yield mutant, found[number] if len(found) == counts[mutant.key] else None


def _is_settled(result: Result, known: Collection[Key]) -> bool:
    if result.end.killed:
        return as_shipped(result)
    return result.mutant.key in known or not Scope.IN_SCOPE.of([result])


def problems(
    results: Sequence[Result],
    reviewed: Sequence[Reviewed],
    modules: Collection[str],
    least_share: float = LEAST_SHARE,
) -> list[str]:
    """Return the problems of a run; empty for a good run.

    Args:
        results: All mutants of the modules, those outside the scope too.
        reviewed: The reviewed survivors, of any module.
        modules: The modules that were run; entries of others are passed over.
        least_share: The share that must be killed; of some modules alone it says little.
    """
    known = {key for entry in reviewed for key in entry.keys if entry.module in modules}
    in_scope = Scope.IN_SCOPE.of(results)
    survivors = {r.mutant.key: r.mutant for r in in_scope if not r.end.killed}
    found = [
        f"survives without a reason: {mutant.module}:{mutant.line_number} in "
        f"{mutant.definition or 'the module'} ({mutant.operator})\n"
        f"    - {mutant.line}\n    + {mutant.mutated}"
        for key, mutant in survivors.items()
        if key not in known
    ]
    found += [
        f"reviewed as a survivor, but does not survive: {module}, {definition}\n"
        f"    - {line}\n    + {mutated}"
        for module, definition, line, mutated in sorted(known - set(survivors))
    ]
    to_kill = Equivalents.of(reviewed).others(in_scope)
    killed = share(sum(map(as_users_run, to_kill)), to_kill)
    if killed < least_share:
        found.append(
            f"as users run the suite, {killed:.1%} of the mutants in scope are killed that are not "
            f"equivalent, less than {least_share:.0%}"
        )
    return found
