"""Bad inputs set a run aside or make it incomplete, and are no divergence of the instance."""

import pickle
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purgatory_spec.profiles import Component
from purgatory_traces.errors import OutOfOrder
from purgatory_traces.replay import RunReplay, replay
from purgatory_traces.results.rows import QuarantineRow, Row, VerdictRow
from purgatory_traces.traces.lines import TRACED, Located
from purgatory_traces.traces.synthetic import run_lines as made_up
from purgatory_traces.traces.synthetic_steps import Fault

from .run_lines import END, located, numbered, step, timer_begin

RUN = numbered(
    timer_begin(observables=["size"]),
    step("add", task="a", delay_ms=2, observed={"size": 1}),
    step("add", task="b", delay_ms=3, observed={"size": 2}),
    step("advance", [("expired", "a")], to_ms=2, observed={"size": 1}),
    step("run_one", [("ran", "a")], observed={"size": 1}),
    step("cancel", task="b", observed={"size": 0}),
    step("advance", to_ms=9, observed={"size": 0}),
    END,
)
"""A run that conforms."""


def test_what_is_set_aside_is_told_with_its_file_its_line_and_its_text() -> None:
    lines = located(RUN)
    lines[3] = lines[3]._replace(raw=b'{"run":"r","seq":3,"kind":"step"\xff')
    (row,) = [row for row in replay(lines) if isinstance(row, QuarantineRow)]
    assert row == QuarantineRow(
        "f.jsonl",
        4,
        '{"run":"r","seq":3,"kind":"step"\\xff',
        "'utf-8' codec can't decode byte 0xff in position 32: invalid start byte",
        "r",
        3,
    )


def test_lines_out_of_order_are_an_error_of_the_pipeline() -> None:
    lines = located(RUN)
    with pytest.raises(OutOfOrder, match=r"line 2 of run 'r' was handed over after line 3"):
        list(replay([*lines[:2], lines[3], lines[2], *lines[4:]]))
    other = [each._replace(run="q") for each in lines]
    with pytest.raises(OutOfOrder, match=r"run 'q' was handed over after run 'r'"):
        list(replay([*lines, *other]))
    with pytest.raises(OutOfOrder, match=r"run 'r' was handed over after run 's'"):
        list(replay([*lines, *(each._replace(run="s") for each in lines), *lines]))


FAULTS = [
    (component, fault)
    for component in TRACED
    for fault in (Fault.NONE, Fault.MISSING, Fault.REPEATED, Fault.UNUSABLE, Fault.GAP)
]


def lines_with(component: Component, fault: Fault) -> list[Located]:
    """A made-up run."""
    raws = [raw for part in made_up("r", component, 60, fault) for raw in part.splitlines()]
    found = []
    for number, raw in enumerate(raws, start=1):
        seq = int(raw.split(b'"seq":')[1].split(b",")[0].rstrip(b"}\n"))
        found.append(Located("r", seq, "f", number, raw))
    return found


def rows_with(lines: Sequence[Located], pickled_at: frozenset[int]) -> list[Row]:
    """The rows, with the replay pickled before some of the lines."""
    run = RunReplay("r")
    rows: list[Row] = []
    for number, line in enumerate(lines):
        if number in pickled_at:
            run = pickle.loads(pickle.dumps(run))
        row = run.take(line)
        rows += [] if row is None else [row]
    run = pickle.loads(pickle.dumps(run)) if len(lines) in pickled_at else run
    return [*rows, *run.finish()]


@settings(max_examples=30)
@given(st.sampled_from(FAULTS), st.frozensets(st.integers(0, 61), max_size=8))
def test_a_replay_may_be_pickled_between_any_two_lines(
    which: tuple[Component, Fault], places: frozenset[int]
) -> None:
    lines = lines_with(*which)
    assert rows_with(lines, places) == rows_with(lines, frozenset())


@settings(max_examples=40)
@given(
    st.sampled_from(TRACED),
    st.lists(st.tuples(st.integers(0, 59), st.integers(0, 200), st.integers(0, 8)), max_size=3),
    st.frozensets(st.integers(0, 59), max_size=3),
)
def test_whatever_is_done_to_the_lines_nothing_diverges(
    component: Component, spoilt: list[tuple[int, int, int]], lost: frozenset[int]
) -> None:
    """A byte is changed to one that no JSON has outside a text, and lines are lost."""
    lines = lines_with(component, Fault.NONE)
    for number, place, byte in spoilt:
        raw = bytearray(lines[number].raw)
        raw[place % len(raw)] = byte % 9
        lines[number] = lines[number]._replace(raw=bytes(raw))
    rows = list(replay([line for at, line in enumerate(lines) if at not in lost]))
    verdicts = [row.verdict for row in rows if isinstance(row, VerdictRow)]
    assert verdicts in (["conforms"], ["incomplete"])
    if lost:
        assert verdicts == ["incomplete"]
