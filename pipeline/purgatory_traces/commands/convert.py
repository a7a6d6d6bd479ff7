"""``purgatory trace convert``: traces as one Parquet file, which is smaller and faster to sort."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from purgatory_conformance.problems import EXIT_INCONCLUSIVE, EXIT_USAGE, Problem
from purgatory_traces.commands.check import foreseen
from purgatory_traces.errors import Unusable
from purgatory_traces.results.rows import QuarantineRow
from purgatory_traces.summary.words import files_in, lines_of, place_of_line
from purgatory_traces.traces.parquet import TraceRow, write_parquet
from purgatory_traces.traces.parsing import NOT_BELIEVED, NOT_COVERED, place_of
from purgatory_traces.traces.sources import files_of, read_file


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Replace TARGET where it is there.")
@click.pass_context
def convert(context: click.Context, paths: tuple[str, ...], target: Path, force: bool) -> None:
    """Write the lines in PATHS to TARGET, a Parquet file, which is not read itself.

    Lines that are unusable are taken over as they are, so that a check of TARGET says the same of
    them. Ends with 4 where no file is found, or a file could not be read to its end.
    """
    if target.suffix != ".parquet":
        raise Problem(f"{target}: the name of the file to write has to end in .parquet", EXIT_USAGE)
    if os.path.lexists(target) and not force:
        raise Problem(
            f"{target} is there: name another file, or replace it with --force", EXIT_USAGE
        )
    left: list[QuarantineRow] = []
    with foreseen("the conversion"):
        files = [each for each in files_of(paths) if not _is_same(each, target)]
        if not files:
            raise Problem(
                f"there is no trace in {', '.join(paths)}: nothing is written", EXIT_INCONCLUSIVE
            )
        count = write_parquet(target, _rows(files, left))
    click.echo(f"{lines_of(count)} of {files_in(len(files))} in {target}")
    for row in left:
        click.echo(f"not taken over: {place_of_line(row)}: {row.reason}")
    context.exit(EXIT_INCONCLUSIVE if left else 0)


def _is_same(file: str, target: Path) -> bool:
    return target.exists() and Path(file).exists() and target.samefile(file)


def _rows(files: Iterable[str], left: list[QuarantineRow]) -> Iterator[TraceRow]:
    for file in files:
        for line in read_file(file):
            if not isinstance(line, QuarantineRow):
                if line.raw in (NOT_BELIEVED, NOT_COVERED):
                    continue  # the file's damage is told
                yield TraceRow(line.run, line.seq, line.raw)
            elif _says_the_same(line):
                yield TraceRow(None, None, line.raw.encode())
            else:
                left.append(line)


def _says_the_same(row: QuarantineRow) -> bool:
    """Decide whether the line alone, without its file, is set aside for the same reason."""
    try:
        place_of(row.raw.encode())
    except Unusable as problem:
        return str(problem) == row.reason
    return False
