"""The files of traces: found by paths, folders and patterns, and read line by line.

Theory of operation. A file is read from its beginning to its end, once, in pieces of a fixed size,
and never held whole. Each of its lines comes out once: as ``Located`` where its run and number can
be read, and otherwise as a ``QuarantineRow``; nothing is raised for what a file holds. What stops
the reading before the file's end (it cannot be opened, its compressed data breaks off) is a
``QuarantineRow`` too, so that no file ends early without a word. The functions know of no engine
and can be called in any process that sees the files.

Of data that is damaged, by a checksum, no line counts, since nobody knows which are as they were
written. Its lines are read all the same, to see which runs it has to do with: the first of each
comes out with ``NOT_BELIEVED`` in its place, which leaves a hole in the run where it is replayed.
Of compressed data that breaks off before its checksum the lines count; each run that has lines in
it gets a last one, ``NOT_COVERED``, which leaves a hole behind them, so that it does not conform.

Lines end with a line feed, before which a carriage return is taken away. Empty lines at the end of
a file are nothing; anywhere else each is set aside, since something was there.
"""

import glob
import os
import stat
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from purgatory_spec.named_files import NotAFile, named_file
from purgatory_traces.errors import PipelineError, Unusable
from purgatory_traces.results.locking import LOCK
from purgatory_traces.results.manifest import MANIFEST, is_own
from purgatory_traces.results.rows import QuarantineRow
from purgatory_traces.traces.byte_streams import CHECKSUM, Broken, Damage, chunks_of, damage_of
from purgatory_traces.traces.lines import Located
from purgatory_traces.traces.parquet import read_parquet
from purgatory_traces.traces.parsing import MOST_BYTES, NOT_BELIEVED, NOT_COVERED, place_of

SUFFIXES = (".jsonl", ".jsonl.gz", ".parquet")
"""The endings of the files that are read."""

REFUSED = (".jsonl.zst", ".jsonl.bz2", ".jsonl.xz", ".jsonl.lz4")
"""The endings of files of lines that cannot be read. They are set aside, and not ignored."""

SHOWN_BYTES = 1000
"""The bytes that are kept of a line that is too long."""


class NothingThere(PipelineError):
    """A path, or a pattern, that names nothing that can be read."""


@dataclass(frozen=True)
class Sources:
    """The files that paths stand for.

    Attributes:
        files: To be read, sorted, none twice.
        ignored: Files in the folders that have other endings, sorted.
    """

    files: tuple[str, ...]
    ignored: tuple[str, ...]


def sources_of(paths: Iterable[str | Path]) -> Sources:
    """Return the files that paths stand for.

    A folder stands for the files in it and in its folders that end in ``SUFFIXES`` or ``REFUSED``;
    a pattern with ``*``, ``?``, ``[`` or ``**`` for what matches; a file for itself, whatever its
    suffix.
    In a folder, files and folders whose names begin with a point or an underscore are what other
    programs leave for themselves, and results of a check are no traces: they are ignored as well.
    The checksum beside a file is a part of it.

    Raises:
        NothingThere: a path does not exist or is a pipe or a device, or a pattern matches nothing.
        PipelineError: a folder cannot be listed, or a name is not made of characters.
    """
    files: dict[str, str] = {}
    ignored: dict[str, str] = {}
    for path in paths:
        for name in _matches(str(path)):
            if Path(name).is_dir():
                for inner, is_ours in _inside(name):
                    _keep(files if is_ours else ignored, inner)
            else:
                try:
                    named_file(name)
                except NotAFile as problem:
                    raise NothingThere(f"{name} cannot be read: {problem.strerror}") from None
                _keep(files, name)
    left = (name for real, name in ignored.items() if real not in files)
    return Sources(tuple(sorted(files.values())), tuple(sorted(left)))


def files_of(paths: Iterable[str | Path]) -> list[str]:
    """Return the files that paths stand for, sorted, none twice; see ``sources_of``."""
    return list(sources_of(paths).files)


def _keep(names: dict[str, str], name: str) -> None:
    """Remember a file under its real name; of several names for it the first in order."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise PipelineError(f"the name of {name!r} is not UTF-8: give the file another") from None
    real = os.path.realpath(name)
    names[real] = min(name, names.get(real, name))


def _matches(path: str) -> list[str]:
    if os.path.lexists(path):
        return [path]
    if not glob.has_magic(path):
        raise NothingThere(f"{path}: no such file or folder")
    found = sorted(glob.iglob(path, recursive=True))  # noqa: PTH207
    if not found:
        raise NothingThere(f"no file or folder matches {path}")
    return found


def _inside(folder: str) -> Iterator[tuple[str, bool]]:
    """Yield the files in a folder and its folders, and whether each is one of ours."""
    seen: set[str] = set()
    for where, folders, names in os.walk(folder, onerror=_cannot_list, followlinks=True):
        real = os.path.realpath(where)
        if real in seen:  # a link that leads back
            folders.clear()
            continue
        seen.add(real)
        left_out = _is_left_out(Path(where), Path(folder))
        for name in names:
            if name.endswith(CHECKSUM):
                continue
            file = Path(where) / name
            ours = not left_out and name[0] not in "._" and name.endswith(SUFFIXES + REFUSED)
            yield str(file), ours and not _waits_for_a_writer(file)


def _waits_for_a_writer(file: Path) -> bool:
    """Decide whether a file is a pipe or a socket, which would block without a writer."""
    try:
        return not stat.S_ISREG(file.stat().st_mode)
    except OSError:
        return False  # the reader says why


def _cannot_list(problem: OSError) -> None:
    raise PipelineError(
        f"the folder {problem.filename} cannot be listed: {problem.strerror}; "
        "allow it, or name paths that can be read"
    )


def _is_left_out(where: Path, top: Path) -> bool:
    """Decide whether a folder inside another belongs to other programs, or to a check."""
    for part in (where, *where.parents):
        if part == top:
            return False
        if part.name[0] in "._" or (is_own(part.name) and _has_results(part.parent)):
            return True
    return False


def _has_results(folder: Path) -> bool:
    return (folder / MANIFEST).exists() or (folder / LOCK).exists()


def read_file(path: str | Path, named: str = "") -> Iterator[Located | QuarantineRow]:
    """Yield the lines of one file in order; ``named`` is another name for it.

    A name that ends in ``.parquet`` is read as such, one that ends in ``.gz`` is decompressed, one
    of ``REFUSED`` is set aside, and any other is taken for JSON Lines. Rows about no line in
    particular have the line number 0.

    Raises:
        MissingExtra: it is Parquet, and pyarrow is not installed.
    """
    name = str(path)
    if name.endswith(".parquet"):
        yield from read_parquet(name, named or name)
    elif name.endswith(REFUSED):
        kind = name.rpartition(".")[2]
        reason = f"it is compressed as .{kind}, which is not read: decompress it, or write .gz"
        yield QuarantineRow(named or name, 0, "", reason)
    else:
        yield from _read_lines(name, LinesOfFile(named or name), damage_of(name))


def read_changed(name: str, problem: str, named: str = "") -> Iterator[Located | QuarantineRow]:
    """Yield the problem of a file whose lines do not count, and each run in it."""
    yield from _read_lines(name, LinesOfFile(named or name), Damage(0, problem))


def _read_lines(
    name: str, lines: "LinesOfFile", damage: Damage | None
) -> Iterator[Located | QuarantineRow]:
    """Yield the lines of a file; behind damage, what ``NOT_BELIEVED`` and ``NOT_COVERED`` say."""
    uncovered: dict[str, Located] = {}
    problem, rest = "", b""
    try:
        with closing(chunks_of(name)) as chunks:
            if damage is not None:
                rest = yield from _read_sound(lines, chunks, damage.sound_bytes)
                if problem := damage.problem:
                    yield from lines.broken(problem)
            for chunk in chain([rest], chunks):
                for line in lines.runs_in(chunk) if problem else lines.take(chunk):
                    yield line
                    if damage is not None and not problem and isinstance(line, Located):
                        uncovered[line.run] = line
                        if len(uncovered) == _MOST_RUNS:
                            yield from lines.not_covered(uncovered)
        if not problem:
            yield from lines.last()  # a file that broke off may be whole by now
    except Broken as broken:
        if not problem:  # else it was told
            yield from lines.broken(str(broken))
            yield from lines.not_covered(uncovered)


def read_part(name: str, start: int, stop: int) -> Iterator[Located | QuarantineRow]:
    """Yield the lines of a JSON Lines file between two bytes, numbered as in the whole file.

    Args:
        name: The file.
        start: Where a line begins, or the last line read before ended without a line feed.
        stop: The byte behind the last line's end.
    """
    lines, at = LinesOfFile(name), 0
    try:
        with closing(chunks_of(name)) as chunks:
            for chunk in chunks:
                lines.pass_over(chunk[: max(0, start - at)])
                yield from lines.take(chunk[max(0, start - at) : max(0, stop - at)])
                at += len(chunk)
                if at >= stop:
                    break
            else:
                raise Broken("it was cut off after it was looked at")
    except Broken as problem:
        yield from lines.broken(str(problem))
        return
    yield from lines.last()


def _read_sound(
    lines: "LinesOfFile", chunks: Iterator[bytes], left: int
) -> Generator[Located | QuarantineRow, None, bytes]:
    """Yield the lines of so many bytes, and return the rest of the last piece."""
    rest = b""
    while left:
        chunk = next(chunks, b"")
        if not chunk:
            break  # it is another file by now
        yield from lines.take(chunk[:left])
        left, rest = max(0, left - len(chunk)), chunk[left:]
    return rest


class LinesOfFile:
    """Cuts the pieces of a file into lines, and says of each what can be made of it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines = 0
        """Lines that are complete."""
        self._rest = b""
        self._too_long = False
        self.empty = 0
        """Empty lines just before, which may be those at the end."""
        self._told_of: set[str] = set()
        """Runs that have lines in the damaged data."""
        self._is_read = False
        """True if the line under way was read already."""

    def pass_over(self, chunk: bytes) -> None:
        """Count the lines of a piece that was read before; its last line may lack its line feed."""
        if chunk:
            self.lines += chunk.count(b"\n")
            self._is_read = not chunk.endswith(b"\n")

    def take(self, chunk: bytes) -> Iterator[Located | QuarantineRow]:
        """Yield the lines completed with the piece."""
        if self._is_read and chunk:
            # The line feed behind a line that was read before it had one.
            self._is_read = False
            if (behind := chunk.lstrip(b" \t\r")).startswith(b"\n"):
                self.lines, chunk = self.lines + 1, behind[1:]
        *complete, self._rest = (self._rest + chunk).split(b"\n")
        for line in complete:
            yield from self.take_line(line)
        if len(self._rest) > MOST_BYTES:
            self._too_long = True
            self._rest = self._rest[:SHOWN_BYTES]

    def take_line(self, line: bytes) -> Iterator[Located | QuarantineRow]:
        """Yield the rows and lines of a complete line."""
        self.lines += 1
        if not line or line.isspace():
            self.empty += 1
            return
        if self.empty:
            yield from self._empty_lines()
        yield self._made_of(line)

    def last(self) -> Iterator[Located | QuarantineRow]:
        """Yield the rest when the file has ended as it should."""
        if self._rest:
            yield from self.take(b"\n")
        if self.lines == self.empty:
            yield QuarantineRow(self.name, 0, "", "the file is empty")

    def broken(self, problem: str) -> Iterator[QuarantineRow]:
        """Yield the rest where the file could not be read any further."""
        number = self.lines + 1 if self.lines or self._rest else 0
        yield self._aside(number, self._rest, f"{problem}; nothing is read from here on")

    def runs_in(self, chunk: bytes) -> Iterator[Located]:
        """Yield one disbelieved line for each run in a piece of damaged data."""
        for line in self.take(chunk):
            if isinstance(line, QuarantineRow) or line.run in self._told_of:
                continue
            if len(self._told_of) == _MOST_RUNS:
                self._told_of.clear()  # to be told twice does no harm
            self._told_of.add(line.run)
            yield line._replace(raw=NOT_BELIEVED)

    def not_covered(self, latest: dict[str, Located]) -> Iterator[Located]:
        """Yield a mark for each run whose lines no checksum covers, and clear them."""
        for line in latest.values():
            yield line._replace(number=self.lines + 1, raw=NOT_COVERED)
        latest.clear()

    def _empty_lines(self) -> Iterator[QuarantineRow]:
        for before in range(self.empty, 0, -1):
            yield self._aside(self.lines - before, b"", "the line is empty")
        self.empty = 0

    def _made_of(self, line: bytes) -> Located | QuarantineRow:
        if self._too_long or len(line) > MOST_BYTES:
            self._too_long = False
            reason = f"the line is longer than {MOST_BYTES} bytes; this is how it begins"
            return self._aside(self.lines, line[:SHOWN_BYTES], reason)
        raw = line[:-1] if line[-1] == _CARRIAGE_RETURN else line
        try:
            run, seq = place_of(raw)
        except Unusable as problem:
            return self._aside(self.lines, raw, str(problem))
        return Located(run, seq, self.name, self.lines, raw)

    def _aside(self, number: int, raw: bytes, reason: str) -> QuarantineRow:
        return QuarantineRow(self.name, number, raw.decode("utf-8", "backslashreplace"), reason)


_CARRIAGE_RETURN = ord("\r")
_MOST_RUNS = 10_000
"""The most names of runs that are kept in memory."""
