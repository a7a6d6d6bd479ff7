"""A check, whichever engine does the work: what is asked, what is found, how results are kept.

Spark registers itself under the entry-point group ``purgatory.engines``: nothing here imports it.
"""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from purgatory_conformance.describing.words import counted, printable
from purgatory_traces.engines.choice import Choice
from purgatory_traces.engines.sinks import Conclusion
from purgatory_traces.errors import Refused
from purgatory_traces.results.manifest import InputFile
from purgatory_traces.results.metrics import StageMetrics
from purgatory_traces.results.rows import TOPICS
from purgatory_traces.summary.html import PAGE, render_page
from purgatory_traces.summary.summary import Summary
from purgatory_traces.summary.words import files_in, lines_of, runs_of
from purgatory_traces.traces.addresses import is_address

_LOGGER = logging.getLogger(__name__)
_MOST_NAMES = 5


class Asked(NamedTuple):
    """The request of a check: its paths, and how to check them."""

    paths: tuple[str, ...]
    out: str
    examples: int
    html: bool
    master: str
    remote: str
    since: str
    settings: Mapping[str, str]

    @property
    def reads_addresses(self) -> bool:
        """Decide whether traces are on one of Hadoop's file systems.

        Raises:
            Refused: some are, and some are named by paths.
        """
        addressed = set(map(is_address, self.paths))
        if len(addressed) > 1:
            raise Refused("traces are named by paths and by addresses: name all of them alike")
        return True in addressed

    def pages(self, summary: Summary, head: str) -> list[tuple[str, str]]:
        """Return the pages that are written beside the tables."""
        return [(PAGE, render_page(summary, head))] if self.html else []


class Done(NamedTuple):
    """The findings of a check, and the place of its results."""

    summary: Summary
    head: str
    folder: str
    inputs: tuple[InputFile, ...]
    ignored: tuple[str, ...]
    stages: tuple[StageMetrics, ...] = ()


class Results(Protocol):
    """Tables that are written, and become the results of a folder as a whole."""

    def commit(self, conclusion: Conclusion, pages: Sequence[tuple[str, str]] = ()) -> Path | str:
        """Make what was written the results; return their folder or its address."""


class Files(NamedTuple):
    """The files on paths: those to be judged, those that were judged before, and others."""

    new: tuple[str, ...]
    earlier: tuple[str, ...]
    inputs: tuple[InputFile, ...]
    ignored: tuple[str, ...]


def log_files(new: int, earlier: int, ignored: int) -> None:
    """Log how many files are read, known and ignored."""
    _LOGGER.info("files: %d to read, %d judged before, %d ignored", new, earlier, ignored)


def committed(
    results: Results,
    asked: Asked,
    choice: Choice,
    summary: Summary,
    inputs: tuple[InputFile, ...],
    ignored: tuple[str, ...],
) -> Done:
    """Commit the results of a check; return what the command prints of it."""
    head = _head(summary, inputs, choice)
    conclusion = Conclusion(
        engine=choice.engine.value,
        exit_code=summary.exit_code,
        verdicts=summary.verdicts,
        inputs=inputs,
        ignored=ignored,
    )
    folder = results.commit(conclusion, asked.pages(summary, head))
    counts = ", ".join(f"{count} {verdict}" for verdict, count in summary.verdicts.items())
    _LOGGER.info("results: %s; in %s", counts, folder)
    return Done(summary, head, str(folder), inputs, ignored)


def _head(summary: Summary, inputs: Sequence[InputFile], choice: Choice) -> str:
    subjects = sorted(printable(each) for each in summary.subjects if each)
    shown = ", ".join(subjects[:_MOST_NAMES]) + (", …" if len(subjects) > _MOST_NAMES else "")
    of_whom = f" of {shown}" if subjects else ""
    nameless = summary.subjects[""] if subjects else 0
    but = f" ({nameless:,} without a subject)" if nameless else ""
    is_topic = any(each.file.startswith(TOPICS) for each in inputs)
    where = counted(len(inputs), "partition") if is_topic else files_in(len(inputs))
    return (
        f"{runs_of(summary.runs)}{of_whom}{but}, {lines_of(summary.events)} in {where}; "
        f"engine {choice.engine.value}: {choice.why}"
    )
