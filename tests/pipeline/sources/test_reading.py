"""Lines that are read from files, whatever is in them."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purgatory_traces.results.rows import QuarantineRow
from purgatory_traces.traces import byte_streams, sources
from purgatory_traces.traces.lines import Located
from purgatory_traces.traces.parsing import LARGEST_SEQ, MOST_BYTES, NOT_BELIEVED, NOT_COVERED
from purgatory_traces.traces.sources import SHOWN_BYTES, read_file


def line(seq: int, run: str = "r") -> bytes:
    return json.dumps({"run": run, "seq": seq}).encode()


Write = Callable[[bytes], Path]


@pytest.fixture(params=["jsonl", "jsonl.gz"])
def write(request: pytest.FixtureRequest, tmp_path: Path) -> Write:
    """Writes bytes into a file, plain or compressed."""
    path = tmp_path / f"trace.{request.param}"

    def written(content: bytes) -> Path:
        packed = gzip.compress(content) if path.suffix == ".gz" else content
        path.write_bytes(packed)
        return path

    return written


def test_each_line_comes_with_its_place(write: Write) -> None:
    path = write(line(0) + b"\n" + line(1) + b"\n")
    assert list(read_file(path)) == [
        Located("r", 0, str(path), 1, line(0)),
        Located("r", 1, str(path), 2, line(1)),
    ]


def test_the_last_line_needs_no_line_feed(write: Write) -> None:
    assert len(list(read_file(write(line(0) + b"\n" + line(1))))) == 2


def test_carriage_returns_are_taken_away(write: Write) -> None:
    lines = list(read_file(write(line(0) + b"\r\n" + line(1) + b"\r\n")))
    assert [each.raw for each in lines] == [line(0), line(1)]


def test_empty_lines_are_nothing_at_the_end_and_set_aside_elsewhere(write: Write) -> None:
    path = write(b"\n" + line(0) + b"\n\r\n  \n" + line(1) + b"\n\n\r\n\n")
    rows = list(read_file(path))
    assert [each.seq for each in rows if isinstance(each, Located)] == [0, 1]
    aside = [each for each in rows if isinstance(each, QuarantineRow)]
    assert [(row.line, row.reason) for row in aside] == [
        (1, "the line is empty"),
        (3, "the line is empty"),
        (4, "the line is empty"),
    ]
    assert rows[-1] == Located("r", 1, str(path), 5, line(1))


@pytest.mark.parametrize("content", [b"", b"\n", b"\r\n \n"])
def test_an_empty_file_is_told(write: Write, content: bytes) -> None:
    path = write(content)
    assert list(read_file(path)) == [QuarantineRow(str(path), 0, "", "the file is empty")]


@pytest.mark.parametrize("length", [MOST_BYTES + 1, 3 * MOST_BYTES, 5 * MOST_BYTES + 7])
@pytest.mark.parametrize("ending", [b"\n", b""])
def test_a_line_that_is_too_long_is_set_aside_with_its_beginning(
    write: Write, length: int, ending: bytes
) -> None:
    path = write(line(0) + b"\n" + b"x" * length + b"\n" + line(1) + b"\n" + b"y" * length + ending)
    first, long, second, last = read_file(path)
    assert (first, second) == (
        Located("r", 0, str(path), 1, line(0)),
        Located("r", 1, str(path), 3, line(1)),
    )
    for row, number, letter in ((long, 2, "x"), (last, 4, "y")):
        assert isinstance(row, QuarantineRow)
        assert (row.line, row.raw) == (number, letter * SHOWN_BYTES)
        assert f"longer than {MOST_BYTES} bytes" in row.reason


def test_a_line_of_the_largest_length_is_used(write: Write) -> None:
    head = b'{"run":"r","seq":0,"x":"'
    whole = head + b"x" * (MOST_BYTES - len(head) - 2) + b'"}'
    assert len(whole) == MOST_BYTES
    (located,) = read_file(write(whole + b"\n"))
    assert isinstance(located, Located)


NO_PLACE = {
    b'{"run":"r","seq":1': "not JSON, or cut off: Expecting ',' delimiter in column 19",
    b'{"run":"r","seq":': "not JSON, or cut off: Expecting value in column 18",
    b"hello": "not JSON, or cut off: Expecting value in column 1",
    b'{"run":"\xff","seq":0}': "the line is not UTF-8",
    b'{"run":"r","seq":1}{"run":"r","seq":2}': (
        "more than one object in the line: the second begins in column 20"
    ),
    b'{"seq":1}': "Object missing required field `run`",
    b'{"run":"r"}': "Object missing required field `seq`",
    b'{"run":7,"seq":1}': "Expected `str`, got `int` - at `$.run`",
    b'{"run":"r","seq":"1"}': "Expected `int`, got `str` - at `$.seq`",
    b'{"run":"r","seq":1.5}': "Expected `int`, got `float` - at `$.seq`",
    b'{"run":"r","seq":1.0}': "Expected `int`, got `float` - at `$.seq`",
    b'{"run":"r","seq":true}': "Expected `int`, got `bool` - at `$.seq`",
    b'{"run":"r","seq":-1}': "seq is -1; it counts from 0",
    b'{"run":"r","seq":9223372036854775808}': (
        f"seq is 9223372036854775808; the largest number is {LARGEST_SEQ}"
    ),
    b'{"run":"r","seq":' + b"9" * 5000 + b"}": (
        "Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits; "
        "use sys.set_int_max_str_digits() to increase the limit"
    ),
    b'{"run":"r","seq":1,"seq":2}': "key given twice: seq",
    b'{"run":"r","run":"s","seq":1}': "key given twice: run",
    b"[1]": "Expected `object`, got `array`",
    b"null": "Expected `object`, got `null`",
    b"[" * 5000: "nested too deeply",
    b'{"run":"r","seq":0,"x":' + b"[" * 20000 + b"]" * 20000 + b"}": "nested too deeply",
    b'{"run":"\\ud800","seq":1}': (
        "JSON is malformed: unexpected end of escaped utf-16 surrogate pair (byte 14)"
    ),
}


@pytest.mark.parametrize("raw", NO_PLACE, ids=lambda raw: raw[:25].decode("utf-8", "replace"))
def test_a_line_without_a_place_is_set_aside_as_it_is(write: Write, raw: bytes) -> None:
    path = write(line(0) + b"\n" + raw + b"\n" + line(1) + b"\n")
    first, aside, second = read_file(path)
    assert isinstance(first, Located)
    assert isinstance(second, Located)
    shown = raw.decode("utf-8", "backslashreplace")
    assert aside == QuarantineRow(str(path), 2, shown, NO_PLACE[raw])


LINES = [line(number) for number in range(3000)]
WHOLE = gzip.compress(b"\n".join(LINES) + b"\n")


@pytest.mark.parametrize("kept", [12, 300, len(WHOLE) // 2, len(WHOLE) - 8, len(WHOLE) - 1])
def test_a_gzip_file_that_breaks_off_is_used_so_far_and_told(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "trace.jsonl.gz"
    path.write_bytes(WHOLE[:kept])
    *lines, aside = (each for each in read_file(path) if each[4:5] != (NOT_COVERED,))
    assert [each.raw for each in lines] == LINES[: len(lines)]
    assert isinstance(aside, QuarantineRow)
    assert "breaks off; nothing is read from here on" in aside.reason
    assert aside.line == (len(lines) + 1 if lines or aside.raw else 0)
    assert all(aside.raw.encode() in next_line for next_line in LINES[len(lines) :][:1])
    if kept > len(WHOLE) // 3:
        assert len(lines) > 500, "what could be decompressed is not lost"


@pytest.mark.parametrize("most", [1, 10_000])
def test_each_run_that_no_checksum_covers_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(sources, "_MOST_RUNS", most)
    second = b'{"run":"a","seq":9}\n{"run":"b","seq":7}\n{"run":"b","seq":5}\n'
    path = tmp_path / "trace.jsonl.gz"
    path.write_bytes(gzip.compress(LINES[0] + b"\n") + gzip.compress(second)[:-4])
    read = [each for each in read_file(path) if isinstance(each, Located)]
    assert [each.raw for each in read if each.raw != NOT_COVERED] == [
        LINES[0],
        *second.splitlines(),
    ]
    last = {each.run: each for each in read if each.raw == NOT_COVERED}
    assert sorted(last) == ["a", "b"]
    assert [last[run].seq for run in "ab"] == [9, 5]
    path.write_bytes(gzip.compress(LINES[0] + b"\n") + gzip.compress(second))
    assert [each.raw for each in read_file(path)] == [LINES[0], *second.splitlines()]


def test_what_is_no_gzip_is_told_and_what_comes_before_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl.gz"
    for content in (b"no gzip at all", WHOLE + b"rubbish"):
        path.write_bytes(content)
        *lines, aside = read_file(path)
        assert isinstance(aside, QuarantineRow)
        assert "the compressed data is damaged" in aside.reason
        assert [each.raw for each in lines] == (LINES if content[:2] == WHOLE[:2] else [])


def flipped(packed: bytes, number: int) -> bytes:
    """Stored data with the number of a line changed, so that its checksum is wrong."""
    old = b'"seq": %d' % number
    assert packed.count(old) == 1
    return packed.replace(old, b'"seq": %d' % (number + 1))


@pytest.mark.parametrize("chunk_bytes", [100, 1 << 18])
def test_no_line_counts_of_a_member_that_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk_bytes: int
) -> None:
    monkeypatch.setattr(byte_streams, "CHUNK_BYTES", chunk_bytes)
    first, second = (gzip.compress(b"\n".join(LINES[a : a + 50]) + b"\n", 0) for a in (100, 200))
    third = gzip.compress(b'{"run":"other","seq":0}\n')
    path = tmp_path / "trace.jsonl.gz"
    path.write_bytes(first + flipped(second, 220) + third)
    *sound, aside, unbelieved = read_file(path)
    assert [each.raw for each in sound if isinstance(each, Located)] == LINES[100:150]
    assert isinstance(aside, QuarantineRow)
    assert (aside.line, aside.raw) == (51, "")
    assert aside.reason.startswith("the compressed data is damaged: incorrect data check; nothing")
    assert isinstance(unbelieved, Located)
    assert (unbelieved.run, unbelieved.number, unbelieved.raw) == ("r", 51, NOT_BELIEVED)
    path.write_bytes(first + second + third)
    assert [each.raw for each in read_file(path) if isinstance(each, Located)] == [
        *LINES[100:150],
        *LINES[200:250],
        b'{"run":"other","seq":0}',
    ], "the control: undamaged, all of them count"


def test_a_line_that_begins_before_the_damage_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl.gz"
    half = len(LINES[1]) // 2
    sound = gzip.compress(LINES[0] + b"\n" + LINES[1][:half])
    damaged = gzip.compress(LINES[1][half:] + b"\n" + LINES[2] + b"\n", 0)
    path.write_bytes(sound + flipped(damaged, 2))
    line_0, aside, unbelieved = read_file(path)
    assert isinstance(line_0, Located)
    assert isinstance(aside, QuarantineRow)
    assert (line_0.raw, aside.raw) == (LINES[0], LINES[1][:half].decode())
    assert isinstance(unbelieved, Located)
    assert (unbelieved.number, unbelieved.raw) == (2, NOT_BELIEVED)


def test_a_compressed_pipe_is_told_and_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl.gz"
    os.mkfifo(path)
    (aside,) = read_file(path)
    assert isinstance(aside, QuarantineRow)
    assert "it is a pipe and no file" in aside.reason


def test_several_gzip_members_are_one_file(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl.gz"
    path.write_bytes(gzip.compress(line(0) + b"\n") + gzip.compress(line(1) + b"\n"))
    assert [each.seq for each in read_file(path)] == [0, 1]


def test_a_file_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    for name in ("gone.jsonl", "gone.jsonl.gz"):
        (aside,) = read_file(tmp_path / name)
        assert isinstance(aside, QuarantineRow)
        assert (aside.line, aside.raw) == (0, "")
        assert "cannot be read: No such file or directory" in aside.reason
    (tmp_path / "folder.jsonl").mkdir()
    (aside,) = read_file(tmp_path / "folder.jsonl")
    assert isinstance(aside, QuarantineRow)
    assert "cannot be read" in aside.reason


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to this user")
def test_a_file_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "secret.jsonl"
    path.write_bytes(line(0))
    path.chmod(0)
    (aside,) = read_file(path)
    assert isinstance(aside, QuarantineRow)
    assert "Permission denied" in aside.reason


@given(
    content=st.lists(
        st.sampled_from([b"", b" ", b"\r", line(0), line(1) + b"\r", b"x", b'{"run"', b"\xff"])
    ).map(b"\n".join),
    piece=st.integers(1, 40),
)
def test_the_size_of_the_pieces_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, piece: int
) -> None:
    path = tmp_path_factory.mktemp("pieces") / "trace.jsonl"
    path.write_bytes(content)
    whole = list(read_file(path))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(byte_streams, "CHUNK_BYTES", piece)
        assert list(read_file(path)) == whole
