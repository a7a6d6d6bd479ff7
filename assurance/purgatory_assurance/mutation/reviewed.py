"""The reviewed survivors: who may survive, and why; nobody else may, and nobody less."""

import tomllib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from purgatory_assurance.mutation.runner import Result

LEAST_SHARE = 0.9
"""The share of mutants that must be killed."""


@dataclass(frozen=True)
class Reviewed:
    """Mutants of a line that survive for the same reason."""

    module: str
    definition: str
    line: str
    mutated: tuple[str, ...]
    reason: str

    @property
    def keys(self) -> tuple[tuple[str, str, str, str], ...]:
        """The keys of the mutants that are meant."""
        return tuple((self.module, self.definition, self.line, each) for each in self.mutated)


def read_reviewed(path: Path) -> tuple[Reviewed, ...]:
    """Read the list; see its first lines for the form.

    Raises:
        ValueError: an entry lacks a part, has an empty reason, or names a mutant once more.
    """
    tables = tomllib.loads(path.read_text(encoding="utf-8")).get("survivors", [])
    entries = tuple(_entry(table) for table in tables)
    seen: set[tuple[str, str, str, str]] = set()
    for key in (key for entry in entries for key in entry.keys):
        if key in seen:
            raise ValueError(f"reviewed twice: {key}")
        seen.add(key)
    return entries


def _entry(table: dict[str, object]) -> Reviewed:
    texts = [table.get(name) for name in ("module", "definition", "line", "reason")]
    mutated = table.get("mutated")
    if not isinstance(mutated, list) or not mutated or not all(isinstance(t, str) for t in texts):
        raise ValueError(f"an entry needs module, definition, line, mutated and reason: {table}")
    module, definition, line, reason = (str(text) for text in texts)
    if not reason.strip():
        raise ValueError(f"an entry without a reason: {table}")
    return Reviewed(module, definition, line, tuple(str(each) for each in mutated), reason)


def problems(
    results: Sequence[Result],
    reviewed: Iterable[Reviewed],
    modules: Collection[str],
    least_share: float = LEAST_SHARE,
) -> list[str]:
    """The problems of a run; empty for a good run.

    Args:
        results: All mutants of the modules.
        reviewed: The reviewed survivors, of any module.
        modules: The modules that were run; entries of others are passed over.
        least_share: The share that must be killed; of some modules alone it says little.
    """
    known = {key for entry in reviewed for key in entry.keys if entry.module in modules}
    survivors = {r.mutant.key: r.mutant for r in results if not r.end.killed}
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
    killed = share(results)
    if killed < least_share:
        found.append(f"{killed:.1%} of the mutants are killed, less than {least_share:.0%}")
    return found


def share(results: Sequence[Result]) -> float:
    """Killed mutants, as a part of all; those with a reason to survive are among all."""
    return sum(result.end.killed for result in results) / len(results) if results else 0.0
