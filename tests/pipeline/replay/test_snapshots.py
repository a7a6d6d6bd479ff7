"""A run may be cut anywhere: what follows is judged from a snapshot as it is in the whole run."""

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purgatory_conformance.generation.source import SeededSource
from purgatory_conformance.subjects.bundled import bundled_proposal_subject, bundled_subject
from purgatory_conformance.subjects.subject import Subject, profile_of
from purgatory_conformance.support.registry import support_of
from purgatory_spec import cases as spec_cases
from purgatory_spec.cases import read_case
from purgatory_spec.profiles import Component
from purgatory_traces.replay.sequential import SequentialJudge
from purgatory_traces.traces.from_cases import instance_of, trace_of_case, trace_of_steps
from purgatory_traces.traces.lines import TRACED, Begin, Snapshot, Step, TraceLine

from .run_lines import cases, deviations, verdict_of
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
    """Cut the cases of Kafka's deviations, which do not concern the insides of a wheel."""
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
    """Control the property above: it is about something."""
    for make, component in SUBJECTS.values():
        runs = [generated(make(), component, seed) for seed in range(20)]
        following = [lines for lines in runs if short(lines) == ("conforms", None)]
        assert len(following) >= 8, component
        assert sum(cut(lines, len(lines) // 2) is not None for lines in following) >= 6, component
