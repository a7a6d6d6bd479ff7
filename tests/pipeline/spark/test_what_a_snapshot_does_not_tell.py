"""Runs whose judgement behind a snapshot depends on what was done before it."""

# Each has a border between the cause and a step far behind it that shows the effect, or goes wrong.
# Judged apart, the part behind the border does not know the cause; so the comparison of judges has
# to keep it from being believed.

from collections.abc import Sequence
from pathlib import Path
from random import Random

import msgspec
import pytest

from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_conformance.subjects.subject import profile_of
from purgatory_spark.engine import reading
from purgatory_spec import cases, profiles
from purgatory_spec import operations as op
from purgatory_traces.engines.local import check_locally
from purgatory_traces.replay import stretches
from purgatory_traces.snapshots.snapshots import profile_after_snapshot
from purgatory_traces.traces.from_cases import encoded, instance_of, trace_of_steps
from purgatory_traces.traces.lines import TRACED, Begin, Step, TraceLine

from .test_pieces import compared
from .test_stretches import put_together, rotated, with_other_result, without_event, written

WARMUP = 12
ACCOUNT = {profiles.MemoryPoolObservable.AVAILABLE, profiles.MemoryPoolObservable.USED}

CONFIGURATIONS: dict[profiles.Component, profiles.Configuration] = {
    profiles.Component.TIMER: profiles.TimerConfiguration(),
    profiles.Component.PURGATORY: profiles.PurgatoryConfiguration(),
    profiles.Component.MEMORY_POOL: profiles.MemoryPoolConfiguration(100, 10),
}
CAUSES: dict[profiles.Component, list[list[op.Operation]]] = {
    profiles.Component.TIMER: [[op.Add("a", 900), op.Add("a", 500)]],
    profiles.Component.PURGATORY: [
        [op.Watch("a", ("k", "l"), 500), op.CancelForKey("k")],
        [op.Watch("a", ("k",), 900), op.Advance(1), op.Watch("a", ("l",), 500)],
        [op.Watch("a", ("k", "k"), 500)],
    ],
    profiles.Component.MEMORY_POOL: [
        [op.Allocate("a", 11)],
        [op.Allocate("a", -1)],
        [op.Allocate("a", 0)],
        [op.ReleaseNothing()],
        [op.ReleaseForeign(3)],
        [op.Allocate("a", 5), op.Release("a", op.ReleaseForm.COPY), op.Release("a")],
    ],
}


def between(component: profiles.Component, number: int) -> list[op.Operation]:
    """Operations that leave nothing behind."""
    name = f"b{number}"
    match component:
        case profiles.Component.TIMER:
            return [op.Add(name, 0), op.Advance(2)]
        case profiles.Component.PURGATORY:
            return [op.Watch(name, ("m",), 700), op.Satisfy(name), op.Check("m")]
        case _:
            return [op.Allocate(name, 4), op.Release(name)]


def effect(component: profiles.Component) -> list[op.Operation]:
    """The steps that the cause has a bearing on."""
    if component is profiles.Component.MEMORY_POOL:
        return [op.Allocate("last", 6)]
    return (
        [op.Check("k"), op.Advance(600)]
        if component is profiles.Component.PURGATORY
        else [op.Advance(600)]
    )


def drawn(component: profiles.Component, source: Random) -> list[list[TraceLine]]:
    """Such a run in two files; the last step may be wrong."""
    cause = source.choice(CAUSES[component])
    count = source.randint(2 * WARMUP, 3 * WARMUP)
    operations = [*cause, *(each for n in range(count) for each in between(component, n))]
    configuration = CONFIGURATIONS[component]
    subject = bundled_subject()
    subject.new("c", configuration)
    operations += effect(component)
    outcomes = list(subject.do_all(operations))
    subject.end()
    profile = profile_of(subject, component)
    instance = instance_of(configuration, profile)
    profile = profile_after_snapshot(instance)
    if component is profiles.Component.MEMORY_POOL:
        profile = msgspec.structs.replace(profile, observables=profile.observables - ACCOUNT)
    instance = msgspec.structs.replace(instance, profile=profile)
    pairs = zip(operations, outcomes, strict=True)
    begin = Begin(run="r", seq=0, instance=instance)
    lines = list(trace_of_steps(begin, [cases.Step(*pair) for pair in pairs]))
    if source.random() < 0.7:
        place = len(lines) - 2 - source.randrange(len(effect(component)))
        lines[place] = with_a_fault(lines[place], source)
    return rotated(lines, [len(cause) + 1])


def with_a_fault(line: TraceLine, source: Random) -> TraceLine:
    assert isinstance(line, Step)
    return without_event(line, source) if line.events else with_other_result(line, source)


def texts(files: Sequence[Sequence[TraceLine]]) -> list[list[bytes]]:
    return [[encoded(line) for line in file] for file in files]


@pytest.mark.parametrize("component", TRACED)
def test_it_is_known_where_the_run_is_put_together(
    component: profiles.Component, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "WARMUP", WARMUP)
    wrong = 0
    for seed in range(20):
        files = drawn(component, Random(f"{component.value}/{seed}"))
        assert len(files) == 2
        paths = written(tmp_path / str(seed), texts(files))
        expected = compared(list(check_locally([paths[0].parent])))
        assert compared(put_together(paths)[0]) == expected
        with monkeypatch.context() as patched:
            patched.setattr(stretches, "_know_the_same", lambda one, other: True)
            wrong += compared(put_together(paths)[0]) != expected
    assert wrong >= 5
