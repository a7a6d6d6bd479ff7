"""A run whose lines come in any order gives the rows of the sorted one."""

import json
import pickle
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from purgatory_traces.replay import replay
from purgatory_traces.replay.reordered_run import ReorderedRun
from purgatory_traces.results.rows import QuarantineRow, Row, VerdictRow
from purgatory_traces.traces.lines import Located


def line(seq: int, number: int | None = None, **fields: object) -> Located:
    raw = json.dumps({"run": "r", "seq": seq, **fields}).encode()
    return Located("r", seq, "f", seq + 1 if number is None else number, raw)


def run_of(steps: int, late_at: int = -1) -> list[Located]:
    """A timer that fires a task a step; ``late_at`` is the step in which it does not."""
    instance = {"component": "timer"}
    lines = [line(0, kind="begin", instance=instance)]
    for number in range(steps):
        add = {"op": "add", "task": f"t{number}", "delay_ms": 1}
        lines.append(line(2 * number + 1, kind="step", operation=add))
        events = [] if number == late_at else [{"kind": "ran", "task": f"t{number}"}]
        advance = {"op": "advance", "to_ms": number + 1}
        lines.append(line(2 * number + 2, kind="step", operation=advance, events=events))
    lines.append(line(2 * steps + 1, kind="end"))
    return lines


def rows_of(lines: Iterable[Located], most_held: int = 1000, *, pickled: bool = False) -> list[Row]:
    run = ReorderedRun("r", most_held)
    rows: list[Row] = []
    for located in lines:
        rows += run.take(located)
        if pickled:
            run = pickle.loads(pickle.dumps(run))
    rows += run.finish()
    return sorted(rows, key=repr)


def sorted_rows(lines: Iterable[Located]) -> list[Row]:
    return sorted(replay(sorted(lines)), key=repr)


def verdict_of(rows: Iterable[Row]) -> VerdictRow:
    (verdict,) = (row for row in rows if isinstance(row, VerdictRow))
    return verdict


@given(
    order=st.permutations(range(12)),
    late_at=st.integers(-1, 4),
    lost=st.sets(st.integers(0, 11), max_size=2),
    pickled=st.booleans(),
)
def test_any_order_gives_the_rows_of_the_sorted_run(
    order: list[int], late_at: int, lost: set[int], pickled: bool
) -> None:
    lines = run_of(5, late_at)
    given = [lines[place] for place in order if place not in lost]
    assert rows_of(given, pickled=pickled) == sorted_rows(given)


def aside_of(rows: Iterable[Row]) -> list[tuple[int, str]]:
    return sorted((row.line, row.reason) for row in rows if isinstance(row, QuarantineRow))


def test_a_repeated_number_is_set_aside_as_in_the_sorted_run() -> None:
    lines = run_of(3)
    held, in_turn = lines[2]._replace(number=90), lines[1]._replace(number=91)
    given = [lines[0], lines[2], held, lines[1], *lines[3:]]
    assert aside_of(rows_of(given)) == [(90, "it is a copy of the line before")]
    assert rows_of(given) == sorted_rows(given)
    given = [lines[0], lines[1], in_turn, *lines[2:]]
    assert aside_of(rows_of(given)) == [(91, "it is a copy of the line before")]
    assert rows_of(given) == sorted_rows(given)


def test_a_copy_that_comes_behind_later_lines_is_set_aside_without_a_comparison() -> None:
    lines = run_of(3)
    rows = rows_of([*lines[:4], lines[1]._replace(number=91), *lines[4:]])
    assert aside_of(rows) == [(91, "this number was given to an earlier line of the run")]
    assert verdict_of(rows).verdict == "conforms"


def test_missing_lines_are_given_up_where_too_many_are_held() -> None:
    lines = run_of(20)
    run = ReorderedRun("r", most_held=5)
    rows: list[Row] = []
    for located in [*lines[:3], *lines[4:]]:
        rows += run.take(located)
        assert run.held <= 5
    rows += run.take(lines[3])
    rows += run.finish()
    (aside,) = (row for row in rows if isinstance(row, QuarantineRow))
    assert (aside.seq, "too late" in aside.reason) == (3, True)
    verdict = verdict_of(rows)
    assert (verdict.verdict, verdict.reason) == ("incomplete", "line 3 is missing")


def test_so_far_is_what_a_check_of_the_lines_so_far_says_and_changes_nothing() -> None:
    lines = run_of(6, late_at=3)
    run = ReorderedRun("r")
    for count, located in enumerate(lines, start=1):
        assert not list(run.take(located))
        assert sorted(run.so_far(), key=repr) == sorted_rows(lines[:count])
    assert verdict_of(run.finish()).verdict == "diverges"
