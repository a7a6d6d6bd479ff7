"""Flips each bit of small files of traces, and counts what a check says of them.

    python -m purgatory_lab.benchmarks.flipped_bits --write docs/how-to/check-traces.md

Theory of operation. A file of each kind holds the same run. Each bit of it, and of the digest
beside it, is flipped in turn, and the file is read as a check reads it. A flip is *told* where a
line is set aside or a run is incomplete or inconclusive. Otherwise the lines are the same, or they
differ, and the check believes what nobody wrote.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import click

from purgatory_conformance.reporting.marked_pages import write_between_marks
from purgatory_lab.documents import number, table
from purgatory_spec.profiles import Component
from purgatory_traces.replay import replay
from purgatory_traces.results.rows import QuarantineRow, VerdictRow
from purgatory_traces.traces.byte_streams import CHECKSUM, checksum_line
from purgatory_traces.traces.lines import Located
from purgatory_traces.traces.parquet import TraceRow, write_parquet
from purgatory_traces.traces.parsing import place_of
from purgatory_traces.traces.sources import read_file
from purgatory_traces.traces.synthetic import run_lines

REGION: Final = "flipped bits"
_BITS: Final = 8


class Fate(Enum):
    """The answer of a check to a file with a flipped bit, as the title of a column."""

    TOLD = "told"
    SAME = "same lines"
    CONFORMS = "other lines, conformant"
    DIVERGES = "other lines, divergence"


class Flipped(NamedTuple):
    """A flipped bit: the file, and the number of the bit in it."""

    file: Path
    bit: int


def lines_of_run(run: str, component: Component) -> list[bytes]:
    """Return the lines of a short run that conforms, without their line feeds."""
    return [line.rstrip(b"\n") for line in run_lines(run, component, 60)]


def write_lines(folder: Path, lines: Sequence[bytes]) -> Path:
    """Write JSON Lines into a folder."""
    path = folder / "t.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def write_sealed(folder: Path, lines: Sequence[bytes]) -> Path:
    """Write JSON Lines with their SHA-256 beside them."""
    path = write_lines(folder, lines)
    digest = sha256(path.read_bytes()).hexdigest()
    path.with_name(path.name + CHECKSUM).write_text(checksum_line(path.name, digest), "utf-8")
    return path


def write_gzip(folder: Path, lines: Sequence[bytes]) -> Path:
    """Write a gzip file of JSON Lines."""
    import gzip

    path = folder / "t.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(line + b"\n" for line in lines), mtime=0))
    return path


def write_table(folder: Path, lines: Sequence[bytes]) -> Path:
    """Write Parquet as ``purgatory trace convert`` does."""
    path = folder / "t.parquet"
    write_parquet(path, (TraceRow(*place_of(line), line) for line in lines))
    return path


def write_bare_table(folder: Path, lines: Sequence[bytes]) -> Path:
    """Write Parquet without checksums, as other programs may."""
    import pyarrow.parquet as pq

    path = write_table(folder, lines)
    pq.write_table(pq.read_table(path), path, compression="zstd")
    return path


KINDS: Final[Mapping[str, Callable[[Path, Sequence[bytes]], Path]]] = {
    "`.jsonl`": write_lines,
    "`.jsonl` with `.jsonl.sha256`": write_sealed,
    "`.jsonl.gz`": write_gzip,
    "`.parquet` of `trace convert`": write_table,
    "`.parquet` without checksums of pages": write_bare_table,
}
"""The kinds of files, each with a function that writes one into an empty folder."""


def bits_of(files: Iterable[Path], stride: int = 1) -> Iterator[Flipped]:
    """Yield every so many bits of files; each is flipped until the next is asked for."""
    for file in files:
        content = file.read_bytes()
        with file.open("r+b", buffering=0) as opened:
            for bit in range(0, _BITS * len(content), stride):
                place = bit // _BITS
                os.pwrite(opened.fileno(), bytes([content[place] ^ 1 << bit % _BITS]), place)
                yield Flipped(file, bit)
                os.pwrite(opened.fileno(), content[place : place + 1], place)


def fates(path: Path, files: Iterable[Path], stride: int = 1) -> Iterator[tuple[Flipped, Fate]]:
    """Yield every so many bits of files with what a check of one file says of each flip."""
    right = [line for line in read_file(path) if isinstance(line, Located)]
    assert right
    for flipped in bits_of(files, stride):
        yield flipped, _fate(list(read_file(path)), right)


def _fate(read: Sequence[Located | QuarantineRow], right: Sequence[Located]) -> Fate:
    lines = [line for line in read if isinstance(line, Located)]
    if len(lines) < len(read):
        return Fate.TOLD
    if lines == right:
        return Fate.SAME
    rows = replay(iter(sorted(lines)))
    verdicts = {row.verdict for row in rows if isinstance(row, VerdictRow)}
    if "diverges" in verdicts:
        return Fate.DIVERGES
    return Fate.TOLD if verdicts - {"conforms"} else Fate.CONFORMS


def counted(write: Callable[[Path, Sequence[bytes]], Path]) -> Counter[Fate]:
    """Return how often a flipped bit of a small file met each fate."""
    lines = lines_of_run("a", Component.TIMER)
    with TemporaryDirectory() as folder:
        path = write(Path(folder), lines)
        return Counter(fate for _, fate in fates(path, sorted(Path(folder).iterdir())))


def text_of(found: Mapping[str, Counter[Fate]]) -> str:
    """Return the table of the page."""
    rows = (
        [kind, number(counts.total()), *(number(counts[fate]) for fate in Fate)]
        for kind, counts in found.items()
    )
    return table(["file", "bits", *(fate.value for fate in Fate)], rows)


@click.command()
@click.option("--write", type=click.Path(exists=True, path_type=Path), default=None)
def main(write: Path | None) -> None:
    """Flip all bits, and print the table or write it into a page."""
    found = {}
    for kind, writes in KINDS.items():
        found[kind] = counted(writes)
        told = ", ".join(f"{count:,} {fate.value}" for fate, count in found[kind].items())
        click.echo(f"{kind}: {told}", err=True)
    if write is None:
        click.echo(text_of(found))
    else:
        write_between_marks(write, REGION, text_of(found))


if __name__ == "__main__":
    main()
