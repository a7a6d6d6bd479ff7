"""Files as pieces of bytes, decompressed; where a file breaks off, what came before is not lost.

Theory of operation. A gzip file consists of *members*, each with a checksum behind its data. Data
that is damaged can often be decompressed all the same, into something else than was written; only
the checksum tells. So a compressed file is read twice: first all of it is decompressed and thrown
away, to see where the first member begins that is not what was written, and then what comes before
may be believed. The alternative, to take back afterwards what was judged, would ask every engine to
know of all runs which files they have lines in. The first pass costs less than a hundredth of a
check, and a piece of memory.

A file that is not compressed has no checksum inside. The recorder writes the SHA-256 of such a file
into ``NAME.sha256`` when it closes the file; a reader compares the two first.

A file that breaks off is not damaged: the death of the writer changed no earlier byte. But no
checksum covers its last member: what is in there may be judged, and supports no good verdict.
"""

import gzip
import hashlib
import zlib
from collections.abc import Generator, Iterator
from typing import IO, NamedTuple

from purgatory_spec.named_files import named_file

CHECKSUM = ".sha256"
"""The file that tells the digest of another one has its name with this behind it."""

CHUNK_BYTES = 1 << 18
"""The bytes that are read at a time."""


class Broken(Exception):
    """The file cannot be read any further; the message says why."""


def chunks_of(name: str) -> Generator[bytes, None, None]:
    """Yield the bytes of a file, decompressed where its name ends in ``.gz``.

    Raises:
        Broken: it cannot be opened or read, or its compressed data is damaged or breaks off. All
            that could be decompressed before is given first.
    """
    try:
        file = named_file(name)
        if name.endswith(".gz"):
            with gzip.open(file, "rb") as packed:
                # One read of the file below for each piece: what a larger one gathered would be
                # lost where the data turns out to be damaged in the middle of it.
                while chunk := packed.read1(CHUNK_BYTES):
                    yield chunk
        else:
            with file.open("rb") as plain:
                while chunk := plain.read(CHUNK_BYTES):
                    yield chunk
    except EOFError:
        raise Broken("the compressed data breaks off") from None
    except (gzip.BadGzipFile, zlib.error) as problem:
        raise Broken(f"the compressed data is damaged: {problem}") from None
    except OSError as problem:
        raise Broken(f"cannot be read: {problem.strerror or problem}") from None


class Damage(NamedTuple):
    """The place from which a file is damaged, or not covered by a checksum.

    Attributes:
        sound_bytes: So many bytes come before it, decompressed.
        problem: How it shows; empty where the file breaks off before a checksum.
    """

    sound_bytes: int
    problem: str


def damage_of(name: str) -> Damage | None:
    """Return the first damage to a file; None without any, or where nothing tells."""
    try:
        if not name.endswith(".gz"):
            return _changed(name)
        sound = read = 0
        try:
            with named_file(name).open("rb") as packed:
                for made, ends in _members(packed):
                    read += made
                    sound = read if ends else sound
        except EOFError:
            return Damage(sound, "")
        except zlib.error as problem:
            why = str(problem).rpartition(": ")[2]
            return Damage(sound, f"the compressed data is damaged: {why}")
    except OSError:
        pass  # the reader will say so
    return None


def _changed(name: str) -> Damage | None:
    """Return the damage to a file whose digest is not the one that stands beside it."""
    told = digest_beside(name)
    return None if told is None else difference(name, told)


def digest_beside(name: str) -> str | None:
    """Return the digest in ``NAME.sha256``, empty for an empty file; None without one.

    Raises:
        OSError: it cannot be read.
    """
    try:
        return told_digest(named_file(f"{name}{CHECKSUM}").read_bytes())
    except (FileNotFoundError, IsADirectoryError):
        return None


def told_digest(content: bytes) -> str:
    """Return the digest that the content of ``NAME.sha256`` tells; empty where it tells none."""
    return next(iter(content.decode(errors="replace").split()), "")


def difference(name: str, told: str) -> Damage | None:
    """Return the damage to a file whose SHA-256 differs from the told one, or None.

    Raises:
        OSError: the file cannot be read.
    """
    with named_file(name).open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() == told:
            return None
    return Damage(0, unlike_its_checksum(name))


def unlike_its_checksum(name: str) -> str:
    """Return a sentence: the file differs from its ``NAME.sha256``."""
    return f"its SHA-256 is not that in {name}{CHECKSUM}; remove this if the change was meant"


def checksum_line(name: str, digest: str) -> str:
    """Return the line of ``NAME.sha256`` for a file, in the form of the program ``sha256sum``."""
    return f"{digest}  {name}\n"


def _members(packed: IO[bytes]) -> Iterator[tuple[int, bool]]:
    """Decompress a gzip file; yield numbers of bytes, and whether a member ends with them.

    Raises:
        zlib.error: a member is not what was written.
        EOFError: the last member breaks off.
    """
    member: zlib._Decompress | None = None
    while piece := packed.read(CHUNK_BYTES):
        made = 0
        while piece or made == CHUNK_BYTES:
            if member is None:
                if not (piece := piece.lstrip(b"\0")):  # between members there may be zeros
                    break
                member = zlib.decompressobj(_GZIP)
            made = len(member.decompress(piece, CHUNK_BYTES))
            yield made, member.eof
            piece = member.unused_data if member.eof else member.unconsumed_tail
            if member.eof:
                member, made = None, 0
    if member is not None:
        raise EOFError


_GZIP = zlib.MAX_WBITS | 16
"""The data has the header and the checksum of gzip, which are compared."""
