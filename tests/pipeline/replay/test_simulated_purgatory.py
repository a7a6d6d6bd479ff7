"""A simulated purgatory: what may just be timing out is no lost wake-up."""

from purgatory_spec.operations import Check, Watch
from purgatory_spec.outcomes import EventKind
from purgatory_traces.traces.lines import Call, Happened, Return

from .simulation import purgatory_threads as calls
from .simulation.judged import verdict_of
from .simulation.machine import NS_PER_MS, Machine, Script, Thread
from .simulation.purgatory_plan import PurgatoryFault, PurgatoryPlan
from .simulation.purgatory_run import PurgatoryRun, simulated_purgatory


def checked_when_it_may_be_due(run: PurgatoryRun, thread: Thread) -> Script:
    """Play a check that does not complete what is satisfied, about when it is due."""
    purgatory, name = run.purgatory, run.fresh(PurgatoryFault.LOST_WAKE_UP)
    delay_ms = purgatory.machine.source.randrange(4)
    yield from calls.watch(purgatory, thread, name, ("own 1",), delay_ms)
    yield from calls.satisfy(purgatory, thread, name)
    yield purgatory.machine.pause(1_000_000)
    yield from calls.check(purgatory, thread, "own 1", PurgatoryFault.LOST_WAKE_UP)
    yield 50 * NS_PER_MS


def own_check(machine: Machine) -> tuple[Return, int]:
    """The return of the scene's check, with the latest reading up to it, ms."""
    thread, latest_ms = "", 0
    for line in machine.lines:
        if line.at_ns is not None:
            latest_ms = max(latest_ms, line.at_ns // NS_PER_MS)
        if isinstance(line, Call) and line.operation == Check("own 1"):
            thread = line.thread
        elif isinstance(line, Return) and line.thread == thread:
            return line, latest_ms
    raise AssertionError("the scene was not played")


def test_what_may_just_be_timing_out_is_no_lost_wake_up() -> None:
    """Blame the former alone: in the latter its time-out may just have completed it."""
    masked = found = 0
    for seed in range(60):
        purgatory = simulated_purgatory(seed, PurgatoryPlan(), checked_when_it_may_be_due)
        machine = purgatory.machine
        name = next(each.name for each in purgatory.operations.values() if each.fault)
        watch = next(
            line
            for line in machine.lines
            if isinstance(line, Call)
            and isinstance(line.operation, Watch)
            and line.operation.operation == name
        )
        done = next(
            line
            for line in machine.lines
            if isinstance(line, Happened)
            and line.task == name
            and line.event is EventKind.COMPLETED
        )
        assert isinstance(watch.operation, Watch)
        assert watch.at_ns is not None
        returned, latest_ms = own_check(machine)
        verdict = verdict_of(machine.lines)
        if latest_ms >= watch.at_ns // NS_PER_MS + watch.operation.delay_ms:
            masked += done.seq > returned.seq
            assert verdict.verdict == "conforms", (seed, verdict)
        else:
            found += 1
            assert (verdict.verdict, verdict.seq, verdict.rule) == (
                "diverges",
                returned.seq,
                "PURGATORY-NOT-LOST",
            )
    assert masked > 5
    assert found > 5
