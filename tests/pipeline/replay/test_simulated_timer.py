"""A simulated timer: what may have been handed over is no fault."""

from purgatory_spec.operations import Add, Cancel
from purgatory_traces.traces.lines import Call, Happened, Return, TraceLine

from .simulation.judged import verdict_of
from .simulation.machine import NS_PER_MS, Machine, Script, Thread
from .simulation.timer import TimerFault, TimerPlan
from .simulation.timer_run import TimerRun, simulated_timer


def cancelled_when_it_may_be_due(run: TimerRun, thread: Thread) -> Script:
    """A task is cancelled in vain, at about the time at which it is due."""
    task = run.fresh(TimerFault.SURVIVES_CANCEL)
    yield from run.timer.add(thread, task, run.timer.machine.source.randrange(3))
    yield run.timer.machine.pause(1_000_000)
    yield from run.timer.cancel(thread, task)
    yield 50 * NS_PER_MS


def lines_of(machine: Machine, task: str) -> list[TraceLine]:
    """The lines that tell of a task: its calls, their returns, its runs."""
    found, inside = list[TraceLine](), dict[str, list[bool]]()
    for line in machine.lines:
        if isinstance(line, Call):
            assert isinstance(line.operation, Add | Cancel)
            concerns = line.operation.task == task
            inside.setdefault(line.thread, []).append(concerns)
        elif isinstance(line, Return):
            concerns = inside[line.thread].pop()
        else:
            concerns = isinstance(line, Happened) and line.task == task
        if concerns:
            found.append(line)
    return found


def test_what_may_have_been_handed_over_is_no_fault() -> None:
    """Blame the former alone: the latter may come too late to hold the task."""
    masked = found = 0
    for seed in range(60):
        timer = simulated_timer(seed, TimerPlan(), cancelled_when_it_may_be_due)
        (task,) = timer.wrong
        add, _, *rest = lines_of(timer.machine, task)
        cancelled = next(line for line in rest if isinstance(line, Return))
        ran = next(line for line in rest if isinstance(line, Happened))
        assert isinstance(add, Call)
        assert isinstance(add.operation, Add)
        assert add.at_ns is not None
        assert cancelled.at_ns is not None
        due_ms = add.at_ns // NS_PER_MS + add.operation.delay_ms
        verdict = verdict_of(timer.machine.lines)
        if ran.seq < cancelled.seq or due_ms <= cancelled.at_ns // NS_PER_MS:
            masked += ran.seq > cancelled.seq
            assert verdict.verdict == "conforms", (seed, verdict)
        else:
            found += 1
            assert (verdict.verdict, verdict.seq, verdict.rule) == (
                "diverges",
                ran.seq,
                "TIMER-CANCEL",
            )
    assert masked > 5
    assert found > 5
