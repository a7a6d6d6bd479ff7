"""The folder of a campaign: what it is a campaign on, the parts so far, the tables at the end.

Theory of operation. ``campaign.json`` says who was judged, and by what. Each wave leaves one part,
a Parquet file that is written under another name and then renamed: a part is whole or not there.
Killed at any moment, a campaign has lost the wave that it was at. The result is written to
a folder beside, which takes the place of the one before when the last file is in it, the manifest.

A part holds rows by the ids of their runs, and the id holds all that was asked. So a campaign is
taken up with other seeds, more runs or another order just as well; and a changed generator shows:
the same seeds draw runs that are not on record, which are carried out, while those that nothing
draws any more stay behind and are counted as ``left_over``.
"""

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from purgatory_conformance.command_line import EXIT_USAGE, Problem
from purgatory_pipeline.campaigns.tables import DONE
from purgatory_spec.messages import Implementation

FORMAT = 1
"""Version of the folder's format; another one is not taken up."""

_RESULT = "result"
_MANIFEST = "manifest.json"
_IS_PART = "part-*.parquet"


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """What must be the same for runs on record to count: who was judged, and by what."""

    subject: str
    implementation: Implementation
    model_version: str
    deviations: tuple[str, ...] = ()
    """Rule and variant of each declared deviation."""
    format: int = FORMAT


@dataclass(frozen=True)
class CampaignFolder:
    """The folder of one campaign."""

    path: Path

    @property
    def parts(self) -> Path:
        """Where the parts are."""
        return self.path / "parts"

    @property
    def result(self) -> Path:
        """Where the tables and the replay files are, when a campaign has come to its end."""
        return self.path / _RESULT

    def begin(self, identity: Identity, *, resume: bool) -> None:
        """Make the folder ready: what is on record is kept to be taken up, or else removed.

        Raises:
            Problem: what is to be taken up is a campaign on something else, or cannot be read.
        """
        header = self.path / "campaign.json"
        if resume and header.exists():
            self._see_that_it_is(identity, header)
        elif self.parts.exists():
            shutil.rmtree(self.parts)
        self.parts.mkdir(parents=True, exist_ok=True)
        for unfinished in self.parts.glob("*.unfinished"):
            unfinished.unlink()
        _write_whole(header, msgspec.json.format(msgspec.json.encode(identity)) + b"\n")

    def _see_that_it_is(self, identity: Identity, header: Path) -> None:
        try:
            before = msgspec.json.decode(header.read_bytes(), type=Identity)
        except (OSError, msgspec.MsgspecError) as error:
            raise Problem(f"{header} cannot be read: {error}", EXIT_USAGE) from error
        changed = [
            name
            for name in Identity.__struct_fields__
            if getattr(before, name) != getattr(identity, name)
        ]
        if changed:
            old, new = (_shown(getattr(each, changed[0])) for each in (before, identity))
            raise Problem(
                f"{self.path} holds a campaign with another {changed[0].replace('_', ' ')}: {old}, "
                f"not {new}. Name another --out, or leave out --resume to begin anew",
                EXIT_USAGE,
            )

    def done(self) -> pa.Table:
        """The rows on record, one for each run.

        Raises:
            Problem: a part cannot be read.
        """
        tables = [DONE.empty_table()]
        for part in sorted(self.parts.glob(_IS_PART)):
            try:
                tables.append(pq.read_table(part).cast(DONE))
            except (OSError, pa.ArrowException) as error:
                raise Problem(f"{part} cannot be read ({error}); remove it", EXIT_USAGE) from error
        return pa.concat_tables(tables)

    def add(self, rows: pa.Table) -> None:
        """Put the rows of a wave on record."""
        rows = rows.sort_by("run")
        names = "".join(rows.column("run").to_pylist())
        part = self.parts / f"part-{hashlib.sha256(names.encode()).hexdigest()[:16]}.parquet"
        unfinished = part.with_suffix(".unfinished")
        pq.write_table(rows, unfinished)
        unfinished.replace(part)

    def staging(self) -> Path:
        """An empty folder for the result that is being made."""
        folder = self.path / f"{_RESULT}.unfinished"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def finish(self, staging: Path, tables: Mapping[str, pa.Table]) -> None:
        """Add the tables to what is in the staging folder, and put all in place at once.

        The manifest holds the rows and the SHA-256 of each file. It holds no time and no place, so
        that equal campaigns have equal manifests.
        """
        for name, table in tables.items():
            pq.write_table(table, staging / f"{name}.parquet")
        files = {
            path.relative_to(staging).as_posix(): {
                "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
                "rows": tables[path.stem].num_rows if path.suffix == ".parquet" else None,
            }
            for path in sorted(staging.rglob("*"))
            if path.is_file()
        }
        encoded = msgspec.json.encode({"format": FORMAT, "files": files}, order="sorted")
        (staging / _MANIFEST).write_bytes(msgspec.json.format(encoded) + b"\n")
        _replace_folder(staging, self.result)


def _replace_folder(staging: Path, place: Path) -> None:
    """Put a folder in the place of another, which is there until the moment before."""
    before = place.with_suffix(".before")
    shutil.rmtree(before, ignore_errors=True)
    if place.exists():
        place.replace(before)
    staging.replace(place)
    shutil.rmtree(before, ignore_errors=True)


def _write_whole(path: Path, content: bytes) -> None:
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_bytes(content)
    unfinished.replace(path)


def _shown(value: object) -> str:
    return msgspec.json.encode(value).decode()
