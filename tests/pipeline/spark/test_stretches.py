"""Check that a run cut at its snapshots has the rows of the run in one piece."""

# The two halves of the engine, without Spark: each file of a run is read as a share of its own.

import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import msgspec
import pytest

from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_judge.judgement import TooManyStates
from purgatory_spark.engine import pieces as spark_pieces
from purgatory_spark.engine import reading
from purgatory_spark.engine.pieces import AGAIN, PieceKind
from purgatory_spec.profiles import Component, MemoryPoolObservable
from purgatory_traces.engines.local import check_locally
from purgatory_traces.errors import Undecided, Unusable
from purgatory_traces.replay import RunReplay
from purgatory_traces.replay.sequential import SequentialJudge
from purgatory_traces.replay.stretches import Stretch, leap, may_begin
from purgatory_traces.results.rows import Row, VerdictRow
from purgatory_traces.snapshots.snapshots import profile_after_snapshot
from purgatory_traces.traces.from_cases import encoded
from purgatory_traces.traces.lines import TRACED, Begin, End, Snapshot, Step, TraceLine, WallClock
from purgatory_traces.traces.parsing import parse
from purgatory_traces.traces.synthetic import expected_of, faults_of, run_lines
from purgatory_traces.traces.synthetic_steps import Fault
from tests.pipeline.replay.run_lines import located
from tests.pipeline.replay.snapshot_of_state import snapshot_of
from tests.pipeline.replay.test_snapshots import generated

from .test_pieces import carried, compared, in_order, kinds, of_tables, read, rows

Files = list[list[TraceLine]]


def rotated(lines: Sequence[TraceLine], borders: Sequence[int]) -> Files:
    """The run in files, each of which begins with a first line and a snapshot."""
    # A border is the number of the line behind it; where the state is not determined there is none.
    begin = lines[0]
    assert isinstance(begin, Begin)
    judge: SequentialJudge | None = SequentialJudge(begin)
    files: Files = [[begin]]
    seq = 1
    for line in lines[1:]:
        if line.seq in borders and judge is not None and len(judge._judge.states) == 1:
            told = snapshot_of(judge._judge.states[0], begin.run, seq + 1)
            files.append([msgspec.structs.replace(begin, seq=seq), told])
            seq += 2
        if judge is not None and isinstance(line, Step):
            try:
                judge = judge if judge.take(line) is None else None
            except (Unusable, Undecided, TooManyStates):
                judge = None
        files[-1].append(msgspec.structs.replace(line, seq=seq))
        seq += 1
    return files


def without_event(line: TraceLine, _: Random) -> TraceLine:
    assert isinstance(line, Step)
    return msgspec.structs.replace(line, events=line.events[1:])


def with_event_twice(line: TraceLine, _: Random) -> TraceLine:
    assert isinstance(line, Step)
    return msgspec.structs.replace(line, events=(*line.events[:1], *line.events))


def with_other_result(line: TraceLine, _: Random) -> TraceLine:
    assert isinstance(line, Step)
    result = {True: False, False: True}.get(line.result is True, True)
    return msgspec.structs.replace(line, result=result)


def told_otherwise(line: TraceLine, _: Random) -> TraceLine:
    """A snapshot without one of the things that are live, or with one that is not."""
    assert isinstance(line, Snapshot)
    if line.tasks or line.operations or line.buffers:
        return msgspec.structs.replace(
            line,
            tasks=line.tasks[1:],
            operations=line.operations[1:],
            lists={},
            queued=(),
            buffers=line.buffers[1:],
        )
    return msgspec.structs.replace(line, closed=not line.closed)


def of_another_subject(line: TraceLine, _: Random) -> TraceLine:
    assert isinstance(line, Begin)
    return msgspec.structs.replace(line, subject="another")


FAULTS: dict[str, tuple[type[TraceLine], Callable[[TraceLine, Random], TraceLine]]] = {
    "event missing": (Step, without_event),
    "event twice": (Step, with_event_twice),
    "other result": (Step, with_other_result),
    "snapshot": (Snapshot, told_otherwise),
    "first line": (Begin, of_another_subject),
}
FAULTS_OF_STEPS = {Fault.MISSING, Fault.EARLY, Fault.TWICE, Fault.RESULT}
LINES_WRONG = ("gap", "copy", "copy elsewhere", "conflict", "unusable", "none")


def spoilt(files: Files, wrong: str, at_border: bool, source: Random) -> list[list[bytes]]:
    """The lines of the files with something wrong, next to a border or anywhere."""
    texts = [[encoded(line) for line in file] for file in files]
    which = source.randrange(len(files))
    if wrong in FAULTS:
        kind, change = FAULTS[wrong]
        places = [
            place
            for place, line in enumerate(files[which])
            if isinstance(line, kind) and line.seq and (kind is not Step or has_events(line))
        ]
        if places:
            place = places[0] if at_border else source.choice(places)
            texts[which][place] = encoded(change(files[which][place], source))
        return texts
    last = len(texts[which]) - 1
    place = source.choice([0, last]) if at_border else source.randint(0, last)
    line = texts[which][place]
    match wrong:
        case "gap":
            del texts[which][place]
        case "copy":
            texts[which].insert(place, line)
        case "copy elsewhere":
            texts[source.randrange(len(texts))].append(line)
        case "conflict":
            texts[which].append(line.replace(b'"kind"', b'"thread":"other","kind"', 1))
        case "unusable":
            texts[which][place] = line.replace(b'"kind"', b'"unheard_of":1,"kind"', 1)
    return texts


def has_events(line: TraceLine) -> bool:
    return isinstance(line, Step) and bool(line.events)


def written(folder: Path, files: Sequence[Sequence[bytes]]) -> list[Path]:
    folder.mkdir()
    paths = [folder / f"{which}.jsonl" for which in range(len(files))]
    for path, lines in zip(paths, files, strict=True):
        path.write_bytes(b"".join(line + b"\n" for line in lines))
    return paths


def put_together(paths: list[Path]) -> tuple[list[Row], str]:
    """The rows of files that were judged apart, and in which way they came about."""
    pieces = read(*paths)
    found = carried(in_order(pieces))
    again = [each.payload for each in found if each.table == AGAIN]
    got = of_tables(found)
    if again:
        assert [row for row in got if not isinstance(row, VerdictRow)] == got
        got += rows(in_order(read(*paths, judges=False, only=frozenset({again[0].decode()}))))
        return got, "again"
    stretches = [piece for piece in kinds(pieces) if piece[1] == PieceKind.STRETCH]
    return got, "leapt" if len(stretches) > 1 else "whole"


def came_out_as_in_one_piece(paths: list[Path]) -> str:
    """Compare the rows with the local engine's; in which way they came about."""
    got, way = put_together(paths)
    assert compared(got) == compared(list(check_locally([paths[0].parent])))
    return way


@pytest.fixture(params=[30])
def warmup(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Have judges compared after a few lines."""
    lines = int(request.param)
    monkeypatch.setattr(reading, "WARMUP", lines)
    return lines


def synthetic(component: Component, events: int, fault: Fault = Fault.NONE) -> list[TraceLine]:
    return [parse(line.rstrip()) for line in run_lines("r", component, events, fault)]


@pytest.mark.usefixtures("warmup")
@pytest.mark.parametrize("component", TRACED)
def test_planted_faults_behind_a_border(component: Component, tmp_path: Path) -> None:
    for fault in FAULTS_OF_STEPS & set(faults_of(component)):
        files = rotated(synthetic(component, 400, fault), (65, 130, 195))
        paths = written(tmp_path / fault.value, [[encoded(line) for line in f] for f in files])
        assert came_out_as_in_one_piece(paths) == "leapt"
        expected = expected_of("r", component, 400, fault)
        assert expected.seq is not None
        (verdict,) = (row for row in rows(in_order(read(*paths))) if isinstance(row, VerdictRow))
        assert (verdict.seq, verdict.rule) == (expected.seq + 6, expected.rule)


@pytest.mark.slow
@pytest.mark.usefixtures("warmup")
@pytest.mark.parametrize("warmup", [12], indirect=True)
@pytest.mark.parametrize("component", TRACED)
def test_generated_runs_with_anything_wrong(component: Component, tmp_path: Path) -> None:
    ways: Counter[str] = Counter()
    for seed in range(100):
        source = Random(f"{component.value}/{seed}")
        lines = generated(bundled_subject(), component, seed, most=150)
        begin = lines[0]
        assert isinstance(begin, Begin)
        profile = profile_after_snapshot(begin.instance)
        instance = msgspec.structs.replace(begin.instance, profile=profile)
        lines = [msgspec.structs.replace(begin, instance=instance), *lines[1:]]
        borders = sorted(source.sample(range(2, len(lines) - 1), min(3, len(lines) - 3)))
        wrong = source.choice([*FAULTS, *LINES_WRONG])
        files = spoilt(rotated(lines, borders), wrong, source.random() < 0.5, source)
        ways[came_out_as_in_one_piece(written(tmp_path / str(seed), files))] += 1
    assert ways["leapt"] >= 5, ways
    assert ways["again"] >= 5, ways


def test_of_a_long_run_few_lines_are_replayed_where_it_is_put_together(
    tmp_path: Path, warmup: int
) -> None:
    events, count = 4000, 8
    each = events // count
    lines = synthetic(Component.TIMER, events)
    files = rotated(lines, range(each, events, each))
    assert len(files) == count
    replayed = lines_in_pieces(written(tmp_path / "cut", [[*map(encoded, f)] for f in files]))
    assert replayed == warmup * (count - 1)
    plain = [[*map(encoded, lines[start : start + each])] for start in range(0, events, each)]
    assert lines_in_pieces(written(tmp_path / "plain", plain)) == events - each


def lines_in_pieces(paths: list[Path]) -> int:
    """Return how many lines a task replays that puts together what others have read."""
    return sum(lines for _, kind, lines in kinds(read(*paths)) if kind == PieceKind.LINES)


def test_too_many_lines_set_aside_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warmup: int
) -> None:
    files = [[*map(encoded, part)] for part in rotated(synthetic(Component.TIMER, 400), (200,))]
    for place in (-20, -10):
        files[1][place] = files[1][place].replace(b'"kind"', b'"unheard_of":1,"kind"', 1)
    assert came_out_as_in_one_piece(written(tmp_path / "few", files)) == "leapt"
    monkeypatch.setattr(spark_pieces, "MOST_ASIDE", 1)
    assert came_out_as_in_one_piece(written(tmp_path / "many", files)) == "again"


BEGIN = synthetic(Component.MEMORY_POOL, 60)[0]
assert isinstance(BEGIN, Begin)
SHOWN = msgspec.structs.replace(
    BEGIN.instance,
    profile=msgspec.structs.replace(
        BEGIN.instance.profile, observables={MemoryPoolObservable.DEPLETED_SPELLS}
    ),
)


@pytest.mark.parametrize(
    ("changes", "second", "may"),
    [
        ({}, Snapshot(run="r", seq=8), True),
        ({}, End(run="r", seq=8), False),
        ({"seq": 0}, End(run="r", seq=1), True),
        ({"seq": 0, "keeps_names": True}, End(run="r", seq=1), False),
        ({"seq": 0, "clock": WallClock(lateness_ms=1)}, End(run="r", seq=1), False),
        ({"instance": SHOWN}, Snapshot(run="r", seq=8), False),
    ],
)
def test_where_a_stretch_may_begin(
    changes: dict[str, object], second: TraceLine, may: bool
) -> None:
    begin = msgspec.structs.replace(BEGIN, **{"seq": 7, **changes})
    assert may_begin(*located([begin, second])) is may


def test_a_judge_that_knows_less_is_not_believed() -> None:
    first, second = rotated(synthetic(Component.TIMER, 100), (40,))
    whole, apart = RunReplay("r"), RunReplay("r")
    for line in located(first):
        whole.take(line)
    fits = []
    for line in located(second):
        whole.take(line)
        apart.take(line)
        stretch = Stretch(copy(apart), copy(apart), ())
        fits.append(leap(copy(whole), stretch))
    assert fits[:2] == [False, False]
    assert fits == sorted(fits)
    assert fits[12]


def copy(replay: RunReplay) -> RunReplay:
    same: RunReplay = pickle.loads(pickle.dumps(replay))
    return same
