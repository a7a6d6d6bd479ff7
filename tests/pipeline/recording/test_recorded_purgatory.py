"""The recorded purgatory: it behaves as the purgatory does, and its trace says what happened."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from purgatory_impl import DelayedOperation, NoKeys, PurgatoryClosed
from purgatory_traces.recording import (
    RecordedClock,
    RecordedPurgatory,
    RecordedSteppedExecutor,
    Recorder,
    StepRecorder,
    recorded,
)

from .recordings import LONG_S, brief, change, verdict

FAR = 3_600_000


@recorded
class Fetch(DelayedOperation):
    def __init__(self, delay_ms: int = FAR) -> None:
        super().__init__(delay_ms)
        self.ready = False
        self.timed_out = threading.Event()

    def try_complete(self) -> bool:
        return self.ready and self.force_complete()

    def on_expiration(self) -> None:
        self.timed_out.set()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "purgatory.jsonl"


def told(path: Path, use: Callable[[RecordedPurgatory[str]], None]) -> list[str]:
    """Return what is recorded of a use, between the first line and the shutdown; it conforms."""
    recorder = Recorder(path, "run", lateness_ms=1000 * LONG_S)
    with RecordedPurgatory[str](recorder) as purgatory:
        use(purgatory)
    recorder.close()
    found = verdict([path])
    assert (found.verdict, found.reason) == ("conforms", "")
    lines = brief(path)
    assert lines[-3:] == ["call shutdown", "return", "end"]
    return lines[1:-3]


def test_an_operation_is_watched_satisfied_and_completed_by_a_check(path: Path) -> None:
    def use(purgatory: RecordedPurgatory[str]) -> None:
        fetch = Fetch()
        assert purgatory.try_complete_else_watch(fetch, ["a", "b"]) is False
        with purgatory.satisfying(fetch):
            fetch.ready = True
        assert purgatory.check_and_complete("a") == 1
        assert purgatory.check_and_complete("b") == 0

    assert told(path, use) == [
        f"call watch 1 ['a', 'b'] {FAR}",
        "event tried 1",
        "event tried 1",
        "return False",
        "call satisfy 1",
        "return",
        "call check a",
        "event tried 1",
        "event completed 1",
        "return 1",
        "call check b",
        "return 0",
    ]


def test_a_time_out_happens_in_no_call(path: Path) -> None:
    def use(purgatory: RecordedPurgatory[str]) -> None:
        fetch = Fetch(20)
        purgatory.try_complete_else_watch(fetch, ["a"])
        assert fetch.timed_out.wait(LONG_S)

    assert told(path, use)[-2:] == ["event completed 1", "event timed_out 1"]


def test_forcing_and_cancelling_are_calls_with_results(path: Path) -> None:
    def use(purgatory: RecordedPurgatory[str]) -> None:
        first, second = Fetch(), Fetch()
        purgatory.name_operation(second, "second")
        purgatory.try_complete_else_watch(first, ["a"])
        purgatory.try_complete_else_watch(second, ["a"])
        assert first.force_complete() is True
        assert first.force_complete() is False
        assert purgatory.cancel_for_key("a") == [first, second]

    assert told(path, use)[-7:] == [
        "call force 1",
        "event completed 1",
        "return True",
        "call force 1",
        "return False",
        "call cancel_for_key a",
        "return ['1', 'second']",
    ]


def test_what_was_completed_before_it_was_given_is_said_to_be_forced(path: Path) -> None:
    def use(purgatory: RecordedPurgatory[str]) -> None:
        fetch = Fetch()
        assert fetch.force_complete() is True
        assert purgatory.try_complete_else_watch(fetch, ["a"]) is False

    assert told(path, use) == [
        "call force 1",
        "event completed 1",
        "return True",
        f"call watch 1 ['a'] {FAR}",
        "return False",
    ]


def test_refusals_and_failures_of_the_users_own_code_are_told(path: Path) -> None:
    @recorded
    class Failing(DelayedOperation):
        def try_complete(self) -> bool:
            raise ValueError("mine")

    recorder = Recorder(path, "run")
    with RecordedPurgatory[str](recorder) as purgatory:
        with pytest.raises(NoKeys):
            purgatory.try_complete_else_watch(Fetch(), [])
        with pytest.raises(ValueError, match="mine"):
            purgatory.try_complete_else_watch(Failing(FAR), ["a"])
    with pytest.raises(PurgatoryClosed):
        purgatory.try_complete_else_watch(Fetch(), ["a"])
    recorder.close()
    lines = brief(path)
    assert lines[1:3] == [f"call watch 1 [] {FAR}", "return invalid_argument"]
    assert lines[3:6] == [f"call watch 2 ['a'] {FAR}", "event tried 2", "return thrown"]
    assert lines[-2] == "return closed"


def test_an_operation_that_is_not_recorded_is_refused(path: Path) -> None:
    class Plain(DelayedOperation):
        pass

    recorder = Recorder(path, "run")
    with (
        RecordedPurgatory[str](recorder) as purgatory,
        pytest.raises(TypeError, match="Plain is not recorded"),
    ):
        purgatory.try_complete_else_watch(Plain(FAR), ["a"])
    recorder.close()


def test_a_class_is_made_over_once_and_keeps_its_name() -> None:
    assert recorded(Fetch) is Fetch
    assert Fetch.__name__ == "Fetch"
    assert Fetch(5).force_complete() is True  # without a purgatory nothing is recorded


def test_taking_the_time_out_alone_is_refused() -> None:
    with pytest.raises(NotImplementedError):
        Fetch().cancel()


@pytest.mark.parametrize(
    ("right", "wrong", "rule"),
    [
        (b'"result":1', b'"result":0', "PURGATORY-CHECK-COUNT"),
        (b'"event":"completed"', b'"event":"timed_out"', "PURGATORY-CALLBACK-ORDER"),
    ],
)
def test_what_is_wrong_in_a_trace_is_found(
    right: bytes, wrong: bytes, rule: str, path: Path
) -> None:
    recorder = Recorder(path, "run", lateness_ms=1000 * LONG_S)
    with RecordedPurgatory[str](recorder) as purgatory:
        fetch = Fetch()
        purgatory.try_complete_else_watch(fetch, ["a"])
        with purgatory.satisfying(fetch):
            fetch.ready = True
        assert purgatory.check_and_complete("a") == 1
    recorder.close()
    assert path.read_bytes().count(right) == 1
    change(path, right, wrong)
    found = verdict([path])
    assert found.verdict == "diverges"
    assert rule in (found.rule, *found.also)


def test_on_a_virtual_clock_each_call_is_a_step(path: Path) -> None:
    recorder = StepRecorder(path, "run")
    clock = RecordedClock(recorder)
    executor = RecordedSteppedExecutor(recorder)
    purgatory = RecordedPurgatory[str](recorder, clock=clock, executor=executor)
    fetch = Fetch(10)
    purgatory.try_complete_else_watch(fetch, ["a"])
    clock.set_ms(10)
    purgatory.advance()
    executor.run_one()
    purgatory.close()
    recorder.close()
    assert brief(path)[1:] == [
        "step watch 1 ['a'] 10 False tried:1 tried:1",
        "step elapse 10",
        "step advance 10 expired:1",
        "step run_one completed:1 timed_out:1",
        "step shutdown",
        "end",
    ]
    assert verdict([path]).verdict == "conforms"
