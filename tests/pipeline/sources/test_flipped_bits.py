"""A bit that flips in a Parquet file of traces changes nothing that is believed."""

import random
from pathlib import Path

from purgatory_pipeline.results.rows import QuarantineRow
from purgatory_pipeline.traces.parquet import TraceRow, write_parquet
from purgatory_pipeline.traces.sources import read_file

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
    """
    Given a Parquet file of lines, and 150 copies with one bit flipped in each
    When the copies are read
    Then each gives the very lines, or something is set aside; and some bits are found
    """
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
