"""A bit that flips in a file of traces changes nothing that is believed, under a checksum."""

import random
import shutil
import subprocess
from pathlib import Path

from purgatory_spec.profiles import Component
from purgatory_traces.engines.local import check_locally
from purgatory_traces.recording.recorder import Rotation
from purgatory_traces.recording.recording_run import record_bundled
from purgatory_traces.recording.workload import Wish
from purgatory_traces.results.rows import QuarantineRow, VerdictRow
from purgatory_traces.traces.byte_streams import CHECKSUM
from purgatory_traces.traces.parquet import TraceRow, write_parquet
from purgatory_traces.traces.sources import read_file, sources_of

ROWS = [
    TraceRow("r", seq, b'{"kind":"end","run":"r","seq":%d,"at_ns":%d}' % (seq, seq * 977 % 9973))
    for seq in range(400)
]


def lines_of(path: Path) -> tuple[list[bytes], bool]:
    """The lines that are believed, and whether anything was set aside."""
    read = list(read_file(path))
    believed = [each.raw for each in read if not isinstance(each, QuarantineRow)]
    return believed, len(believed) < len(read)


def test_none_of_150_flipped_bits_changes_lines_without_a_word(tmp_path: Path) -> None:
    whole = tmp_path / "whole.parquet"
    write_parquet(whole, ROWS)
    right, is_aside = lines_of(whole)
    assert (right, is_aside) == ([row.line for row in ROWS], False)
    drawn, data = random.Random(1), whole.read_bytes()
    found = 0
    flipped = tmp_path / "flipped.parquet"
    for place in drawn.sample(range(len(data) * 8), 150):
        rotten = bytearray(data)
        rotten[place // 8] ^= 1 << place % 8
        flipped.write_bytes(rotten)
        lines, is_aside = lines_of(flipped)
        assert lines == right or is_aside, place
        found += is_aside
    assert found > 50


def test_a_recorded_file_of_lines_has_a_checksum_beside_it_and_no_flipped_bit_conforms(
    tmp_path: Path,
) -> None:
    trace = tmp_path / "whole" / "t.jsonl"
    trace.parent.mkdir()
    wish = Wish(threads=1, lines=600, rate=6000)
    recorded = record_bundled(Component.MEMORY_POOL, wish, trace, rotation=Rotation(lines=200))
    assert len(recorded.files) > 1
    beside = [path.with_name(path.name + CHECKSUM) for path in recorded.files]
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
