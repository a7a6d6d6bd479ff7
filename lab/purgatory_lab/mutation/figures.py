"""The figures of a run: for the terminal, for a page, for machines."""

import html
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from purgatory_lab.documents import table
from purgatory_lab.mutation.mutants import Mutant, Mutants
from purgatory_lab.mutation.reviewed import Equivalents, Reviewed, Scope, as_shipped, as_users_run
from purgatory_lab.mutation.runner import End, Result
from purgatory_lab.mutation.scope import (
    LEFT_OUT,
    MODULES,
    MODULES_LEFT_OUT,
    LeftOut,
    left_out_of,
)
from purgatory_lab.scheduling.yield_points import Size


@dataclass(frozen=True)
class Counts:
    """The counts of a module or of a scope: mutants, and those killed by some trials and by all."""

    name: str
    mutants: int
    as_users_run: int
    as_shipped: int
    killed: int

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the counts as text, each share behind its count."""
        killed = (self.as_users_run, self.as_shipped, self.killed)
        shares = (f"{count:,} ({count / (self.mutants or 1):.1%})" for count in killed)
        return (f"{self.mutants:,}", *shares)


class MutantRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A judged mutant, as the file of a run keeps it."""

    module: str
    definition: str
    operator: str
    line_number: int
    line: str
    mutated: str
    end: str
    detail: str
    stage: str


_OF_MUTANT = ("module", "definition", "operator", "line_number", "line", "mutated")


class RunRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A run, as its file keeps it: all that the page of figures follows from.

    Attributes:
        measured_on: A sentence about the cases, the time and the machine.
        not_judged: The count of changes that are no mutants, by module and kind.
        results: The judged mutants, in the order of the modules.
    """

    measured_on: str
    not_judged: dict[str, dict[str, int]]
    results: list[MutantRecord]

    def judged(self) -> list[Result]:
        """Return the results, as the run had them, but for the sources of the mutants."""
        return [
            Result(
                Mutant(**{name: getattr(each, name) for name in _OF_MUTANT}, source=""),
                End(each.end),
                each.detail,
                each.stage,
            )
            for each in self.results
        ]


def module_rows(
    results: Sequence[Result], modules: Iterable[str], equivalents: Equivalents
) -> list[Counts]:
    """Return a row for each module: its mutants of one thread, without the equivalent."""
    to_kill = equivalents.others(Scope.ONE_THREAD.of(results))
    return [
        _row(module, [each for each in to_kill if each.mutant.module == module])
        for module in modules
    ]


def scope_rows(results: Sequence[Result], equivalents: Equivalents) -> list[Counts]:
    """Return a row for each scope, and one for the killable mutants without a second thread."""
    rows = []
    for scope in Scope:
        of_scope = scope.of(results)
        rows.append(_row(scope.value, of_scope))
        if scope is not Scope.ALL:
            rows.append(_row(f"{scope.value}, not equivalent", equivalents.others(of_scope)))
    return rows


def _row(name: str, results: Sequence[Result]) -> Counts:
    return Counts(
        name,
        len(results),
        sum(map(as_users_run, results)),
        sum(map(as_shipped, results)),
        sum(result.end.killed for result in results),
    )


def terminal_table(
    results: Sequence[Result], modules: Iterable[str], equivalents: Equivalents
) -> str:
    """Return the figures as aligned text."""
    lines = []
    parts = {
        "one thread, not equivalent": module_rows(results, modules, equivalents),
        "mutants of all modules": scope_rows(results, equivalents),
    }
    for title, part in parts.items():
        heads = (f"{head:>16}" for head in ("as users run", "as shipped", "all trials"))
        lines.append(f"{title:34}{'mutants':>8}{''.join(heads)}")
        for row in part:
            mutants, *shares = row.cells
            lines.append(f"  {row.name:32}{mutants:>8}{''.join(f'{each:>16}' for each in shares)}")
    return "\n".join(lines)


def run_record(
    results: Sequence[Result], found: Mapping[str, Mutants], measured_on: str
) -> RunRecord:
    """Return the record of everything that a run has found."""
    return RunRecord(
        measured_on=measured_on,
        not_judged={module: _not_judged(mutants) for module, mutants in found.items()},
        results=[
            MutantRecord(
                **{name: getattr(each.mutant, name) for name in _OF_MUTANT},
                end=each.end.value,
                detail=each.detail,
                stage=each.stage,
            )
            for each in results
        ],
    )


def _by_end(results: Sequence[Result]) -> dict[End, int]:
    counts = Counter(result.end for result in results)
    return {end: counts[end] for end in End if counts[end]}


def _not_judged(mutants: Mutants) -> dict[str, int]:
    return {
        "in types": mutants.in_types,
        "in default values": mutants.in_defaults,
        "no program": mutants.no_program,
        "the same program": mutants.repeated,
    }


def page_text(run: RunRecord, reviewed: Sequence[Reviewed]) -> str:
    """Return the text between the marks of a page: figures, exclusions, survivors."""
    results = run.judged()
    return "\n".join(
        [
            *_figures(results, run, Equivalents.of(reviewed)),
            *_what_is_smaller(run.not_judged),
            *_what_is_left_out(results, run),
            *_survivors(results, reviewed),
        ]
    )


def _figures(results: Sequence[Result], run: RunRecord, equivalents: Equivalents) -> Iterator[str]:
    yield from (run.measured_on, "")
    yield _table("mutants", scope_rows(results, equivalents))
    yield from ("", "The mutants of one thread that are not equivalent, by module:", "")
    yield _table("module", module_rows(results, run.not_judged, equivalents))
    ends = ", ".join(f"{count:,} {end.value}" for end, count in _by_end(results).items())
    yield from ("", f"How all of them end: {ends}.")


def _table(head: str, rows: Iterable[Counts]) -> str:
    heads = ("number", "killed as users run it", "killed as shipped", "killed by all trials")
    cells = ((f"`{row.name}`" if row.name in MODULES else row.name, *row.cells) for row in rows)
    return table((head, *heads), cells)


def _what_is_smaller(modules: Iterable[str]) -> Iterator[str]:
    """Yield a line for each constant that is smaller in trials of these modules."""
    modules_of: dict[Size, list[str]] = {}
    for module in modules:
        for size in dict.fromkeys(size for trial in MODULES[module] for size in trial.sizes):
            modules_of.setdefault(size, []).append(f"`{module}`")
    yield from ("", "## What is smaller here", "")
    yield "Some of the cases are asked with constants of the implementation that are smaller."
    rows = (
        (
            f"`{size.module.rpartition('.')[2]}`, `{size.name}`",
            *(str(size.value), ", ".join(names), size.why),
        )
        for size, names in modules_of.items()
    )
    head = ("constant", "value", "for mutants of", "so that")
    yield from ("", table(head, rows, left={*head} - {"value"}))


def _what_is_left_out(results: Sequence[Result], run: RunRecord) -> Iterator[str]:
    yield from ("", "## What is outside the scope", "")
    counts = Counter[str]()
    for of_a_module in run.not_judged.values():
        counts.update(of_a_module)
    kinds = "; ".join(f"{count} {kind}" for kind, count in counts.items())
    yield f"Not among the mutants, by the program that makes them: {kinds}."
    mutants, killed = Counter[LeftOut | None](), Counter[LeftOut | None]()
    for result in results:
        mutant = result.mutant
        left_out = left_out_of(mutant.module, mutant.definition, mutant.line)
        mutants[left_out] += 1
        killed[left_out] += result.end.killed
    rows = []
    for each in LEFT_OUT:
        if each.module in run.not_judged:
            line = f", {_code(each.line)}" if each.line else ""
            where = f"{_where(each.module, each.definition)}{line}"
            thread = "yes" if each.of_threads else ""
            rows.append((where, str(mutants[each]), str(killed[each]), thread, each.reason))
    for module, reason in MODULES_LEFT_OUT.items():
        rows.append((f"`{module}`, the whole module", "", "", "", reason))
    head = ("outside the scope", "mutants", "killed", "a thread", "why")
    yield from ("", table(head, rows, left={*head} - {"mutants", "killed"}))


def _survivors(results: Sequence[Result], reviewed: Sequence[Reviewed]) -> Iterator[str]:
    """Yield one line for each reviewed entry, in the order of the list."""
    in_scope = Scope.IN_SCOPE.of(results)
    count = sum(not result.end.killed for result in in_scope)
    yield from ("", "## The survivors", "", f"{count} mutants in scope, each with the reason.", "")
    head = ("where", "line", "instead", "kind", "why it survives")
    rows = (
        (
            *(_where(entry.module, entry.definition), _code(entry.line)),
            "<br>".join(_code(each) for each in entry.mutated),
            *(entry.kind.value, entry.reason),
        )
        for entry in reviewed
    )
    yield table(head, rows, head)


def _where(module: str, definition: str) -> str:
    return f"`{module}`, `{definition}`" if definition else f"`{module}`"


def _code(text: str) -> str:
    """Return a line of code in a cell of a table."""
    if not text:
        return "*nothing*"
    return f"<code>{html.escape(text, quote=False)}</code>"
