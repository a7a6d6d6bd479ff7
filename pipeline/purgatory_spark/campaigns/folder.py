"""The folder of a campaign: what it is a campaign on, the parts so far, the result at the end.

Theory of operation. ``campaign.json`` names the subject that was judged, and the suite. Each wave
leaves one part, a Parquet file that is written under another name and then renamed: a part is whole
or not there. Killed at any moment, a campaign has lost the wave that it was at.

A part holds rows by the ids of their runs, and the id holds all that was asked. So a campaign is
taken up with other seeds, more runs or another order just as well; and a changed generator shows:
the same seeds draw runs that are not on record, which are carried out, while those that nothing
draws any more stay behind, and are told as such.

The result, tables and replay files, is written to a staging folder, which is renamed to a name that
follows from what is in it. Then ``manifest.json``, which names it, is replaced in one step: until
then the folder holds the result from before.
"""

import hashlib
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from purgatory_conformance.problems import EXIT_USAGE, Problem
from purgatory_conformance.whole_files import whole_file, write_whole
from purgatory_spark.campaigns.tables import DONE
from purgatory_spec.messages import Implementation
from purgatory_spec.named_files import named_file
from purgatory_traces.errors import PipelineError
from purgatory_traces.results.locking import only_one
from purgatory_traces.results.manifest import (
    MANIFEST,
    STAGING,
    CampaignManifest,
    described,
    encoded,
    folder_of,
    own_folders,
    publish,
    refuse_foreign,
    verify,
)
from purgatory_traces.version import MODEL_VERSION

FORMAT = 1
"""Version of the folder's format; another one is not taken up."""

_IS_PART = "part-*.parquet"


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """The identity of a campaign: subject and judge, the same for all runs on record."""

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
        """Return the folder of the parts."""
        return self.path / "parts"

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Make the folder and keep others out of it.

        Raises:
            Refused: the folder has a ``manifest.json`` that is no campaign's.
            PipelineError: another process is in it, or it cannot be written to.
        """
        refuse_foreign(self.path, of_a_check=False)
        with only_one(self.path):
            yield

    def begin(self, identity: Identity, *, resume: bool, fresh: bool = False) -> None:
        """Make the folder ready for a campaign.

        Args:
            identity: What the campaign is on.
            resume: What is on record is taken up.
            fresh: What is on record is removed.

        Raises:
            Problem: runs are on record, and neither was asked for; what is to be taken up is a
                campaign on something else, or cannot be read; the parts are no campaign's.
        """
        header = self.path / "campaign.json"
        if resume and header.exists():
            self._see_that_it_is(identity, header)
        elif self.parts.exists():
            self._see_that_it_may_go(header, fresh=fresh)
            shutil.rmtree(self.parts)
        self.parts.mkdir(parents=True, exist_ok=True)
        for unfinished in self.parts.glob("*.unfinished"):
            unfinished.unlink()
        write_whole(header, encoded(identity))

    def _see_that_it_may_go(self, header: Path, *, fresh: bool) -> None:
        if not header.exists() and any(self.parts.iterdir()):
            raise Problem(
                f"{self.parts} is there, and is no campaign's: name another --out", EXIT_USAGE
            )
        if not fresh and any(self.parts.glob(_IS_PART)):
            raise Problem(
                f"{self.path} holds a campaign, with runs on record: take it up with --resume, "
                "name another --out, or throw its record away with --fresh",
                EXIT_USAGE,
            )

    def _see_that_it_is(self, identity: Identity, header: Path) -> None:
        try:
            before = msgspec.json.decode(named_file(header).read_bytes(), type=Identity)
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
                f"not {new}. Name another --out, or begin anew with --fresh instead of --resume",
                EXIT_USAGE,
            )

    def done(self) -> pa.Table:
        """Return the rows on record, one for each run.

        Raises:
            Problem: a part cannot be read.
        """
        tables = [DONE.empty_table()]
        for part in sorted(self.parts.glob(_IS_PART)):
            try:
                tables.append(pq.read_table(named_file(part)).cast(DONE))
            except (OSError, pa.ArrowException) as error:
                raise Problem(f"{part} cannot be read ({error}); remove it", EXIT_USAGE) from error
        return pa.concat_tables(tables)

    def add(self, rows: pa.Table) -> None:
        """Put the rows of a wave on record."""
        rows = rows.sort_by("run")
        names = "".join(rows.column("run").to_pylist())
        part = self.parts / f"part-{hashlib.sha256(names.encode()).hexdigest()[:16]}.parquet"
        with whole_file(part) as unfinished:
            pq.write_table(rows, unfinished)

    def staging(self) -> Path:
        """Return an empty folder for the result that is being made."""
        for unfinished in own_folders(self.path, STAGING):
            shutil.rmtree(unfinished)
        folder = self.path / f"{STAGING}result"
        folder.mkdir(parents=True)
        return folder

    def finish(self, staging: Path, tables: Mapping[str, pa.Table]) -> Path:
        """Publish the staging folder, with the tables added, as the result; the result's path.

        The manifest holds no time and no engine, so that equal campaigns have equal manifests.
        """
        for name, table in tables.items():
            pq.write_table(table, staging / f"{name}.parquet", compression="zstd")
        files = tuple(
            described(
                path, tables[path.stem].num_rows if path.suffix == ".parquet" else None, staging
            )
            for path in sorted(staging.rglob("*"))
            if path.is_file()
        )
        manifest = CampaignManifest(FORMAT, MODEL_VERSION, folder_of(files), files)
        result = publish(staging, self.path, manifest)
        shutil.rmtree(staging, ignore_errors=True)
        return result


def read_result(folder: str | Path) -> Path:
    """Return the folder of a campaign's tables and replay files, which are seen to be whole.

    Raises:
        PipelineError: there is no result, or a file is not as the manifest says.
    """
    where = Path(folder)
    try:
        manifest = msgspec.json.decode(
            named_file(where / MANIFEST).read_bytes(), type=CampaignManifest
        )
    except (OSError, msgspec.MsgspecError) as error:
        raise PipelineError(f"there is no result of a campaign in {where}: {error}") from None
    verify(where, manifest)
    return where / manifest.folder


def _shown(value: object) -> str:
    return msgspec.json.encode(value).decode()
