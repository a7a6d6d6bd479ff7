"""What checking traces costs: the local engine against Spark on this machine.

    python -m purgatory_bench.trace_pipeline
    python -m purgatory_bench.trace_pipeline --write docs/reference/trace-figures.md

Two corpora of the same size: one run, and many short ones. Each engine judges each corpus in a
process of its own, in the order local, Spark, Spark, local, so that a drift of the machine falls on
both alike. The figure to be trusted is processor time: of Spark it is that of this process, the
Java machine and its Python workers together, start included. Every run is checked: the verdicts
must be those that were planted. Linux only, since it reads ``/proc``.
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
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import click

from purgatory_bench.bench.machine import in_words
from purgatory_conformance.reporting.marked_pages import write_between_marks
from purgatory_pipeline.engines.local import check_locally
from purgatory_pipeline.engines.spark.engine import check_on_spark, plan_of
from purgatory_pipeline.engines.spark.session import spark_session
from purgatory_pipeline.results.rows import Row, VerdictRow
from purgatory_pipeline.traces.sources import files_of
from purgatory_pipeline.traces.synthetic import run_lines, write_corpus
from purgatory_spec.profiles import Component

EVENTS = 5_000_000
EVENTS_OF_A_RUN = 500
FILES = 8
EVERY_FAULTY = 100
MOST_MIB = 128
MOST_RATIO = 2.5
ORDER = ("local", "spark", "spark", "local")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Measured:
    """An engine on a corpus: seconds, peak resident memory, and the verdicts."""

    engine: str
    cpu_seconds: float
    java_seconds: float
    wall_seconds: float
    worker_mib: float
    java_mib: float
    events: int
    verdicts: dict[str, int]


def write_one_run(folder: Path, events: int) -> Counter[str]:
    """One long run over several files, like a log that is rotated."""
    folder.mkdir(parents=True)
    lines = run_lines("one", Component.TIMER, events)
    each = -(-events // FILES)
    for which in range(FILES):
        with (folder / f"part-{which:05d}.jsonl").open("wb") as file:
            file.writelines(islice(lines, each))
    return Counter(conforms=1)


def write_many_runs(folder: Path, events: int) -> Counter[str]:
    """Many short runs of all components, mixed line by line; some have a fault."""
    runs = max(1, events // EVENTS_OF_A_RUN)
    planted = write_corpus(
        folder, runs, EVENTS_OF_A_RUN, faulty=EVERY_FAULTY, files=FILES, mixed=True
    )
    return Counter(run.verdict for run in planted)


CORPORA = {"one run": write_one_run, "runs of 500": write_many_runs}


def measure(engine: str, folder: Path) -> Measured:
    """Judge the corpus by this engine, in this process and its children."""
    began = time.perf_counter()
    files = files_of([folder])
    if engine == "local":
        verdicts, events = _drain(check_locally(files))
        processes = Processes()
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return _measured(engine, began, processes, own, verdicts, events)
    with (
        tempfile.TemporaryDirectory(dir=folder.parent) as scratch,
        spark_session() as spark,
        _sampled() as processes,
    ):
        whole, staging = (Path(scratch).absolute() / name for name in ("whole", "staging"))
        whole.mkdir()
        found = check_on_spark(spark, plan_of(files), whole.as_uri(), staging.as_uri()).summary
        processes.look()
        verdicts = Counter({verdict: runs for verdict, runs in found.verdicts.items() if runs})
        return _measured(engine, began, processes, processes.worker_mib, verdicts, found.events)


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
        worker_mib=worker_mib,
        java_mib=processes.java_mib,
        events=events,
        verdicts=dict(verdicts),
    )


class Processes:
    """The child processes: processor time and memory used so far."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self.cpu_seconds = {"java": 0.0, "python": 0.0}
        self.worker_mib = 0.0
        self.java_mib = 0.0

    def look(self) -> None:
        """Take note; what a process has used that is gone is told by its parent."""
        seconds = {"java": 0.0, "python": 0.0}
        for pid in _descendants(os.getpid()):
            try:
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                name = Path(f"/proc/{pid}/cmdline").read_bytes()
                status = Path(f"/proc/{pid}/status").read_text()
            except OSError:
                continue
            kind = "python" if b"pyspark.daemon" in name else "java"
            seconds[kind] += sum(map(int, fields[11:15])) / _TICKS
            peaks = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
            peak = max((int(each) / 1024 for each in peaks), default=0.0)
            if kind == "python":
                self.worker_mib = max(self.worker_mib, peak)
            else:
                self.java_mib = max(self.java_mib, peak)
        self.cpu_seconds = seconds


def _descendants(pid: int) -> Iterator[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        below = {int(each) for task in tasks for each in (task / "children").read_text().split()}
    except OSError:
        return
    for child in below:
        yield child
        yield from _descendants(child)


@contextmanager
def _sampled() -> Iterator[Processes]:
    """Looks every half second, since idle workers are ended before the job is."""
    processes = Processes()
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
    """The same in a process of its own.

    Raises:
        click.ClickException: the verdicts are not those that were planted.
    """
    command = [sys.executable, "-m", "purgatory_bench.trace_pipeline", "--one", engine]
    command += ["--folder", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    measured = Measured(**json.loads(done.stdout))
    if measured.verdicts != dict(planted):
        raise click.ClickException(f"{engine}: {measured.verdicts}, planted was {dict(planted)}")
    return measured


def ratio(measured: list[Measured]) -> float:
    """Processor time of Spark to that of the local engine: the median over neighbours."""
    pairs = zip(measured[::2], measured[1::2], strict=True)
    ratios = []
    for pair in pairs:
        seconds = {each.engine: each.cpu_seconds for each in pair}
        ratios.append(seconds["spark"] / seconds["local"])
    return statistics.median(ratios)


def table(found: dict[str, list[Measured]]) -> str:
    """The figures as a Markdown table, with what they were measured on."""
    lines = [
        f"Measured on {in_words()}.",
        "",
        "| corpus | engine | events | processor time, s | of it Java, s | time, s "
        "| events a second of processor time | Python, MiB | Java, MiB |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for corpus, measured in found.items():
        for m in measured:
            lines.append(
                f"| {corpus} | {m.engine} | {m.events:,} | {m.cpu_seconds:.0f} "
                f"| {m.java_seconds:.0f} | {m.wall_seconds:.0f} "
                f"| {m.events / m.cpu_seconds:,.0f} | {m.worker_mib:.0f} | {m.java_mib:.0f} |"
            )
    lines += [
        "",
        "| corpus | Spark to local, processor time | allowed | a Python worker, MiB | allowed |",
        "|---|---:|---:|---:|---:|",
    ]
    for corpus, measured in found.items():
        worker = max(m.worker_mib for m in measured if m.engine == "spark")
        lines.append(
            f"| {corpus} | {ratio(measured):.2f} | {MOST_RATIO} | {worker:.0f} | {MOST_MIB} |"
        )
    return "\n".join(lines)


def missed(found: dict[str, list[Measured]]) -> list[str]:
    """The bounds that are not kept, in words."""
    words = []
    for corpus, measured in found.items():
        if ratio(measured) > MOST_RATIO:
            words.append(f"{corpus}: Spark takes {ratio(measured):.2f} times the processor time")
        worker = max(m.worker_mib for m in measured if m.engine == "spark")
        if worker > MOST_MIB:
            words.append(f"{corpus}: a Python worker takes {worker:.0f} MiB")
    return words


@click.command()
@click.option("--events", type=click.IntRange(1000), default=EVENTS, show_default=True)
@click.option("--work", type=click.Path(path_type=Path), default=Path("purgatory-work"))
@click.option("--write", type=click.Path(exists=True, path_type=Path), default=None)
@click.option("--one", default="", hidden=True)
@click.option("--folder", type=click.Path(path_type=Path), default=None, hidden=True)
def main(events: int, work: Path, write: Path | None, one: str, folder: Path | None) -> None:
    """Measure, and print the tables or write them into a page."""
    if one and folder is not None:
        click.echo(json.dumps(asdict(measure(one, folder))))
        return
    work.mkdir(parents=True, exist_ok=True)
    found: dict[str, list[Measured]] = {}
    for name, write_traces in CORPORA.items():
        with tempfile.TemporaryDirectory(dir=work) as scratch:
            traces = Path(scratch) / "traces"
            planted = write_traces(traces, events)
            found[name] = [measured_apart(engine, traces, planted) for engine in ORDER]
    text = table(found)
    if write is None:
        click.echo(text)
    else:
        write_between_marks(write, "figures", text)
    if words := missed(found):
        raise click.ClickException("; ".join(words))


if __name__ == "__main__":
    main()
