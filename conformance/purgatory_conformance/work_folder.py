"""The folder of a subject in the work folder: its name, and whose it is.

A subject's name is what its author has chosen, and is no path: whatever it is, the folder lies in
the work folder itself. Two subjects may have one name, or names that a file system takes for one.
So a folder says in ``subject.json`` whose results it holds, and no other subject writes into it.
"""

import hashlib
import os
import re
from pathlib import Path
from typing import Final

import msgspec

from purgatory_conformance.describing.words import printable
from purgatory_conformance.problems import EXIT_USAGE, Foreseen
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_spec.named_files import named_file

_MARK: Final = "subject.json"
_MOST_BYTES: Final = 100
_WINDOWS_DEVICE: Final = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9¹²³])(\..*)?", re.I)


class ForeignFolder(Foreseen):
    """The folder that a subject's results would be written to is not the subject's."""

    exit_code = EXIT_USAGE


class _Owner(msgspec.Struct, frozen=True):
    """The owner of a folder; ``project`` is the path of its declaration from the work folder."""

    subject: str
    project: str


def plain(name: str) -> str:
    """Return a name as that of one file or folder, on every system.

    A name of letters, digits, hyphens and inner points stays as it is. Any other character becomes
    a hyphen. What would still be no name, a way out of its folder, too long or a device of Windows
    gets a digest of the name behind it.
    """
    word = "".join(letter if letter.isalnum() or letter in "-." else "-" for letter in name)
    kept = word.encode()[:_MOST_BYTES].decode(errors="ignore").strip(".")
    if kept == word and kept and not _WINDOWS_DEVICE.fullmatch(kept):
        return kept
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{kept.partition('.')[0] or 'subject'}-{digest}"


def own_folder(work: Path, opened: OpenSubject) -> Path:
    """Return the folder of a subject in the work folder, made and marked as that of the subject.

    Raises:
        ForeignFolder: it is that of another subject, a link to elsewhere, or cannot be made.
    """
    folder = work / plain(opened.name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for inner in (folder, folder / "replays"):
            if inner.is_symlink():
                raise ForeignFolder(f"{inner} is a link: results are written into no link")
        wanted = _Owner(printable(opened.name), printable(_seen_from(work, opened.home)))
        owner = _owner(folder / _MARK, wanted)
    except OSError as error:
        raise ForeignFolder(f"{folder}: {error.strerror}") from error
    if owner != wanted:
        where = f" of {owner.project}" if owner.project else ", which comes with the suite"
        raise ForeignFolder(
            f"{folder} holds the results of another subject, {owner.subject!r}{where}: give this "
            "one another name, name another --work, or remove that folder"
        )
    return folder


def _seen_from(work: Path, home: Path | None) -> str:
    """Return the place of a subject's declaration, relative to the work folder."""
    if home is None:
        return ""
    try:
        return Path(os.path.relpath(home.resolve(), work.resolve())).as_posix()
    except ValueError:  # another drive
        return home.resolve().as_posix()


def _owner(mark: Path, wanted: _Owner) -> _Owner:
    """Read whose the folder of a mark is; where nobody has marked it, it is from now on wanted's.

    The mark appears with its contents at once: processes of one subject may begin together.
    """
    if not mark.exists():
        own = mark.with_name(f"{_MARK}.{os.getpid()}")
        own.unlink(missing_ok=True)
        own.write_bytes(msgspec.json.encode(wanted))
        try:
            mark.hardlink_to(own)
        except FileExistsError:
            pass  # another process was faster
        except OSError:  # a file system without links
            own.replace(mark)
        own.unlink(missing_ok=True)
    try:
        return msgspec.json.decode(named_file(mark).read_bytes(), type=_Owner)
    except msgspec.MsgspecError:
        return _Owner("", mark.as_posix())
