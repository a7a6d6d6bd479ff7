"""TLC's classes, loaded once and shared by all later runs: a quarter less time to start.

The archive is made at the first run of a jar (see ``purgatory_spec.class_archives``). Where it
cannot be made (an older Java, no place to write), runs do without.
"""

import subprocess
import tempfile
from pathlib import Path

from purgatory_spec.class_archives import ClassArchive, class_archive

_MODULE = """---- MODULE Start ----
EXTENDS Integers, FiniteSets, Sequences
VARIABLE done
Init == done = 0
Next == done < 2 /\\ done' = done + 1
Never == Cardinality({done}) + Len(<<done>>) < 2 /\\ done < 2
====
"""
_CONFIGURATION = "INIT Init\nNEXT Next\nINVARIANT Never\n"


def class_archive_options(java: Path, jar: Path) -> tuple[str, ...]:
    """Return Java's options for the archive of this Java and jar, which is made if need be."""
    archive = class_archive("tla", java, jar, makes=True)
    if archive.unfinished is not None:
        _make(java, jar, archive)
        archive = class_archive("tla", java, jar, makes=False)
    return archive.options


def _make(java: Path, jar: Path, archive: ClassArchive) -> None:
    with tempfile.TemporaryDirectory(prefix="purgatory-tla-") as name:
        folder = Path(name)
        (folder / "Start.tla").write_text(_MODULE, encoding="utf-8")
        (folder / "Start.cfg").write_text(_CONFIGURATION, encoding="utf-8")
        command = [str(java), "-XX:+UseSerialGC", *archive.options]
        command += [f"-Djava.io.tmpdir={folder}", "-cp", str(jar), "tlc2.TLC", "-tool"]
        command += ["-deadlock", "-metadir", str(folder / "states"), "Start.tla"]
        quiet = subprocess.DEVNULL
        with subprocess.Popen(
            command, cwd=folder, stdin=quiet, stdout=quiet, stderr=quiet
        ) as started:
            archive.is_wanted = True
            archive.wait_for(started)
