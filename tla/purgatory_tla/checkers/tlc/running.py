"""Runs of TLC: command lines, temporary folders, and nothing beside the module.

TLC looks for a configuration and for modules in the folder of the main module alone. So it runs in
a temporary folder with a copy of that folder's modules; its configuration, its states and the
standard modules that it unpacks go there too, and the folder is gone afterwards. Only a state graph
that was asked for (``dump``) is written anywhere else.
"""

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from purgatory_tla.checkers.configurations import Configuration
from purgatory_tla.checkers.results import CheckResult
from purgatory_tla.checkers.tlc.class_archive import class_archive_options
from purgatory_tla.checkers.tlc.log import Message, Progress, TlcLog, parse_progress
from purgatory_tla.checkers.tlc.outcome import Run, check_result
from purgatory_tla.checkers.tool_process import run_tool
from purgatory_tla.checkers.tools import find_jar, find_java
from purgatory_tla.errors import TimedOut, UnexpectedOutput
from purgatory_tla.modules.module_text import ModuleText

WRAPPER = "PurgatoryTlaWrapper"
_CONFIGURATION = "purgatory-tla.cfg"


@dataclass(frozen=True, slots=True)
class TlcSettings:
    """The settings of a run of TLC; see ``checking.check`` for each of them."""

    deadlock: bool = False
    workers: int = 1
    memory_megabytes: int | None = None
    timeout: float | None = None
    jar: Path | None = None
    progress: Callable[[Progress], None] | None = None
    java_options: Sequence[str] = ()


def run_check(
    module: ModuleText, configuration: Configuration, settings: TlcSettings, dump: Path | None
) -> CheckResult:
    """Explore every reachable state of a module.

    Raises:
        CheckerError: there is no verdict.
    """
    with tempfile.TemporaryDirectory(prefix="purgatory-tla-") as name:
        folder = Path(name)
        words = ["-dump", "dot,actionlabels", str(folder / "graph")] if dump is not None else []
        result = check_result(run(module, configuration, settings, folder, words))
        if dump is not None:
            if not (folder / "graph.dot").is_file():
                raise UnexpectedOutput("TLC has written no graph", raw_log=result.raw_log)
            shutil.move(folder / "graph.dot", dump)
        return result


def run(
    module: ModuleText,
    configuration: Configuration,
    settings: TlcSettings,
    folder: Path,
    words: Sequence[str] = (),
    wrapper: str | None = None,
) -> Run:
    """Run TLC in a folder, with some more words on its command line.

    ``wrapper`` is the text of a module called ``WRAPPER`` that takes the module's place.

    Raises:
        MissingTool: there is no TLC, or no Java.
        TimedOut: the run exceeded the time-out of the settings.
    """
    (folder / _CONFIGURATION).write_text(configuration.text(), encoding="utf-8")
    for path in module.path.absolute().parent.glob("*.tla"):
        shutil.copy(path, folder)
    if wrapper is not None:
        (folder / f"{WRAPPER}.tla").write_text(wrapper, encoding="utf-8")
    command = [
        *_java(settings, folder),
        "-workers",
        str(settings.workers),
        *(() if settings.deadlock else ("-deadlock",)),
        # Liveness is checked when all states are known: otherwise it depends on the time it takes.
        "-lncheck",
        "final",
        "-metadir",
        str(folder / "states"),
        "-config",
        _CONFIGURATION,
        *words,
        module.path.name if wrapper is None else f"{WRAPPER}.tla",
    ]
    began = time.monotonic()

    def report(message: Message) -> None:
        found = parse_progress(message.text, time.monotonic() - began)
        if settings.progress is not None and found is not None:
            settings.progress(found)

    log = TlcLog(report)
    ended = run_tool(command, folder=folder, on_line=log.add, timeout=settings.timeout)
    if ended.timed_out:
        raise TimedOut(
            f"TLC was ended after {settings.timeout:g} s, before it had finished",
            raw_log=str(log.raw),
        )
    return Run(module, configuration, log, ended.code, time.monotonic() - began)


def _java(settings: TlcSettings, folder: Path) -> list[str]:
    """Return the command up to TLC's own words."""
    jar = find_jar(settings.jar)
    java = find_java()
    memory = settings.memory_megabytes
    collector = "-XX:+UseSerialGC" if settings.workers == 1 else "-XX:+UseParallelGC"
    return [
        str(java),
        collector,
        *class_archive_options(java, jar),
        *(() if memory is None else (f"-Xmx{memory}m",)),
        # TLC unpacks the standard modules there; two runs at a time must not share them.
        f"-Djava.io.tmpdir={folder}",
        "-Duser.language=en",
        "-Duser.country=US",
        "-Dfile.encoding=UTF-8",
        "-Dsun.stdout.encoding=UTF-8",
        "-Dstdout.encoding=UTF-8",
        *settings.java_options,
        "-cp",
        str(jar),
        "tlc2.TLC",
        "-tool",
    ]
