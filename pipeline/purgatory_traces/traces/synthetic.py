"""Traces that are made up: any number of runs of any length, some with a fault that is known.

For tests, demonstrations and benchmarks of the engines. The lines follow from a few formulas (each
delay of a run is the same, so that expiries come in the order of arming), not from the model, which
then has to find them right; a million lines take a second or two. The same arguments always give
the same bytes.
"""

import gzip
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import chain, count, islice, repeat, zip_longest
from pathlib import Path
from random import Random
from typing import IO, NamedTuple

from purgatory_spec.profiles import Component
from purgatory_traces.results.rows import RunVerdict
from purgatory_traces.traces.lines import TRACED
from purgatory_traces.traces.synthetic_steps import BEGINNINGS, STEPS, Fault


class Expected(NamedTuple):
    """The verdict that a correct check gives a run."""

    run: str
    component: str
    fault: str
    events: int
    """The lines of the run that can be read so far that its run is known."""
    verdict: str
    seq: int | None = None
    """The first line of a divergence; None without a divergence."""
    rule: str = ""
    quarantined: int = 0
    """The number of lines that are set aside."""


_RULES: Mapping[tuple[Component, Fault], str] = {
    (Component.TIMER, Fault.MISSING): "TIMER-NOT-LATE",
    (Component.TIMER, Fault.EARLY): "TIMER-NOT-EARLY",
    (Component.TIMER, Fault.TWICE): "TIMER-EXACTLY-ONCE",
    (Component.PURGATORY, Fault.MISSING): "PURGATORY-TIME-OUT",
    (Component.PURGATORY, Fault.EARLY): "PURGATORY-TIME-OUT",
    (Component.PURGATORY, Fault.TWICE): "PURGATORY-EXACTLY-ONCE",
    (Component.PURGATORY, Fault.RESULT): "PURGATORY-CHECK-COUNT",
    (Component.MEMORY_POOL, Fault.MISSING): "POOL-REFUSAL",
    (Component.MEMORY_POOL, Fault.RESULT): "POOL-REFUSAL",
}
"""The divergences that can be planted, with the rules that they break."""

_FAULTS_OF_LINES = (
    Fault.TRUNCATED,
    Fault.GAP,
    Fault.REPEATED,
    Fault.UNUSABLE,
    Fault.CUT_OFF,
)

FEWEST_EVENTS = 60
"""The fewest events of a run with room for every fault."""


def faults_of(component: Component) -> tuple[Fault, ...]:
    """Return the faults that a run of the component can have."""
    return (*(fault for which, fault in _RULES if which is component), *_FAULTS_OF_LINES)


def run_lines(
    run: str, component: Component, events: int, fault: Fault = Fault.NONE, delay_ms: int = 3
) -> Iterator[bytes]:
    """Return the lines of one run, each with its newline, in order.

    Args:
        run: Its name; in JSON it must need no escaping.
        component: The component of the run.
        events: How many lines it has before a fault takes some away or adds one.
        fault: What is wrong, from the middle of the run on.
        delay_ms: The delay of every task; in a pool, how many buffers are out at a time.

    Raises:
        ValueError: there is no such fault of this component, or too few events.
    """
    return (line for line, _ in _numbered(run, component, events, fault, delay_ms))


def expected_of(
    run: str, component: Component, events: int, fault: Fault = Fault.NONE, delay_ms: int = 3
) -> Expected:
    """Return the right check's result for the run of ``run_lines`` with these arguments."""
    lines = _numbered(run, component, events, fault, delay_ms)
    wrong = next((seq for _, seq in lines if seq is not None), None)
    return _expected(run, component, events, fault, wrong)


def write_corpus(
    folder: Path,
    runs: int,
    events: int,
    *,
    seed: int = 0,
    faulty: int = 10,
    files: int = 1,
    compressed: bool = False,
    mixed: bool = False,
) -> list[Expected]:
    """Write a corpus of runs of all components; every fault comes in turn.

    Args:
        folder: Where ``part-00000.jsonl`` and so on are written; made where it is missing.
        runs: How many.
        events: Lines of each.
        seed: Draws the delays.
        faulty: Each so manieth run has a fault; 0 for none.
        files: Run number ``n`` goes to file ``n % files``.
        compressed: Write ``.jsonl.gz``.
        mixed: The runs of a file are written line by line in turn, not one after the other.

    Returns:
        What a right check says, by the runs' order.
    """
    folder.mkdir(parents=True, exist_ok=True)
    suffix = ".jsonl.gz" if compressed else ".jsonl"
    planned = [_plan(number, seed, faulty) for number in range(runs)]
    found: list[Expected] = []
    with ExitStack() as stack:
        for which in range(files):
            path = folder / f"part-{which:05d}{suffix}"
            target = stack.enter_context(_opened(path))
            found += _written(target, planned[which::files], events, mixed=mixed)
    return sorted(found)


class _Planned(NamedTuple):
    run: str
    component: Component
    fault: Fault
    delay_ms: int


def _plan(number: int, seed: int, faulty: int) -> _Planned:
    is_faulty = faulty > 0 and number % faulty == faulty - 1
    turn, which = divmod(number // faulty if is_faulty else number, len(TRACED))
    component = TRACED[which]
    kinds = faults_of(component)
    fault = kinds[turn % len(kinds)] if is_faulty else Fault.NONE
    delay_ms = Random(f"{seed}/{number}").randint(2, 9)
    return _Planned(f"run-{number:06d}", component, fault, delay_ms)


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return gzip.GzipFile(path, "wb", compresslevel=1, mtime=0)  # type: ignore[return-value]
    return path.open("wb")


def _written(
    target: IO[bytes], planned: list[_Planned], events: int, *, mixed: bool
) -> list[Expected]:
    """Write runs, one after the other or line by line in turn."""
    wrong: dict[_Planned, int | None] = dict.fromkeys(planned)
    runs = [_numbered(p.run, p.component, events, p.fault, p.delay_ms) for p in planned]
    each = [zip(repeat(plan), lines) for plan, lines in zip(planned, runs, strict=True)]
    turns = zip_longest(*each) if mixed else each
    for told in chain.from_iterable(turns):
        if told is not None:
            plan, (line, seq) = told
            target.write(line)
            wrong[plan] = wrong[plan] if seq is None else seq
    return [_expected(p.run, p.component, events, p.fault, seq) for p, seq in wrong.items()]


def _expected(
    run: str, component: Component, events: int, fault: Fault, wrong: int | None
) -> Expected:
    verdict, rule, lines, aside = RunVerdict.CONFORMS, "", events, 0
    match fault:
        case Fault.TRUNCATED:
            verdict, lines = RunVerdict.INCOMPLETE, events - events // 5
        case Fault.GAP:
            verdict, lines = RunVerdict.INCOMPLETE, events - 1
        case Fault.CUT_OFF:
            verdict, lines, aside = RunVerdict.INCOMPLETE, events - 1, 1
        case Fault.REPEATED:
            lines, aside = events + 1, 1
        case Fault.UNUSABLE:
            verdict, aside = RunVerdict.INCOMPLETE, 1
        case Fault.NONE:
            pass
        case _:
            verdict, rule = RunVerdict.DIVERGES, _RULES[component, fault]
    return Expected(run, component.value, fault.value, lines, verdict.value, wrong, rule, aside)


def _numbered(
    run: str, component: Component, events: int, fault: Fault, delay_ms: int
) -> Iterator[tuple[bytes, int | None]]:
    """Yield the lines of a run; the planted divergence with its number, others with None."""
    if events < FEWEST_EVENTS:
        raise ValueError(f"events is {events}; it must be at least {FEWEST_EVENTS}")
    if fault is not Fault.NONE and fault not in faults_of(component):
        raise ValueError(f"a run of a {component.value} cannot have the fault {fault.value}")
    middle = events // 2
    last = events - events // 5 if fault is Fault.TRUNCATED else events
    instance = BEGINNINGS[component].replace("@", str(delay_ms))
    head = f'{{"kind":"begin","run":"{run}","seq":0,"format":1,"subject":"synthetic",{instance}}}\n'
    yield head.encode(), None
    step_head = f'{{"kind":"step","run":"{run}","seq":'
    changed = fault in _FAULTS_OF_LINES
    planted = Fault.NONE if changed else fault
    numbered = zip(
        count(1), islice(STEPS[component](delay_ms, planted, middle), events - 2), strict=False
    )
    for seq, (fields, is_wrong) in islice(numbered, last - 1):
        line = f"{step_head}{seq},{fields}}}\n".encode()
        if changed and seq == middle:
            line = _spoilt(line, fault)
        yield line, seq if is_wrong else None
    if last == events:
        yield f'{{"kind":"end","run":"{run}","seq":{events - 1}}}\n'.encode(), None


def _spoilt(line: bytes, fault: Fault) -> bytes:
    match fault:
        case Fault.GAP:
            return b""
        case Fault.REPEATED:
            return line + line
        case Fault.UNUSABLE:
            return line.replace(b'"operation":', b'"unheard_of":1,"operation":')
        case Fault.CUT_OFF:
            return line[:10] + b"\n"
        case _:
            return line
