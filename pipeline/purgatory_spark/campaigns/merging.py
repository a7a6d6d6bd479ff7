"""From the rows of all parts to the tables of a campaign, whatever order they came in."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from purgatory_conformance.running.case_run import CaseVerdict
from purgatory_spark.campaigns.drawing import seed_of
from purgatory_spark.campaigns.tables import COVERAGE, RUNS, table_of
from purgatory_spark.campaigns.work import NO_ANSWER
from purgatory_spec.requirements import Requirement
from purgatory_traces.errors import PipelineError


def runs_table(done: pa.Table, drawn: pa.Table, seed: int) -> pa.Table:
    """Return the runs that were drawn, each once, by component and the first number that draws it.

    Args:
        done: The rows on record; there may be others among them.
        drawn: Component, number and run of all that was drawn.
        seed: The campaign's seed.

    Raises:
        PipelineError: a run that was drawn is not on record.
    """
    counted = drawn.group_by(["component", "run"]).aggregate(
        [("number", "min"), ("number", "count")]
    )
    counted = counted.sort_by([("component", "ascending"), ("number_min", "ascending")])
    places = pc.index_in(counted.column("run"), value_set=done.column("run"))
    if places.null_count:
        raise PipelineError(f"{places.null_count} of the runs are not on record")
    found = done.take(places)
    seeds = [seed_of(seed, number) for number in counted.column("number_min").to_pylist()]
    columns = {
        "run": counted.column("run"),
        "component": counted.column("component"),
        "seed": pa.array(seeds, pa.string()),
        "times": counted.column("number_count"),
    }
    return pa.table(
        [columns[name] if name in columns else found.column(name) for name in RUNS.names],
        schema=RUNS,
    ).combine_chunks()


def coverage_of(runs: pa.Table) -> Mapping[str, tuple[int, int]]:
    """Return for each rule the steps that test it, and the number of runs with such steps."""
    visits = pc.list_flatten(runs.column("visits").combine_chunks())
    flat = pa.table({name: pc.struct_field(visits, name) for name in ("rule", "visits")})
    summed = flat.group_by("rule").aggregate([("visits", "sum"), ("visits", "count")])
    return {row["rule"]: (row["visits_sum"], row["visits_count"]) for row in summed.to_pylist()}


def coverage_table(judged: Mapping[str, tuple[pa.Table, tuple[Requirement, ...]]]) -> pa.Table:
    """Return the table ``coverage``: for each component its runs and its rules."""
    rows = []
    for component, (runs, rules) in judged.items():
        counted = coverage_of(runs)
        rows += [(component, r.id, r.level.value, *counted.get(r.id, (0, 0))) for r in rules]
    return table_of(rows, COVERAGE)


@dataclass(frozen=True)
class Failing:
    """The runs that break one rule in one way: how many, and the seeds of the shortest."""

    rule: str
    kind: str
    runs: int
    seeds: tuple[str, ...]


def failing(runs: pa.Table, most_seeds: int) -> Iterator[Failing]:
    """Yield the groups of failing runs, in the order of their rules and kinds."""
    chosen = runs.select(["seed", "verdict", "steps", "rule", "kind"])
    chosen = chosen.filter(pc.equal(chosen.column("verdict"), CaseVerdict.FAIL.value))
    groups = chosen.group_by(["rule", "kind"], use_threads=False).aggregate([("seed", "count")])
    for group in groups.sort_by([("rule", "ascending"), ("kind", "ascending")]).to_pylist():
        of_group = pc.and_(
            pc.equal(chosen.column("rule"), group["rule"]),
            pc.equal(chosen.column("kind"), group["kind"]),
        )
        # The table is in the order of numbers, and the sort keeps it among equal lengths.
        members = chosen.filter(of_group).to_pylist()
        shortest = sorted(members, key=lambda row: row["steps"])[:most_seeds]
        yield Failing(
            group["rule"],
            group["kind"],
            group["seed_count"],
            tuple(row["seed"] for row in shortest),
        )


@dataclass(frozen=True)
class Unanswered:
    """The runs in which the subject gave no answer in one way: how many, and the first of them."""

    verdict: str
    kind: str
    runs: int
    seed: str
    expected: str
    seen: str


def unanswered(runs: pa.Table) -> tuple[Unanswered, ...]:
    """Return the groups of runs without an answer, the most frequent first."""
    firsts: dict[tuple[str, str], dict[str, str]] = {}
    counts: dict[tuple[str, str], int] = {}
    chosen = runs.select(["seed", "verdict", "kind", "expected", "seen"])
    of_verdict = pc.is_in(chosen.column("verdict"), value_set=pa.array(sorted(NO_ANSWER)))
    for row in chosen.filter(of_verdict).to_pylist():
        group = row["verdict"], row["kind"]
        firsts.setdefault(group, row)
        counts[group] = counts.get(group, 0) + 1
    groups = sorted(counts, key=lambda group: -counts[group])
    return tuple(
        Unanswered(*group, counts[group], *(firsts[group][k] for k in ("seed", "expected", "seen")))
        for group in groups
    )
