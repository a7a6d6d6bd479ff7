"""The commands about rules: list them, explain a rule, show its statements and its tests."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal

import click
import msgspec
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from purgatory_conformance.command_line import AS_JSON, print_json
from purgatory_conformance.commands.options import known_rule
from purgatory_conformance.completion import complete_rule
from purgatory_conformance.describing.steps import describe_configuration, describe_operation
from purgatory_conformance.describing.words import instance_noun, noun, paragraphs
from purgatory_conformance.exploring.rule_pairs import explore_pairs
from purgatory_conformance.knowledge import (
    all_vectors,
    deviations_of_adapters,
    profile_fields,
    statements,
)
from purgatory_conformance.registered import REGISTERED
from purgatory_conformance.reporting.results_file import read_results
from purgatory_conformance.reporting.terminal_page import (
    is_aligned,
    print_columns,
    standard_output,
)
from purgatory_conformance.resources import WORK_FOLDER
from purgatory_conformance.specimens.mutants import mutants
from purgatory_conformance.specimens.profile_subjects import profile_subjects
from purgatory_judge.components import on_real_clock
from purgatory_judge.registry import judged
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import Requirement, all_requirements


@click.command()
@click.argument("identifier", metavar="ID", shell_complete=complete_rule)
@AS_JSON
def explain(identifier: str, as_json: bool) -> None:
    """Explain a rule: demand and rationale, statements in the packages, known breakers."""
    rule = known_rule(identifier)
    shown = [each.header for each in all_vectors() if rule.id in each.header.rules]
    broken = [mutant for mutant in mutants() if mutant.rule == rule.id]
    known = [(subject, why) for subject, of, why in deviations_of_adapters() if of == rule.id]
    if as_json:
        print_json(
            {
                **msgspec.to_builtins(rule),
                "statements": statements(rule.id),
                "vectors": [{"name": each.case, "title": each.title} for each in shown],
                "mutants": [{"name": each.name, "summary": each.summary} for each in broken],
                "deviations": [{"subject": subject, "reason": why} for subject, why in known],
            }
        )
        return
    console = standard_output()
    console.print(f"[bold]{rule.id}[/bold] ({rule.level.value}): {rule.title}")
    if rule.condition:
        console.print(f"applies where {rule.condition}", markup=False)
    console.print()
    if is_aligned(console):
        console.print(Markdown(rule.told))
    else:
        console.print("\n\n".join(paragraphs(rule.told)), markup=False)
    console.print()
    for statement in statements(rule.id):
        words = f"{statement.package}.{statement.module}.{statement.name} (line {statement.line})"
        console.print(f"stated in {words}", markup=False)
    for header in shown:
        console.print(f"shown by the vector {header.case}: {header.title}")
    for mutant in broken:
        console.print(f"broken by the mutant {mutant.name}: {mutant.summary}", markup=False)
    for subject, reason in known:
        console.print(f"known deviation of {subject}: {reason}", markup=False)


@dataclass(frozen=True)
class _Listed:
    """Headers of a table, the same as keys of JSON, and the rows."""

    headers: tuple[str, ...]
    keys: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


_LISTS: Mapping[str, Callable[[], _Listed]] = {
    "rules": lambda: _listed("rule", "level", "title", rows=_rule_rows()),
    "vectors": lambda: _listed("vector", "component", "title", rows=_vector_rows()),
    "subjects": lambda: _Listed(("subject", "what it is"), ("subject", "summary"), _subject_rows()),
    "profiles": lambda: _Listed(
        ("component", "field", "values (default first)"),
        ("component", "field", "values"),
        _profile_rows(),
    ),
    "mutants": lambda: _Listed(
        ("mutant", "breaks", "what is wrong"),
        ("mutant", "rule", "summary"),
        [(each.name, each.rule, each.summary) for each in mutants()],
    ),
    "variants": lambda: _Listed(
        ("variant", "component", "what it does"),
        ("variant", "component", "summary"),
        _variant_rows(),
    ),
}


@click.command("list")
@click.argument("what", type=click.Choice(list(_LISTS)))
@AS_JSON
def list_(what: str, as_json: bool) -> None:
    """List the rules, vectors, subjects, profiles, mutants or variants there are."""
    listed = _LISTS[what]()
    if as_json:
        print_json([dict(zip(listed.keys, row, strict=True)) for row in listed.rows])
        return
    print_columns(standard_output(), listed.headers, listed.rows)


def _listed(*headers: str, rows: Sequence[tuple[str, ...]]) -> _Listed:
    """Return a list whose headers are its keys."""
    return _Listed(headers, headers, rows)


def _subject_rows() -> list[tuple[str, str]]:
    rows = [(each.name, each.summary) for each in REGISTERED]
    rows += [("mutant:NAME", "a subject with one rule broken (list mutants)")]
    rows += [
        (f"profile:{each.name}", f"a {instance_noun(each.component)} that declares {each.value}")
        for each in profile_subjects()
    ]
    return rows


def _rule_rows() -> list[tuple[str, str, str]]:
    return [(rule.id, rule.level.value, rule.title) for rule in all_requirements()]


def _vector_rows() -> list[tuple[str, str, str]]:
    return [(v.header.case, noun(v.component), v.header.title) for v in all_vectors()]


def _profile_rows() -> list[tuple[str, str, str]]:
    rows: list[tuple[str, str, str]] = []
    for component in Component:
        for field in profile_fields(component):
            values = f"an integer, {field.default} when absent"
            if field.choice is not None:
                values = ", ".join(str(value.value) for value in field.values)
            rows.append((noun(component), field.name, values))
    return rows


def _variant_rows() -> list[tuple[str, str, str]]:
    return [
        (name, noun(component), f"{sentence}; once {judged(component).triggers[name].words}")
        for component in Component
        for name, sentence in judged(component).variants.items()
    ]


_TEXTS = frozenset({"rule", "level"})
_COVERAGE = ("rule", "level", "model", "implementation", "vectors", "mutants", "visits", "pairs")


@click.command()
@click.argument(
    "results",
    type=click.Path(dir_okay=False, path_type=Path),
    default=WORK_FOLDER / "bundled" / "results.jsonl",
)
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), default=None)
@click.option(
    "--pairs", is_flag=True, help="List the pairs of rules that no two successive steps tested."
)
@click.pass_context
def coverage(context: click.Context, results: Path, output: Path | None, pairs: bool) -> None:
    """Show for each rule where it is stated and how often the check in RESULTS tested it.

    RESULTS is the results.jsonl of a check; by default that of the bundled timer. The column
    "pairs" counts the rules that a next step tested, of those that apply. With --pairs, small
    instances of the profile are explored for each pair that the check has not met.
    """
    visits: Counter[str] = Counter()
    followed: dict[str, str] = {}
    if pairs:
        _tell_pairs(results)
        context.exit(0)
    if results.exists():
        for each in read_results(results):
            visits.update({line.id: line.visits for line in each.rules})
            of = len(each.rules)
            followed |= {line.id: f"{len(line.followed_by)}/{of}" for line in each.rules}
    else:
        click.echo(f"{results} does not exist: visits are those of no check", err=True)
    rows = [_coverage_row(rule, visits, followed) for rule in all_requirements()]
    console = standard_output()
    if output is None and not is_aligned(console):
        print_columns(console, (*_COVERAGE, "TLA+ properties"), rows)
        context.exit(0)
    table = Table(box=None, pad_edge=False, header_style="bold")
    widest = {
        "rule": max(len(rule.id) for rule in all_requirements()),
        "level": max(len(rule.level.value) for rule in all_requirements()),
    }
    for header in _COVERAGE:
        width = widest.get(header, len(header))
        justify: Literal["left", "right"] = "left" if header in _TEXTS else "right"
        table.add_column(header, justify=justify, no_wrap=True, min_width=width)
    table.add_column("TLA+ properties", no_wrap=True, overflow="ellipsis")
    for row in rows:
        table.add_row(*row)
    if output is None:
        console.print(table)
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        with output.open("w", encoding="utf-8") as file:
            Console(file=file, width=120).print(table)
    context.exit(0)


def _tell_pairs(results: Path) -> None:
    """Print for each component the pairs of rules met, shown by small instances alone, or by none.

    Raises:
        click.UsageError: there are no results, or their clock moves by itself.
    """
    if not results.exists():
        raise click.UsageError(f"{results} does not exist; run a check first")
    for each in read_results(results):
        if on_real_clock(each.header.profile):
            raise click.UsageError("time really passes in this check: nothing can be explored")
        rules = [line.id for line in each.rules]
        met = {(line.id, after) for line in each.rules for after in line.followed_by}
        explored = explore_pairs(each.header.profile)
        missing = [pair for pair in product(rules, rules) if pair not in met]
        shown = [pair for pair in missing if pair in explored.met]
        sizes = "; ".join(map(describe_configuration, explored.instances))
        click.echo(
            f"{noun(each.component)}: {len(met)} of {len(rules) ** 2} pairs met. Of the others "
            f"{len(shown)} are possible, and {len(missing) - len(shown)} are met by no sequence of "
            f"up to {explored.length} steps of small instances ({sizes})."
        )
        for pair in missing:
            steps = explored.met.get(pair)
            words = [describe_operation(step.operation) for step in steps or ()]
            click.echo(f"  {pair[0]}, then {pair[1]}: {'; '.join(words) or 'not shown'}")


def _coverage_row(
    rule: Requirement, visits: Mapping[str, int], followed: Mapping[str, str]
) -> tuple[str, ...]:
    stated = Counter(each.package for each in statements(rule.id))
    return (
        rule.id,
        rule.level.value,
        str(stated["purgatory_model"]),
        str(stated["purgatory_impl"]),
        str(sum(rule.id in vector.header.rules for vector in all_vectors())),
        str(sum(mutant.rule == rule.id for mutant in mutants())),
        str(visits.get(rule.id, 0)),
        followed.get(rule.id, "0"),
        _properties(rule.id),
    )


def _properties(rule: str) -> str:
    """Return the number of TLA+ properties that state a rule, and the name of the first."""
    names = [each.name for each in statements(rule) if each.package == "purgatory_tla"]
    return f"{len(names)}: {names[0]}" if names else "0"
