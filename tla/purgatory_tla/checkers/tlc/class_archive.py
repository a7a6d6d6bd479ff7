"""TLC's classes, loaded once and shared by all later runs: a quarter less time to start.

The archive is made at the first run of a jar (see ``purgatory_spec.class_archives``). Where it
cannot be made (an older Java, no place to write), runs do without.
"""

import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from purgatory_spec.class_archives import keep_archive, place_of_archive, unfinished_archive

_MODULE = """---- MODULE Start ----
EXTENDS Integers, FiniteSets, Sequences
VARIABLE done
Init == done = 0
Next == done < 2 /\\ done' = done + 1
Never == Cardinality({done}) + Len(<<done>>) < 2 /\\ done < 2
====
"""
_CONFIGURATION = "INIT Init\nNEXT Next\nINVARIANT Never\n"
_SECONDS = 60.0


def class_archive_options(java: Path, jar: Path) -> tuple[str, ...]:
    """Java's options to use the archive for this Java and this jar, which is made if need be."""
    try:
        archive = place_of_archive("tla", java, jar)
        if not archive.exists():
            _make(java, jar, archive)
        usable = archive.stat().st_size > 0
    except OSError:
        return ()
    if not usable:
        return ()
    return (f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", "-Xlog:disable")


def _make(java: Path, jar: Path, archive: Path) -> None:
    """Write the archive, or an empty file where Java cannot."""
    made = unfinished_archive(archive)
    with tempfile.TemporaryDirectory(prefix="purgatory-tla-") as name:
        folder = Path(name)
        (folder / "Start.tla").write_text(_MODULE, encoding="utf-8")
        (folder / "Start.cfg").write_text(_CONFIGURATION, encoding="utf-8")
        command = [str(java), "-XX:+UseSerialGC", f"-XX:ArchiveClassesAtExit={made}"]
        command += [f"-Djava.io.tmpdir={folder}", "-cp", str(jar), "tlc2.TLC", "-tool"]
        command += ["-deadlock", "-metadir", str(folder / "states"), "Start.tla"]
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
    keep_archive(made, archive)
