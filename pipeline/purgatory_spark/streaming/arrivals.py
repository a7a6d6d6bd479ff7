"""Arrivals in a watched folder: each byte of each file is ordered once to be read.

Theory of operation. A file is known by its device and inode, and by a digest of its first bytes,
since an inode is given out again when its file is gone. So a file that is renamed is the same, and
one that takes over its name is another. A database on disk has a row for each file: how far it was
ordered, and what it looked like then; nothing about files is kept in memory. A look goes through
the folder and opens the files whose size or time of change is another one than at the last look.

JSON Lines are read on where they grow, up to the last line that is complete. Compressed files and
Parquet are read once, as a whole. What a check would set aside and no order reads (an empty file, a
last line that is cut off, what came to a compressed file later) is told as long as it is so.

A file of JSON Lines with its SHA-256 beside it is complete: it is compared when that or the file is
seen to have changed. Where the two differ one of them may still be on its way, so nothing is read;
where they differ at the next look, too, and neither has changed, no line of the file counts.

An *order* is a file of spans, one a line, that becomes visible by a rename; its number is the
database's version. It is written first, then the database is committed, then the order is renamed;
so what a kill has left behind is known by its number, and no span is lost or ordered twice.
"""

import sqlite3
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from threading import Lock
from typing import NamedTuple

import msgspec

from purgatory_spark.streaming.spans import Span, head_of
from purgatory_spec.named_files import named_file
from purgatory_traces.errors import Unusable
from purgatory_traces.results.rows import QuarantineRow
from purgatory_traces.traces.byte_streams import difference, digest_beside
from purgatory_traces.traces.parsing import MOST_BYTES, place_of
from purgatory_traces.traces.sources import read_file, read_part, sources_of

MOST_GONE = 10_000
"""The most files that are gone and still recognised if they come back."""

_TABLE = """
CREATE TABLE IF NOT EXISTS files (
    file TEXT PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL, changed_ns INTEGER NOT NULL,
    head TEXT NOT NULL, head_bytes INTEGER NOT NULL, stop INTEGER NOT NULL, told BLOB NOT NULL,
    gone INTEGER NOT NULL, digest TEXT NOT NULL, differed INTEGER NOT NULL
) WITHOUT ROWID
"""
_BLANKS = b" \t\r\n"
_ROWS = msgspec.json.Decoder(tuple[QuarantineRow, ...])


class _File(NamedTuple):
    """The facts about a watched file.

    ``gone`` numbers the look that did not find it, or is 0. ``digest`` is the one beside it that
    was compared last; at so many looks it ``differed``.
    """

    file: str
    name: str
    size: int
    changed_ns: int
    head: str = ""
    head_bytes: int = 0
    stop: int = 0
    told: bytes = b""
    gone: int = 0
    digest: str = ""
    differed: int = 0

    @property
    def stamp(self) -> tuple[str, int, int]:
        """Return the marks of a change: the file's name, size and time of change."""
        return self.name, self.size, self.changed_ns


class Arrivals:
    """The files of one watched folder, and the orders to read them."""

    def __init__(self, folder: Path, own: Path, *, files_per_order: int = 16) -> None:
        """Go on from what was known, and bring an order to its end that a kill has cut off.

        Args:
            folder: The watched folder.
            own: The folder of the database and the orders, made if missing.
            files_per_order: How many spans are in an order, at the most.
        """
        self.folder = folder
        self.orders = own / "orders"
        """The folder where orders appear, as ``*.jsonl``."""
        self._files_per_order = files_per_order
        self._lock = Lock()
        self.orders.mkdir(parents=True, exist_ok=True)
        self._known = sqlite3.connect(
            own / "files.sqlite", isolation_level=None, check_same_thread=False
        )
        self._known.execute(_TABLE)
        for left in self.orders.glob(".*.jsonl"):
            if int(left.name[1:].partition(".")[0]) < self._number():
                left.rename(left.with_name(left.name[1:]))
            else:
                left.unlink()

    def close(self) -> None:
        """Close the database of files."""
        self._known.close()

    def look(self) -> None:
        """Order the bytes that have come since the last look.

        Raises:
            PipelineError: a folder cannot be listed, or a name is not made of characters.
        """
        with self._lock:
            present = set[str]()
            waiting: list[tuple[_File, Span]] = []
            for name in sources_of([self.folder]).files:
                found = self._looked_at(name, present)
                if found is not None:
                    waiting.append(found)
                if len(waiting) == self._files_per_order:
                    self._order(waiting)
                    waiting.clear()
            if waiting:
                self._order(waiting)
            self._see_what_is_gone(present)

    def told(self) -> list[QuarantineRow]:
        """Return the rows about files that no order reads, as of the last look."""
        with self._lock:
            found = self._known.execute(
                "SELECT told FROM files WHERE length(told) AND NOT gone"
            ).fetchall()
        return [row for (told,) in found for row in _ROWS.decode(told)]

    def _looked_at(self, name: str, present: set[str]) -> tuple[_File, Span] | None:
        """Return the file with the span to read, if there is one; else keep the new facts."""
        try:
            status = Path(name).stat()
            key = f"{status.st_dev}:{status.st_ino}"
            if key in present or not S_ISREG(status.st_mode):
                return None
            known = self._known_as(key)
            stamp = name, status.st_size, max(status.st_mtime_ns, status.st_ctime_ns)
            file = _File(key, *stamp, digest=_digest_beside(name))
            if known is None or known.stamp != stamp or _is_to_be_compared(file, known):
                start, file, problem = _seen(file, known)
            else:
                start, file, problem = known.stop, known._replace(gone=0), ""
        except FileNotFoundError:
            return None  # it has gone since the folder was listed
        present.add(key)
        if file.stop == start and not problem:
            if file != known:
                self._keep(file)
            return None
        stop = file.stop if _is_read_on(name) else None
        return file, Span(0, name, status.st_ino, file.head, file.head_bytes, start, stop, problem)

    def _order(self, waiting: list[tuple[_File, Span]]) -> None:
        """Place an order, whole or not at all."""
        number = self._number()
        hidden = self.orders / f".{number:09}.jsonl"
        lines = [msgspec.structs.replace(span, order=number) for _, span in waiting]
        hidden.write_bytes(msgspec.json.Encoder().encode_lines(lines))
        self._known.execute("BEGIN")
        for file, _ in waiting:
            self._keep(file)
        self._known.execute(f"PRAGMA user_version = {number + 1}")
        self._known.execute("COMMIT")
        hidden.rename(hidden.with_name(hidden.name[1:]))

    def _keep(self, file: _File) -> None:
        places = ", ".join("?" * len(file))
        self._known.execute(f"REPLACE INTO files VALUES ({places})", file)

    def _known_as(self, key: str) -> _File | None:
        row = self._known.execute("SELECT * FROM files WHERE file = ?", (key,)).fetchone()
        return None if row is None else _File(*row)

    def _see_what_is_gone(self, present: set[str]) -> None:
        """Mark what the look that ends here has not found; forget what went longest ago."""
        left = self._known.execute("SELECT count(*) FROM files WHERE NOT gone").fetchone()[0]
        if left == len(present):
            return
        here = self._known.execute("SELECT file FROM files WHERE NOT gone").fetchall()
        gone = [(file,) for (file,) in here if file not in present]
        latest = "SELECT file FROM files WHERE gone ORDER BY gone DESC LIMIT ?"
        self._known.execute("BEGIN")
        self._known.executemany(
            "UPDATE files SET gone = (SELECT max(gone) + 1 FROM files) WHERE file = ?", gone
        )
        self._known.execute(
            f"DELETE FROM files WHERE gone AND file NOT IN ({latest})", (MOST_GONE,)
        )
        self._known.execute("COMMIT")

    def _number(self) -> int:
        """Return the number of the next order."""
        number = self._known.execute("PRAGMA user_version").fetchone()[0]
        assert isinstance(number, int)
        return number


def _is_read_on(name: str) -> bool:
    """Decide whether a growing file is read on: it is JSON Lines, not compressed."""
    return name.endswith(".jsonl")


def _digest_beside(name: str) -> str:
    """Return the SHA-256 beside a file; empty where it is missing or empty."""
    if not _is_read_on(name):
        return ""
    with suppress(OSError):
        return digest_beside(name) or ""
    return ""


def _is_to_be_compared(file: _File, known: _File) -> bool:
    """Decide whether a file that has not changed is to be compared with the digest beside it."""
    return file.digest not in ("", known.digest) or known.differed == 1


def _seen(file: _File, known: _File | None) -> tuple[int, _File, str]:
    """Return the place where reading begins, the file's new facts, and a problem or nothing.

    The last is the reason for which no line of it counts, empty where they do.

    Args:
        file: The file with its present name and size.
        known: The row of the last look about this inode, perhaps of an earlier file.

    Raises:
        FileNotFoundError: it is gone.
    """
    name, size = file.name, file.size
    try:
        head, head_bytes = head_of(name)
        file = file._replace(head=head, head_bytes=head_bytes)
        is_same = known is not None and head_of(name, known.head_bytes) == known[4:6]
        start = known.stop if known is not None and is_same else 0
        damage = difference(name, file.digest) if file.digest else None
        if damage is not None:
            if known is not None and (known.stamp, known.digest) == (file.stamp, file.digest):
                return start, file._replace(stop=size, differed=2), damage.problem
            return start, _telling(file._replace(differed=1), start, damage.problem), ""
        if size < start:
            reason = f"it was cut to {size} bytes when {start} were read"
            return size, _telling(file, size, reason), ""
        if _is_read_on(name):
            stop = _end_of_lines(name, start, size)
        elif 0 < start < size:
            return start, _telling(file, start, f"it has {size} bytes now; {start} {_ONCE}"), ""
        else:
            stop = size
    except FileNotFoundError:
        raise
    except OSError:
        start = stop = 0  # the reader says why
    rest = () if stop == size > 0 else read_part(name, stop, size) if stop else read_file(name)
    told = [row for row in rest if isinstance(row, QuarantineRow)]
    return start, file._replace(stop=stop, told=msgspec.json.encode(told) if told else b""), ""


_ONCE = (
    "of them were read: compressed files and Parquet are read once, so move them here when they "
    "are complete"
)


def _telling(file: _File, stop: int, reason: str) -> _File:
    told = [QuarantineRow(file.name, 0, "", reason)]
    return file._replace(stop=stop, told=msgspec.json.encode(told))


def _end_of_lines(name: str, start: int, size: int) -> int:
    """Return the end of the last complete line; empty lines behind it are left for later.

    A line without a line feed is complete where its run and number can be read: a part of a JSON
    object is none.
    """
    begin = max(start, size - MOST_BYTES - 1)
    with named_file(name).open("rb") as file:
        file.seek(begin)
        tail = file.read(size - begin)
    text = tail.rstrip(_BLANKS)
    last = text.rfind(b"\n") + 1
    if b"\n" not in tail[len(text) :] and not _is_complete(text[last:]):
        if begin > start and not last:
            return size  # it is too long to become a line
        text = tail[:last].rstrip(_BLANKS)
    if not text:
        return start if begin == start else size
    return begin + (tail.find(b"\n", len(text)) + 1 or len(text))


def _is_complete(line: bytes) -> bool:
    try:
        place_of(line)
    except Unusable:
        return False
    return True
