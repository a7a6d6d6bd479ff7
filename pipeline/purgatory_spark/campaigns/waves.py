"""The waves of a campaign: draw, leave out what is on record, carry out, put on record."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from purgatory_spark.campaigns.drawing import Drawing
from purgatory_spark.campaigns.engines import Engine
from purgatory_spark.campaigns.folder import CampaignFolder
from purgatory_spark.campaigns.tables import DONE, DRAWN, numbers_of
from purgatory_spark.campaigns.work import CarryOut, DrawCases

_RUNS_OF_THE_FIRST_WAVE = 40
_MOST_RUNS_OF_A_WAVE = 50_000
_GROWTH = 4


@dataclass(frozen=True)
class Request:
    """The request to a campaign.

    Attributes:
        drawings: How the cases of each component are drawn.
        runs: How many numbers there are for each component.
        work: How a case is carried out.
        wave: How many numbers are drawn at a time; by default, as many as take some seconds.
        first: The number to begin with.
    """

    drawings: Mapping[str, Drawing]
    runs: int
    work: CarryOut
    wave: int = 0
    first: int = 0


@dataclass
class Progress:
    """The result of the waves so far.

    Attributes:
        drawn: Component, number and run of all that was drawn.
        carried_out: How many runs were carried out now.
        seconds: The time taken, drawing included.
    """

    drawn: pa.Table = field(default_factory=lambda: DRAWN.remove(3).empty_table())
    carried_out: int = 0
    seconds: float = 0.0

    def add(self, later: "Progress") -> None:
        """Add what came of later waves."""
        self.drawn = pa.concat_tables([self.drawn, later.drawn])
        self.carried_out += later.carried_out
        self.seconds += later.seconds


def run_waves(request: Request, engine: Engine, folder: CampaignFolder) -> Progress:
    """Carry out what is not on record; then everything that the request draws is.

    Raises:
        PipelineError: the engine could not do its work; the parts so far stay.
        KeyboardInterrupt: Ctrl-C; the parts so far stay.
    """
    progress = Progress()
    known = set(folder.done().column("run").to_pylist())
    size = request.wave or _RUNS_OF_THE_FIRST_WAVE * engine.cores
    first = request.first
    while first < request.runs:
        numbers = range(first, min(first + size, request.runs))
        label = f"runs {numbers.start + 1} to {numbers.stop} of {request.runs}"
        seconds = _wave(request, engine, folder, numbers, known, progress, label)
        first = numbers.stop
        if not request.wave:
            wished = size * engine.seconds_of_a_wave / max(seconds, 0.001)
            size = int(min(max(wished, engine.cores), size * _GROWTH, _MOST_RUNS_OF_A_WAVE))
    return progress


def _wave(
    request: Request,
    engine: Engine,
    folder: CampaignFolder,
    numbers: range,
    known: set[str],
    progress: Progress,
    label: str,
) -> float:
    """Run a wave and add the results to ``known`` and ``progress``; the seconds taken."""
    asked = numbers_of(request.drawings, numbers)
    began = time.monotonic()
    drawn = engine.map(DrawCases(request.drawings), asked, DRAWN, f"drawing {label}")
    seconds = time.monotonic() - began
    drawn = drawn.sort_by([("number", "ascending"), ("component", "ascending")])
    fresh: list[bool] = []
    for run in drawn.column("run").to_pylist():
        fresh.append(run not in known)
        known.add(run)
    cases = drawn.filter(pa.array(fresh, pa.bool_()))
    if cases.num_rows:
        began = time.monotonic()
        rows = engine.map(request.work, cases, DONE, label)
        seconds += time.monotonic() - began
        if not pc.all(pc.is_in(cases.column("run"), value_set=rows.column("run"))).as_py():
            raise AssertionError("the engine has lost a run")
        folder.add(rows)
    progress.drawn = pa.concat_tables([progress.drawn, drawn.drop_columns("case")])
    progress.carried_out += cases.num_rows
    progress.seconds += seconds
    return seconds
