"""Costs of checking traces: the local engine against Spark on this machine.

    python -m purgatory_lab.benchmarks.trace_pipeline
    python -m purgatory_lab.benchmarks.trace_pipeline --write docs/reference/trace-figures.md

One long run, and many short ones, each corpus in two sizes. Each engine judges each corpus in a
process of its own, in the order local, Spark, Spark, local, so that a drift of the machine falls on
both alike. Spark keeps all processors at work, and a processor does less in a second where the
others work too; so there are as many processes of the local engine at once as processors, and their
mean counts. The figure to be trusted is processor time: of Spark it is that of this process, the
Java machine and its Python workers together, start included. What a line more costs, the *marginal*
cost, is the difference between the sizes. Of Spark alone a corpus in which one run has 80 % of all
lines is compared with one in which these are eight runs, by the clock, without Spark's start. Every
run is checked: the verdicts must be those that were planted. Linux only, since it reads ``/proc``.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TypeAlias

import click
import msgspec

from purgatory_conformance.commands.options import WORK
from purgatory_conformance.reporting.marked_pages import write_between_marks
from purgatory_lab.benchmarks.bench.machine import in_words
from purgatory_lab.documents import number, table
from purgatory_spark.engine.engine import check_on_spark, plan_of
from purgatory_spark.engine.session import spark_session
from purgatory_spec.profiles import Component
from purgatory_traces.engines.local import check_locally
from purgatory_traces.results.rows import Row, VerdictRow
from purgatory_traces.results.schemas import TableName
from purgatory_traces.traces.sources import files_of
from purgatory_traces.traces.synthetic import run_lines, write_corpus

EVENTS = 1_000_000
SMALLER = 5
"""The factor by which the smaller corpora have fewer events."""
EVENTS_OF_A_RUN = 500
FILES = 8
EVERY_FAULTY = 100
MOST_MIB = 128
MOST_RATIO = 1.15
MOST_SKEW = 1.3
MOST_FIXED_S = 12.0
ORDER = ("local", "spark", "spark", "local")
Writer: TypeAlias = Callable[[Path, int], Counter[str]]
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Measured:
    """An engine on a corpus: seconds, peak resident memory, and the verdicts."""

    engine: str
    cpu_seconds: float
    java_seconds: float
    wall_seconds: float
    start_seconds: float
    worker_mib: float
    java_mib: float
    events: int
    verdicts: dict[str, int]


Found: TypeAlias = dict[str, list[Measured]]


def write_one_run(folder: Path, events: int) -> Counter[str]:
    """Write one long run of a timer over several files, each of which begins with a snapshot."""
    folder.mkdir(parents=True)
    lines = run_lines("one", Component.TIMER, events)
    begin, each = next(lines), -(-events // FILES)
    pending: dict[str, int] = {}
    now_ms = 0
    for which in range(FILES):
        moved = 2 * which
        with (folder / f"part-{which:05d}.jsonl").open("wb") as file:
            seq = which * each + moved
            file.write(_numbered(begin, 0, max(0, seq - 2)))
            if which:
                file.write(_snapshot(seq - 1, now_ms, pending))
            for number, line in enumerate(islice(lines, each - (not which)), seq - moved or 1):
                file.write(_numbered(line, number, number + moved))
                step = msgspec.json.decode(line)
                match step.get("operation"):
                    case {"op": "add", "task": task, "delay_ms": delay_ms}:
                        pending[task] = now_ms + delay_ms
                    case {"op": "cancel", "task": task}:
                        del pending[task]
                    case {"op": "advance", "to_ms": now_ms}:
                        for event in step.get("events", []):
                            del pending[event["task"]]
    return Counter(conforms=1)


def _numbered(line: bytes, before: int, seq: int) -> bytes:
    return line.replace(b'"seq":%d' % before, b'"seq":%d' % seq, 1)


def _snapshot(seq: int, now_ms: int, pending: dict[str, int]) -> bytes:
    tasks = [{"task": task, "early_ms": due, "late_ms": due} for task, due in pending.items()]
    told = {"kind": "snapshot", "run": "one", "seq": seq, "now_ms": now_ms, "tasks": tasks}
    return json.dumps(told).encode() + b"\n"


def write_eight_runs(folder: Path, events: int) -> Counter[str]:
    """Write as many runs of a timer as the long one has files, each in a file of its own."""
    folder.mkdir(parents=True)
    for which in range(FILES):
        lines = run_lines(f"run-{which}", Component.TIMER, events // FILES)
        (folder / f"part-{which:05d}.jsonl").write_bytes(b"".join(lines))
    return Counter(conforms=FILES)


def with_a_fifth_of_short_runs(write: Writer, folder: Path, events: int) -> Counter[str]:
    """Write four fifths of the events by a writer, and the rest in short runs of timers."""
    planted = write(folder, events - events // 5)
    runs = max(2, events // 5 // EVENTS_OF_A_RUN)
    for which in range(2):
        names = (f"short-{number:06d}" for number in range(which, runs, 2))
        lines = (run_lines(name, Component.TIMER, EVENTS_OF_A_RUN) for name in names)
        with (folder / f"short-{which}.jsonl").open("wb") as file:
            file.writelines(chain.from_iterable(lines))
    return planted + Counter(conforms=runs)


def write_many_runs(folder: Path, events: int) -> Counter[str]:
    """Write many short runs of all components, mixed line by line; some have a fault."""
    runs = max(1, events // EVENTS_OF_A_RUN)
    planted = write_corpus(
        folder, runs, EVENTS_OF_A_RUN, faulty=EVERY_FAULTY, files=FILES, mixed=True
    )
    return Counter(run.verdict for run in planted)


CORPORA: dict[str, Writer] = {"one run": write_one_run, "runs of 500": write_many_runs}
SKEWED, EVEN = "one run of 80 %", "eight runs of 10 %"
OF_SPARK_ALONE: dict[str, Writer] = {
    SKEWED: partial(with_a_fifth_of_short_runs, write_one_run),
    EVEN: partial(with_a_fifth_of_short_runs, write_eight_runs),
}


def measure(engine: str, folder: Path) -> Measured:
    """Judge the corpus by this engine, in this process and its children.

    ``tasks`` is what Spark's tasks do, without Spark, for what counts a process's instructions.
    """
    began = time.perf_counter()
    files = files_of([folder])
    if engine != "spark":
        judge = check_locally if engine == "local" else judge_in_tasks
        verdicts, events = _drain(judge(files))
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return _measured(engine, began, began, Processes(os.getpid()), own, verdicts, events)
    with (
        tempfile.TemporaryDirectory(dir=folder.parent) as scratch,
        _sampled() as processes,
        spark_session() as spark,
    ):
        started = time.perf_counter()
        whole, staging = (Path(scratch).absolute() / name for name in ("whole", "staging"))
        whole.mkdir()
        found = check_on_spark(spark, plan_of(files), whole.as_uri(), staging.as_uri()).summary
        processes.look()
        verdicts = Counter({verdict: runs for verdict, runs in found.verdicts.items() if runs})
        mib = processes.worker_mib
        if not mib:
            raise RuntimeError(
                f"no Python worker of Spark, with {_WORKER!r} in its command, was seen"
            )
        return _measured(engine, began, started, processes, mib, verdicts, found.events)


def judge_in_tasks(files: list[str]) -> Iterator[Row]:
    """Judge the corpus by the functions of Spark's tasks, in this process and without Java."""
    import pyarrow as pa

    from purgatory_spark.engine.reading import JudgeOrCut
    from purgatory_spark.engine.replaying import ReplayPieces
    from purgatory_traces.results.arrow_columns import integers

    plan = plan_of(files)
    shares = pa.RecordBatch.from_arrays([integers(range(len(plan.shares)))], names=["id"])
    pieces = pa.Table.from_batches(plan.reading(JudgeOrCut())([shares]))
    in_order = pieces.sort_by([(name, "ascending") for name in ("run", "seq", "kind")])
    for batch in ReplayPieces()(in_order.to_batches()):
        for row in batch.to_pylist():
            if row["table"] == TableName.VERDICTS.value:
                yield VerdictRow(**msgspec.json.decode(row["payload"]))


def _drain(rows: Iterator[Row]) -> tuple[Counter[str], int]:
    verdicts: Counter[str] = Counter()
    events = 0
    for row in rows:
        if isinstance(row, VerdictRow):
            verdicts[row.verdict] += 1
            events += row.events
    return verdicts, events


def _measured(
    engine: str,
    began: float,
    started: float,
    processes: "Processes",
    worker_mib: float,
    verdicts: Counter[str],
    events: int,
) -> Measured:
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = processes.cpu_seconds
    return Measured(
        engine=engine,
        cpu_seconds=own.ru_utime + own.ru_stime + sum(children.values()),
        java_seconds=children["java"],
        wall_seconds=time.perf_counter() - began,
        start_seconds=started - began,
        worker_mib=worker_mib,
        java_mib=processes.java_mib,
        events=events,
        verdicts=dict(verdicts),
    )


class Processes:
    """The processes below one, also those that have ended: processor time and memory.

    Each is counted by what it was last seen to have used. Its parent does not tell it afterwards:
    Spark's daemon ignores the end of its workers, whose time is then nobody's.
    """

    def __init__(self, above: int) -> None:
        """Watch the processes below one, of which none was seen yet."""
        self._above = above
        self._seconds: dict[tuple[int, str], float] = {}
        self._kinds: dict[tuple[int, str], str] = {}
        self.worker_mib = 0.0
        self.java_mib = 0.0

    @property
    def cpu_seconds(self) -> dict[str, float]:
        """Return the seconds of Java, and those of its Python workers."""
        return {
            kind: sum(each for seen, each in self._seconds.items() if self._kinds[seen] == kind)
            for kind in ("java", "python")
        }

    def look(self) -> None:
        """Take note of all that run."""
        for pid, fields in _descendants(self._above):
            try:
                name = Path(f"/proc/{pid}/cmdline").read_bytes()
                status = Path(f"/proc/{pid}/status").read_text()
            except OSError:
                name, status = b"", ""
            seen = pid, fields[_STARTED]
            self._seconds[seen] = sum(map(int, fields[_USED])) / _TICKS
            if name:  # an ended one has none
                self._kinds[seen] = "python" if _WORKER in name else "java"
            kind = self._kinds.setdefault(seen, "java")
            peaks = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
            peak = max((int(each) / 1024 for each in peaks), default=0.0)
            if kind == "python":
                self.worker_mib = max(self.worker_mib, peak)
            else:
                self.java_mib = max(self.java_mib, peak)


_WORKER = b"pyspark.worker"
"""The last argument of the daemon that forks Spark's Python workers, Spark's daemon or ours."""
_PARENT, _USED, _STARTED = 1, slice(11, 13), 19
"""The places of fields in ``/proc/.../stat``, counted from the state of the process."""


def _descendants(pid: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the processes below one, each with its fields.

    The lists of children that Linux keeps for each thread are not complete while threads end.
    """
    below: dict[int, list[tuple[int, list[str]]]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            below.setdefault(int(fields[_PARENT]), []).append((int(folder.name), fields))
    waiting = below.get(pid, [])
    while waiting:
        yield (child := waiting.pop())
        waiting += below.get(child[0], [])


@contextmanager
def _sampled() -> Iterator[Processes]:
    """Sample the processes every half second; use after the last look is not counted."""
    processes = Processes(os.getpid())
    over = threading.Event()

    def sample() -> None:
        while not over.wait(0.5):
            processes.look()

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield processes
    finally:
        over.set()
        thread.join()


def measured_apart(engine: str, folder: Path, planted: Counter[str]) -> Measured:
    """Measure an engine in a process of its own; the local one in one for each processor.

    Raises:
        click.ClickException: the verdicts are not those that were planted.
    """
    command = [sys.executable, "-m", "purgatory_lab.benchmarks.trace_pipeline", "--one", engine]
    command += ["--folder", str(folder)]
    processes = 1 if engine == "spark" else os.cpu_count() or 1
    with ThreadPoolExecutor(processes) as threads:
        ended = list(threads.map(_output_of, [command] * processes))
    found = [Measured(**json.loads(out)) for out in ended]
    for measured in found:
        if measured.verdicts != dict(planted):
            told = f"{engine}: {measured.verdicts}, planted was {dict(planted)}"
            raise click.ClickException(told)
    return replace(found[0], cpu_seconds=statistics.mean(each.cpu_seconds for each in found))


def _output_of(command: list[str]) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout


def line(
    larger: list[Measured], smaller: list[Measured], engine: str, seconds: str = "cpu_seconds"
) -> tuple[float, float]:
    """Return the fixed seconds and the seconds of an event, by a line through both sizes."""
    of_sizes = [[m for m in each if m.engine == engine] for each in (larger, smaller)]
    events = [statistics.mean(m.events for m in each) for each in of_sizes]
    found = [statistics.mean(getattr(m, seconds) for m in each) for each in of_sizes]
    slope = (found[0] - found[1]) / (events[0] - events[1])
    return found[1] - slope * events[1], slope


def ratio(larger: list[Measured], smaller: list[Measured]) -> float:
    """Return the marginal cost of Spark to that of the local engine."""
    return line(larger, smaller, "spark")[1] / line(larger, smaller, "local")[1]


def fixed(larger: list[Measured], smaller: list[Measured]) -> float:
    """Return the time by the clock that Spark takes without anything to judge, s."""
    return line(larger, smaller, "spark", "wall_seconds")[0]


def skew(found: Found) -> float:
    """Return the time by the clock of the skewed corpus to the even one's, without the start."""
    skewed, even = (
        statistics.mean(m.wall_seconds - m.start_seconds for m in found[corpus])
        for corpus in (SKEWED, EVEN)
    )
    return skewed / even


def bounds(found: Found) -> Iterator[tuple[str, float, float]]:
    """Yield each bound in words, with the found and the allowed figure."""
    for corpus in CORPORA:
        of_sizes = found[corpus], found[smaller(corpus)]
        yield f"{corpus}: marginal cost of Spark to local", ratio(*of_sizes), MOST_RATIO
        yield f"{corpus}: fixed cost of Spark, s by the clock", fixed(*of_sizes), MOST_FIXED_S
    yield f"{SKEWED} to {EVEN}: time by the clock", skew(found), MOST_SKEW
    worker = max(m.worker_mib for each in found.values() for m in each if m.engine == "spark")
    yield "a Python worker, MiB", worker, MOST_MIB


def smaller(corpus: str) -> str:
    """Return the name of the smaller corpus of a kind."""
    return f"{corpus}, fewer"


_HEAD = (
    *("corpus", "engine", "events", "processor time, s", "of it Java, s", "time, s"),
    *("events a second of processor time", "Python, MiB", "Java, MiB"),
)


def text_of(found: Found) -> str:
    """Return the figures as Markdown tables, with the machine of the measurement."""
    load = "/".join(f"{each:.1f}" for each in os.getloadavg())
    rows = (
        (
            *(corpus, m.engine, number(m.events), number(m.cpu_seconds), number(m.java_seconds)),
            *(number(m.wall_seconds), number(m.events / m.cpu_seconds)),
            *(number(m.worker_mib), number(m.java_mib)),
        )
        for corpus, measured in found.items()
        for m in measured
    )
    bounded = ((what, f"{value:.3g}", str(most)) for what, value, most in bounds(found))
    return "\n\n".join(
        [
            f"Measured on {in_words()}, load average {load} at the end.",
            table(_HEAD, rows, left=2),
            table(("", "found", "allowed"), bounded),
        ]
    )


def missed(found: Found) -> list[str]:
    """Return the bounds that are not kept, in words."""
    return [f"{what}: {value:.3g}" for what, value, most in bounds(found) if value > most]


@click.command()
@click.option("--events", type=click.IntRange(1000), default=EVENTS, show_default=True)
@WORK
@click.option("--write", type=click.Path(exists=True, path_type=Path), default=None)
@click.option("--one", type=click.Choice(["", "local", "spark", "tasks"]), default="", hidden=True)
@click.option("--folder", type=click.Path(path_type=Path), default=None, hidden=True)
def main(events: int, work: Path, write: Path | None, one: str, folder: Path | None) -> None:
    """Measure, and print the tables or write them into a page."""
    if one and folder is not None:
        click.echo(json.dumps(asdict(measure(one, folder))))
        return
    work.mkdir(parents=True, exist_ok=True)
    planned = [
        *(
            (smaller(name), write_it, events // SMALLER, ORDER)
            for name, write_it in CORPORA.items()
        ),
        *((name, write_it, events, ORDER) for name, write_it in CORPORA.items()),
        *((name, write_it, events, ("spark",) * 2) for name, write_it in OF_SPARK_ALONE.items()),
    ]
    found: Found = {}
    for name, write_traces, most, order in planned:
        with tempfile.TemporaryDirectory(dir=work) as scratch:
            traces = Path(scratch) / "traces"
            planted = write_traces(traces, most)
            found[name] = [measured_apart(engine, traces, planted) for engine in order]
    text = text_of(found)
    if write is None:
        click.echo(text)
    else:
        write_between_marks(write, "figures", text)
    if words := missed(found):
        raise click.ClickException("; ".join(words))


if __name__ == "__main__":
    main()
