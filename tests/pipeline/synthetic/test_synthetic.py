"""Traces that are made up are what they say they are."""

from itertools import product
from pathlib import Path

import pytest

from purgatory_spec.profiles import Component
from purgatory_traces.replay import replay
from purgatory_traces.results.rows import QuarantineRow, RunVerdict, VerdictRow
from purgatory_traces.traces import synthetic
from purgatory_traces.traces.lines import TRACED, Located
from purgatory_traces.traces.sources import read_file
from purgatory_traces.traces.synthetic_steps import Fault

EVERY = [
    (component, fault)
    for component in TRACED
    for fault in (Fault.NONE, *synthetic.faults_of(component))
]


def judged(path: Path) -> tuple[VerdictRow, int]:
    """The verdict on the one run in a file, and how many lines of it were set aside."""
    read = list(read_file(path))
    lines = sorted(each for each in read if isinstance(each, Located))
    rows = list(replay(lines))
    (verdict,) = (row for row in rows if isinstance(row, VerdictRow))
    aside = sum(isinstance(row, QuarantineRow) for row in (*read, *rows))
    return verdict, aside


@pytest.mark.parametrize(
    ("component", "fault"), EVERY, ids=lambda each: getattr(each, "value", each)
)
def test_each_fault_of_each_component_has_the_verdict_that_is_foretold(
    component: Component, fault: Fault, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    for delay_ms, events in product((2, 9), (60, 173)):
        path.write_bytes(b"".join(synthetic.run_lines("r", component, events, fault, delay_ms)))
        foretold = synthetic.expected_of("r", component, events, fault, delay_ms)
        row, aside = judged(path)
        said = row.verdict, row.seq, row.rule, row.events, aside
        assert said == (
            foretold.verdict,
            foretold.seq,
            foretold.rule,
            foretold.events,
            foretold.quarantined,
        )
        assert (row.verdict == RunVerdict.CONFORMS.value) == (fault in (Fault.NONE, Fault.REPEATED))


def test_a_corpus_holds_every_fault_and_the_lines_that_are_foretold(tmp_path: Path) -> None:
    expected = synthetic.write_corpus(tmp_path, 120, 80, faulty=2, files=3)
    assert {(each.component, each.fault) for each in expected} == {
        (component.value, fault.value) for component, fault in EVERY
    }
    assert [each.run for each in expected] == [f"run-{number:06d}" for number in range(120)]
    lines = [line for path in sorted(tmp_path.iterdir()) for line in read_file(path)]
    assert sum(isinstance(line, Located) for line in lines) == sum(e.events for e in expected)


def test_how_a_corpus_is_spread_over_files_does_not_change_its_lines(tmp_path: Path) -> None:
    def written(name: str, **how: int | bool) -> tuple[list[synthetic.Expected], list[bytes]]:
        folder = tmp_path / name
        expected = synthetic.write_corpus(folder, 24, 70, faulty=2, seed=3, **how)  # type: ignore[arg-type]
        read = (line for path in sorted(folder.iterdir()) for line in read_file(path))
        return expected, sorted(e.raw for e in read if isinstance(e, Located))

    whole = written("whole")
    assert whole == written("spread", files=5, mixed=True, compressed=True)
    again = written("again")
    assert whole == again
    bytes_of = [(tmp_path / name / "part-00000.jsonl").read_bytes() for name in ("whole", "again")]
    assert bytes_of[0] == bytes_of[1]


def test_another_seed_gives_other_lines(tmp_path: Path) -> None:
    for seed in (1, 2):
        synthetic.write_corpus(tmp_path / str(seed), 6, 70, seed=seed)
    one, other = ((tmp_path / name / "part-00000.jsonl").read_bytes() for name in "12")
    assert one != other


@pytest.mark.parametrize(
    ("component", "events", "fault", "said"),
    [
        (Component.TIMER, 59, Fault.NONE, "at least 60"),
        (Component.MEMORY_POOL, 100, Fault.EARLY, "cannot have the fault early"),
    ],
)
def test_what_cannot_be_made_up_is_refused(
    component: Component, events: int, fault: Fault, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        list(synthetic.run_lines("r", component, events, fault))
