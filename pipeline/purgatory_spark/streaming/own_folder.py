"""The folder of a stream: one process at a time, and for one watched folder or topic alone.

A stream goes on only as the judge that began it: what it knows of runs under way is no other
judge's. Where judge or layout has changed, what was kept is set aside and all is read anew. Lines
may be gone by then, so the former verdicts stay until their runs have been judged again. A kill at
any time is made good by the next start: ``watched.json`` is written last.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import msgspec
import pyarrow as pa

from purgatory_conformance.whole_files import write_whole
from purgatory_spark.engine.topics import Topic
from purgatory_spark.streaming.tables import Tables
from purgatory_spec.named_files import named_file
from purgatory_traces.engines.sinks import read_results
from purgatory_traces.errors import PipelineError, Refused
from purgatory_traces.results.locking import LOCK, only_one
from purgatory_traces.version import MODEL_VERSION

TABLES = "tables"
"""The folder of the stream's tables, in that of the stream."""

_WATCHED = "watched.json"
_KEPT = "tables-kept"
_LAYOUT = 3
"""The version of the folder's layout; raised where a stream cannot go on from an older one."""


class Watched(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The watched folder, by its real path, or the address of the watched topic; and the judge."""

    folder: str
    layout: int = 1
    judge: str = ""


@contextmanager
def own_folder(out: Path, watched: Path | Topic) -> Iterator[str]:
    """Lock the folder ``out`` for a stream that watches ``watched``; make it if missing.

    What a stream of another version has kept there is set aside in a folder of its own, but for
    its verdicts; the sentence that says so is yielded, which is empty otherwise.

    Raises:
        Refused: the folder lies inside the watched folder, or belongs to a stream that watches
            something else.
        PipelineError: another process uses the folder, or it cannot be made or written to.
    """
    where = watched.address if isinstance(watched, Topic) else os.path.realpath(watched)
    if isinstance(watched, Path) and Path(os.path.realpath(out)).is_relative_to(where):
        raise Refused(
            f"{out} lies in {watched}, which is watched, so that the tables would be read as "
            "traces: name a folder outside with --out"
        )
    with only_one(out):
        before = _before(out / _WATCHED)
        if before is not None and before.folder != where:
            raise Refused(
                f"{out} is of a watch of {before.folder}, and the two would be mixed: name another "
                "folder with --out"
            )
        here = Watched(where, _LAYOUT, MODEL_VERSION)
        told = "" if before in (None, here) else _set_aside(out)
        write_whole(out / _WATCHED, msgspec.json.encode(here))
        yield told


def _before(path: Path) -> Watched | None:
    """Return the notes of the last stream in the folder; None without one."""
    try:
        return msgspec.json.decode(named_file(path).read_bytes(), type=Watched)
    except FileNotFoundError:
        return None
    except (msgspec.MsgspecError, ValueError):
        raise Refused(
            f"{path} does not say what was watched: name another folder with --out"
        ) from None


def _set_aside(out: Path) -> str:
    """Move what another version has kept into a folder of its own; a sentence that says so."""
    kept = _keep_verdicts(out)
    aside = next(
        place for number in count(1) if not (place := out / f"set-aside-{number}").exists()
    )
    aside.mkdir()
    for each in sorted(out.iterdir()):
        if each.name not in (LOCK, _WATCHED, _KEPT) and not each.name.startswith("set-aside-"):
            each.rename(aside / each.name)
    if (out / _KEPT).exists():
        (out / _KEPT).rename(out / TABLES)
    return (
        f"{out} is of a watch by another version: what it kept is now in {aside}, and all is "
        f"read from its beginning; {kept}"
    )


def _keep_verdicts(out: Path) -> str:
    """Write tables with the verdicts of the former judge, beside its own; words that say so.

    If the former tables are moved away already, a killed start has written the kept ones.
    """
    if (out / TABLES).is_dir():
        shutil.rmtree(out / _KEPT, ignore_errors=True)
        try:
            kept = Tables(out / _KEPT).keep(read_results(out / TABLES))
        except (PipelineError, OSError, pa.ArrowInvalid) as problem:
            shutil.rmtree(out / _KEPT, ignore_errors=True)
            return f"none of its verdicts stays, since its tables cannot be read ({problem})"
        runs = "the verdict of 1 run stays" if kept == 1 else f"the verdicts of {kept} runs stay"
    elif (out / _KEPT).is_dir():
        runs = "its verdicts stay"
    else:
        return "it had no verdicts"
    return f"{runs} until judged again, and `model_version` says by which judge each was given"
