"""The local engine says of shuffled lines what the replay says of sorted ones."""

import tracemalloc
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purgatory_spec.profiles import Component
from purgatory_traces.engines import local as local_engine
from purgatory_traces.engines.local import check_locally
from purgatory_traces.replay import replay
from purgatory_traces.results.rows import QuarantineRow, Row, VerdictRow
from purgatory_traces.traces.lines import TRACED, Located
from purgatory_traces.traces.sources import NothingThere, files_of, read_file
from purgatory_traces.traces.synthetic import faults_of, run_lines, write_corpus
from purgatory_traces.traces.synthetic_steps import Fault


def as_sorted(paths: Iterable[str | Path]) -> list[Row]:
    """The rows, by the definition: everything in memory, sorted, replayed."""
    read = [each for file in files_of(paths) for each in read_file(file)]
    unplaced: list[Row] = [each for each in read if isinstance(each, QuarantineRow)]
    return [*unplaced, *replay(sorted(each for each in read if isinstance(each, Located)))]


RUNS: list[bytes] = [
    line
    for number, component in enumerate(TRACED)
    for fault in (Fault.NONE, *faults_of(component))[number::3]
    for line in run_lines(f"{component.value}-{fault.value}", component, 60, fault)
]


@settings(max_examples=10)
@given(
    order=st.randoms(use_true_random=False),
    files=st.integers(1, 4),
    again=st.lists(st.integers(0, len(RUNS) - 1), max_size=5),
    left_out=st.lists(st.integers(0, len(RUNS) - 1), max_size=3),
    chunk_bytes=st.sampled_from([2000, 60_000, 1 << 24]),
)
def test_any_order_over_any_files_gives_the_rows_of_sorted_lines(
    tmp_path_factory: pytest.TempPathFactory,
    order: Random,
    files: int,
    again: Sequence[int],
    left_out: Sequence[int],
    chunk_bytes: int,
) -> None:
    lines = [line for place, line in enumerate(RUNS) if place not in left_out]
    lines += [RUNS[place] for place in again]
    order.shuffle(lines)
    folder = tmp_path_factory.mktemp("shuffled")
    for file in range(files):
        (folder / f"{file}.jsonl").write_bytes(b"".join(lines[file::files]))
    rows = list(check_locally([folder], chunk_bytes=chunk_bytes))
    assert rows == as_sorted([folder])
    assert sum(row.events for row in rows if isinstance(row, VerdictRow)) + sum(
        not row.run for row in rows if isinstance(row, QuarantineRow)
    ) == len(b"".join(lines).splitlines())


def test_of_two_lines_with_one_number_the_first_by_file_counts(tmp_path: Path) -> None:
    lines = list(run_lines("r", Component.TIMER, 60))
    wrong = lines[5].replace(b'"kind":"step"', b'"kind":"call"')
    (tmp_path / "b.jsonl").write_bytes(b"".join([*lines, lines[7]]))
    (tmp_path / "a.jsonl").write_bytes(wrong)
    rows = list(check_locally([tmp_path]))
    (verdict,) = (row for row in rows if isinstance(row, VerdictRow))
    assert (verdict.verdict, verdict.events) == ("incomplete", 62)
    aside = [row for row in rows if isinstance(row, QuarantineRow)]
    assert [(Path(row.file).name, row.line, row.seq) for row in aside] == [
        ("a.jsonl", 1, 5),
        ("b.jsonl", 6, 5),
        ("b.jsonl", 61, 7),
    ]


def test_a_line_behind_the_end_makes_a_run_incomplete_wherever_it_stands(tmp_path: Path) -> None:
    lines = list(run_lines("r", Component.TIMER, 60))
    late = lines[30].replace(b'"seq":30', b'"seq":60')
    for name, written in (("before", [late, *lines]), ("behind", [*lines, late])):
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(b"".join(written))
        rows = list(check_locally([path]))
        (verdict,) = (row for row in rows if isinstance(row, VerdictRow))
        assert verdict.verdict == "incomplete"
        assert [row.seq for row in rows if isinstance(row, QuarantineRow)] == [60]


def test_what_does_not_fit_into_memory_is_written_to_the_scratch_folder(tmp_path: Path) -> None:
    traces, scratch = tmp_path / "traces", tmp_path / "scratch"
    scratch.mkdir()
    write_corpus(traces, 12, 200, mixed=True)
    rows = check_locally([traces], scratch=scratch, chunk_bytes=50_000)
    first = next(rows)
    assert isinstance(first, VerdictRow)
    assert any(scratch.rglob("*.chunk"))
    assert [first, *rows] == list(check_locally([traces]))
    assert list(scratch.iterdir()) == []


@pytest.mark.slow
def test_memory_does_not_grow_with_the_length_of_a_run(tmp_path: Path) -> None:
    """Measure what the engine holds, not the judge: without its beginning nothing is judged."""

    def peak_of(events: int, chunk_bytes: int) -> int:
        path = tmp_path / f"{events}.jsonl"
        _, *lines = run_lines("r", Component.TIMER, events)
        path.write_bytes(b"".join(reversed(lines)))
        tracemalloc.start()
        (verdict,) = check_locally([path], chunk_bytes=chunk_bytes)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert isinstance(verdict, VerdictRow)
        assert (verdict.events, verdict.judged) == (events - 1, 0)
        return peak

    bounded = peak_of(20_000, 100_000)
    assert bounded < 2_000_000
    assert peak_of(10_000, 1 << 30) > bounded, "the control: half of it, all in memory"


def test_how_far_it_is_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_engine, "_LINES_BETWEEN_NEWS", 50)
    write_corpus(tmp_path, 2, 70, faulty=0)
    told: list[tuple[int, int, str]] = []
    rows = check_locally([tmp_path], progress=lambda *news: told.append(news), estimated=150)
    assert sum(1 for _ in rows) > 2
    assert told == [
        *((lines, 150, "reading") for lines in (50, 100)),
        *((lines, 140, "judging") for lines in (0, 50, 100)),
    ]


def test_a_path_that_stands_for_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NothingThere):
        list(check_locally([tmp_path / "gone"]))
