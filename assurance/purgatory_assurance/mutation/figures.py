"""The figures of a run: for the terminal, for a page, for machines."""

import html
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from purgatory_assurance.mutation.mutants import Mutant, Mutants
from purgatory_assurance.mutation.reviewed import Reviewed, share
from purgatory_assurance.mutation.runner import End, Result
from purgatory_assurance.mutation.scope import LEFT_OUT, MODULES, MODULES_LEFT_OUT
from purgatory_conformance.scheduling.yield_points import Size


@dataclass(frozen=True)
class Row:
    """The counts of one module, or of all."""

    name: str
    mutants: int
    killed: int
    share: float

    @property
    def survived(self) -> int:
        """The mutants that no case has caught."""
        return self.mutants - self.killed


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


_OF_MUTANT = ("module", "definition", "operator", "line_number", "line", "mutated")


class RunRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A run, as its file keeps it: all that the page of figures follows from.

    Attributes:
        measured_on: A sentence about the cases, the time and the machine.
        not_judged: The count of changes that are no mutants, by module and kind.
        left_out: The count of changes in each function and line left out, in the order of the list.
        results: The judged mutants, in the order of the modules.
    """

    measured_on: str
    not_judged: dict[str, dict[str, int]]
    left_out: list[int]
    results: list[MutantRecord]

    def judged(self) -> list[Result]:
        """The results, as the run had them, but for the sources of the mutants."""
        return [
            Result(
                Mutant(**{name: getattr(each, name) for name in _OF_MUTANT}, source=""),
                End(each.end),
                each.detail,
            )
            for each in self.results
        ]


def write_run(path: Path, run: RunRecord) -> None:
    """Write the file of a run: JSON, a line for each mutant."""
    head = msgspec.json.encode(msgspec.structs.replace(run, results=[])).decode()
    mutants = ",\n".join(msgspec.json.encode(each).decode() for each in run.results)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{head.removesuffix(']}')}\n{mutants}\n]}}\n", encoding="utf-8")


def read_run(path: Path) -> RunRecord:
    """Read the file of a run.

    Raises:
        msgspec.DecodeError: the file is none of a run.
    """
    return msgspec.json.decode(path.read_bytes(), type=RunRecord)


def rows(results: Sequence[Result], modules: Iterable[str]) -> list[Row]:
    """A row for each module and one for all of them, last."""
    found = []
    for module in modules:
        found.append(_row(module, [r for r in results if r.mutant.module == module]))
    return [*found, _row("all", results)]


def _row(name: str, results: Sequence[Result]) -> Row:
    killed = sum(result.end.killed for result in results)
    return Row(name, len(results), killed, share(results))


def terminal_table(table: Iterable[Row]) -> str:
    """The rows as aligned text."""
    lines = [f"{'module':28}{'mutants':>8}{'killed':>8}{'survived':>10}{'share':>9}"]
    lines += [
        f"{row.name:28}{row.mutants:8}{row.killed:8}{row.survived:10}{row.share:9.1%}"
        for row in table
    ]
    return "\n".join(lines)


def run_record(
    results: Sequence[Result], found: Mapping[str, Mutants], measured_on: str
) -> RunRecord:
    """Everything that a run has found."""
    counts = {each: found[each.module].left_out[each] for each in LEFT_OUT if each.module in found}
    return RunRecord(
        measured_on=measured_on,
        not_judged={module: _not_judged(mutants) for module, mutants in found.items()},
        left_out=[counts.get(each, 0) for each in LEFT_OUT],
        results=[
            MutantRecord(
                **{name: getattr(each.mutant, name) for name in _OF_MUTANT},
                end=each.end.value,
                detail=each.detail,
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
        "in functions left out": mutants.left_out.total(),
    }


def page_text(run: RunRecord, reviewed: Sequence[Reviewed]) -> str:
    """The text between the marks of a page: figures, unjudged mutants, survivors."""
    results = run.judged()
    return "\n".join(
        [
            *_figures(results, run),
            *_what_is_smaller(run.not_judged),
            *_what_is_not_judged(run),
            *_survivors(results, reviewed),
        ]
    )


def _figures(results: Sequence[Result], run: RunRecord) -> Iterator[str]:
    table = rows(results, run.not_judged)
    total = table[-1]
    yield (
        f"**{total.killed:,} of {total.mutants:,} mutants are killed: {total.share:.1%}.** "
        f"{run.measured_on}"
    )
    yield from ("", "| module | mutants | killed | survived | share |", "|---|---:|---:|---:|---:|")
    for row in table:
        name = f"`{row.name}`" if row is not total else "all"
        yield f"| {name} | {row.mutants} | {row.killed} | {row.survived} | {row.share:.1%} |"
    yield ""
    yield (
        "How they end: "
        + ", ".join(f"{count} {end.value}" for end, count in _by_end(results).items())
        + "."
    )


def _what_is_smaller(modules: Iterable[str]) -> Iterator[str]:
    """A line for each constant that is smaller in trials of these modules."""
    modules_of: dict[Size, list[str]] = {}
    for module in modules:
        for size in dict.fromkeys(size for trial in MODULES[module] for size in trial.sizes):
            modules_of.setdefault(size, []).append(f"`{module}`")
    yield from ("", "## What is smaller here", "")
    yield "Some of the cases are asked with constants of the implementation that are smaller."
    yield from ("", "| constant | value | for mutants of | so that |", "|---|---:|---|---|")
    for size, names in modules_of.items():
        constant = f"`{size.module.rpartition('.')[2]}`, `{size.name}`"
        yield f"| {constant} | {size.value} | {', '.join(names)} | {size.why} |"


def _what_is_not_judged(run: RunRecord) -> Iterator[str]:
    yield from ("", "## What is not judged", "")
    counts = Counter[str]()
    for of_a_module in run.not_judged.values():
        counts.update(of_a_module)
    yield (
        "Not among the mutants, by the program that makes them: "
        + "; ".join(f"{count} {kind}" for kind, count in counts.items())
        + "."
    )
    yield from ("", "| left out | changes | why |", "|---|---:|---|")
    for each, count in zip(LEFT_OUT, run.left_out, strict=True):
        if each.module in run.not_judged:
            where = _where(each.module, each.definition)
            line = f", {_code(each.line)}" if each.line else ""
            yield f"| {where}{line} | {count} | {each.reason} |"
    for module, reason in MODULES_LEFT_OUT.items():
        yield f"| `{module}`, the whole module | | {reason} |"


def _survivors(results: Sequence[Result], reviewed: Sequence[Reviewed]) -> Iterator[str]:
    """One line for each reviewed entry, in the order of the list."""
    count = sum(not result.end.killed for result in results)
    yield from ("", "## The survivors", "", f"{count} mutants, each with the reason.", "")
    yield from ("| where | line | instead | why it survives |", "|---|---|---|---|")
    for entry in reviewed:
        where = _where(entry.module, entry.definition)
        changes = "<br>".join(_code(each) for each in entry.mutated)
        yield f"| {where} | {_code(entry.line)} | {changes} | {entry.reason} |"


def _where(module: str, definition: str) -> str:
    return f"`{module}`, `{definition}`" if definition else f"`{module}`"


def _code(text: str) -> str:
    """A line of code in a cell of a table, in which a bar would end the cell."""
    if not text:
        return "*nothing*"
    return f"<code>{html.escape(text, quote=False).replace('|', '&#124;')}</code>"
