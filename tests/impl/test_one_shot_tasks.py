"""One-shot tasks, which a timer makes of callables: armed once, and not in the collector's way."""

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from functools import partial

import pytest

import purgatory_impl as impl
from purgatory_spec.reasons import Reason


class Owner:
    """Has a task that calls it: a cycle."""

    def __init__(self, timer: impl.Timer) -> None:
        self.runs = 0
        self.time_out = timer.add(self.expire, 10)

    def expire(self) -> None:
        self.runs += 1


@pytest.fixture
def without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def run_all(timer: impl.Timer, clock: impl.VirtualClock, executor: impl.SteppedExecutor) -> None:
    clock.set_ms(clock.now_ms() + 1000)
    timer.advance()
    while executor.run_one():
        pass


def expire(
    timer: impl.Timer, clock: impl.VirtualClock, executor: impl.SteppedExecutor, task: impl.Task
) -> None:
    run_all(timer, clock, executor)
    assert not task.cancel()


def hand_over(
    timer: impl.Timer, clock: impl.VirtualClock, executor: impl.SteppedExecutor, task: impl.Task
) -> None:
    clock.set_ms(1000)
    timer.advance()
    assert executor.queued == 1
    assert not task.cancel()


def cancel(
    timer: impl.Timer, clock: impl.VirtualClock, executor: impl.SteppedExecutor, task: impl.Task
) -> None:
    assert task.cancel()


def cancel_by_timer(
    timer: impl.Timer, clock: impl.VirtualClock, executor: impl.SteppedExecutor, task: impl.Task
) -> None:
    assert timer.cancel(task)


def close(
    timer: impl.Timer, clock: impl.VirtualClock, executor: impl.SteppedExecutor, task: impl.Task
) -> None:
    timer.close()


End = Callable[[impl.Timer, impl.VirtualClock, impl.SteppedExecutor, impl.Task], None]


def test_what_is_made_of_a_callable_is_a_one_shot_task() -> None:
    timer = impl.Timer(clock=impl.VirtualClock(), executor=impl.SteppedExecutor())
    assert type(timer.add(int, 10)) is impl.OneShotTask
    task = impl.CallableTask(int)
    assert timer.add(task, 10) is task


@pytest.mark.parametrize("end", [expire, hand_over, cancel, cancel_by_timer])
def test_it_is_refused_when_it_has_ended(end: End) -> None:
    clock, executor = impl.VirtualClock(), impl.SteppedExecutor()
    timer = impl.Timer(clock=clock, executor=executor)
    ran: list[None] = []
    task = timer.add(partial(ran.append, None), 10)
    end(timer, clock, executor, task)
    with pytest.raises(impl.OneShotEnded, match="add the callable again") as refusal:
        timer.add(task, 10)
    assert refusal.value.reason is Reason.INVALID_ARGUMENT
    assert timer.size == 0
    run_all(timer, clock, executor)
    assert len(ran) == (end in (expire, hand_over))
    assert not task.cancel()


def test_another_timer_and_a_closed_one_refuse_it_as_they_refuse_any_task() -> None:
    timer = impl.Timer(clock=impl.VirtualClock(), executor=impl.SteppedExecutor())
    other = impl.Timer(clock=impl.VirtualClock(), executor=impl.SteppedExecutor())
    task = timer.add(int, 10)
    with pytest.raises(impl.TaskOfAnotherTimer):
        other.add(task, 10)
    assert timer.size == 1
    timer.close()
    with pytest.raises(impl.TimerClosed):
        timer.add(task, 10)


def test_a_task_may_be_run_by_hand_and_calls_once() -> None:
    ran: list[None] = []
    task = impl.OneShotTask(partial(ran.append, None))
    task.run()
    task.run()
    assert len(ran) == 1


@pytest.mark.parametrize("end", [expire, cancel, cancel_by_timer, close])
@pytest.mark.usefixtures("without_collector")
def test_no_cycle_is_left_when_it_has_ended(end: End) -> None:
    """The owner goes with its last reference."""
    clock, executor = impl.VirtualClock(), impl.SteppedExecutor()
    timer = impl.Timer(clock=clock, executor=executor)
    owner = Owner(timer)
    seen = weakref.ref(owner)
    end(timer, clock, executor, owner.time_out)
    assert owner.runs == (end is expire)
    del owner
    assert seen() is None


@pytest.mark.usefixtures("without_collector")
def test_a_cycle_is_there_while_it_is_pending() -> None:
    """The control of the test before."""
    timer = impl.Timer(clock=impl.VirtualClock(), executor=impl.SteppedExecutor())
    seen = weakref.ref(Owner(timer))
    assert seen() is not None
    timer.close()
    assert seen() is None


def test_the_collector_does_not_visit_it_in_the_compiled_build() -> None:
    """Only the tasks that users make take part in cycles for longer than they are pending."""
    timer = impl.Timer(clock=impl.VirtualClock(), executor=impl.SteppedExecutor())
    assert gc.is_tracked(timer.add(int, 10)) is not impl.COMPILED
    assert gc.is_tracked(impl.CallableTask(int))


class Witness:
    """Something that a callable knows."""


class Waiting(impl.TimerTask):
    """A user's task."""

    def run(self) -> None:
        """Nothing."""


class Remembering(impl.SteppedExecutor):
    """A user's executor, which knows a task."""

    task: impl.Task | None = None


def pending_in_a_timer_that_nobody_has(task: impl.Task | Callable[[], object]) -> None:
    impl.Timer(clock=impl.VirtualClock(), executor=impl.SteppedExecutor()).add(task, 10)


def test_tasks_of_users_go_with_a_timer_that_nobody_closed() -> None:
    task, witness = Waiting(), Witness()
    seen_task, seen_witness = weakref.ref(task), weakref.ref(witness)
    pending_in_a_timer_that_nobody_has(task)
    pending_in_a_timer_that_nobody_has(impl.CallableTask(partial(id, witness)))
    del task, witness
    gc.collect()
    assert seen_task() is None
    assert seen_witness() is None


def test_tasks_of_users_go_with_an_executor_that_knows_them() -> None:
    executor, task = Remembering(), Waiting()
    with impl.Timer(clock=impl.VirtualClock(), executor=executor) as timer:
        executor.task = timer.add(task, 10)
    seen = weakref.ref(task)
    del executor, task, timer
    gc.collect()
    assert seen() is None


def test_one_shot_tasks_of_a_timer_that_nobody_closed_stay_in_the_compiled_build() -> None:
    """Keep the tasks, as the documentation warns: the control of the two tests before."""
    witness = Witness()
    seen = weakref.ref(witness)
    pending_in_a_timer_that_nobody_has(partial(id, witness))
    del witness
    gc.collect()
    assert (seen() is not None) == impl.COMPILED


@pytest.mark.slow
def test_cancelled_or_called_and_never_both() -> None:
    """Each was either cancelled by one of them, or has called once."""
    calls = [0] * 4000
    cancels = [[False] * len(calls) for _ in range(2)]

    def call(number: int) -> None:
        calls[number] += 1

    def cancel_all(mine: list[bool]) -> None:
        start.wait()
        for number, task in enumerate(tasks):
            mine[number] = task.cancel()

    start = threading.Barrier(3)
    with impl.Timer() as timer:
        tasks = [timer.add(partial(call, each), each // 200) for each in range(len(calls))]
        threads = [threading.Thread(target=cancel_all, args=(mine,)) for mine in cancels]
        for thread in threads:
            thread.start()
        start.wait()
        for thread in threads:
            thread.join()
    for number, called in enumerate(calls):
        assert called + cancels[0][number] + cancels[1][number] == 1, number
