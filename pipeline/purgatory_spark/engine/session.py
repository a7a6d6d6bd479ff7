"""The Spark session: started quietly, or joined, and left without a trace.

Theory of operation. There are four places where the work can be done:

- *here*: a Java machine is started beside this process (``local[*]``), bound to the loopback
  address, with a configuration of its own, and ended with the session;
- *a cluster* (``--master``): the driver is started here, with the machine's own configuration;
- *a Connect server* (``--remote sc://...``): nothing is started, and no Java is needed;
- *under spark-submit*: the Java machine is there already and knows its master.

What the commands ask of Spark is the same in all of them. What Java says is kept in a file, from
which the reason is taken if Spark does not start; it goes to standard error if ``spark.log.level``
is among the settings.
"""

import logging
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

import click

from purgatory_conformance.problems import (
    EXIT_MISSING_TOOL,
    EXIT_SUBJECT_FAILED,
    EXIT_USAGE,
    Problem,
)
from purgatory_spark.engine.preflight import WITHOUT_JAVA, java_program, preflight
from purgatory_spec.class_archives import ClassArchive, class_archive
from purgatory_traces.engines.interrupts import remembered_interrupt
from purgatory_traces.errors import PipelineError
from purgatory_traces.results.locking import LOCK, only_one

# Spark loads some 24,000 classes, and Java reads and verifies each. The first check that ends well
# has Java write them to an archive of 187 MB, and each later session maps them into memory. Java
# takes an archive for one class path alone. So none is made where the environment may have put
# anything there, and the folder of Spark's settings, which is on the path, is always the same, and
# does not exist.
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
    """Return the archive for a session.

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


if TYPE_CHECKING:
    import subprocess

    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

HERE = "local[*]"
"""The master if none is named: all processors of this machine."""

_LOGGER = logging.getLogger(__name__)
_USUAL_PORT = 15002
_SECONDS_TO_ANSWER = 20
_PREFIX = "purgatory-spark-"
"""The beginning of the names of sessions' folders, among the temporary ones."""
_SECONDS_TO_LOCK = 60

_ARCHIVES = "Java writes its classes to an archive, once: Spark starts sooner from now on"
_WAITS = "interrupted; waiting for Java, which is just starting, to end"

_LOGGING = """\
status = OFF
rootLogger.level = ERROR
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c{1}: %m%n%ex
"""

_LEVEL = "spark.log.level"
_STANDARD_ERROR = 2
_MISSING_PACKAGE = re.compile(r"unresolved dependency: ([^#\s]+)#([^;\s]+);([^:\s]+):")

_QUIET = {
    "spark.app.name": "purgatory",
    "spark.ui.showConsoleProgress": "false",
    _LEVEL: "ERROR",
    "spark.sql.session.timeZone": "UTC",
}

_ALONE = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.ui.enabled": "false",
    "spark.python.daemon.module": "purgatory_spark.engine.worker_daemon",
}


class _Gateway(Protocol):
    """The gateway between this process and the Java machine that it has started."""

    proc: "subprocess.Popen[bytes]"

    def shutdown(self) -> None:
        """Close the connections to Java."""


@contextmanager
def spark_session(
    *,
    master: str = "",
    remote: str = "",
    settings: Mapping[str, str] | None = None,
    without_java: str = WITHOUT_JAVA,
    makes_archive: bool = False,
) -> Iterator["SparkSession"]:
    """Provide a session, ended with the context; an earlier session is left alone.

    Args:
        master: Where Spark runs, in its own words; ``local[*]`` if empty.
        remote: The address of a Spark Connect server, ``sc://host:port``; nothing is started here.
        settings: Settings of Spark, by name, that go before those chosen here.
        without_java: The advice for a machine without Java, in words.
        makes_archive: Whether Java's classes are archived at the end, where they are not yet, so
            that later sessions start sooner.

    Raises:
        Problem: a library or Java is missing (exit code 5), or Spark does not start (3).
    """
    if remote:
        if master:
            raise Problem("name a master or a Connect server, not both", EXIT_USAGE)
        preflight(needs_java=False, needs_connect=True)
        with _connected(remote, settings or {}) as spark:
            yield spark
        return
    preflight(without_java=without_java)
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is not None:
        yield SparkSession.builder.getOrCreate()
    elif "PYSPARK_GATEWAY_PORT" in os.environ:
        with _submitted(settings or {}) as spark:
            yield spark
    else:
        with _started(master or HERE, settings or {}, makes_archive) as spark:
            yield spark


def is_connect(spark: "SparkSession") -> bool:
    """Decide whether the session is Connect's, without a context in this process."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


@contextmanager
def _connected(remote: str, settings: Mapping[str, str]) -> Iterator["SparkSession"]:
    from pyspark.sql import SparkSession

    _see_server(remote)
    try:
        spark = SparkSession.builder.remote(remote).getOrCreate()
        for name, value in settings.items():
            spark.conf.set(name, value)
        _ = spark.version  # the first thing that is asked of the server
    except Exception as error:
        why = f"{remote} is no Connect server that can be used: {_first_line(error)}"
        raise Problem(why, EXIT_SUBJECT_FAILED) from error
    _LOGGER.info("connected to Spark %s at %s", spark.version, urlsplit(remote).netloc)
    try:
        yield spark
    finally:
        spark.stop()


def _see_server(remote: str) -> None:
    """Check that a server listens at the address: the client itself would try for many minutes.

    Raises:
        Problem: nothing does, or the address is none.
    """
    try:
        address = urlsplit(remote)
        host, port = address.hostname, address.port or _USUAL_PORT
    except ValueError:
        host = None
    if not remote.startswith("sc://") or host is None:
        problem = (
            f"{remote} is no address of a Connect server, which is sc://host or sc://host:port"
        )
        raise Problem(problem, EXIT_USAGE)
    try:
        socket.create_connection((host, port), _SECONDS_TO_ANSWER).close()
    except OSError as error:
        why = f"no Connect server answers at {remote}: {error.strerror or error}"
        raise Problem(why, EXIT_SUBJECT_FAILED) from None


@contextmanager
def _submitted(settings: Mapping[str, str]) -> Iterator["SparkSession"]:
    """Provide the session of a Java machine that spark-submit has started, with its settings."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("purgatory")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    _tell_started(spark)
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def _started(
    master: str, settings: Mapping[str, str], makes_archive: bool
) -> Iterator["SparkSession"]:
    """Provide a session with a Java machine of its own, which is gone afterwards."""
    from pyspark import SparkConf
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.enter_context(only_one(folder))
        remove_left_behind(folder.parent)
        archive = archive_of_spark(master, settings, makes=makes_archive)
        environment, chosen = _setting_of(master, folder, archive)
        stack.enter_context(_environment(environment))
        stack.enter_context(_without_logging())
        conf = SparkConf(loadDefaults=False)
        conf.setAll(sorted({**_QUIET, **chosen, **settings, "spark.master": master}.items()))
        log = folder / "java.log"
        with log.open("wb") as opened, remembered_interrupt(_WAITS) as interrupted:
            try:
                stream = _STANDARD_ERROR if _LEVEL in settings else opened.fileno()
                streams = {"stdout": stream, "stderr": stream}
                gateway: _Gateway = launch_gateway(conf, streams)  # type: ignore[no-untyped-call]
                stack.callback(_end, gateway, archive)
                if interrupted.is_set():
                    raise KeyboardInterrupt
                context = _context(conf, gateway)
                stack.callback(context.stop)
                spark = SparkSession(context)
            except Exception as error:
                why = _said(log) or _first_line(error)
                raise not_started(why) from error
        if interrupted.is_set():
            raise KeyboardInterrupt
        _tell_started(spark)
        yield spark
        if archive.unfinished is not None:
            archive.is_wanted = True
            click.echo(_ARCHIVES, err=True)
    _LOGGER.info("Spark has ended")


def remove_left_behind(parent: Path) -> None:
    """Remove the folders of sessions that were killed: nobody has them locked any more."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError, PipelineError):
            # A session that starts just now may not have locked its folder yet.
            if time.time() - (folder / LOCK).stat().st_mtime > _SECONDS_TO_LOCK:
                with only_one(folder):
                    shutil.rmtree(folder, ignore_errors=True)


def _tell_started(spark: "SparkSession") -> None:
    """Log the place where Spark runs, and the names of its settings: values may be secrets."""
    context = spark.sparkContext
    names = sorted(name for name, _ in context.getConf().getAll())
    _LOGGER.info("Spark %s: %s on %s", context.version, context.applicationId, context.master)
    _LOGGER.debug("settings: %s", ", ".join(names))


def _context(conf: "SparkConf", gateway: _Gateway) -> "SparkContext":
    """Return a new context; the handler of Ctrl-C stays as it is."""
    from pyspark import SparkContext

    before = signal.getsignal(signal.SIGINT)
    context = SparkContext(conf=conf, gateway=gateway)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, before)
    return context


def _setting_of(
    master: str, folder: Path, archive: ClassArchive
) -> tuple[dict[str, str], dict[str, str]]:
    """Return environment and settings; on a cluster the machine's own configuration counts."""
    if not master.startswith("local"):
        return {}, {}
    logging_settings = folder / "log4j2.properties"
    logging_settings.write_text(_LOGGING, encoding="utf-8")
    environment = {
        "SPARK_CONF_DIR": str(NO_SETTINGS),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    # Half of what Java uses up to its end goes to optimising code that runs once; the work is done
    # in Python.
    java = f"-XX:TieredStopAtLevel=1 -Dlog4j2.configurationFile={logging_settings.as_uri()}"
    own = {
        # Otherwise a worker would take a module of the present folder for one of Python's own.
        "spark.executorEnv.PYTHONSAFEPATH": "1",
        "spark.driver.defaultJavaOptions": " ".join(
            [java, *(f'"{each}"' for each in archive.options)]
        ),
        "spark.local.dir": str(folder / "scratch"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    return environment, {**_ALONE, **own}


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for the time of a block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _without_logging() -> Iterator[None]:
    """Silence the log of py4j, which tells of every call that is cut off."""
    logger = logging.getLogger("py4j")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def _end(gateway: _Gateway, archive: ClassArchive) -> None:
    """End the Java machine, which goes by itself when its standard input is closed."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    gateway.shutdown()
    if gateway.proc.stdin is not None:
        gateway.proc.stdin.close()
    archive.wait_for(gateway.proc)
    SparkContext._gateway = None
    SparkContext._jvm = None
    SparkSession._instantiatedSession = None


def _said(log: Path) -> str:
    """Return the complaint of the Java machine, in one line."""
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines()]
    told = [line for line in lines if line and not line.startswith(("WARNING:", "at "))]
    return " ".join(told[-1:])


def not_started(why: str) -> Problem:
    """Return the problem of a Spark that does not start, with advice where a package is missing."""
    if (missing := _MISSING_PACKAGE.search(why)) is None:
        return Problem(f"Spark does not start: {why}", EXIT_SUBJECT_FAILED)
    package = ":".join(missing.groups())
    return Problem(
        f"Spark cannot fetch {package} through Maven, which needs a network the first time. If "
        "Maven has no such version, install a PySpark of which it has one: pyspark==4.2.0",
        EXIT_MISSING_TOOL,
    )


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
