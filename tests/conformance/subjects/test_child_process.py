"""Adapters that misbehave in one way each, and one that does not, behind the subject."""

import gc
import os
import random
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from purgatory_conformance.kits import Clock, Language, project, write
from purgatory_conformance.running import case_run
from purgatory_conformance.subjects.adapter_process import LONGEST_LINE
from purgatory_conformance.subjects.adapter_replies import decode_reply, encode_request
from purgatory_conformance.subjects.child_process import ChildProcessSubject
from purgatory_conformance.subjects.fault import Fault
from purgatory_conformance.subjects.subject import (
    FailureKind,
    Subject,
    SubjectFailure,
    UnsupportedConfigurationError,
)
from purgatory_conformance.version import SUITE_VERSION
from purgatory_spec.jsonlines import InvalidDocument, decode_line
from purgatory_spec.messages import Do, Implementation, Reply, schema_digest
from purgatory_spec.operations import Add, Advance, Cancel, Elapse, Operation, Shutdown, Throw
from purgatory_spec.outcomes import Outcome, ran
from purgatory_spec.profiles import (
    Component,
    Feature,
    Observable,
    TimerConfiguration,
    TimerProfile,
)
from purgatory_spec.reasons import Reason

MISBEHAVING = Path(__file__).with_name("misbehaving_adapter.py")
STEPS: tuple[Operation, ...] = (Add("a", 1), Add("b", 9), Advance(5), Add("c", 1))
AT_ADVANCE = '{"request":"do","id":5,"operation":{"op":"advance","to_ms":5}}'
GOOD_OUTCOMES = [
    Outcome(observed={"size": 1}),
    Outcome(observed={"size": 2}),
    Outcome(events=(ran("a"),), observed={"size": 1}),
    Outcome(observed={"size": 2}),
]
REPLIES_ALONE = (
    "write one line for each reply to standard output and nothing else; "
    "banners and logs belong on standard error"
)

Start = Callable[..., ChildProcessSubject]


class Adapters:
    """Starts adapters, and knows afterwards which of their processes are left."""

    def __init__(self, note: Path) -> None:
        self.note = note
        self.subjects: list[ChildProcessSubject] = []

    def start(
        self, mode: str, *, time_limit_seconds: float = 10.0, look_ahead: int = 32
    ) -> ChildProcessSubject:
        subject = ChildProcessSubject(
            (sys.executable, "-S", str(MISBEHAVING), mode),
            name=mode,
            time_limit_seconds=time_limit_seconds,
            environment={"PURGATORY_TEST_PIDS": str(self.note)},
            look_ahead=look_ahead,
        )
        self.subjects.append(subject)
        return subject

    def heap_timer(self, look_ahead: int = 32) -> ChildProcessSubject:
        folder = self.note.parent / "heap-timer"
        write(project(Language.PYTHON, [Component.TIMER], Clock.VIRTUAL, "heap-timer"), folder)
        subject = ChildProcessSubject(
            (sys.executable, "-S", "adapter.py"),
            name="heap timer",
            working_folder=folder,
            look_ahead=look_ahead,
        )
        self.subjects.append(subject)
        return subject

    @property
    def processes(self) -> list[int]:
        if not self.note.exists():
            return []
        return [int(line) for line in self.note.read_text(encoding="ascii").split()]

    def assert_none_left(self) -> None:
        """Neither process nor thread; a little later is early enough on a busy machine."""
        deadline = time.monotonic() + 10
        while any(map(is_running, self.processes)) or pipe_threads():
            assert time.monotonic() < deadline, (self.processes, threading.enumerate())
            time.sleep(0.01)


def pipe_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "adapter pipe"]


def is_running(pid: int) -> bool:
    """Whether a process runs; one that only waits to be collected does not."""
    if sys.platform == "win32":
        command = ("tasklist", "/FI", f"PID eq {pid}", "/NH")
        listed = subprocess.run(command, capture_output=True, text=True, check=False)
        return str(pid) in listed.stdout
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    listed = subprocess.run(
        ("ps", "-o", "stat=", "-p", str(pid)), capture_output=True, text=True, check=False
    )
    return listed.stdout.strip()[:1] not in ("", "Z")


@pytest.fixture
def adapters(tmp_path: Path) -> Iterator[Adapters]:
    """No process and no thread survives a test, whatever happened in it."""
    started = Adapters(tmp_path / "pids")
    yield started
    for subject in started.subjects:
        subject.close()
    started.assert_none_left()


def run_until_failure(subject: Subject) -> tuple[list[Outcome], SubjectFailure]:
    """The outcomes of one case, and the failure that ends it."""
    outcomes: list[Outcome] = []
    with pytest.raises(SubjectFailure) as caught:
        run_case(subject, outcomes)
    return outcomes, caught.value


def run_case(subject: Subject, outcomes: list[Outcome]) -> None:
    subject.new("case", TimerConfiguration())
    outcomes.extend(subject.do_all(STEPS))
    subject.end()


@dataclass(frozen=True)
class Expected:
    """The failure of a mode."""

    mode: str
    kind: FailureKind
    explanation: str
    received: str = ""
    time_limit_seconds: float = 10.0


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
        "hang at hello",
        FailureKind.HUNG,
        f"no reply within 0.5 s; {HUNG}",
        time_limit_seconds=0.5,
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
    Expected("hang", FailureKind.HUNG, f"no reply within 0.7 s; {HUNG}", time_limit_seconds=0.7),
    Expected(
        "closes output",
        FailureKind.CLOSED_PIPE,
        "it closed its standard output and still runs; keep it open until 'stop'",
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
    seen = [next(outcomes), next(outcomes), next(outcomes)]
    tracemalloc.start()
    time.sleep(0.3)
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
    wait_for_unasked_line()
    with pytest.raises(SubjectFailure) as caught:
        subject.new("next", TimerConfiguration())
    assert outcomes == GOOD_OUTCOMES
    assert (caught.value.kind, caught.value.asked, caught.value.received) == (
        FailureKind.FLOODED,
        "",
        '{"id":7}',
    )
    subject.new("again", TimerConfiguration())


def wait_for_unasked_line() -> None:
    time.sleep(0.2)


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
    subject = adapters.start("never reads", time_limit_seconds=0.7)
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
    subject = adapters.start("ignores stop", time_limit_seconds=0.7)
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


# A failure is not the end of the subject.


@pytest.mark.parametrize("mode", ["crash", "garbage", "wrong types"])
def test_next_case_runs_in_a_fresh_process(adapters: Adapters, mode: str) -> None:
    subject = adapters.start(mode)
    for _ in range(2):
        outcomes, _ = run_until_failure(subject)
        assert outcomes == GOOD_OUTCOMES[:2]
    assert len(set(adapters.processes)) == 2


def test_process_that_reports_a_failure_stays_in_service(adapters: Adapters) -> None:
    subject = adapters.start("error")
    for _ in range(3):
        run_until_failure(subject)
    assert len(adapters.processes) == 1


def test_unsupported_operation_is_no_failure(adapters: Adapters) -> None:
    """
    Given an adapter that answers an operation with the field ``unsupported``
    When cases ask for it
    Then each is refused, with the adapter's sentence; the process goes on
    """
    subject = adapters.start("unsupported")
    for _ in range(3):
        run = case_run.run_case(subject, "case", TimerConfiguration(), STEPS)
        assert (run.verdict, run.refused) == (case_run.CaseVerdict.UNSUPPORTED, "no room")
        (step,) = run.steps
        assert step.outcome == Outcome(rejected=Reason.UNSUPPORTED, detail="no room")
    assert len(adapters.processes) == 1


def test_unsupported_configuration_is_no_failure(adapters: Adapters) -> None:
    subject = adapters.start("unsupported at new")
    with pytest.raises(UnsupportedConfigurationError, match="no wheels of seven"):
        subject.new("case", TimerConfiguration(wheel_size=7))
    outcomes: list[Outcome] = []
    run_case(subject, outcomes)
    assert outcomes == GOOD_OUTCOMES
    assert len(adapters.processes) == 1


def test_steps_need_an_instance(adapters: Adapters) -> None:
    subject = adapters.start("good")
    with pytest.raises(RuntimeError, match="call 'new' first"):
        next(subject.do_all(STEPS))
    run_until_failure(adapters.start("crash"))
    run_case(subject, [])
    with pytest.raises(RuntimeError, match="call 'new' first"):
        next(subject.do_all(STEPS))


# Stopping early.


@pytest.mark.parametrize("look_ahead", [1, 2, 32])
@pytest.mark.parametrize("ended", [False, True])
def test_consumer_that_stops_early(adapters: Adapters, look_ahead: int, ended: bool) -> None:
    """What was sent ahead is thrown away, and the next case is as any other."""
    subject = adapters.start("good", look_ahead=look_ahead)
    for _ in range(5):
        subject.new("case", TimerConfiguration())
        for outcome in subject.do_all(STEPS * 10):
            assert outcome == GOOD_OUTCOMES[0]
            break
        if ended:
            subject.end()
    outcomes: list[Outcome] = []
    run_case(subject, outcomes)
    assert outcomes == GOOD_OUTCOMES
    assert len(adapters.processes) == 1


def test_outcomes_left_behind_cannot_be_skipped(adapters: Adapters) -> None:
    subject = adapters.start("good")
    subject.new("case", TimerConfiguration())
    first = subject.do_all(STEPS)
    next(first)
    with pytest.raises(RuntimeError, match="call 'new' first"):
        next(subject.do_all(STEPS))
    subject.new("another", TimerConfiguration())
    with pytest.raises(RuntimeError, match="the instance is gone"):
        next(first)


def test_stopping_early_before_a_hang_or_crash(adapters: Adapters) -> None:
    """What nobody waited for fails nobody; a fresh process serves the next case."""
    for mode in ("hang", "crash"):
        subject = adapters.start(mode, time_limit_seconds=0.7)
        subject.new("case", TimerConfiguration())
        next(subject.do_all(STEPS))
        subject.end()
        subject.new("another", TimerConfiguration())
        assert list(subject.do_all(STEPS[:2])) == GOOD_OUTCOMES[:2]


def test_operations_that_fail_to_be_made(adapters: Adapters) -> None:
    def operations() -> Iterator[Operation]:
        yield STEPS[0]
        raise ZeroDivisionError

    subject = adapters.start("good")
    subject.new("case", TimerConfiguration())
    with pytest.raises(ZeroDivisionError):
        list(subject.do_all(operations()))
    outcomes: list[Outcome] = []
    run_case(subject, outcomes)
    assert outcomes == GOOD_OUTCOMES


# The good path.


def test_introduction_is_asked_for_when_it_is_needed(adapters: Adapters) -> None:
    subject = adapters.heap_timer()
    assert pipe_threads() == []
    assert (subject.name, subject.implementation, subject.profiles) == (
        "heap timer",
        Implementation(name="naive implementation", version="1", language="Python"),
        {
            Component.TIMER: TimerProfile(
                features=frozenset(
                    {Feature.CANCEL, Feature.READD, Feature.CHANGE_DELAY, Feature.ELAPSE}
                ),
                observables=frozenset({Observable.SIZE, Observable.ADVANCE_RESULT}),
            ),
        },
    )


def test_case_on_the_heap_timer(adapters: Adapters) -> None:
    subject = adapters.heap_timer()
    subject.new("case", TimerConfiguration(tick_ms=10, wheel_size=5, start_ms=1003))
    operations: list[Operation] = [
        Add("a", 25),
        Add("b", 5),
        Add("c", 6),
        Cancel("c"),
        Cancel("unknown"),
        Advance(1007),
        Add("a", 3),
        Advance(1010),
        Elapse(1040),
        Add("é", 2**31),
        Advance(1050),
    ]
    too_large = "a delay is at most 2147483647 ms"
    assert list(subject.do_all(operations)) == [
        Outcome(observed={"size": 1}),
        Outcome(observed={"size": 2}),
        Outcome(observed={"size": 3}),
        Outcome(observed={"size": 2}),
        Outcome(observed={"size": 2}),
        Outcome(result=True, events=(ran("b"),), observed={"size": 1}),
        Outcome(observed={"size": 1}),
        Outcome(result=True, events=(ran("a"),), observed={"size": 0}),
        Outcome(observed={"size": 0}),
        Outcome(rejected=Reason.TOO_LARGE, observed={"size": 0}, detail=too_large),
        Outcome(result=False, observed={"size": 0}),
    ]
    subject.end()


def random_operations(seed: int, count: int) -> list[Operation]:
    source = random.Random(seed)
    now_ms = 0
    operations: list[Operation] = []
    for _ in range(count):
        task = f"t{source.randrange(20)}"
        kind = source.randrange(5)
        now_ms += source.randrange(20) if kind > 2 else 0
        operation = (Add(task, now_ms % 97), Add(task, 40), Cancel(task), Advance(now_ms))
        operations.append(operation[min(kind, 3)])
    return operations


def test_looking_ahead_changes_nothing(adapters: Adapters) -> None:
    operations = random_operations(seed=7, count=400)
    one_by_one: list[Outcome] = []
    for look_ahead in (1, 2, 7, 32, 1000):
        subject = adapters.heap_timer(look_ahead)
        subject.new("case", TimerConfiguration(tick_ms=5))
        outcomes = list(subject.do_all(operations))
        subject.end()
        one_by_one = one_by_one or outcomes
        assert len(outcomes) == 400
        assert outcomes == one_by_one
        subject.close()


def test_large_replies_and_large_requests_block_nobody(adapters: Adapters) -> None:
    subject = adapters.start("large replies")
    subject.new("case", TimerConfiguration())
    large = Add("a", 1, (Throw(),) * 10_000)
    operations: list[Operation] = [Advance(1), large, Advance(2), Advance(3), large, large] * 20
    outcomes = list(subject.do_all(operations))
    details = [len(outcome.detail) for outcome in outcomes]
    assert details == [100_000, 0, 100_000, 100_000, 0, 0] * 20


def test_carriage_returns_are_accepted(adapters: Adapters) -> None:
    outcomes: list[Outcome] = []
    run_case(adapters.start("CRLF"), outcomes)
    assert outcomes == GOOD_OUTCOMES


def test_large_integers_travel_as_strings(adapters: Adapters) -> None:
    subject = adapters.start("int64")
    subject.new("case", TimerConfiguration())
    sizes = [2**53 - 1, 2**53, -(2**53), 2**63 - 1, -(2**63)]
    outcomes = list(subject.do_all([Add("a", size) for size in sizes]))
    assert [outcome.observed["size"] for outcome in outcomes] == sizes
    lines = [encode_request(Do(1, Add("a", size))) for size in sizes]
    assert [line.split(b'"delay_ms":')[1] for line in lines] == [
        b"9007199254740991}}\n",
        b'"9007199254740992"}}\n',
        b'"-9007199254740992"}}\n',
        b'"9223372036854775807"}}\n',
        b'"-9223372036854775808"}}\n',
    ]


def test_after_shutdown_only_queued_is_owed(adapters: Adapters) -> None:
    subject = adapters.start("shutdown")
    subject.new("case", TimerConfiguration())
    with pytest.raises(SubjectFailure, match="'queued' is declared but not in 'observed'"):
        list(subject.do_all([Add("a", 1)]))
    subject.new("case", TimerConfiguration())
    assert list(subject.do_all([Shutdown(), Advance(1)])) == [
        Outcome(observed={"queued": 0}),
        Outcome(observed={"queued": 0, "size": 0}),
    ]


def test_undeclared_observables_are_dropped(adapters: Adapters) -> None:
    outcomes: list[Outcome] = []
    run_case(adapters.start("undeclared observable"), outcomes)
    assert outcomes == GOOD_OUTCOMES


def test_closing_twice_and_starting_again(adapters: Adapters) -> None:
    with adapters.start("good") as subject:
        run_case(subject, [])
        subject.close()
        subject.close()
        adapters.assert_none_left()
        run_case(subject, [])
    adapters.assert_none_left()
    assert len(set(adapters.processes)) == 2


def test_forgotten_subject_leaves_nothing_behind(adapters: Adapters) -> None:
    run_case(adapters.start("grandchild" if sys.platform != "win32" else "good"), [])
    adapters.subjects.clear()
    gc.collect()
    adapters.assert_none_left()


def test_end_of_the_interpreter_leaves_nothing_behind(adapters: Adapters) -> None:
    program = (
        "import sys\n"
        "from purgatory_conformance.subjects.child_process import ChildProcessSubject\n"
        "subject = ChildProcessSubject(sys.argv[1:], name='x')\n"
        "assert subject.profiles\n"
    )
    adapter = (sys.executable, "-S", str(MISBEHAVING), "ignores stop")
    subprocess.run(
        (sys.executable, "-c", program, *adapter),
        env={
            **os.environ,
            "PURGATORY_TEST_PIDS": str(adapters.note),
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        check=True,
        timeout=30,
    )
    assert len(adapters.processes) == 1
    adapters.assert_none_left()


# Reading replies.

LINES = [
    '{"id":1}',
    '{"id":1,"result":true,"events":[{"kind":"ran","task":"a"}],"observed":{"size":0}}',
    '{"id":1,"events":[],"observed":{},"result":null,"detail":""}',
    '{"id":1,"detail":"a: b","rejected":"closed"}',
    '{"id":1,"called_ms":5,"returned_ms":6,"events":[{"kind":"ran","task":"a","at_ms":5}]}',
    '{"id":1,"events":[{"kind":"rejected","task":"a","reason":"closed"}]}',
    '{"id":1,"observed":{"next_expiry_ms":null,"size":"9007199254740992"}}',
    '{"id":1,"unknown":{"a":[1,2.5,null]},"error":"x"}',
    '{"id":1,"id":1}',
    '{"id":1,"\\u0069d":1}',
    '{"id":1,"observed":{"size":1},"observed":{"size":1}}',
    '{"id":1,"observed":{"size":1,"size":2}}',
    '{"id":1,"events":[{"kind":"ran","kind":"ran","task":"a"}]}',
    '{"id":1,"unknown":{"a":1,"a":2}}',
    '{"id":1,"unknown":' + "[" * 40 + "]" * 40 + "}",
    '{"id":1,"unknown":' + "[" * 100_000 + "]" * 100_000 + "}",
    '{"id":true}',
    '{"id":1.0}',
    '{"id":"1"}',
    '{"observed":{}}',
    '{"id":1,"result":1.5}',
    '{"id":1,"result":"yes"}',
    '{"id":1,"observed":{"size":"12"}}',
    '{"id":1,"observed":[1]}',
    '{"id":1,"events":[{"kind":"exploded","task":"a"}]}',
    '{"id":1,"events":[{"kind":"ran","task":1}]}',
    '{"id":1,"events":[{"kind":"ran"}]}',
    '{"id":1,"rejected":"whim"}',
    '{"id":1,"detail":null}',
    '{"id":1} {"id":2}',
    "{'id':1}",
    "null",
    "",
    " ",
]


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_reading_fast_is_reading_strictly(line: str) -> None:
    """The fast way to read a reply accepts and yields just what ``decode_line`` does."""
    for variant in (line, line + "\r", line.replace(":", " : "), line.replace("}", "\t}")):
        strict: Reply | None
        try:
            strict = decode_line(variant, Reply)
        except InvalidDocument:
            strict = None
        fast: Reply | None
        try:
            fast = decode_reply(variant.encode())
        except Fault:
            fast = None
        assert fast == strict


def test_mutilated_lines_are_read_as_strictly() -> None:
    """Lines with a piece doubled, lost or replaced, of which some are valid and some are not."""
    source = random.Random(3)
    accepted = 0
    pieces = ('"id":1,', '"size":0', ":", ",", "{", "}", '"', "null", "1", '"detail":"x:y",')
    whole = [line for line in LINES[:12] if "9007199254740992" not in line]
    for _ in range(3000):
        line = source.choice(whole)
        for _ in range(source.randrange(1, 3)):
            start = source.randrange(len(line) + 1)
            end = min(len(line), start + source.randrange(8))
            piece = source.choice((*pieces, line[start:end] * 2))
            line = line[:start] + piece + line[source.choice((start, end)) :]
        try:
            strict = decode_line(line, Reply)
        except InvalidDocument:
            with pytest.raises(Fault):
                decode_reply(line.encode())
            continue
        accepted += 1
        assert decode_reply(line.encode()) == strict
    assert accepted > 100


@pytest.mark.parametrize(
    ("line", "explanation"),
    [
        (b'{"id":1,"detail":"\\ud800"}', "a string holds half of a surrogate pair"),
        (b'{"id":1,"observed":{"size":' + b"9" * 30 + b"}}", "has more than 64 bits"),
    ],
)
def test_what_no_report_could_write_down_is_refused(line: bytes, explanation: str) -> None:
    with pytest.raises(Fault, match=explanation) as caught:
        decode_reply(line)
    assert caught.value.kind is FailureKind.WRONG_TYPES
