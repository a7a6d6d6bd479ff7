"""The recorded timer: it behaves as the timer does, and its trace says what happened."""

import threading
from pathlib import Path

import pytest

from purgatory_impl import (
    LARGEST_DELAY_MS,
    CallableTask,
    DelayTooLarge,
    InlineExecutor,
    InvalidDelay,
    MonotonicClock,
    ThreadExecutor,
    TimerClosed,
    TimerTask,
)
from purgatory_traces.recording import (
    RecordedClock,
    RecordedSteppedExecutor,
    RecordedTimer,
    Recorder,
    StepRecorder,
)

from .recordings import LONG_S, brief, change, lines, verdict


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "timer.jsonl"


def test_calls_runs_and_refusals_are_recorded(path: Path) -> None:
    recorder = Recorder(path, "a run", subject="ours", lateness_ms=1000 * LONG_S)
    ran = threading.Event()
    with RecordedTimer(recorder, tick_ms=5, wheel_size=7) as timer:
        task = timer.add(ran.set, 1)
        assert ran.wait(LONG_S)
        assert timer.cancel(task) is False
        assert timer.add(timer.task(print, "far"), 60_000).cancel() is True
        with pytest.raises(DelayTooLarge):
            timer.add(task, LARGEST_DELAY_MS + 1)
        with pytest.raises(InvalidDelay):
            timer.add(task, 1.5)  # type: ignore[arg-type]
    with pytest.raises(TimerClosed):
        timer.add(task, 1)
    recorder.close()
    told = brief(path)
    assert sorted(told[1:4]) == ["call add 1 1", "event ran 1", "return"]
    assert told[4:] == [
        "call cancel 1",
        "return",
        "call add far 60000",
        "return",
        "call cancel far",
        "return",
        f"call add 1 {LARGEST_DELAY_MS + 1}",
        "return too_large",
        "call shutdown",
        "return",
        "call add 1 1",
        "return closed",
        "end",
    ]
    assert lines(path)[0] | {"at_ns": 0} == {
        "kind": "begin",
        "run": "a run",
        "seq": 0,
        "at_ns": 0,
        "instance": {
            "component": "timer",
            "configuration": {"tick_ms": 5, "wheel_size": 7},
            "profile": {
                "executor": "thread",
                "structure": "delay_queue_wheel",
                "largest_delay_ms": LARGEST_DELAY_MS,
                "observables": [],
            },
        },
        "clock": {"kind": "wall", "lateness_ms": 1000 * LONG_S},
        "subject": "ours",
    }
    found = verdict([path])
    assert (found.verdict, found.judged) == ("conforms", len(told))


def test_the_times_are_those_of_the_timers_own_clock(path: Path) -> None:
    recorder = Recorder(path, "run")
    with RecordedTimer(recorder) as timer:
        before_ms = MonotonicClock().now_ms()
        timer.add(print, 60_000)
        after_ms = timer.clock.now_ms()
    recorder.close()
    call, returned = lines(path)[1:3]
    assert before_ms <= call["at_ns"] // 1_000_000 <= returned["at_ns"] // 1_000_000 <= after_ms


def test_a_task_of_ones_own_class_is_recorded_under_one_name(path: Path) -> None:
    class Refresh(TimerTask):
        def run(self) -> None:
            ran.set()

    ran = threading.Event()
    recorder = Recorder(path, "run", lateness_ms=1000 * LONG_S)
    with RecordedTimer(recorder) as timer:
        task = timer.add(Refresh(), 60_000)
        timer.add(task, 0)
        assert ran.wait(LONG_S)
    recorder.close()
    names = {
        line.get("task") or line["operation"]["task"]
        for line in lines(path)
        if line["kind"] == "event" or "task" in line.get("operation", {})
    }
    assert len(names) == 1
    assert verdict([path]).verdict == "conforms"


def test_an_executor_that_is_given_stays_open(path: Path) -> None:
    executor = ThreadExecutor()
    recorder = Recorder(path, "run", lateness_ms=1000 * LONG_S)
    timer = RecordedTimer(recorder, executor=executor)
    timer.close()
    other = threading.Event()
    executor.hand_over([CallableTask(other.set)])
    executor.wake()
    assert other.wait(LONG_S)
    executor.close()
    recorder.close()


def test_threads_of_one_name_are_told_apart(path: Path) -> None:
    recorder = Recorder(path, "run")
    both = threading.Barrier(2)

    def add() -> None:
        timer.add(print, 60_000)
        both.wait(LONG_S)

    with RecordedTimer(recorder) as timer:
        threads = [threading.Thread(target=add, name="twin") for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    recorder.close()
    assert {line["thread"] for line in lines(path) if "thread" in line} >= {"twin", "twin-2"}


def test_on_a_virtual_clock_each_call_is_a_step(path: Path) -> None:
    recorder = StepRecorder(path, "run")
    clock = RecordedClock(recorder, 100)
    executor = RecordedSteppedExecutor(recorder)
    timer = RecordedTimer(recorder, tick_ms=10, clock=clock, executor=executor)
    timer.add(lambda: None, 15)
    clock.set_ms(120)
    assert timer.advance() is True
    assert executor.run_one() is True
    assert executor.run_one() is False
    timer.close()
    recorder.close()
    assert brief(path)[1:] == [
        "step add 1 15",
        "step elapse 120",
        "step advance 120 True expired:1",
        "step run_one ran:1",
        "step run_one",
        "step shutdown",
        "end",
    ]
    found = verdict([path])
    assert (found.verdict, found.judged) == ("conforms", 8)


def test_on_a_virtual_clock_with_an_inline_executor_tasks_run_in_the_step(path: Path) -> None:
    recorder = StepRecorder(path, "run")
    clock = RecordedClock(recorder)
    timer = RecordedTimer(recorder, clock=clock, executor=InlineExecutor())
    timer.add(lambda: None, 5)
    clock.set_ms(5)
    timer.advance()
    recorder.close()
    assert brief(path)[1:4] == ["step add 1 5", "step elapse 5", "step advance 5 True ran:1"]
    assert verdict([path]).verdict == "conforms"
    change(path, b'"delay_ms":5', b'"delay_ms":6')
    assert verdict([path]).verdict == "diverges"


def test_a_call_inside_a_step_makes_the_run_incomplete_and_nothing_else(path: Path) -> None:
    recorder = StepRecorder(path, "run")
    clock = RecordedClock(recorder)
    timer = RecordedTimer(recorder, clock=clock, executor=InlineExecutor())
    timer.add(lambda: timer.add(lambda: None, 5), 0)
    recorder.close()
    assert brief(path)[1:] == [
        "call add 1 0",
        "event ran 1",
        "call add 2 5",
        "return",
        "return",
        "end",
    ]


def test_what_does_not_go_together_is_refused(path: Path) -> None:
    recorder = Recorder(path, "run")
    with pytest.raises(ValueError, match="StepRecorder"):
        RecordedTimer(
            recorder,
            clock=RecordedClock(StepRecorder(path.with_name("other.jsonl"), "run")),
            executor=InlineExecutor(),
        )
    RecordedTimer(recorder).close()
    with pytest.raises(ValueError, match="one instance"):
        RecordedTimer(recorder)
    recorder.close()


def test_what_is_called_after_the_end_is_not_recorded(path: Path) -> None:
    recorder = Recorder(path, "run")
    timer = RecordedTimer(recorder)
    recorder.close()
    recorder.close()
    assert timer.add(print, 60_000).cancel() is True
    timer.close()
    assert brief(path) == ["begin", "end"]
