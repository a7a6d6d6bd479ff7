"""The commands about rules: list them, explain a rule, show its statements and its tests."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import click
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from purgatory_conformance.commands.options import WORK_FOLDER, known_rule
from purgatory_conformance.describing.words import instance_noun, noun
from purgatory_conformance.knowledge import (
    all_vectors,
    deviations_of_adapters,
    profile_fields,
    statements,
)
from purgatory_conformance.opening import REGISTERED
from purgatory_conformance.reporting.results_file import read_results
from purgatory_conformance.specimens.mutants import mutants
from purgatory_conformance.specimens.profile_subjects import profile_subjects
from purgatory_conformance.support.registry import SUPPORTS
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import Requirement, all_requirements


@click.command()
@click.argument("identifier", metavar="ID")
def explain(identifier: str) -> None:
    """Explain a rule: demand and rationale, statements in the packages, known breakers."""
    rule = known_rule(identifier)
    console = Console()
    console.print(f"[bold]{rule.id}[/bold] ({rule.level.value}): {rule.title}")
    if rule.condition:
        console.print(f"applies where {rule.condition}", markup=False)
    console.print()
    console.print(Markdown(rule.text))
    console.print()
    for each in statements(rule.id):
        words = f"{each.package}.{each.module}.{each.name} (line {each.line})"
        console.print(f"stated in {words}", markup=False)
    for vector in all_vectors():
        if rule.id in vector.header.rules:
            console.print(f"shown by the vector {vector.header.case}: {vector.header.title}")
    for mutant in mutants():
        if mutant.rule == rule.id:
            console.print(f"broken by the mutant {mutant.name}: {mutant.summary}", markup=False)
    for subject, broken, reason in deviations_of_adapters():
        if broken == rule.id:
            console.print(f"known deviation of {subject}: {reason}", markup=False)


@click.command("list")
@click.argument(
    "what", type=click.Choice(["rules", "vectors", "subjects", "profiles", "mutants", "variants"])
)
def list_(what: str) -> None:
    """List the rules, vectors, subjects, profiles, mutants or variants there are."""
    console = Console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    match what:
        case "rules":
            _rows(table, ("rule", "level", "title"), _rule_rows())
        case "vectors":
            _rows(table, ("vector", "component", "title"), _vector_rows())
        case "subjects":
            rows = [(each.name, each.summary) for each in REGISTERED]
            rows += [("mutant:NAME", "a subject with one rule broken (list mutants)")]
            rows += [
                (f"profile:{p.name}", f"a {instance_noun(p.component)} that declares {p.value}")
                for p in profile_subjects()
            ]
            _rows(table, ("subject", "what it is"), rows)
        case "profiles":
            _rows(table, ("component", "field", "values (default first)"), _profile_rows())
        case "mutants":
            rows3 = [(m.name, m.rule, m.summary) for m in mutants()]
            _rows(table, ("mutant", "breaks", "what is wrong"), rows3)
        case _:
            _rows(table, ("variant", "component", "what it does"), _variant_rows())
    console.print(table)


def _rows(
    table: Table,
    headers: tuple[str, ...],
    rows: "list[tuple[str, str]] | list[tuple[str, str, str]]",
) -> None:
    for header in headers:
        table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*row)


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
        (name, noun(component), sentence)
        for component, support in SUPPORTS.items()
        for name, sentence in support.variants.items()
    ]


_TEXTS = frozenset({"rule", "level"})
_COVERAGE = ("rule", "level", "model", "implementation", "vectors", "mutants", "visits")


@click.command()
@click.argument(
    "results",
    type=click.Path(dir_okay=False, path_type=Path),
    default=WORK_FOLDER / "bundled" / "results.jsonl",
)
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), default=None)
@click.pass_context
def coverage(context: click.Context, results: Path, output: Path | None) -> None:
    """Show for each rule where it is stated and how often the check in RESULTS tested it.

    RESULTS is the results.jsonl of a check; by default that of the bundled timer.
    """
    visits: Counter[str] = Counter()
    if results.is_file():
        for each in read_results(results):
            visits.update({line.id: line.visits for line in each.rules})
    else:
        click.echo(f"{results} does not exist: visits are those of no check", err=True)
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
    for rule in all_requirements():
        table.add_row(*_coverage_row(rule, visits))
    if output is None:
        Console().print(table)
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        with output.open("w", encoding="utf-8") as file:
            Console(file=file, width=120).print(table)
    context.exit(0)


def _coverage_row(rule: Requirement, visits: Mapping[str, int]) -> tuple[str, ...]:
    stated = Counter(each.package for each in statements(rule.id))
    return (
        rule.id,
        rule.level.value,
        str(stated["purgatory_model"]),
        str(stated["purgatory_impl"]),
        str(sum(rule.id in vector.header.rules for vector in all_vectors())),
        str(sum(mutant.rule == rule.id for mutant in mutants())),
        str(visits.get(rule.id, 0)),
        _properties(rule.id),
    )


def _properties(rule: str) -> str:
    """How many TLA+ properties state a rule, and which is the first; explain lists them all."""
    names = [each.name for each in statements(rule) if each.package == "purgatory_tla"]
    return f"{len(names)}: {names[0]}" if names else "0"
