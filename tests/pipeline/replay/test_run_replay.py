"""What each bad input makes of a run: set aside, incomplete, never a divergence of the instance."""

import pickle
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purgatory_traces.errors import OutOfOrder
from purgatory_traces.replay import RunReplay, replay
from purgatory_traces.results.rows import QuarantineRow, Row, VerdictRow
from purgatory_traces.traces.lines import TRACED, Located
from purgatory_traces.traces.synthetic import run_lines as made_up
from purgatory_traces.traces.synthetic_steps import Fault
from purgatory_spec.profiles import Component

from .run_lines import (
    END,
    Plain,
    add,
    coverage,
    located,
    numbered,
    quarantined,
    rows_of,
    step,
    timer_begin,
    verdict_of,
)

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

SNAPSHOT: Plain = {
    "kind": "snapshot",
    "now_ms": 2,
    "tasks": [{"task": "b", "early_ms": 3, "late_ms": 3}],
}


def changed(seq: int, **fields: object) -> list[Plain]:
    """The run with one line changed."""
    return [{**line, **fields} if line["seq"] == seq else line for line in RUN]


def without(*numbers: int) -> list[Plain]:
    """The run without some lines."""
    return [line for line in RUN if line["seq"] not in numbers]


def test_a_run_conforms_when_every_line_was_judged_up_to_the_last() -> None:
    row = verdict_of(RUN)
    assert (row.verdict, row.reason, row.events, row.judged) == ("conforms", "", 8, 8)
    assert row.component == "timer"
    assert coverage(rows_of(RUN))["TIMER-EXACTLY-ONCE"] == 1


def test_the_first_line_that_is_not_allowed_is_told() -> None:
    row = verdict_of(changed(5, observed={"size": 1}))
    assert (row.verdict, row.seq, row.line, row.file) == ("diverges", 5, 6, "f.jsonl")
    assert (row.rule, row.kind, row.expected, row.seen) == (
        "TIMER-SIZE",
        "size",
        "size = 0",
        "size = 1",
    )
    assert (row.operation, row.thread, row.cause) == ("cancel b", "main", "TIMER-SIZE, size")
    assert (row.events, row.judged) == (8, 6)


@pytest.mark.parametrize(
    ("lines", "reason", "judged"),
    [
        (without(0), "its first line is missing: the run begins with 1", 0),
        (without(2), "line 2 is missing", 2),
        (without(2, 3, 4), "lines 2 to 4 are missing", 2),
        (without(7), "its last line is missing", 7),
        (without(0, 1, 2, 3, 4, 5, 6), "its first line is missing: the run begins with 7", 0),
        ([{"seq": 0, **END}], "its first line is missing: the run begins with 0", 0),
    ],
)
def test_a_line_that_is_missing_makes_a_run_incomplete(
    lines: list[Plain], reason: str, judged: int
) -> None:
    row = verdict_of(lines)
    assert (row.verdict, row.reason, row.judged) == ("incomplete", reason, judged)
    assert row.events == len(lines)


UNUSABLE: dict[str, tuple[dict[str, object], str]] = {
    "missing": ({"operation": None}, "Expected `object`, got `null` - at `$.operation`"),
    "event": (
        {"events": [{"kind": "expired", "task": "a", "when": 3}]},
        "unknown key in the event: when",
    ),
    "event kind": (
        {"events": [{"kind": "exploded", "task": "a"}]},
        "Invalid enum value 'exploded' - at `$.events[0].kind`",
    ),
    "other component": (
        {"operation": {"op": "check", "key": "k"}},
        "a timer on a manual clock has no operation check",
    ),
    "wait": (
        {"operation": {"op": "wait", "for_ms": 5}},
        "a timer on a manual clock has no operation wait",
    ),
    "clock": (
        {"operation": {"op": "advance", "to_ms": -1}},
        "the clock reads 0 and cannot go back to -1",
    ),
    "no observable": ({"observed": {}}, "size is missing, which the first line says is observed"),
    "call": (
        {"kind": "call", "thread": "t", "events": None, "observed": None},
        "Object contains unknown field `events`",
    ),
    "second beginning": (
        {"kind": "begin", "instance": {"component": "timer"}, "operation": None},
        "Object contains unknown field `operation`",
    ),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_line_that_is_unusable_leaves_a_hole(name: str) -> None:
    fields, reason = UNUSABLE[name]
    rows = rows_of(changed(3, **fields))
    row = next(row for row in rows if isinstance(row, VerdictRow))
    assert (row.verdict, row.reason) == ("incomplete", f"line 3 is unusable: {reason}")
    assert (row.events, row.judged) == (8, 3)
    assert quarantined(rows) == [(3, reason)]


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


def test_overlapping_calls_cannot_be_judged_on_a_manual_clock() -> None:
    call = {"seq": 3, "kind": "call", "thread": "t", "operation": {"op": "cancel", "task": "b"}}
    rows = rows_of([call if line["seq"] == 3 else line for line in RUN])
    assert quarantined(rows) == [(3, "calls that overlap cannot be judged on a manual clock")]


BEGINNINGS: dict[str, tuple[Plain, str]] = {
    "format": ({**timer_begin(), "format": 2}, "format 2 is not supported, only 1"),
    "configuration": (
        {"kind": "begin", "instance": {"component": "timer", "configuration": {"wheel_size": 1}}},
        "wheel_size is 1; it must be at least 2 - at `$.instance.configuration`",
    ),
    "component": (
        {"kind": "begin", "instance": {"component": "cache"}},
        "Invalid value 'cache' - at `$.instance.component`",
    ),
    "executor": (
        {
            "kind": "begin",
            "instance": {"component": "purgatory", "profile": {"executor": "thread"}},
        },
        "a purgatory is judged with a stepped or an inline executor",
    ),
    "variant": (
        {**timer_begin(), "deviations": [{"rule": "TIMER-SIZE", "variant": "none"}]},
        "there is no variant 'none'",
    ),
}


@pytest.mark.parametrize("name", BEGINNINGS)
def test_a_run_whose_first_line_is_unusable_is_not_judged(name: str) -> None:
    begin, reason = BEGINNINGS[name]
    rows = rows_of([{"seq": 0, **begin}, *RUN[1:]])
    row = next(row for row in rows if isinstance(row, VerdictRow))
    assert (row.verdict, row.reason) == ("incomplete", f"line 0 is unusable: {reason}")
    assert (row.judged, quarantined(rows)) == (0, [(0, reason)])


def test_lines_behind_the_last_one_are_set_aside() -> None:
    rows = rows_of([*RUN, {"seq": 8, **add("c", 1)}])
    assert quarantined(rows) == [(8, "it stands behind the last line of the run")]
    row = next(row for row in rows if isinstance(row, VerdictRow))
    assert (row.verdict, row.events, row.judged) == ("incomplete", 9, 8)


def test_a_copy_of_a_line_is_set_aside_and_changes_nothing_else() -> None:
    lines = [*RUN[:4], RUN[3], *RUN[4:]]
    rows = rows_of(lines)
    assert quarantined(rows) == [(3, "it is a copy of the line before")]
    row = next(row for row in rows if isinstance(row, VerdictRow))
    assert (row.verdict, row.events, row.judged) == ("conforms", 9, 8)


def test_two_lines_with_one_number_make_a_run_incomplete() -> None:
    rows = rows_of([*RUN[:4], {"seq": 3, **add("c", 1)}, *RUN[4:]])
    assert quarantined(rows) == [(3, "this number was given to another line of the run")]
    row = next(row for row in rows if isinstance(row, VerdictRow))
    assert (row.verdict, row.reason) == ("incomplete", "two different lines have the number 3")


def test_two_mixed_runs_under_one_name_are_no_divergence() -> None:
    """The first has lost a line, in whose place one of the other would be taken."""
    other = numbered(
        timer_begin(observables=["size"]),
        step("advance", to_ms=1, observed={"size": 0}),
        step("advance", to_ms=2, observed={"size": 0}),
    )
    mixed = sorted([*without(2), *other], key=lambda line: int(str(line["seq"])))
    row = verdict_of(mixed)
    assert (row.verdict, row.reason) == ("incomplete", "two different lines have the number 1")


def test_a_divergence_before_two_lines_with_one_number_is_told() -> None:
    lines = changed(3, events=[])
    row = verdict_of([*lines[:6], {"seq": 5, **add("c", 1)}, *lines[6:]])
    assert (row.verdict, row.seq, row.rule) == ("diverges", 3, "TIMER-NOT-LATE")
    assert row.reason == "two different lines have the number 5"


def test_lines_out_of_order_are_an_error_of_the_pipeline() -> None:
    lines = located(RUN)
    with pytest.raises(OutOfOrder, match=r"line 2 of run 'r' was handed over after line 3"):
        list(replay([*lines[:2], lines[3], lines[2], *lines[4:]]))
    other = [each._replace(run="q") for each in lines]
    with pytest.raises(OutOfOrder, match=r"run 'q' was handed over after run 'r'"):
        list(replay([*lines, *other]))
    with pytest.raises(OutOfOrder, match=r"run 'r' was handed over after run 's'"):
        list(replay([*lines, *(each._replace(run="s") for each in lines), *lines]))


def test_a_run_may_begin_in_the_middle() -> None:
    begin = {"seq": 40, **timer_begin(observables=["size"])}
    rest = [{**line, "seq": 38 + int(str(line["seq"]))} for line in RUN[4:]]
    lines = [begin, {"seq": 41, **SNAPSHOT, "queued": ["a"]}, *rest]
    row = verdict_of(lines)
    assert (row.verdict, row.reason, row.judged) == ("conforms", "", 6)
    wrong = [{**line, "observed": {"size": 5}} if line["seq"] == 43 else line for line in lines]
    row = verdict_of(wrong)
    assert (row.verdict, row.seq, row.rule) == ("diverges", 43, "TIMER-SIZE")


def test_a_run_that_begins_in_the_middle_needs_a_snapshot() -> None:
    begin = {"seq": 4, **timer_begin(observables=["size"])}
    rows = rows_of([begin, *RUN[5:]])
    reason = "a snapshot has to follow a first line whose seq is not 0"
    assert quarantined(rows) == [(5, reason)]
    row = next(row for row in rows if isinstance(row, VerdictRow))
    assert (row.verdict, row.reason) == ("incomplete", f"line 5 is unusable: {reason}")


def resumed(*between: Plain, wrong: bool = False) -> list[Plain]:
    """The run with a hole at number 1, and then these lines; ``wrong``: with a divergence."""
    size = {"observed": {"size": 5}} if wrong else {}
    later = [{**line, "seq": int(str(line["seq"])) + 10} for line in RUN[5:]]
    lines = [RUN[0], RUN[2], *between, *later]
    return [{**line, **size} if line["seq"] == 15 else line for line in lines]


@pytest.mark.parametrize(
    "between",
    [
        [{"seq": 13, **timer_begin(observables=["size"])}, {"seq": 14, **SNAPSHOT}],
        [{"seq": 14, **SNAPSHOT}],
    ],
    ids=["begin and snapshot", "snapshot alone"],
)
def test_judging_goes_on_behind_a_hole_with_a_snapshot(between: list[Plain]) -> None:
    row = verdict_of(resumed(*between))
    assert (row.verdict, row.reason) == ("incomplete", "line 1 is missing")
    assert row.judged == 1 + len(between) + 3
    row = verdict_of(resumed(*between, wrong=True))
    assert (row.verdict, row.seq, row.rule) == ("diverges", 15, "TIMER-SIZE")
    assert row.reason == "line 1 is missing"


def test_behind_a_hole_nothing_is_judged_without_a_snapshot() -> None:
    row = verdict_of(resumed(wrong=True))
    assert (row.verdict, row.judged) == ("incomplete", 1)


def test_every_first_line_of_a_run_says_the_same() -> None:
    again = {"seq": 3, **timer_begin(observables=["size"]), "subject": "another"}
    lines = [*RUN[:3], again, *({**line, "seq": int(str(line["seq"])) + 1} for line in RUN[3:])]
    rows = rows_of(lines)
    assert quarantined(rows) == [(3, "it says something else than the first line of the run")]
    row = next(row for row in rows if isinstance(row, VerdictRow))
    assert (row.verdict, row.judged) == ("incomplete", 3)


def test_no_line_is_judged_behind_a_divergence() -> None:
    row = verdict_of([*changed(3, events=[])[:5], *({**line} for line in RUN[6:])])
    assert (row.verdict, row.seq, row.judged) == ("diverges", 3, 4)
    assert row.reason == "line 5 is missing"


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
