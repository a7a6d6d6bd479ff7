"""A run of the command: peers are made ready, asked, and the file is written as it grows."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from purgatory_lab.benchmarks.bench.machine import Load, facts, load_now
from purgatory_lab.benchmarks.bench.results import Curve, Option, Results, Setting
from purgatory_lab.benchmarks.bench.roster import Place, Roll
from purgatory_lab.benchmarks.bench.rounds import Plan, Taken, run_rounds
from purgatory_lab.benchmarks.bench.sweep import run_sweep
from purgatory_lab.benchmarks.bench.sweep_plan import Sweep
from purgatory_lab.benchmarks.bench.team import Team
from purgatory_lab.benchmarks.bench.tight import Limit, run_tight
from purgatory_lab.documents import write_document

Say = Callable[[str], None]


@dataclass
class Book:
    """The findings of a run so far, and the file of results.

    Attributes:
        kind: Of the file.
        out: The file.
        options: What the command was told.
        checkout: The folder of the sources; None without a checkout.
        settings: What was asked for.
        taken: What was answered.
        curves: Of the run with a limit on memory.
    """

    kind: Literal["measures", "workload"]
    out: Path
    options: dict[str, Option]
    checkout: Path | None
    settings: list[Setting] = field(default_factory=list)
    taken: Taken = field(default_factory=Taken)
    curves: list[Curve] = field(default_factory=list)
    _load: Load = field(default_factory=load_now)
    _began: datetime = field(default_factory=lambda: datetime.now(UTC))
    _clock: float = field(default_factory=time.monotonic)

    def write(self, team: Team) -> Results:
        """Write everything measured so far into the file; the results."""
        results = Results(
            format="purgatory-bench",
            version=1,
            kind=self.kind,
            began=self._began.isoformat(timespec="seconds"),
            seconds=round(time.monotonic() - self._clock, 1),
            options=self.options,
            machine=facts(self._load, self.checkout),
            peers=[member.facts() for member in team.members],
            settings=self.settings,
            samples=self.taken.samples,
            failures=self.taken.failures,
            curves=self.curves,
        )
        write_document(self.out, results)
        return results


def measure_all(
    book: Book,
    rolls: Sequence[Roll],
    place: Place,
    settings: Sequence[Setting],
    plan: Plan,
    say: Say,
) -> Results:
    """Take the measures; the results, which are in the file too.

    Args:
        book: What is filled.
        rolls: The peers.
        place: The folders where peers are made and run.
        settings: The settings to ask.
        plan: How often.
        say: Takes what is under way.
    """
    book.settings = list(settings)
    with Team(rolls, place, say) as team:
        run_rounds(team, settings, plan, book.taken, say, lambda: book.write(team))
        return book.write(team)


def sweep_all(
    book: Book,
    rolls: Sequence[Roll],
    place: Place,
    sweep: Sweep,
    limit: Limit | None,
    plan: Plan,
    say: Say,
    *,
    rates: bool = True,
) -> Results:
    """Take the workload; the results, which are in the file too.

    Args:
        book: What is filled.
        rolls: The peers.
        place: The folders where peers are made and run.
        sweep: What is swept.
        limit: On resident memory; None to leave that part out.
        plan: How often.
        say: Takes what is under way.
        rates: Whether to take the part without a limit.
    """
    with Team(rolls, place, say) as team:

        def keep(setting: Setting, curves: Sequence[Curve] = ()) -> None:
            book.settings.append(setting)
            book.curves += curves
            book.write(team)

        if rates:
            run_sweep(team, sweep, plan, book.taken, say, keep)
        team.rest()
        if limit is not None:
            members = [each for each in team.members if each.roll.alone]
            run_tight(members, sweep, limit, plan, book.taken, say, keep)
        return book.write(team)
