"""Files as pieces of bytes, decompressed; where a file breaks off, what came before is not lost."""

import gzip
import zlib
from collections.abc import Generator

CHUNK_BYTES = 1 << 18
"""How much is read at a time."""


class Broken(Exception):
    """The file cannot be read any further; the message says why."""


def chunks_of(name: str) -> Generator[bytes, None, None]:
    """The bytes of a file, decompressed where its name ends in ``.gz``.

    Raises:
        Broken: it cannot be opened or read, or its compressed data is damaged or breaks off. All
            that could be decompressed before is given first.
    """
    try:
        if name.endswith(".gz"):
            with gzip.open(name, "rb") as packed:
                # One read of the file below for each piece: what a larger one gathered would be
                # lost where the data turns out to be damaged in the middle of it.
                while chunk := packed.read1(CHUNK_BYTES):
                    yield chunk
        else:
            with open(name, "rb") as plain:  # noqa: PTH123
                while chunk := plain.read(CHUNK_BYTES):
                    yield chunk
    except EOFError:
        raise Broken("the compressed data breaks off") from None
    except (gzip.BadGzipFile, zlib.error) as problem:
        raise Broken(f"the compressed data is damaged: {problem}") from None
    except OSError as problem:
        raise Broken(f"cannot be read: {problem.strerror or problem}") from None
