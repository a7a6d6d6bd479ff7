"""Each way in which an adapter misbehaves is told, and ended in time."""

import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from purgatory_conformance.subjects.child_process import ChildProcessSubject
from purgatory_conformance.subjects.subject import FailureKind, SubjectFailure
from purgatory_conformance.version import SUITE_VERSION
from purgatory_spec.messages import schema_digest
from purgatory_spec.operations import Add, Throw
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import TimerConfiguration
from tests.conformance.subjects.started_adapters import (
    AT_ADVANCE,
    GOOD_OUTCOMES,
    STEPS,
    Adapters,
    eventually,
    run_case,
    run_until_failure,
)
from tests.known_cases import known_rows


@dataclass(frozen=True)
class Expected:
    """The failure of a mode."""

    mode: str
    kind: FailureKind
    explanation: str
    received: str = ""
    time_limit_seconds: float = 300.0


HELLO = '{"request":"hello","id":1,"protocol":1,"suite":"SUITE","schema":"' + schema_digest() + '"}'
NEW = '{"request":"new","id":2,"component":"timer","case":"case","configuration":{}}'
CRASHED = (
    "instead of answering; its standard error may say why; "
    "answer a failure of the adapter with 'error'"
)

ROWS = known_rows(Path(__file__).with_name("adapter_failures.jsonl"))
AT_HELLO, AT_NEW, IN_A_CASE = (
    tuple(msgspec.convert(row, Expected) for row in ROWS if row["when"] == when)
    for when in ("hello", "new", "case")
)
if sys.platform != "win32":  # where there are no signals
    problem = f"it was ended by SIGKILL {CRASHED}"
    IN_A_CASE = (*IN_A_CASE, Expected("killed", FailureKind.CRASHED, problem))


def assert_told(failure: SubjectFailure, expected: Expected, asked: str) -> None:
    """The failure has all that a report needs."""
    parts = (failure.kind, failure.explanation, failure.asked, failure.received)
    assert parts == (expected.kind, expected.explanation, asked, expected.received)
    assert failure.standard_error == f"mode {expected.mode}"


def check_failure(adapters: Adapters, expected: Expected, look_ahead: int) -> None:
    """The mode fails as expected, and soon."""
    subject = adapters.start(
        expected.mode, time_limit_seconds=expected.time_limit_seconds, look_ahead=look_ahead
    )
    began = time.monotonic()
    outcomes, failure = run_until_failure(subject)
    assert time.monotonic() - began < 50  # by itself it would end after a minute
    assert outcomes == ([Outcome()] * 2 if expected.mode == "result" else GOOD_OUTCOMES[:2])
    assert_told(failure, expected, AT_ADVANCE)


@pytest.mark.parametrize("expected", AT_HELLO, ids=lambda expected: expected.mode)
def test_failure_at_hello(adapters: Adapters, expected: Expected) -> None:
    subject = adapters.start(expected.mode, time_limit_seconds=expected.time_limit_seconds)
    with pytest.raises(SubjectFailure) as caught:
        _ = subject.profiles
    assert_told(caught.value, expected, HELLO.replace("SUITE", SUITE_VERSION))
    adapters.assert_none_left()


@pytest.mark.parametrize("expected", AT_NEW, ids=lambda expected: expected.mode)
def test_failure_at_new(adapters: Adapters, expected: Expected) -> None:
    subject = adapters.start(expected.mode)
    with pytest.raises(SubjectFailure) as caught:
        subject.new("case", TimerConfiguration())
    assert_told(caught.value, expected, NEW)


@pytest.mark.parametrize("expected", IN_A_CASE, ids=lambda expected: expected.mode)
def test_failure_in_a_case(adapters: Adapters, expected: Expected) -> None:
    """Requests sent ahead change nothing about it, which the first three show."""
    check_failure(adapters, expected, look_ahead=32)
    if expected in IN_A_CASE[:3]:
        check_failure(adapters, expected, look_ahead=1)
    if expected.kind is not FailureKind.ERRORED:
        adapters.assert_none_left()


def test_endless_replies_are_refused_and_do_not_fill_the_memory(adapters: Adapters) -> None:
    subject = adapters.start("flood")
    subject.new("case", TimerConfiguration())
    outcomes = subject.do_all(STEPS)
    tracemalloc.start()
    seen = [next(outcomes), next(outcomes), next(outcomes)]
    process = subject._client._process
    assert process is not None
    eventually(process._chunks._permits.empty)  # as much is read ahead as may be
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    with pytest.raises(SubjectFailure) as caught:
        next(outcomes)
    assert seen == GOOD_OUTCOMES[:3]
    assert 0 < peak < 8 * 2**20
    assert (caught.value.kind, caught.value.explanation, caught.value.received) == (
        FailureKind.FLOODED,
        "request 5 was answered before; write exactly one reply to each request",
        '{"id":5,"observed":{"size":0}}',
    )
    adapters.assert_none_left()


def test_a_reply_that_nobody_asked_for(adapters: Adapters) -> None:
    """It is found at the next request, which is not at fault and so is not named."""
    subject = adapters.start("unasked")
    outcomes: list[Outcome] = []
    run_case(subject, outcomes)
    process = subject._client._process
    assert process is not None
    eventually(lambda: bool(process._lines) or not process._chunks._read.empty())
    with pytest.raises(SubjectFailure) as caught:
        subject.new("next", TimerConfiguration())
    assert outcomes == GOOD_OUTCOMES
    assert (caught.value.kind, caught.value.asked, caught.value.received) == (
        FailureKind.FLOODED,
        "",
        '{"id":7}',
    )
    subject.new("again", TimerConfiguration())


def test_closed_standard_input(adapters: Adapters) -> None:
    """The request that could not be written fails, the replies before it are good."""
    subject = adapters.start("closes input", look_ahead=1)
    outcomes, failure = run_until_failure(subject)
    assert outcomes == [*GOOD_OUTCOMES[:2], Outcome(observed={"size": 0})]
    assert (failure.kind, failure.explanation, failure.asked) == (
        FailureKind.CLOSED_PIPE,
        "it closed its standard input and still runs; read requests until 'stop'",
        '{"request":"do","id":6,"operation":{"op":"add","task":"c","delay_ms":1}}',
    )
    adapters.assert_none_left()


def test_request_larger_than_a_pipe_that_is_never_read(adapters: Adapters) -> None:
    subject = adapters.start("never reads", time_limit_seconds=3.0)
    subject.new("case", TimerConfiguration())
    with pytest.raises(SubjectFailure) as caught:
        list(subject.do_all([Add("a", 1, (Throw(),) * 100_000)]))
    assert caught.value.kind is FailureKind.HUNG
    adapters.assert_none_left()


def test_the_end_of_much_standard_error_is_kept(adapters: Adapters) -> None:
    outcomes, failure = run_until_failure(adapters.start("much standard error"))
    last_lines = "\n".join(f"complaint number {number}" for number in range(49_980, 50_000))
    assert (len(outcomes), failure.kind, failure.standard_error) == (
        2,
        FailureKind.CRASHED,
        last_lines,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="a tree without its root cannot be found")
def test_grandchild_that_holds_the_pipes_of_a_crashed_adapter(adapters: Adapters) -> None:
    """The crash is seen although the pipe stays open, and the grandchild is ended."""
    _, failure = run_until_failure(adapters.start("crash beside a grandchild"))
    assert (failure.kind, failure.explanation) == (
        FailureKind.CRASHED,
        f"it exited with code 7 {CRASHED}",
    )
    assert len(adapters.processes) == 2
    adapters.assert_none_left()


@pytest.mark.skipif(sys.platform == "win32", reason="a tree without its root cannot be found")
def test_grandchild_that_outlives_a_good_adapter(adapters: Adapters) -> None:
    subject = adapters.start("grandchild")
    outcomes: list[Outcome] = []
    run_case(subject, outcomes)
    assert outcomes == GOOD_OUTCOMES
    assert len(adapters.processes) == 2
    subject.close()
    adapters.assert_none_left()


def test_adapter_that_ignores_stop_is_ended(adapters: Adapters) -> None:
    subject = adapters.start("ignores stop", time_limit_seconds=3.0)
    run_case(subject, [])
    began = time.monotonic()
    subject.close()
    assert time.monotonic() - began < 50
    adapters.assert_none_left()


def test_command_that_cannot_be_started(adapters: Adapters, tmp_path: Path) -> None:
    missing = str(tmp_path / "no such program")
    subject = ChildProcessSubject((missing,), name="missing")
    with pytest.raises(SubjectFailure) as caught:
        subject.new("case", TimerConfiguration())
    assert caught.value.kind is FailureKind.NOT_STARTED
    assert caught.value.explanation.startswith(f"'{missing}' cannot be started (")
    subject.close()


@pytest.mark.parametrize(
    "arguments", [{"command": ()}, {"look_ahead": 0}, {"time_limit_seconds": 0.0}]
)
def test_impossible_arguments_are_refused(arguments: dict[str, object]) -> None:
    make: Callable[..., ChildProcessSubject] = ChildProcessSubject
    with pytest.raises(ValueError, match="must"):
        make(**{"command": ("x",), "name": "x", **arguments})
