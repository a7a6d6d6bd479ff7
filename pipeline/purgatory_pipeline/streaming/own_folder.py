"""The folder of a stream: one process at a time, and for one watched folder alone."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from purgatory_pipeline.errors import Refused
from purgatory_pipeline.results.locking import only_one

_WATCHED = "watched.json"


class Watched(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stands in the folder about the stream: the real path of what it watches."""

    folder: str


@contextmanager
def own_folder(out: Path, watched: Path) -> Iterator[None]:
    """Lock the folder ``out`` for a stream that watches the folder ``watched``; make it if missing.

    Raises:
        Refused: the folder lies inside the watched folder, or belongs to a stream that watches a
            different folder.
        PipelineError: another process uses the folder, or it cannot be made or written to.
    """
    where = Path(os.path.realpath(watched))
    if Path(os.path.realpath(out)).is_relative_to(where):
        raise Refused(
            f"{out} lies in {watched}, which is watched, so that the tables would be read as "
            "traces: name a folder outside with --out"
        )
    with only_one(out):
        _see_that_it_is_of(out, str(where))
        yield


def _see_that_it_is_of(out: Path, watched: str) -> None:
    path = out / _WATCHED
    if not path.exists():
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_bytes(msgspec.json.encode(Watched(watched)))
        unfinished.replace(path)
        return
    try:
        before = msgspec.json.decode(path.read_bytes(), type=Watched).folder
    except (msgspec.MsgspecError, ValueError):
        raise Refused(
            f"{path} does not say what was watched: name another folder with --out"
        ) from None
    if before != watched:
        raise Refused(
            f"{out} is of a watch of {before}, and the two would be mixed: name another folder "
            "with --out"
        )
