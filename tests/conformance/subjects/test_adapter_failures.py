"""Each way in which an adapter misbehaves is told, and ended in time."""

import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from purgatory_conformance.subjects.adapter_process import LONGEST_LINE
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
    REPLIES_ALONE,
    STEPS,
    Adapters,
    eventually,
    run_case,
    run_until_failure,
)


@dataclass(frozen=True)
class Expected:
    """The failure of a mode."""

    mode: str
    kind: FailureKind
    explanation: str
    received: str = ""
    time_limit_seconds: float = 300.0


HELLO = '{"request":"hello","id":1,"protocol":1,"suite":"SUITE","schema":"' + schema_digest() + '"}'
NONE_OF_OURS = (
    "not 'timer' or 'purgatory' or 'memory_pool' or 'channel_muting'; "
    'declare at least one of them, for example "components":{"timer":{}}'
)
NEW = '{"request":"new","id":2,"component":"timer","case":"case","configuration":{}}'
CRASHED = (
    "instead of answering; its standard error may say why; "
    "answer a failure of the adapter with 'error'"
)
HUNG = "answer each request by one line and flush it, or allow more time"
HELLO_REPLY = '{"id":1,"protocol":%s,"implementation":{"name":"misbehaving"},"components":%s}'
TIMER = (
    '{"timer":{"features":["cancel"],"observables":["size"]},'
    '"from a later version":{"colour":"red"}}'
)

AT_HELLO = (
    Expected("crash at start", FailureKind.CRASHED, f"it exited with code 3 {CRASHED}"),
    Expected(
        "hang at hello", FailureKind.HUNG, f"no reply within 3 s; {HUNG}", time_limit_seconds=3.0
    ),
    Expected(
        "banner",
        FailureKind.BANNER,
        "the line is no JSON object (Expecting value: line 1 column 1 (char 0)); " + REPLIES_ALONE,
        received="Welcome to the adapter!",
    ),
    Expected(
        "byte order mark",
        FailureKind.BANNER,
        "the line begins with a byte order mark; write UTF-8 without it",
        received="\ufeff" + HELLO_REPLY % (1, TIMER),
    ),
    Expected(
        "version",
        FailureKind.VERSION,
        "its 'protocol' is 2, the suite's is 1; use an adapter and a suite of one version",
        received=HELLO_REPLY % (2, '"something else altogether"'),
    ),
    Expected(
        "no component",
        FailureKind.NO_COMPONENT,
        "its 'components' offer 'reaper', " + NONE_OF_OURS,
        received=HELLO_REPLY % (1, '{"reaper":{}}'),
    ),
    Expected(
        "no components",
        FailureKind.NO_COMPONENT,
        "its 'components' offer nothing, " + NONE_OF_OURS,
        received='{"id":1,"protocol":1,"implementation":{"name":"misbehaving"}}',
    ),
    Expected(
        "no implementation",
        FailureKind.WRONG_TYPES,
        "Expected `object`, got `null` of 'implementation'; "
        "compare the reply with the table of profiles in the protocol",
        received='{"id":1,"protocol":1,"components":' + TIMER + "}",
    ),
    Expected(
        "wrong profile",
        FailureKind.WRONG_TYPES,
        "Invalid enum value 'teleport' - at `$.features[0]` of 'components.timer'; "
        "allowed are 'cancel', 'readd', 'change_delay', 'elapse', 'shutdown', 'script_throw', "
        "'script_add', 'script_cancel', 'script_advance', 'int64', 'negative_clock'; "
        "compare the reply with the table of profiles in the protocol",
        received=HELLO_REPLY % (1, '{"timer":{"features":["teleport"]}}'),
    ),
    Expected(
        "error at hello",
        FailureKind.ERRORED,
        "it answered 'hello' with: out of order today",
        received='{"id":1,"error":"out of order today"}',
    ),
)

AT_NEW = (
    Expected("crash at new", FailureKind.CRASHED, f"it exited with code 4 {CRASHED}"),
    Expected(
        "error at new", FailureKind.ERRORED, "no memory", received='{"id":2,"error":"no memory"}'
    ),
)

IN_A_CASE: tuple[Expected, ...] = (
    Expected("crash", FailureKind.CRASHED, f"it exited with code 5 {CRASHED}"),
    Expected(
        "crash within a line",
        FailureKind.CRASHED,
        f"it exited with code 5 {CRASHED}",
        received='{"id":',
    ),
    Expected(
        "exit 0",
        FailureKind.CRASHED,
        "it exited with code 0 instead of answering; "
        "go on reading requests until 'stop' or the end of standard input",
    ),
    Expected(
        "endless line",
        FailureKind.TOO_LONG,
        f"a line has more than {LONGEST_LINE} bytes; end each reply with a newline",
        received="x" * 500,
    ),
    Expected(
        "wrong id",
        FailureKind.WRONG_ID,
        "the reply has the id 999, which no request had (expected: 5); "
        "copy the id from the request",
        received='{"id":999}',
    ),
    Expected(
        "garbage",
        FailureKind.GARBAGE,
        "the line is no JSON object (Expecting value: line 1 column 1 (char 0)); " + REPLIES_ALONE,
        received="oops",
    ),
    Expected(
        "not an object",
        FailureKind.GARBAGE,
        "the line is no JSON object (Expected `object`, got `array`); " + REPLIES_ALONE,
        received="[1]",
    ),
    Expected(
        "not UTF-8",
        FailureKind.GARBAGE,
        "the line is not UTF-8; write replies in UTF-8",
        received='{"id":5,"detail":"\ufffd"}',
    ),
    Expected(
        "nothing", FailureKind.GARBAGE, "an empty line is no reply; " + REPLIES_ALONE, received=""
    ),
    Expected(
        "key twice",
        FailureKind.WRONG_TYPES,
        "key given twice: size; compare the reply with the tables of the protocol",
        received='{"id":5,"observed":{"size":1,"size":0}}',
    ),
    Expected(
        "wrong types",
        FailureKind.WRONG_TYPES,
        "the observable 'size' is \"many\"; an observable is an integer, true, false or null; "
        "compare the reply with the tables of the protocol",
        received='{"id":5,"observed":{"size":"many"}}',
    ),
    Expected(
        "too deep",
        FailureKind.TOO_DEEP,
        "the line is nested more than 32 deep; a reply needs 4 levels",
        received='{"id":5,"more":' + "[" * 100 + "]" * 100 + "}",
    ),
    Expected(
        "bottomless",
        FailureKind.TOO_DEEP,
        "the line is nested too deeply; a reply needs 4 levels",
        received="[" * 500,
    ),
    Expected(
        "missing observable",
        FailureKind.MISSING_OBSERVABLE,
        "'size' is declared but not in 'observed'; "
        "show it after every operation, or do not declare it",
        received='{"id":5,"events":[{"kind":"ran","task":"a"}],"observed":{}}',
    ),
    Expected(
        "result",
        FailureKind.MISSING_OBSERVABLE,
        "'advance_result' is declared but 'advance' has no 'result'; "
        "answer true or false, or do not declare it",
        received='{"id":5,"events":[{"kind":"ran","task":"a"}],"observed":{"size":1}}',
    ),
    Expected(
        "error",
        FailureKind.ERRORED,
        "a failure of its own",
        received='{"id":5,"error":"a failure of its own"}',
    ),
    Expected("hang", FailureKind.HUNG, f"no reply within 3 s; {HUNG}", time_limit_seconds=3.0),
    Expected(
        "closes output",
        FailureKind.CLOSED_PIPE,
        "it closed its standard output and still runs; keep it open until 'stop'",
        time_limit_seconds=3.0,
    ),
    Expected(
        "closes output and exits later", FailureKind.CRASHED, f"it exited with code 5 {CRASHED}"
    ),
    Expected(
        "out of order",
        FailureKind.OUT_OF_ORDER,
        "the reply is to request 6, but request 5 came before; answer requests in their order",
        received='{"id":6,"observed":{"size":0}}',
    ),
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
    process = subject._process
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
    process = subject._process
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
