"""Java's classes for Spark, in an archive: half the processor time of a start and a small check.

Theory of operation. Spark loads some 24,000 classes, and Java reads and verifies each. The first
check that ends well has Java write them to an archive of 187 MB, and each later session maps them
into memory. Java takes an archive for one class path alone. So none is made where the environment
may have put anything there, and the folder of Spark's settings, which is on the path, is always the
same, and does not exist.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from purgatory_spark.engine.preflight import java_program
from purgatory_spec.class_archives import ClassArchive, class_archive

NO_SETTINGS = Path(__file__).with_name("no-settings")
"""The folder of Spark's settings; it does not exist."""

_MAY_CHANGE_THE_PATH = (
    "HADOOP_CONF_DIR",
    "YARN_CONF_DIR",
    "SPARK_DIST_CLASSPATH",
    "SPARK_SUBMIT_OPTS",
    "JDK_JAVA_OPTIONS",
    "JAVA_TOOL_OPTIONS",
)


def archive_of_spark(master: str, settings: Mapping[str, str], *, makes: bool) -> ClassArchive:
    """The archive for a session.

    Args:
        master: Where Spark runs; on a cluster there is none.
        settings: Settings that were asked for; with any, none is written.
        makes: Whether the session writes the archive if there is none.
    """
    from pyspark.find_spark_home import _find_spark_home

    java = java_program()
    if java is None or not master.startswith("local"):
        return ClassArchive()
    may = makes and not settings and not any(map(os.environ.get, _MAY_CHANGE_THE_PATH))
    return class_archive("spark", java, Path(_find_spark_home()) / "jars", makes=may)
