"""The reviewed survivors: who may survive, and why; nobody else may, and nobody less."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from purgatory_assurance.mutation.runner import Result

LEAST_SHARE = 0.9
"""The share of mutants that must be killed."""


class Reviewed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Mutants of a line that survive for the same reason."""

    module: str
    definition: str
    line: str
    mutated: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    reason: Annotated[str, msgspec.Meta(pattern=r"\S")]

    @property
    def keys(self) -> tuple[tuple[str, str, str, str], ...]:
        """The keys of the mutants that are meant."""
        return tuple((self.module, self.definition, self.line, each) for each in self.mutated)


def read_reviewed(path: Path) -> tuple[Reviewed, ...]:
    """Read the list; see its first lines for the form.

    Raises:
        msgspec.ValidationError: an entry lacks a part, or has an empty reason.
        ValueError: an entry names a mutant once more.
    """
    tables = msgspec.toml.decode(path.read_bytes(), type=dict[str, tuple[Reviewed, ...]])
    entries = tables.get("survivors", ())
    seen: set[tuple[str, str, str, str]] = set()
    for key in (key for entry in entries for key in entry.keys):
        if key in seen:
            raise ValueError(f"reviewed twice: {key}")
        seen.add(key)
    return entries


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
