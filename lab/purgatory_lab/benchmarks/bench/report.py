"""The report of a run in Markdown, made of its files alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from purgatory_lab.benchmarks.bench.catalogue import MEASURES, PROCESS, THREAD
from purgatory_lab.benchmarks.bench.figures import Figures, Summary, per_cent, told
from purgatory_lab.benchmarks.bench.goals import Goal, GoalVerdict, Judged, Part, judge, together
from purgatory_lab.benchmarks.bench.machine import in_full, in_short
from purgatory_lab.benchmarks.bench.results import Machine, Results
from purgatory_lab.benchmarks.bench.tables import measure_tables, workload_tables
from purgatory_lab.documents import NONE, bullets, number, table

SPREAD_BOUND: Final = 0.25
"""Rounds whose processor times lie further apart than this share of their median are noisy."""


def noise_of(file: Results) -> list[str]:
    """Return the reasons against a file's figures, one sentence each; none if it was quiet."""
    return [*_busy(file.machine), *_spread(file)]


def is_busy(machine: Machine) -> bool:
    """Decide whether the processors had too much to do, already at the beginning."""
    return machine.load_begin is not None and machine.load_begin[0] > machine.cores


def _busy(machine: Machine) -> Iterator[str]:
    if is_busy(machine) and machine.load_begin is not None:
        yield (
            f"the load average was {machine.load_begin[0]:.1f} at the begin, "
            f"with {machine.cores} processors"
        )


def _spread(file: Results) -> Iterator[str]:
    """Yield a sentence with the number of spread figures and the worst, if any."""
    figures = Figures([file])
    timed = {each.name: each.quantities[0].source for each in MEASURES}
    worst, wide, all_of_them = ("", 0.0), 0, 0
    for setting in file.settings:
        source = timed.get(setting.measure, "cpu_us")
        if source not in (THREAD, PROCESS, "cpu_us"):
            continue
        for peer in file.peers:
            found = figures.summary(setting.name, peer.name, source)
            if found is None or found.rounds < 2:
                continue
            all_of_them += 1
            wide += found.spread > SPREAD_BOUND
            if found.spread > worst[1]:
                worst = (f"{peer.name}, {setting.name}", found.spread)
    if wide:
        yield (
            f"{wide} of {all_of_them} figures of processor time are spread over more than "
            f"{SPREAD_BOUND:.0%} of their median; the widest is {worst[0]}: {worst[1]:.0%}"
        )


_KINDS = {"measures": "The measures", "workload": "The workload"}


@dataclass(frozen=True)
class Column:
    """The column of one machine in a table of goals."""

    name: str
    judged: Sequence[Judged]


def report(files: Sequence[Results]) -> str:
    """Return the report on files of results: goals, circumstances and tables."""
    figures = Figures(files)
    column = Column("measured: median [least to most]", judge(figures))
    parts = ["## Goals", goals_text([column]), circumstances(files)]
    if measures := measure_tables(figures):
        parts += ["## Measures", measures]
    if workload := workload_tables(figures):
        parts += ["## The proposal's workload", workload]
    return "\n\n".join(parts)


def goals_text(columns: Sequence[Column]) -> str:
    """Return the table of goals, and the parts that were not measured."""
    head = ["goal", "reach", "aim", *(column.name for column in columns), "verdict"]
    rows = [_goal_row(list(row)) for row in zip(*(each.judged for each in columns), strict=True)]
    text = table(head, rows, left=1)
    notes = [
        f"{each.goal.title}: not measured: {'; '.join(_reasons(each.parts))}"
        for column in columns
        for each in column.judged
        if any(part.measured is None for part in each.parts)
        and not (len(columns) > 1 and _has_nothing(each))
    ]
    return "\n\n".join([text, bullets(notes)]) if notes else text


def gate_problem(files: Sequence[Results]) -> str:
    """Return the reason why a gate on the goals is closed; empty where it is open.

    A goal that was not measured closes nothing, as long as another one was.
    """
    judged = judge(Figures(files))
    missed = [each.goal.title for each in judged if each.verdict is GoalVerdict.MISSED]
    if missed:
        return f"missed: {'; '.join(missed)}"
    if all(each.verdict in (GoalVerdict.NOT_MEASURED, GoalVerdict.NO_BOUND) for each in judged):
        return "no goal was measured"
    return ""


def circumstances(files: Sequence[Results]) -> str:
    """Return the machine, the conditions, the noise, and the peers, each once."""
    texts = [text for run in _runs(files) for text in _circumstances(run)]
    return "\n\n".join([*texts, _peers(files)])


def circumstances_in_short(files: Sequence[Results]) -> str:
    """Return one sentence about machine and days, and one about the noise of each noisy run."""
    machine = files[0].machine
    runs = _runs(files)
    days = {
        kind: sorted({run.began[:10] for run in runs if run.kind == kind})
        for kind in sorted({run.kind for run in runs})
    }
    told = "; ".join(f"{_KINDS[kind].lower()} of {', '.join(each)}" for kind, each in days.items())
    noisy = [problem for run in runs for problem in noise_of(run)]
    sentence = f"{in_short(machine)}; {machine.python}; {told}."
    return " ".join([sentence, *(f"Noisy: {problem}." for problem in noisy)])


def _runs(files: Sequence[Results]) -> list[Results]:
    """Return each run, whose parts were kept as files of their own, as one again."""
    runs: dict[tuple[str, str], list[Results]] = {}
    for file in files:
        runs.setdefault((file.kind, file.began), []).append(file)
    return [_joined(parts) for parts in runs.values()]


def _joined(files: Sequence[Results]) -> Results:
    return msgspec.structs.replace(
        files[0],
        settings=[each for file in files for each in file.settings],
        samples=[each for file in files for each in file.samples],
    )


def _circumstances(file: Results) -> Iterator[str]:
    restored = f"; restored {said}" if (said := file.options.get("restored")) else ""
    yield (
        f"{_KINDS[file.kind]}: {file.began}, {_lasted(file.seconds)}; "
        f"{in_full(file.machine)}{restored}."
    )
    if problems := noise_of(file):
        yield "**Noisy:** " + "; ".join(problems) + "."


def _peers(files: Sequence[Results]) -> str:
    """Return a line for each peer, or several where its files differ."""
    lines: dict[str, list[list[str]]] = {}
    for each in (peer for file in files for peer in file.peers):
        version = f"not measured: {each.reason}" if each.reason else each.version
        line = [each.name, version, each.runtime or NONE]
        if line not in (known := lines.setdefault(each.name, [])):
            known.append(line)
    rows = [line for known in lines.values() for line in known]
    return table(["peer", "version", "runs on"], rows, left=3)


def _lasted(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:.0f} minutes"


def _goal_row(row: Sequence[Judged]) -> list[str]:
    goal = row[0].goal
    verdict = together([each.verdict for each in row if not _has_nothing(each)])
    return [
        goal.title,
        _bound(goal, goal.reach),
        _bound(goal, goal.aim),
        *(_all_measured(each) for each in row),
        f"**{verdict.value}**",
    ]


def _has_nothing(judged: Judged) -> bool:
    return all(part.measured is None for part in judged.parts)


def _bound(goal: Goal, bound: float | None) -> str:
    if bound is None:
        return NONE
    if goal.share:
        return f"≤ {bound - 1:.0%}"
    return f"≥ {number(bound)}" if goal.rate else f"≤ {bound:g}"


def _all_measured(judged: Judged) -> str:
    """Return a line for each figure; missing ones are explained below the table."""
    if _has_nothing(judged):
        return NONE
    lines = [
        _measured(judged.goal, part.label, part.measured)
        for part in judged.parts
        if part.measured is not None
    ]
    if missing := len(judged.parts) - len(lines):
        lines.append(f"{missing} of {len(judged.parts)} not measured")
    return "<br>".join(lines)


def _measured(goal: Goal, label: str, found: Summary) -> str:
    if goal.share:
        return f"{label}: {per_cent(found)}"
    return f"{label}: {told(found, 0 if goal.rate else 2)}"


def _reasons(parts: Sequence[Part]) -> list[str]:
    """Return the reasons for missing figures, each once."""
    found: dict[str, list[str]] = {}
    for part in parts:
        if part.measured is None:
            found.setdefault(part.reason, []).append(part.label)
    return [f"{', '.join(labels)} ({reason})" for reason, labels in found.items()]
