"""Damage to files is never taken for something that the system did, and never stops a check."""

import gzip
import zlib
from pathlib import Path

import pytest
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st

from purgatory_traces.engines.local import check_locally
from purgatory_traces.results.rows import QuarantineRow, Row, VerdictRow
from purgatory_traces.traces.lines import TRACED
from purgatory_traces.traces.synthetic import run_lines

GOOD = {component.value: list(run_lines(component.value, component, 60)) for component in TRACED}
KINDS = ("cut", "lost", "twice", "moved", "rubbish", "blank", "joined")


def damaged(lines: list[bytes], kind: str, place: int, size: int) -> list[bytes]:
    """The lines with one of them damaged in a way that says nothing else than before."""
    line = lines[place]
    changed = {
        "cut": [line[: size % max(1, len(line) - 2)] + b"\n"],
        "lost": [],
        "twice": [line, line],
        "moved": [],
        "rubbish": [line, b"\x00\xff}{" * (size % 9) + b"\n"],
        "blank": [line, b"\r\n"],
        "joined": [line.rstrip(b"\n")],
    }[kind]
    left = [*lines[:place], *changed, *lines[place + 1 :]]
    return [line, *left] if kind == "moved" else left


damages = st.tuples(st.sampled_from(KINDS), st.integers(0, 170), st.integers(0, 200))


def verdicts_of(rows: list[Row]) -> dict[str, str]:
    return {row.run: row.verdict for row in rows if isinstance(row, VerdictRow)}


def packed(content: bytes, level: int, end: int, flip: int) -> tuple[bytes, bool]:
    """The content compressed, cut off at its end or with a bit changed; whether that shows."""
    whole = gzip.compress(content, level, mtime=0)
    if end:
        return whole[:-end], True
    if not flip:
        return whole, False
    place, bit = divmod(flip, 8)
    place %= len(whole)
    changed = whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :]
    try:
        return changed, gzip.decompress(changed) != content
    except EOFError:
        reject()  # looks like a file whose writer was killed, and is believed as that is
    except (gzip.BadGzipFile, zlib.error):
        return changed, True


@settings(max_examples=40)
@given(
    hits=st.lists(damages, max_size=5),
    level=st.sampled_from([None, 0, 9]),
    end=st.integers(0, 60),
    flip=st.integers(0, 1 << 19),
)
@example(hits=[], level=0, end=0, flip=8 * 9000)
@example(hits=[], level=9, end=0, flip=8 * 1000)
def test_damage_never_makes_a_run_diverge(
    tmp_path_factory: pytest.TempPathFactory,
    hits: list[tuple[str, int, int]],
    level: int | None,
    end: int,
    flip: int,
) -> None:
    lines = [line for run in GOOD.values() for line in run]
    for kind, place, size in hits:
        lines = damaged(lines, kind, place % len(lines), size)
    content = b"".join(lines)
    written, shows = (content, False) if level is None else packed(content, level, end, flip)
    path = tmp_path_factory.mktemp("damaged") / ("t.jsonl" if level is None else "t.jsonl.gz")
    path.write_bytes(written)
    rows = list(check_locally([path]))
    verdicts = set(verdicts_of(rows).values())
    assert verdicts <= {"conforms", "incomplete"}
    left = sorted(line.strip() for line in content.split(b"\n") if line.strip())
    if not shows and left == sorted(line.strip() for run in GOOD.values() for line in run):
        assert verdicts == {"conforms"}
    else:
        told = [row for row in rows if isinstance(row, QuarantineRow)]
        assert told or "incomplete" in verdicts or len(verdicts_of(rows)) < len(GOOD)


def test_a_divergence_is_found_all_the_same(tmp_path: Path) -> None:
    """Control the property above: lines that say something else do diverge."""
    lines = [line.replace(b'"kind":"ran"', b'"kind":"expired"') for line in GOOD["timer"]]
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"".join(lines))
    assert verdicts_of(list(check_locally([path]))) == {"timer": "diverges"}


def test_a_changed_digit_diverges_only_where_the_checksum_agrees(tmp_path: Path) -> None:
    content = b"".join(GOOD["timer"])
    changed = content.replace(b'"delay_ms":3', b'"delay_ms":9', 1)
    as_it_is, as_it_was = gzip.compress(changed, 0), gzip.compress(content, 0)
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(as_it_is)
    assert verdicts_of(list(check_locally([path]))) == {"timer": "diverges"}
    path.write_bytes(as_it_is[:-8] + as_it_was[-8:])
    rows = list(check_locally([path]))
    assert verdicts_of(rows) == {"timer": "incomplete"}
    assert [(row.run, row.line) for row in rows if isinstance(row, QuarantineRow)] == [
        ("", 0),
        ("timer", 1),
    ]


@pytest.mark.parametrize("cut", range(1, 9))
def test_a_run_without_its_checksum_does_not_conform(tmp_path: Path, cut: int) -> None:
    before, last = (
        gzip.compress(b"".join(GOOD["purgatory"])),
        gzip.compress(b"".join(GOOD["timer"])),
    )
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(before + last)
    assert verdicts_of(list(check_locally([path]))) == {
        "purgatory": "conforms",
        "timer": "conforms",
    }
    path.write_bytes(before + last[:-cut])
    rows = list(check_locally([path]))
    assert verdicts_of(rows) == {"purgatory": "conforms", "timer": "incomplete"}
    (row,) = (row for row in rows if isinstance(row, VerdictRow) and row.run == "timer")
    assert (row.events, row.reason[:30]) == (60, "its compressed file breaks off")
