"""Parts that tests of campaigns share: a course with few words, and the tables that it leaves."""

import io
from collections.abc import Iterable
from pathlib import Path

import pyarrow.parquet as pq
from rich.console import Console

from purgatory_spark.campaigns.course import Course, run_course
from purgatory_spark.campaigns.engines import Engine, LocalEngine
from purgatory_spark.campaigns.folder import read_result
from purgatory_spark.campaigns.isolation import SubjectChoice
from purgatory_spec.profiles import Component

HERE = Path(__file__).parent

Row = dict[str, object]


def run(
    word: str,
    out: Path,
    *,
    components: Iterable[Component] = (Component.TIMER,),
    seed: int = 7,
    runs: int = 30,
    steps: int = 50,
    wave: int = 0,
    resume: bool = False,
    fresh: bool = False,
    seconds: float = 300.0,
    mebibytes: int = 512,
    engine: Engine | None = None,
    command: str = "",
) -> tuple[int, str]:
    """Carry out a campaign; the exit code and what was printed."""
    work = str(out.parent / "work")
    choice = SubjectChoice(
        word, command, work=work, folder=str(HERE), seconds=seconds, mebibytes=mebibytes
    )
    course = Course(choice, tuple(components), seed, runs, steps, wave, out, resume, fresh)
    printed = io.StringIO()
    code = run_course(course, engine or LocalEngine(), Console(file=printed, width=100))
    return code, printed.getvalue()


def rows(out: Path, table: str = "runs") -> list[Row]:
    """The rows of a table that a campaign has left."""
    found: list[Row] = pq.read_table(read_result(out) / f"{table}.parquet").to_pylist()
    return found


def manifest(out: Path) -> str:
    """The manifest, which has the digest of every file: equal for equal results."""
    read_result(out)
    return (out / "manifest.json").read_text(encoding="utf-8")
