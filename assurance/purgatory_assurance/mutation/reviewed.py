"""The reviewed survivors of the scope: who may survive, and why; nobody else, and nobody less."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from purgatory_assurance.mutation.runner import Result
from purgatory_assurance.mutation.shares import Scope, as_users_run, share

LEAST_SHARE = 0.69
"""The share of the mutants of one thread that must be killed as users run the suite."""


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
    of_one_thread = Scope.ONE_THREAD.of(results)
    killed = share(sum(map(as_users_run, of_one_thread)), of_one_thread)
    if killed < least_share:
        found.append(
            f"as users run the suite, {killed:.1%} of the mutants of one thread are killed, "
            f"less than {least_share:.0%}"
        )
    return found
