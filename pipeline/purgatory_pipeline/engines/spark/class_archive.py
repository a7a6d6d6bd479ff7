"""Java's classes for Spark, in an archive: half the processor time of a start and a small check.

Theory of operation. Spark loads some 24,000 classes, and Java reads and verifies each. The first
check that ends well has Java write them to the user's cache folder when it ends (187 MB, some 15
seconds), and each later session maps them into memory (see ``purgatory_spec.class_archives``).
Java writes an archive for one class path alone. So none is made where settings or the environment
may have put anything there, and the folder of Spark's settings, which is on the path, is always the
same, and does not exist.
"""

import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from purgatory_spec.class_archives import keep_archive, place_of_archive, unfinished_archive

NO_SETTINGS = Path(__file__).with_name("no-settings")
"""The folder of Spark's settings; it does not exist."""

_SECONDS_TO_END = 20
_SECONDS_TO_WRITE = 300
_MAY_CHANGE_THE_PATH = (
    "HADOOP_CONF_DIR",
    "YARN_CONF_DIR",
    "SPARK_DIST_CLASSPATH",
    "SPARK_SUBMIT_OPTS",
    "JDK_JAVA_OPTIONS",
    "JAVA_TOOL_OPTIONS",
)


@dataclass
class ClassArchive:
    """The archive of a session.

    Attributes:
        place: Where the archive is; None if there is none.
        unfinished: Where this Java writes it; None if it does not.
        is_wanted: Whether the session has done what the archive is for.
    """

    place: Path | None = None
    unfinished: Path | None = None
    is_wanted: bool = False

    @property
    def options(self) -> str:
        """Java's options."""
        if self.unfinished is not None:
            return f'"-XX:ArchiveClassesAtExit={self.unfinished.as_posix()}"'
        if self.place is not None:
            return f'"-XX:SharedArchiveFile={self.place.as_posix()}" -Xlog:disable'
        return ""

    def wait_for(self, java: "subprocess.Popen[bytes]") -> None:
        """Wait until Java, which is about to end, has ended, and keep what it has written."""
        seconds = _SECONDS_TO_END
        if self.unfinished is not None:
            seconds = _SECONDS_TO_WRITE if self.is_wanted else 0
        try:
            java.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            java.kill()
            java.wait()
            if self.place is not None and self.unfinished is not None:
                with suppress(OSError):
                    if self.is_wanted:
                        keep_archive(self.unfinished, self.place)
                    else:
                        self.unfinished.unlink(missing_ok=True)


def class_archive(java: Path, jars: Path, *, makes: bool) -> ClassArchive:
    """The archive for a session.

    Args:
        java: The program.
        jars: The folder of Spark's jars.
        makes: Whether the archive is to be made if it is missing.
    """
    try:
        place = place_of_archive("spark", java, jars)
        if place.exists():
            return ClassArchive(place if place.stat().st_size else None)
        if makes and not any(map(os.environ.get, _MAY_CHANGE_THE_PATH)):
            return ClassArchive(place, unfinished_archive(place))
    except OSError:
        pass
    return ClassArchive()
