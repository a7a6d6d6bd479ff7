"""The manifest of a folder of results: a list of the files with sizes and checksums.

A manifest is written last. A folder without a manifest has no results; files not named in the
manifest, or of another size or checksum, are not results.
"""

import hashlib
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import msgspec

from purgatory_conformance.whole_files import write_whole
from purgatory_spec.named_files import named_file
from purgatory_traces.errors import PipelineError, Refused

MANIFEST_FORMAT = 1
"""Version of the manifest; a reader rejects any other."""

MANIFEST = "manifest.json"
"""The name of its file."""

STAGING = "staging-"
"""The beginning of the names of folders that are not results yet."""

RESULTS = "results-"
"""The beginning of the names of folders that hold results."""

_OWN = re.compile(rf"{RESULTS}[0-9a-f]{{16}}|{STAGING}(?:[0-9a-f]{{16}}|result)")


def is_own(name: str) -> bool:
    """Decide whether a check or a campaign gives such a name to a folder beside its manifest."""
    return _OWN.fullmatch(name) is not None


def own_folders(folder: Path, beginning: str) -> list[Path]:
    """Return the folders of our making in a folder whose names begin so."""
    return [each for each in folder.glob(f"{beginning}*") if is_own(each.name) and each.is_dir()]


class ResultFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of results; ``rows`` is null for a file that is no table."""

    name: str
    bytes: int
    sha256: str
    rows: int | None = None


class InputFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file that was read, by its name, size, and time of change since 1970-01-01, UTC.

    The last two are null where they could not be found out.
    """

    file: str
    bytes: int | None
    modified_ms: int | None = None


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The results of one check.

    ``folder`` is where the files are, beside the manifest. ``verdicts`` counts the runs of each
    verdict. ``exit_code`` is the one that the check ended with.
    """

    format: int
    model_version: str
    engine: str
    folder: str
    exit_code: int
    verdicts: Mapping[str, int]
    files: tuple[ResultFile, ...]
    inputs: tuple[InputFile, ...]
    ignored: tuple[str, ...] = ()


class CampaignManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The result of a campaign; ``folder`` is where its files are, beside the manifest."""

    format: int
    model_version: str
    folder: str
    files: tuple[ResultFile, ...]


class _AnyManifest(msgspec.Struct, frozen=True):
    """The common part of all manifests; ``engine`` is a check's, not a campaign's."""

    format: int
    model_version: str
    folder: str
    engine: str | None = None


def refuse_foreign(folder: Path, *, of_a_check: bool) -> None:
    """See that a manifest may be written into a folder: there is none, or one of the same kind.

    Args:
        folder: Where results are to be written.
        of_a_check: Whether they are a check's, or a campaign's.

    Raises:
        Refused: something else has its name.
    """
    path = folder / MANIFEST
    try:
        is_ours = is_a_checks(named_file(path).read_bytes(), of_a_check)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        is_ours = False
    if not is_ours:
        whose = "check" if of_a_check else "campaign"
        raise Refused(
            f"{path} is there, and is none that a {whose} has written: name another folder with "
            "--out, or move the file away"
        )


def is_a_checks(manifest: bytes, of_a_check: bool = True) -> bool:
    """Decide whether the manifest is a check's, or a campaign's."""
    try:
        found = msgspec.json.decode(manifest, type=_AnyManifest)
    except (msgspec.MsgspecError, ValueError):
        return False
    return is_own(found.folder) and (found.engine is not None) is of_a_check


def described(path: Path, rows: int | None, folder: Path | None = None) -> ResultFile:
    """Return a file as the manifest describes it, named from this folder or its own."""
    with named_file(path).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    name = path.relative_to(folder or path.parent).as_posix()
    return ResultFile(name, path.stat().st_size, digest.hexdigest(), rows)


def folder_of(files: Sequence[ResultFile]) -> str:
    """Return the name of a folder of results, which follows from its files."""
    digest = hashlib.sha256("\n".join(f"{each.name} {each.sha256}" for each in files).encode())
    return RESULTS + digest.hexdigest()[:16]


def publish(whole: Path, folder: Path, manifest: Manifest | CampaignManifest) -> Path:
    """Make a complete folder of files the results of a folder; where they are then.

    The manifest is replaced in one step; then the results of before are removed.
    """
    target = folder / manifest.folder
    if not _is_whole(folder, manifest):
        shutil.rmtree(target, ignore_errors=True)
        whole.rename(target)
    write_whole(folder / MANIFEST, encoded(manifest))
    for each in own_folders(folder, RESULTS):
        if each != target:
            shutil.rmtree(each, ignore_errors=True)
    return target


def encoded(document: msgspec.Struct) -> bytes:
    """Return a document, in the words of its file."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _is_inside(name: str) -> bool:
    """Say whether the name of a file cannot lead out of the folder that it is looked for in."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def _is_whole(folder: Path, manifest: Manifest | CampaignManifest) -> bool:
    """Decide whether these very files are there already, from an equal check or campaign."""
    try:
        verify(folder, manifest)
    except PipelineError:
        return False
    return True


def input_file(name: str) -> InputFile:
    """Return a file that is read, as the manifest describes it."""
    try:
        found = Path(name).stat()
        return InputFile(name, found.st_size, found.st_mtime_ns // 1_000_000)
    except OSError:
        return InputFile(name, None)


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a folder of results.

    Raises:
        PipelineError: the manifest is missing or invalid.
    """
    path = folder / MANIFEST
    try:
        content = named_file(path).read_bytes()
    except FileNotFoundError:
        raise PipelineError(f"there are no results in {folder}: it has no {MANIFEST}") from None
    except OSError as problem:
        raise PipelineError(f"{path} cannot be read: {problem}") from None
    return decoded(content, str(path))


def decoded(content: bytes, path: str) -> Manifest:
    """Return the manifest that a file at a path holds.

    Raises:
        PipelineError: it holds none.
    """
    try:
        manifest = msgspec.json.decode(content, type=Manifest)
    except msgspec.MsgspecError as problem:
        raise PipelineError(f"{path} cannot be read: {problem}") from None
    if manifest.format != MANIFEST_FORMAT:
        raise PipelineError(f"{path} has format {manifest.format}, not {MANIFEST_FORMAT}")
    return manifest


def verify(folder: Path, manifest: Manifest | CampaignManifest) -> None:
    """See that all files are there and as the manifest says.

    Raises:
        PipelineError: one is not.
    """
    whose = "check" if isinstance(manifest, Manifest) else "campaign"
    strange = [each.name for each in manifest.files if not _is_inside(each.name)]
    if strange or not is_own(manifest.folder):
        raise PipelineError(
            f"{folder / MANIFEST} names {strange[0] if strange else manifest.folder!r}, which no "
            f"{whose} writes"
        )
    for file in manifest.files:
        path = folder / manifest.folder / file.name
        try:
            found = described(path, file.rows, folder / manifest.folder)
        except OSError as problem:
            raise PipelineError(f"{path} cannot be read: {problem.strerror}") from None
        if found != file:
            raise PipelineError(
                f"{path} is not what the {whose} wrote: {found.bytes} bytes with SHA-256 "
                f"{found.sha256}, not {file.bytes} with {file.sha256}"
            )
