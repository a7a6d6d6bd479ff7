"""Each run of ``verdicts`` has the verdict that stands in the line above it."""

import pickle
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from purgatory_spec.outcomes import EventKind
from purgatory_spec.profiles import Accounting, Component
from purgatory_spec.requirements import requirements
from purgatory_traces.replay import RunReplay, replay
from purgatory_traces.replay.overlapping.rules import RULES_ON_A_WALL_CLOCK
from purgatory_traces.results.rows import CoverageRow, QuarantineRow, Row, VerdictRow
from purgatory_traces.traces import lines as trace_lines
from tests.pipeline.trace_cases import TraceCase, cases_in

from .run_lines import located

CASES = cases_in(Path(__file__).with_name("verdicts"))
ALWAYS = ("seq", "rule", "reason", "deviated", "pending_expiries", "open_calls", "uncompared")
"""The fields of a verdict that a case expects; a field that it does not name has its default."""


def said_of(rows: Sequence[Row], case: TraceCase) -> dict[str, object]:
    """Return what the rows say, as far as the case names it."""
    (row,) = (row for row in rows if isinstance(row, VerdictRow))
    told: dict[str, object] = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in row._asdict().items()
        if name in case.expected or (name in ALWAYS and value != row._field_defaults[name])
    }
    if aside := [[row.seq, row.reason] for row in rows if isinstance(row, QuarantineRow)]:
        told["set_aside"] = aside
    if "visits" in case.expected:
        told["visits"] = {row.rule: row.visits for row in rows if isinstance(row, CoverageRow)}
    how = {"cut", "exact", "untried"} & case.expected.keys()
    return told | {name: case.expected[name] for name in how}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_run_has_the_verdict_that_stands_above_it(case: TraceCase) -> None:
    assert said_of(list(replay(case.lines)), case) == case.expected


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_replay_may_be_pickled_between_any_two_lines(case: TraceCase) -> None:
    run = RunReplay("r")
    rows: list[Row] = []
    for line in case.lines:
        run = pickle.loads(pickle.dumps(run))
        row = run.take(line)
        rows += [] if row is None else [row]
    assert [*rows, *pickle.loads(pickle.dumps(run)).finish()] == list(replay(case.lines))


def exact(begin: trace_lines.Begin) -> trace_lines.Begin:
    """Return the first line of a purgatory, with the exact accounting."""
    assert isinstance(begin.instance, trace_lines.PurgatoryInstance)
    profile = msgspec.structs.replace(begin.instance.profile, accounting=Accounting.EXACT)
    instance = msgspec.structs.replace(begin.instance, profile=profile)
    return msgspec.structs.replace(begin, instance=instance)


EITHER = {name: case for name, case in CASES.items() if "exact" in case.expected}


@pytest.mark.parametrize("case", EITHER.values(), ids=EITHER)
def test_the_exact_accounting_changes_no_verdict_on_overlapping_calls(case: TraceCase) -> None:
    assert said_of(list(replay(located([exact(case.first), *case.rest]))), case) == case.expected


UNTRIED = {name: case for name, case in CASES.items() if "untried" in case.expected}


@pytest.mark.parametrize("case", UNTRIED.values(), ids=UNTRIED)
def test_a_right_run_is_right_without_its_tries(case: TraceCase) -> None:
    left: list[trace_lines.TraceLine] = [
        msgspec.structs.replace(case.first, omitted=(EventKind.TRIED,))
    ]
    for line in case.rest:
        if not (isinstance(line, trace_lines.Happened) and line.event is EventKind.TRIED):
            left.append(msgspec.structs.replace(line, seq=len(left)))
    assert said_of(list(replay(located(left))), case) == case.expected


ON_A_WALL_CLOCK = [
    case
    for name, case in CASES.items()
    if name.startswith("wall_clock") and case.expected["verdict"] != "diverges"
]


@pytest.mark.parametrize(
    ("component", "instance"),
    [
        (Component.TIMER, trace_lines.TimerInstance),
        (Component.PURGATORY, trace_lines.PurgatoryInstance),
        (Component.MEMORY_POOL, trace_lines.MemoryPoolInstance),
    ],
)
def test_the_rules_that_can_be_counted_are_those_that_some_run_visits(
    component: Component, instance: type
) -> None:
    visited: set[str] = set()
    for case in ON_A_WALL_CLOCK:
        if isinstance(case.first.instance, instance):
            visited |= {row.rule for row in replay(case.lines) if isinstance(row, CoverageRow)}
    assert visited == RULES_ON_A_WALL_CLOCK[component]
    assert visited < {rule.id for rule in requirements(component)}
