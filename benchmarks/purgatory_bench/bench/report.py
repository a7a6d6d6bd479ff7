"""What a run has found, in Markdown, out of its files alone."""

from collections.abc import Iterator, Sequence

from purgatory_bench.bench.figures import Figures
from purgatory_bench.bench.goals import Goal, GoalVerdict, Judged, Part, judge
from purgatory_bench.bench.measure_tables import measure_tables
from purgatory_bench.bench.noise import noise_of
from purgatory_bench.bench.results import Results
from purgatory_bench.bench.statistics import Summary
from purgatory_bench.bench.words import NONE, bullets, number, per_cent, table, told
from purgatory_bench.bench.workload_tables import workload_tables

_KINDS = {"measures": "The measures", "workload": "The workload"}


def report(files: Sequence[Results]) -> str:
    """Everything."""
    figures = Figures(files)
    parts = ["## Goals", goals_text(files), circumstances(files)]
    if measures := measure_tables(figures):
        parts += ["## Measures", measures]
    if workload := workload_tables(figures):
        parts += ["## The proposal's workload", workload]
    return "\n\n".join(parts)


def goals_text(files: Sequence[Results]) -> str:
    """The table of goals, and what was not measured of them."""
    judged = judge(Figures(files))
    head = ["goal", "reach", "aim", "measured: median [least to most]", "verdict"]
    rows = [_goal_row(each) for each in judged]
    text = table(head, rows, left=1)
    notes = [
        f"{each.goal.title}: not measured: {'; '.join(_reasons(each.parts))}"
        for each in judged
        if any(part.measured is None for part in each.parts)
    ]
    return "\n\n".join([text, bullets(notes)]) if notes else text


def gate_problem(files: Sequence[Results]) -> str:
    """Why a gate on the goals is closed; empty where it is open.

    A goal that was not measured closes nothing, as long as another one was.
    """
    judged = judge(Figures(files))
    missed = [each.goal.title for each in judged if each.verdict is GoalVerdict.MISSED]
    if missed:
        return f"missed: {'; '.join(missed)}"
    if all(each.verdict is GoalVerdict.NOT_MEASURED for each in judged):
        return "no goal was measured"
    return ""


def circumstances(files: Sequence[Results]) -> str:
    """What it was measured on and how, how noisy that was, and the peers, each once."""
    texts = [text for file in files for text in _circumstances(file)]
    return "\n\n".join([*texts, _peers(files)])


def _circumstances(file: Results) -> Iterator[str]:
    machine = file.machine
    memory = "" if machine.memory_mib is None else f", {machine.memory_mib / 1024:.0f} GiB"
    loads = ""
    if machine.load_begin is not None and machine.load_end is not None:
        loads = f"; load average {machine.load_begin[0]:.1f} at the begin"
        loads += f" and {machine.load_end[0]:.1f} at the end"
    built = f", commit {machine.commit}" if machine.commit else ""
    yield (
        f"{_KINDS[file.kind]}: {file.began}, {_lasted(file.seconds)}; "
        f"{machine.processor or 'unknown processor'}, {machine.cores} processors{memory}; "
        f"{machine.system}; {machine.python}; version {machine.package}{built}{loads}."
    )
    if problems := noise_of(file):
        yield "**Noisy:** " + "; ".join(problems) + "."


def _peers(files: Sequence[Results]) -> str:
    """A peer that is not the same in all files has a line for each."""
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


def _goal_row(judged: Judged) -> list[str]:
    goal = judged.goal
    return [
        goal.title,
        _bound(goal, goal.reach),
        _bound(goal, goal.aim),
        _all_measured(judged),
        f"**{judged.verdict.value}**",
    ]


def _bound(goal: Goal, bound: float | None) -> str:
    if bound is None:
        return NONE
    if goal.share:
        return f"≤ {bound - 1:.0%}"
    return f"≥ {number(bound)}" if goal.rate else f"≤ {bound:g}"


def _all_measured(judged: Judged) -> str:
    """One line for each figure that there is; the others are explained below the table."""
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
    """The reasons, each once, with what they are the reasons of."""
    found: dict[str, list[str]] = {}
    for part in parts:
        if part.measured is None:
            found.setdefault(part.reason, []).append(part.label)
    return [f"{', '.join(labels)} ({reason})" for reason, labels in found.items()]
