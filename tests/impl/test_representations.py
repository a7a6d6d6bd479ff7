"""Public objects as a log or a debugger shows them."""

import asyncio
import threading

import pytest

import purgatory_impl as impl
from purgatory_impl.event_loops import AsyncioPurgatory, AwaitedOperation, EventLoopExecutor

from .purgatory_bench import Bench
from .threads import LONG_S


def ring() -> None:
    """Do nothing."""


def test_a_timer_and_its_tasks_say_what_waits() -> None:
    """The timer shows its name and what waits, and a task what it calls and whether it waits."""

    class Wake(impl.TimerTask):
        pass

    timer = impl.Timer(name="alarms", clock=impl.VirtualClock())
    tasks = [timer.add(task, 10) for task in (ring, impl.CallableTask(ring), Wake())]
    assert repr(timer) == "<Timer 'alarms', 3 tasks pending>"
    assert [repr(task) for task in tasks] == [
        "<OneShotTask of ring, pending>",
        "<CallableTask of ring, pending>",
        "<Wake, pending>",
    ]
    for task in tasks:
        task.cancel()
    timer.close()
    assert repr(timer) == "<Timer 'alarms', 0 tasks pending, closed>"
    assert [repr(task) for task in tasks] == [
        "<OneShotTask, ended>",
        "<CallableTask of ring, not pending>",
        "<Wake, not pending>",
    ]


def test_a_purgatory_and_its_operations_say_what_is_watched() -> None:
    """The purgatory shows its name and its counts, and each operation what has become of it."""
    bench = Bench()
    made = [impl.CallableOperation(bool, delay_ms) for delay_ms in (5, 6, 7)]
    assert repr(made[0]) == "<CallableOperation of 5 ms, 0 entries in lists>"
    for operation in made:
        bench.purgatory.try_complete_else_watch(operation, ["a", "b"])
    made[1].force_complete()
    bench.purgatory.abandon(made[2])
    assert [repr(operation) for operation in made] == [
        "<CallableOperation of 5 ms, 2 entries in lists, in the timer>",
        "<CallableOperation of 6 ms, completed>",
        "<CallableOperation of 7 ms, abandoned>",
    ]
    counts = "6 entries under 2 keys, 1 time-outs owed"
    assert repr(bench.purgatory) == f"<Purgatory 'purgatory', {counts}>"
    bench.purgatory.close()
    assert repr(bench.purgatory).endswith(" 0 time-outs owed, closed>")


def test_what_is_not_initialised_can_be_shown() -> None:
    """The object is shown by its class."""
    shown: list[str] = []

    class Early(impl.DelayedOperation):
        def __init__(self) -> None:
            shown.append(repr(self))
            super().__init__(1)

    class Soon(impl.TimerTask):
        def __init__(self) -> None:
            shown.append(repr(self))
            super().__init__()

    Early()
    Soon()
    assert shown == ["<Early, not initialised>", "<Soon, not pending>"]


def test_executors_and_clocks_say_their_state() -> None:
    executors = [impl.SteppedExecutor(), impl.InlineExecutor("mine")]
    executors[0].hand_over([impl.CallableTask(ring)])
    clock = impl.VirtualClock()
    clock.set_ms(7)
    assert [repr(each) for each in (*executors, clock, impl.MonotonicClock())] == [
        "<SteppedExecutor 'purgatory', 1 tasks queued>",
        "<InlineExecutor 'mine', 0 tasks queued>",
        "<VirtualClock at 7 ms>",
        "<MonotonicClock>",
    ]


def test_pools_say_what_is_left() -> None:
    simple = impl.SimpleMemoryPool(10, 5)
    kept = simple.try_allocate(4)
    pools = (simple, impl.LeakDetectingMemoryPool(10, 5), impl.UnboundedMemoryPool())
    assert [repr(pool) for pool in pools] == [
        "<SimpleMemoryPool, 6 of 10 bytes available>",
        "<LeakDetectingMemoryPool, 10 of 10 bytes available>",
        "<UnboundedMemoryPool>",
    ]
    assert kept is not None


def test_what_waits_in_a_loop_is_shown() -> None:
    async def scenario() -> None:
        with impl.Purgatory[str]("shared", reaper=False) as purgatory:
            async with AsyncioPurgatory(purgatory) as waiting:
                operation = AwaitedOperation[str](lambda: None, 5000)
                task = asyncio.ensure_future(waiting.watch(operation, ["k"]))
                await asyncio.sleep(0)
                assert repr(waiting).startswith("<AsyncioPurgatory in <Purgatory 'shared', 1 ent")
                assert repr(waiting).endswith(">, 1 wait>")
                task.cancel()
            assert (
                repr(EventLoopExecutor(name="loop")) == "<EventLoopExecutor 'loop', 0 tasks queued>"
            )

    asyncio.run(scenario())


# Whose a line of the log is


def fail() -> None:
    raise LookupError("planned")


def test_a_failing_task_is_logged_with_the_name_of_its_timer(
    logged: pytest.LogCaptureFixture,
) -> None:
    """The lines say whose the failures are, and what has failed."""
    with impl.Timer(name="alarms") as timer, impl.Timer(name="others"):
        failed = threading.Event()
        timer.add(impl.CallableTask(fail), 0)
        timer.add(failed.set, 0)
        assert failed.wait(LONG_S)
    with impl.Purgatory[str]("fetches") as purgatory:
        operation = impl.CallableOperation(bool, 0, on_complete=fail)
        purgatory.try_complete_else_watch(operation, ["k"])
        later = impl.CallableOperation(bool, 0, on_complete=failed.set)
        failed.clear()
        purgatory.try_complete_else_watch(later, ["k"])
        assert failed.wait(LONG_S)
    assert [record.getMessage() for record in logged.records] == [
        "alarms: the task <CallableTask of fail, not pending> failed",
        "fetches-timer: the task <CallableOperation of 0 ms, completed> failed",
    ]


def test_threads_have_the_name_of_what_they_work_for(no_thread_left: None) -> None:
    """Each of their threads begins with the name, and no two are called alike."""
    before = set(threading.enumerate())
    with impl.Timer(name="alarms"), impl.Purgatory[str]("fetches"):
        started = {thread.name for thread in set(threading.enumerate()) - before}
    assert started == {
        *("alarms-reaper", "alarms-executor"),
        *("fetches-reaper", "fetches-timer-reaper", "fetches-timer-executor"),
    }
