"""Each byte of each file in a watched folder is ordered once, whatever becomes of its name."""

import gzip
import shutil
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from purgatory_spark.streaming import arrivals as module
from purgatory_spark.streaming.arrivals import Arrivals
from purgatory_spark.streaming.spans import Span, read_span
from purgatory_traces.results.rows import QuarantineRow
from purgatory_traces.traces.byte_streams import CHECKSUM, checksum_line
from purgatory_traces.traces.lines import Located
from purgatory_traces.traces.parsing import NOT_BELIEVED
from purgatory_traces.traces.sources import read_file

Read = list[Located | QuarantineRow]


class Watched:
    """A watched folder, and what a stream makes of it, without Spark."""

    def __init__(self, folder: Path) -> None:
        self.logs = folder / "logs"
        self.log = self.logs / "log.jsonl"
        self.own = folder / "out"
        self.logs.mkdir(parents=True)
        self.told: list[QuarantineRow] = []

    def orders(self) -> list[list[Span]]:
        """Return what a look orders; it is taken away, as Spark does when it has carried it out."""
        arrivals = Arrivals(self.logs, self.own, files_per_order=2)
        arrivals.look()
        self.told = arrivals.told()
        arrivals.close()
        return self.placed()

    def placed(self) -> list[list[Span]]:
        """The orders that are visible."""
        taken: list[list[Span]] = []
        for path in sorted((self.own / "orders").glob("[!.]*.jsonl")):
            taken.append(msgspec.json.Decoder(Span).decode_lines(path.read_bytes()))
            path.unlink()
        return taken

    def read(self) -> Read:
        """Return what a look brings."""
        spans = [span for order in self.orders() for span in order]
        return [line for span in spans for line in read_span(span, str(self.logs))]

    def runs(self) -> list[str]:
        """The runs of the lines that a look brings, a name for each line."""
        return [line.run for line in self.read()]


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def lines(*runs: str) -> bytes:
    return b"".join(b'{"kind":"end","run":"%s","seq":7}\n' % run.encode() for run in runs)


WHOLE = lines("a") + b'{"run":"b","seq":2}\r\n\n\n  \ngarbage\n' + lines("c", "d")[:-1]


@pytest.mark.parametrize(
    "end",
    [
        b"\r\n\n",
        b"half a li",
        *(pytest.param(end, marks=pytest.mark.verify) for end in (b"", b"\n")),
    ],
    ids=repr,
)
def test_a_file_that_grows_is_read_as_if_it_had_not(tmp_path: Path, end: bytes) -> None:
    whole = WHOLE + (b"\n" if end.startswith(b"half") else b"") + end
    for cut in range(len(whole) + 1):
        watched = Watched(tmp_path / str(cut))
        watched.log.write_bytes(whole[:cut])
        first = watched.read()
        told = watched.told
        assert [*first, *told] == list(read_file(watched.log)), cut
        watched.log.write_bytes(whole)
        read = [*first, *watched.read(), *watched.told]
        assert read == list(read_file(watched.log)), cut
        assert watched.orders() == []


def test_a_name_that_is_used_again_is_another_file(watched: Watched) -> None:
    watched.log.write_bytes(lines("a"))
    assert watched.runs() == ["a"]
    watched.log.rename(watched.logs / "log-1.jsonl")
    watched.log.write_bytes(lines("b"))
    assert watched.runs() == ["b"]
    watched.log.unlink()
    watched.log.write_bytes(lines("c"))  # with the inode of before, as a rule
    assert watched.runs() == ["c"]


def test_a_file_that_is_cut_begins_anew(watched: Watched) -> None:
    watched.log.write_bytes(lines("a"))
    assert watched.runs() == ["a"]
    shutil.copy(watched.log, watched.logs / "log-1.jsonl")
    watched.log.write_bytes(b"")
    assert watched.runs() == ["a"]
    assert [row.reason for row in watched.told] == ["the file is empty"]
    watched.log.write_bytes(lines("b"))
    assert watched.runs() == ["b"]
    assert watched.told == []


def test_a_file_that_loses_its_end_is_told_and_read_on(watched: Watched) -> None:
    watched.log.write_bytes(lines(*["a"] * 200))
    assert len(watched.runs()) == 200
    left = len(lines(*["a"] * 190))
    watched.log.write_bytes(lines(*["a"] * 190))
    assert watched.runs() == []
    assert [row.reason for row in watched.told] == [
        f"it was cut to {left} bytes when {len(lines('a')) * 200} were read"
    ]
    watched.log.write_bytes(lines(*["a"] * 190, "b"))
    assert watched.runs() == ["b"]


def test_a_compressed_file_that_grows_is_told(watched: Watched) -> None:
    packed = watched.logs / "log.jsonl.gz"
    packed.write_bytes(gzip.compress(lines("a")))
    assert watched.runs() == ["a"]
    assert watched.told == []
    packed.write_bytes(packed.read_bytes() + gzip.compress(lines("b")))
    assert watched.runs() == []
    (row,) = watched.told
    assert (row.file, row.line) == (str(packed), 0)
    assert "of them were read: compressed files and Parquet are read once" in row.reason
    packed.unlink()
    assert watched.runs() == []
    assert watched.told == []


def sealed(path: Path, content: bytes) -> None:
    """Put the SHA-256 of this beside a file, as its writer does when it closes it."""
    beside = path.with_name(path.name + CHECKSUM)
    beside.write_text(checksum_line(path.name, sha256(content).hexdigest()), encoding="utf-8")


def flipped(content: bytes) -> bytes:
    """With one bit of the last run's name changed."""
    place = content.rindex(b'"b"') + 1
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.parametrize("read_before", [0, 1, 2], ids=["nothing", "a line", "all"])
@pytest.mark.parametrize("is_sound", [True, False], ids=["sound", "a bit flipped"])
def test_a_file_that_is_complete_is_compared(
    watched: Watched, read_before: int, is_sound: bool
) -> None:
    whole = lines("a", "b")
    if read_before:
        watched.log.write_bytes(lines(*"ab"[:read_before]))
        assert len(watched.read()) == read_before
    watched.log.write_bytes(whole if is_sound else flipped(whole))
    sealed(watched.log, whole)
    first = watched.read()
    if is_sound:
        assert [line.run for line in first] == ["a", "b"][read_before:]
    else:
        assert first == []
        (row,) = watched.told
        assert row.reason.startswith(f"its SHA-256 is not that in {watched.log}{CHECKSUM}")
        read = watched.read()
        assert read == list(read_file(watched.log))
        assert [each.raw for each in read if isinstance(each, Located)] == [NOT_BELIEVED] * 2
    assert watched.told == []
    assert watched.orders() == []


def test_a_file_that_comes_behind_its_digest_is_read(watched: Watched) -> None:
    whole = lines("a", "b", "c")
    sealed(watched.log, whole)
    for size in (10, len(lines("a"))):
        watched.log.write_bytes(whole[:size])
        assert watched.orders() == []
        assert len(watched.told) == 1
    watched.log.write_bytes(whole)
    assert watched.runs() == ["a", "b", "c"]
    assert watched.told == []


def test_a_digest_that_is_taken_away_or_not_written_yet_is_none(watched: Watched) -> None:
    beside = watched.log.with_name(watched.log.name + CHECKSUM)
    watched.log.write_bytes(lines("a"))
    beside.write_text("", encoding="utf-8")
    assert watched.runs() == ["a"]
    watched.log.write_bytes(lines("a", "b"))
    sealed(watched.log, lines("a"))
    assert watched.orders() == []
    beside.unlink()
    assert watched.runs() == ["b"]
    assert watched.told == []


def test_what_is_renamed_before_it_is_read_is_found(watched: Watched) -> None:
    watched.log.write_bytes(lines("a"))
    ((span,),) = watched.orders()
    watched.log.rename(watched.logs / "log-1.jsonl")
    watched.log.write_bytes(lines("b"))
    (line,) = read_span(span, str(watched.logs))
    assert (line.run, line.file) == ("a", str(watched.log))
    (watched.logs / "log-1.jsonl").unlink()
    (gone,) = read_span(span, str(watched.logs))
    assert isinstance(gone, QuarantineRow)
    assert gone.reason == "it was gone before it could be read"


def test_what_is_cut_before_it_is_read_is_told(watched: Watched) -> None:
    watched.log.write_bytes(lines(*["a"] * 200))
    ((span,),) = watched.orders()
    watched.log.write_bytes(lines(*["a"] * 190))
    *read, last = read_span(span, str(watched.logs))
    assert len(read) == 190
    assert isinstance(last, QuarantineRow)
    assert last.reason == "it was cut off after it was looked at; nothing is read from here on"


def test_orders_are_as_long_as_is_asked_for(watched: Watched) -> None:
    for run in "abc":
        (watched.logs / f"{run}.jsonl").write_bytes(lines(run))
    assert [len(order) for order in watched.orders()] == [2, 1]
    (watched.logs / "d.jsonl").write_bytes(lines("d"))
    ((span,),) = watched.orders()
    assert span.order == 2


@pytest.mark.parametrize("committed", [False, True])
def test_a_kill_while_ordering_loses_nothing_and_orders_nothing_twice(
    watched: Watched, committed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*given: object) -> None:
        raise KeyboardInterrupt

    watched.log.write_bytes(lines("a"))
    with monkeypatch.context() as patched:
        if committed:
            patched.setattr(Path, "rename", killed)
        else:
            patched.setattr(Arrivals, "_keep", killed)
        with pytest.raises(KeyboardInterrupt):
            watched.orders()
    assert watched.placed() == []
    ((span,),) = watched.orders()
    assert (span.order, span.start) == (0, 0)
    assert watched.orders() == []


def test_files_that_are_gone_are_forgotten_some_time(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "MOST_GONE", 1)
    away = tmp_path / "away"
    away.mkdir()
    for run in "ab":
        (watched.logs / f"{run}.jsonl").write_bytes(lines(run))
    assert watched.runs() == ["a", "b"]
    for run in "ab":
        (watched.logs / f"{run}.jsonl").rename(away / f"{run}.jsonl")
        assert watched.runs() == []
    for run in "ab":
        (away / f"{run}.jsonl").rename(watched.logs / f"{run}.jsonl")
    assert watched.runs() == ["a"]
