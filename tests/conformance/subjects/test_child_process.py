"""A child process as the subject: cases one after another, looking ahead, stopping early."""

import gc
import os
import random
import subprocess
import sys
from collections.abc import Iterator

import pytest

from purgatory_conformance.running import case_run
from purgatory_conformance.subjects.adapter_replies import encode_request
from purgatory_conformance.subjects.subject import SubjectFailure, UnsupportedConfigurationError
from purgatory_spec.messages import Do, Implementation
from purgatory_spec.operations import Add, Advance, Cancel, Elapse, Operation, Shutdown, Throw
from purgatory_spec.outcomes import Outcome, ran
from purgatory_spec.profiles import (
    Component,
    Feature,
    Observable,
    SevereThrow,
    TimerConfiguration,
    TimerProfile,
)
from purgatory_spec.reasons import Reason
from tests.conformance.subjects.started_adapters import (
    GOOD_OUTCOMES,
    MISBEHAVING,
    STEPS,
    Adapters,
    pipe_threads,
    run_case,
    run_until_failure,
)

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
    """Throw away the operations sent ahead, and ask the next case as any other."""
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
    """Report no failure of operations that nobody waited for, and serve the next case anew."""
    for mode in ("hang", "crash"):
        subject = adapters.start(mode, time_limit_seconds=3.0)
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
                severe_throw=SevereThrow.AS_ORDINARY,
                features=frozenset(Feature)
                - {
                    Feature.INT64,
                    Feature.NEGATIVE_CLOCK,
                    Feature.REFUSE,
                    Feature.FAR_ADVANCE,
                },
                observables=frozenset(
                    {Observable.SIZE, Observable.QUEUED, Observable.ADVANCE_RESULT}
                ),
            )
        },
    )


def seen(size: int) -> dict[str, int]:
    """The observables of a timer with so many tasks; its executor's queue is empty after a step."""
    return {"size": size, "queued": 0}


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
        Outcome(observed=seen(1)),
        Outcome(observed=seen(2)),
        Outcome(observed=seen(3)),
        Outcome(observed=seen(2)),
        Outcome(observed=seen(2)),
        Outcome(result=True, events=(ran("b"),), observed=seen(1)),
        Outcome(observed=seen(1)),
        Outcome(result=True, events=(ran("a"),), observed=seen(0)),
        Outcome(observed=seen(0)),
        Outcome(rejected=Reason.TOO_LARGE, observed=seen(0), detail=too_large),
        Outcome(result=False, observed=seen(0)),
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
        timeout=600,
    )
    assert len(adapters.processes) == 1
    adapters.assert_none_left()
