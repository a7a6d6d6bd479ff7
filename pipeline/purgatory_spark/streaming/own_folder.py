"""The folder of a stream: one process at a time, and for one watched folder alone."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import msgspec

from purgatory_conformance.whole_files import write_whole
from purgatory_spec.named_files import named_file
from purgatory_traces.errors import Refused
from purgatory_traces.results.locking import LOCK, only_one

_WATCHED = "watched.json"
_LAYOUT = 3
"""The version of the folder's layout; raised where a stream cannot go on from an older one."""


class Watched(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The folder that the stream in this folder watches, by its real path."""

    folder: str
    layout: int = 1


@contextmanager
def own_folder(out: Path, watched: Path) -> Iterator[str]:
    """Lock the folder ``out`` for a stream that watches the folder ``watched``; make it if missing.

    What a stream of another version has kept there is set aside in a folder of its own; the
    sentence that says so is yielded, which is empty otherwise.

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
        before = _before(out / _WATCHED)
        if before is not None and before.folder != str(where):
            raise Refused(
                f"{out} is of a watch of {before.folder}, and the two would be mixed: name another "
                "folder with --out"
            )
        told = "" if before is None or before.layout == _LAYOUT else _set_aside(out)
        write_whole(out / _WATCHED, msgspec.json.encode(Watched(str(where), _LAYOUT)))
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
    aside = next(
        place for number in count(1) if not (place := out / f"set-aside-{number}").exists()
    )
    aside.mkdir()
    for kept in sorted(out.iterdir()):
        if kept.name != LOCK and not kept.name.startswith("set-aside-"):
            kept.rename(aside / kept.name)
    return (
        f"{out} is of a watch by another version: what it kept is now in {aside}, and all files "
        "are read from their beginnings"
    )
