"""A run may be cut anywhere: what follows is judged from a snapshot as it is in the whole run."""

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purgatory_conformance.generation.source import SeededSource
from purgatory_conformance.subjects.bundled import (
    bundled_proposal_subject,
    bundled_subject,
)
from purgatory_conformance.subjects.subject import Subject, profile_of
from purgatory_conformance.support.registry import support_of
from purgatory_pipeline.replay.sequential import SequentialJudge
from purgatory_pipeline.traces.from_cases import instance_of, trace_of_case, trace_of_steps
from purgatory_pipeline.traces.lines import TRACED, Begin, Snapshot, Step, TraceLine
from purgatory_spec import cases as spec_cases
from purgatory_spec.cases import read_case
from purgatory_spec.profiles import Component

from .run_lines import (
    END,
    Plain,
    add,
    advance,
    cases,
    deviations,
    numbered,
    quarantined,
    rows_of,
    step,
    timer_begin,
    verdict_of,
)
from .snapshot_of_state import snapshot_of

Verdict = tuple[str, int | None]

REUSED = {"first-try-throws", "watch-completed"}
"""Vectors that a judge that forgets cannot follow: they watch a finished operation again."""


def cut(lines: Sequence[TraceLine], behind: int) -> list[TraceLine] | None:
    """Return the run from behind a line on, as a further file; None where rules leave a choice."""
    # The number of the beginning is less by one than that of the snapshot, which is that of the
    # line before the cut, so that the lines behind the cut keep their numbers.
    begin = lines[0]
    assert isinstance(begin, Begin)
    judge = SequentialJudge(begin)
    for line in lines[1 : behind + 1]:
        assert isinstance(line, Step)
        if judge.take(line) is not None:
            return None
    (state, *others) = judge._judge.states
    if others:
        return None
    snapshot = snapshot_of(state, begin.run, behind)
    begin = msgspec.structs.replace(begin, seq=behind - 1)
    return [begin, snapshot, *lines[behind + 1 :]]


def with_snapshot(lines: Sequence[TraceLine], snapshot: Snapshot) -> list[TraceLine]:
    """The whole run with a snapshot in it, behind the line whose number it has."""
    later = [msgspec.structs.replace(line, seq=line.seq + 1) for line in lines[snapshot.seq + 1 :]]
    inserted = msgspec.structs.replace(snapshot, seq=snapshot.seq + 1)
    return [*lines[: snapshot.seq + 1], inserted, *later]


def short(lines: Sequence[TraceLine]) -> Verdict:
    row = verdict_of(lines)
    return row.verdict, row.seq


def verdicts_of_cuts(lines: Sequence[TraceLine]) -> list[tuple[int, Verdict, Verdict]]:
    """For every place the verdicts from there on, and with a snapshot in the whole run."""
    found = []
    for behind in range(2, len(lines) - 1):
        part = cut(lines, behind)
        if part is None:
            continue
        snapshot = part[1]
        assert isinstance(snapshot, Snapshot)
        found.append((behind, short(part), short(with_snapshot(lines, snapshot))))
    return found


@pytest.mark.parametrize("component", TRACED)
def test_golden_vectors_are_cut_everywhere(component: Component) -> None:
    cuts = 0
    for case in cases():
        if case.component is not component or case.header.case in REUSED:
            continue
        for behind, part, whole in verdicts_of_cuts(trace_of_case(case, keeps_names=False)):
            assert (part, whole) == (("conforms", None),) * 2, (case.header.case, behind)
            cuts += 1
    assert cuts > 20


def test_a_divergence_behind_a_cut_is_found() -> None:
    """The cases of Kafka's deviations, which do not concern the insides of a wheel."""
    found = 0
    for path in deviations():
        case = read_case(path)
        lines = trace_of_case(case, keeps_names=False)
        whole = verdict_of(lines)
        assert whole.seq is not None
        for behind in range(2, whole.seq):
            part = cut(lines, behind)
            if part is not None:
                assert (path.stem, short(part)) == (path.stem, ("diverges", whole.seq))
                found += 1
    assert found >= 10


def generated(subject: Subject, component: Component, seed: int, most: int = 30) -> list[TraceLine]:
    """A generated case as the bundled implementation answers it."""
    profile = profile_of(subject, component)
    support = support_of(component)
    source = SeededSource(seed)
    configuration = support.draw_configuration(profile, source, frozenset())
    operations = support.draw_operations(
        configuration, profile, source, most=most, wanted=frozenset()
    )
    subject.new("c", configuration)
    outcomes = subject.do_all(operations)
    steps = [spec_cases.Step(*pair) for pair in zip(operations, outcomes, strict=True)]
    subject.end()
    begin = Begin(run="r", seq=0, instance=instance_of(configuration, profile))
    return list(trace_of_steps(begin, steps))


SUBJECTS = {
    "timer": (bundled_subject, Component.TIMER),
    "purgatory": (bundled_subject, Component.PURGATORY),
    "purgatory, as published": (bundled_proposal_subject, Component.PURGATORY),
    "memory pool": (bundled_subject, Component.MEMORY_POOL),
}


@settings(max_examples=30)
@given(st.sampled_from(sorted(SUBJECTS)), st.integers(0, 2**32), st.integers(2, 30))
def test_generated_runs_are_cut(which: str, seed: int, behind: int) -> None:
    """A run that a forgetful judge cannot follow, since it uses a name again, is left out."""
    make, component = SUBJECTS[which]
    lines = generated(make(), component, seed)
    if short(lines) != ("conforms", None) or behind > len(lines) - 2:
        return
    part = cut(lines, behind)
    if part is None:
        return
    assert short(part) == ("conforms", None)
    snapshot = part[1]
    assert isinstance(snapshot, Snapshot)
    assert short(with_snapshot(lines, snapshot)) == ("conforms", None)


def test_most_generated_runs_can_be_cut() -> None:
    """A control: the property above is about something."""
    for make, component in SUBJECTS.values():
        runs = [generated(make(), component, seed) for seed in range(20)]
        following = [lines for lines in runs if short(lines) == ("conforms", None)]
        assert len(following) >= 8, component
        assert sum(cut(lines, len(lines) // 2) is not None for lines in following) >= 6, component


def snapshot(now_ms: int | None = 0, **fields: object) -> Plain:
    return {"kind": "snapshot", **({} if now_ms is None else {"now_ms": now_ms}), **fields}


def task(name: str, at_ms: int) -> dict[str, object]:
    return {"task": name, "early_ms": at_ms, "late_ms": at_ms}


TIMER_MISMATCHES: dict[str, tuple[Plain, str, str, str]] = {
    "missing": (
        snapshot(tasks=[task("a", 5)]),
        "TIMER-EXACTLY-ONCE",
        "2 pending",
        "1 pending; missing: b",
    ),
    "too many": (
        snapshot(tasks=[task("a", 5), task("b", 9), task("c", 9)]),
        "TIMER-EXACTLY-ONCE",
        "2 pending",
        "3 pending; too many: c",
    ),
    "early": (
        snapshot(tasks=[task("a", 4), task("b", 9)]),
        "TIMER-NOT-EARLY",
        "a due at 5 ms",
        "a at 4 ms",
    ),
    "late": (
        snapshot(tasks=[task("a", 5), task("b", 10)]),
        "TIMER-NOT-LATE",
        "b due at 9 ms",
        "b at 10 ms",
    ),
    "queued": (
        snapshot(tasks=[task("a", 5), task("b", 9)], queued=["a"]),
        "TIMER-EXECUTOR-ORDER",
        "queued: nothing",
        "queued: a",
    ),
    "closed": (snapshot(closed=True), "TIMER-SHUTDOWN-CLOSED", "open", "shut down"),
}


@pytest.mark.parametrize("name", TIMER_MISMATCHES)
def test_a_timer_that_is_not_what_its_steps_say(name: str) -> None:
    line, rule, expected, seen = TIMER_MISMATCHES[name]
    lines = numbered(timer_begin(), add("a", 5), add("b", 9), line, END)
    row = verdict_of(lines)
    assert (row.verdict, row.seq, row.kind, row.operation) == (
        "diverges",
        3,
        "snapshot",
        "snapshot",
    )
    assert (row.rule, row.expected, row.seen) == (rule, expected, seen)


def test_the_order_of_arming_is_compared_where_it_matters() -> None:
    line = snapshot(tasks=[task("b", 9), task("a", 5)])
    steps = add("a", 5), add("b", 9), line, END
    assert verdict_of(numbered(timer_begin(), *steps)).verdict == "conforms"
    row = verdict_of(numbered(timer_begin(same_tick_order="fifo"), *steps))
    assert (row.verdict, row.rule) == ("diverges", "TIMER-SAME-TICK-ORDER")


def purgatory_begin(**profile: object) -> Plain:
    return {
        "kind": "begin",
        "instance": {"component": "purgatory", "profile": {"accounting": "exact", **profile}},
    }


def watched(name: str, *keys: str) -> Plain:
    tries = [("tried", name), ("tried", name)]
    return step("watch", tries, operation=name, keys=list(keys), delay_ms=5, result=False)


def waiting(name: str, *entries: str, early_ms: int | None = 5, **more: object) -> Plain:
    armed = {} if early_ms is None else {"early_ms": early_ms, "late_ms": early_ms}
    return {"operation": name, "entries": list(entries), "delay_ms": 5, **armed, **more}


BOTH = (waiting("o", "k"), waiting("p", "k", "l"))

PURGATORY_MISMATCHES: dict[str, tuple[Plain, str]] = {
    "missing": (snapshot(operations=[BOTH[0]]), "PURGATORY-ENTRIES"),
    "order": (snapshot(operations=[BOTH[1], BOTH[0]]), "PURGATORY-CHECK-ORDER"),
    "completed": (
        snapshot(operations=[waiting("o", "k", early_ms=None, completed=True), BOTH[1]]),
        "PURGATORY-EXACTLY-ONCE",
    ),
    "time-out": (
        snapshot(operations=[waiting("o", "k", early_ms=None), BOTH[1]]),
        "PURGATORY-TIME-OUT",
    ),
    "moved": (
        snapshot(operations=[waiting("o", "k", early_ms=6), BOTH[1]]),
        "PURGATORY-TIME-OUT",
    ),
    "closed": (snapshot(operations=BOTH, closed=True), "PURGATORY-SHUTDOWN-CLOSED"),
}


@pytest.mark.parametrize("name", PURGATORY_MISMATCHES)
def test_a_purgatory_that_is_not_what_its_steps_say(name: str) -> None:
    line, rule = PURGATORY_MISMATCHES[name]
    lines = numbered(purgatory_begin(), watched("o", "k"), watched("p", "k", "l"), line, END)
    row = verdict_of(lines)
    assert (row.verdict, row.seq, row.kind, row.rule) == ("diverges", 3, "snapshot", rule)


def test_a_purgatory_that_is_what_its_steps_say() -> None:
    """A control, also of a list whose order the operations do not tell."""
    steps = watched("o", "k"), watched("p", "k", "l")
    for line in (
        snapshot(operations=BOTH),
        snapshot(operations=[BOTH[1], BOTH[0]], lists={"k": ["o", "p"]}),
    ):
        assert verdict_of(numbered(purgatory_begin(), *steps, line, END)).verdict == "conforms"


def test_the_estimate_is_compared_where_it_decides() -> None:
    begin, steps = purgatory_begin(accounting="proposal"), (watched("o", "k"),)
    right = snapshot(operations=[BOTH[0]], estimate=1)
    assert verdict_of(numbered(begin, *steps, right, END)).verdict == "conforms"
    row = verdict_of(numbered(begin, *steps, {**right, "estimate": 7}, END))
    assert (row.rule, row.expected, row.seen) == (
        "PURGATORY-ESTIMATE-PROPOSAL",
        "estimate = 1",
        "estimate = 7",
    )


POOL: Plain = {
    "kind": "begin",
    "instance": {
        "component": "memory_pool",
        "configuration": {"size_bytes": 100, "max_single_bytes": 50},
        "profile": {"observables": ["available_bytes"]},
    },
}
GRANTED = step("allocate", buffer="b", size_bytes=40, result=True, observed={"available_bytes": 60})


@pytest.mark.parametrize(
    ("fields", "verdict", "seen"),
    [
        ({"buffers": [{"buffer": "b", "size_bytes": 40}]}, "conforms", ""),
        ({"buffers": [{"buffer": "b", "size_bytes": 40}], "available_bytes": 60}, "conforms", ""),
        ({}, "diverges", "0 bytes outstanding; not as granted: b"),
        (
            {"buffers": [{"buffer": "b", "size_bytes": 41}]},
            "diverges",
            "41 bytes outstanding; not as granted: b",
        ),
        (
            {"buffers": [{"buffer": "b", "size_bytes": 40}], "available_bytes": 50},
            "diverges",
            "available_bytes = 50",
        ),
    ],
)
def test_a_pool_beside_its_snapshot(fields: dict[str, object], verdict: str, seen: str) -> None:
    row = verdict_of(numbered(POOL, GRANTED, snapshot(None, **fields), END))
    assert (row.verdict, row.seen) == (verdict, seen)
    assert row.rule == ("" if verdict == "conforms" else "POOL-CONSERVATION")


CONTRADICTIONS: dict[str, tuple[Plain, Plain, str]] = {
    "time": (
        timer_begin(),
        snapshot(None),
        "now_ms is missing: on a manual clock nothing else says what time it is",
    ),
    "other part": (
        timer_begin(),
        snapshot(buffers=[{"buffer": "b", "size_bytes": 1}]),
        "the snapshot of a timer has no buffers",
    ),
    "twice": (timer_begin(), snapshot(tasks=[task("a", 1)] * 2), "task 'a' is told twice"),
    "two times": (
        timer_begin(),
        snapshot(tasks=[{"task": "a", "early_ms": 1, "late_ms": 2}]),
        "the expiry of 'a' lies between two times, on a manual clock",
    ),
    "queue": (
        timer_begin(executor="inline"),
        snapshot(queued=["a"]),
        "only a stepped executor has tasks queued between two steps",
    ),
    "open call": (
        timer_begin(),
        snapshot(calls=[{"thread": "t", "operation": {"op": "cancel", "task": "a"}, "at_ns": 1}]),
        "calls that are under way cannot be followed on a manual clock",
    ),
    "closed": (
        timer_begin(),
        snapshot(tasks=[task("a", 1)], closed=True),
        "a timer that was shut down has no pending tasks",
    ),
    "variant": (
        {
            **timer_begin(),
            "deviations": [{"rule": "TIMER-LARGEST-DELAY", "variant": "long_arithmetic"}],
        },
        snapshot(),
        "the variants of a timer begin with a fresh one",
    ),
    "estimate": (
        purgatory_begin(accounting="proposal"),
        snapshot(),
        "estimate is missing: the next purge depends on it",
    ),
    "operation twice": (
        purgatory_begin(),
        snapshot(operations=[BOTH[0]] * 2),
        "operation 'o' is told twice",
    ),
    "list": (
        purgatory_begin(),
        snapshot(operations=[BOTH[0]], lists={"k": ["o", "o"]}),
        "the list of 'k' does not agree with the operations' entries",
    ),
    "order of the queue": (
        purgatory_begin(executor="stepped"),
        snapshot(operations=[{**each, "queued": 1} for each in BOTH]),
        "queued is missing: the order of the executor's queue",
    ),
    "unknown in the queue": (
        purgatory_begin(executor="stepped"),
        snapshot(queued=["x"]),
        "'x' is queued and not among the operations",
    ),
    "buffer twice": (
        POOL,
        snapshot(buffers=[{"buffer": "b", "size_bytes": 1}] * 2),
        "buffer 'b' is told twice",
    ),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_snapshot_that_contradicts_itself_is_unusable(name: str) -> None:
    begin, line, reason = CONTRADICTIONS[name]
    lines = numbered(begin, line, END, first=7)
    rows = rows_of(lines)
    assert quarantined(rows) == [(8, reason)]
    assert verdict_of(lines).verdict == "incomplete"


def test_a_clock_that_nobody_moved_makes_a_snapshot_unusable() -> None:
    rows = rows_of(numbered(timer_begin(), advance(3), snapshot(4), END))
    assert quarantined(rows) == [(2, "now_ms is 4; by the lines before, the clock reads 3")]


def test_behind_a_snapshot_the_insides_of_a_wheel_are_not_compared() -> None:
    begin = timer_begin(structure="delay_queue_wheel", observables=["levels", "size"])
    lines = numbered(begin, snapshot(), first=7) + numbered(
        step("add", task="t", delay_ms=500, observed={"levels": 1, "size": 1}), END, first=9
    )
    assert verdict_of(lines).verdict == "conforms"
    fresh = numbered(begin, step("add", task="t", delay_ms=500, observed={"levels": 1, "size": 1}))
    assert verdict_of(fresh).rule == "TIMER-SPAN"
