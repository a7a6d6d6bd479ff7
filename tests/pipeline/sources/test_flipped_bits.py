"""A bit that flips in a file of traces changes nothing that is believed, under a checksum."""

import random
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from purgatory_lab.benchmarks.flipped_bits import KINDS, REGION, Fate, fates, lines_of_run
from purgatory_spec.profiles import Component
from purgatory_traces.engines.local import check_locally
from purgatory_traces.recording.recorder import Rotation
from purgatory_traces.recording.recording_run import record_bundled
from purgatory_traces.recording.workload import Wish
from purgatory_traces.results.rows import QuarantineRow, VerdictRow
from purgatory_traces.traces import parquet
from purgatory_traces.traces.byte_streams import CHECKSUM
from purgatory_traces.traces.sources import read_file, sources_of

WITHOUT = ("`.jsonl`", "`.parquet` without checksums of pages")
"""The kinds of files in which nothing tells all changes."""
UNTOLD = {Fate.CONFORMS, Fate.DIVERGES}


def counted_in_steps(kind: str, folder: Path, stride: int) -> Counter[Fate]:
    """How often each fate is met, if every so many bits are flipped."""
    path = KINDS[kind](folder, lines_of_run("a", Component.TIMER))
    return Counter(fate for _, fate in fates(path, sorted(folder.iterdir()), stride))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stride", [149, pytest.param(1, marks=pytest.mark.verify)])
def test_no_flipped_bit_is_believed_under_a_checksum(
    kind: str, stride: int, tmp_path: Path
) -> None:
    """Flip bits with and without checksums: in a file without them some are believed."""
    counts = counted_in_steps(kind, tmp_path, stride)
    assert counts[Fate.TOLD] > counts.total() // 10
    assert any(counts[fate] for fate in UNTOLD) == (kind in WITHOUT)


def test_rows_that_are_not_counted_are_lost_without_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Control the count of rows: without it a damaged page header drops the whole file."""
    path = KINDS["`.parquet` of `trace convert`"](tmp_path, lines_of_run("a", Component.TIMER))
    monkeypatch.setattr(parquet, "other_number", lambda *_: iter(()))
    flipped = next(each for each, fate in fates(path, [path]) if fate is Fate.CONFORMS)
    assert list(read_file(path)) == []
    monkeypatch.undo()
    (row,) = read_file(path)
    assert isinstance(row, QuarantineRow), flipped
    assert row.reason == "it tells of 60 rows, and 0 could be read: it is damaged"


def test_the_page_has_a_row_for_each_kind_and_none_is_believed_under_a_checksum() -> None:
    page = Path("docs/how-to/check-traces.md").read_text(encoding="utf-8")
    region = page.partition(f"<!-- {REGION}: begin -->")[2].partition(f"<!-- {REGION}: end -->")[0]
    _, _, *rows = [line.strip("| ").split(" | ") for line in region.strip().splitlines()]
    assert [row[0] for row in rows] == [*KINDS]
    for kind, bits, *counts in rows:
        told, same, conforms, diverges = (int(each.replace(",", "")) for each in counts)
        assert told + same + conforms + diverges == int(bits.replace(",", "")) > 0
        assert (conforms + diverges > 0) == (kind in WITHOUT)


def test_a_recorded_file_of_lines_has_a_checksum_beside_it_and_no_flipped_bit_conforms(
    tmp_path: Path,
) -> None:
    trace = tmp_path / "whole" / "t.jsonl"
    trace.parent.mkdir()
    wish = Wish(threads=1, lines=600, rate=6000)
    recorded = record_bundled(Component.MEMORY_POOL, wish, trace, rotation=Rotation(lines=200))
    assert len(recorded.files) > 1
    files = map(Path, recorded.files)
    beside = [path.with_name(path.name + CHECKSUM) for path in files]
    check = subprocess.run(
        ["sha256sum", "--check", *(path.name for path in beside)], cwd=trace.parent, check=False
    )
    assert check.returncode == 0
    assert verdicts(trace.parent) == ["conforms"]
    drawn, data = random.Random(1), trace.read_bytes()
    covered, bare = tmp_path / "covered", tmp_path / "bare"
    shutil.copytree(trace.parent, covered)
    shutil.copytree(trace.parent, bare, ignore=shutil.ignore_patterns(f"*{CHECKSUM}"))
    a_nanosecond = 8 * (data.index(b',"thread"') - 1)
    unseen = set()
    for place in (a_nanosecond, *drawn.sample(range(len(data) * 8), 40)):
        rotten = bytearray(data)
        rotten[place // 8] ^= 1 << place % 8
        (covered / trace.name).write_bytes(rotten)
        (bare / trace.name).write_bytes(rotten)
        assert "conforms" not in verdicts(covered), place
        if "conforms" in verdicts(bare):
            unseen.add(place)
    assert a_nanosecond in unseen


def test_the_checksum_is_no_trace_and_no_file_that_is_ignored(tmp_path: Path) -> None:
    for name in ("t.jsonl", f"t.jsonl{CHECKSUM}", "notes.txt"):
        (tmp_path / name).write_text("", encoding="utf-8")
    sources = sources_of([tmp_path])
    assert [Path(each).name for each in sources.files] == ["t.jsonl"]
    assert [Path(each).name for each in sources.ignored] == ["notes.txt"]


def verdicts(folder: Path) -> list[str]:
    return [row.verdict for row in check_locally([folder]) if isinstance(row, VerdictRow)]
