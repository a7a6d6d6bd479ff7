"""The state machines: what they find, how they say it, and what they refuse."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import cast

import hypothesis
import pytest
from click.testing import CliRunner
from hypothesis import Phase, reproduce_failure, seed, settings
from hypothesis.stateful import invariant, run_state_machine_as_test

from purgatory_conformance.commands.replay import replay
from purgatory_conformance.specimens.mutants import mutant
from purgatory_conformance.stateful import (
    RuleBroken,
    StepMachine,
    TimerMachine,
    memory_pool_machine,
    purgatory_machine,
    timer_machine,
)
from purgatory_conformance.subjects.bundled import memory_pool, purgatory, timer
from purgatory_judge.case_judge import Deviation
from purgatory_spec import profiles
from purgatory_spec.cases import Step, decode_case
from purgatory_spec.operations import Add, Advance, Allocate, Elapse, Operation, Release
from purgatory_spec.outcomes import Outcome, ran
from purgatory_spec.reasons import Reason
from tests.test_the_implementation_is_the_model import (
    TheExactPurgatory,
    TheMemoryPool,
    TheProposedPurgatory,
    TheTimer,
)

FEW = settings(TimerMachine.TestCase.settings, max_examples=10, stateful_step_count=20)
FOUND = settings(FEW, max_examples=200, database=None, derandomize=True, print_blob=True)

AS_FOUND = settings(FOUND, derandomize=False, print_blob=False, phases=[Phase.generate])


class NaiveTimer:
    """A timer that a user might write: a list, looked through by each advance."""

    def __init__(self, configuration: profiles.TimerConfiguration) -> None:
        self.tick_ms = configuration.tick_ms
        self.now_ms = configuration.start_ms
        self.pending: list[tuple[int, str]] = []

    def do(self, operation: Operation) -> Outcome:
        match operation:
            case Add(_, delay_ms) if delay_ms > profiles.LARGEST_INT:
                return Outcome(rejected=Reason.TOO_LARGE)
            case Add(task, delay_ms):
                self.pending.append((self.due_tick(self.now_ms + delay_ms), task))
            case Elapse(to_ms):
                self.now_ms = to_ms
            case Advance(to_ms):
                self.now_ms = to_ms
                due = sorted(each for each in self.pending if each[0] <= to_ms)
                self.pending = [each for each in self.pending if each not in due]
                return Outcome(events=tuple(ran(task) for _, task in due))
        return Outcome()

    def due_tick(self, expiry_ms: int) -> int:
        return expiry_ms - expiry_ms % self.tick_ms

    def close(self) -> None:
        """Nothing is held."""


class LateTimer(NaiveTimer):
    """The same with a defect: an expiry is rounded up."""

    def due_tick(self, expiry_ms: int) -> int:
        return expiry_ms + -expiry_ms % self.tick_ms


class CrashingTimer(NaiveTimer):
    def do(self, operation: Operation) -> Outcome:
        if isinstance(operation, Advance):
            raise OSError("no such clock")
        return super().do(operation)


class SilentTimer(NaiveTimer):
    def do(self, operation: Operation) -> Outcome:
        return None  # type: ignore[return-value]


class MoodyTimer(NaiveTimer):
    """Fails once for all of its instances, and never again."""

    moods: list[str] = []  # noqa: RUF012

    def do(self, operation: Operation) -> Outcome:
        if isinstance(operation, Advance) and not self.moods:
            self.moods.append("bad")
            return Outcome(events=(ran("t1"), ran("t1")))
        return super().do(operation)


def failure_of(machine: type[StepMachine], how: settings = FOUND) -> BaseException:
    with pytest.raises(Exception) as failed:  # noqa: PT011
        run_state_machine_as_test(machine, settings=how)
    return failed.value


def told(error: BaseException) -> str:
    return "\n".join((str(error), *error.__notes__))


def case_in(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if line.startswith("{")) + "\n"


@pytest.mark.parametrize(
    ("make", "name", "rule", "most_steps"),
    [
        (timer_machine, "rounds-up", "TIMER-ROUNDING", 1),
        (purgatory_machine, "no-second-try", "PURGATORY-WATCH-SECOND-TRY", 1),
        (memory_pool_machine, "pool-admits-at-zero", "POOL-NON-STRICT", 2),
    ],
)
def test_a_planted_defect_is_found_shrunk_and_replayed(
    make: Callable[[str], type[StepMachine]],
    name: str,
    rule: str,
    most_steps: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The rule is named, the case is shrunk, and the printed case fails again by that rule."""
    assert mutant(name).rule == rule
    monkeypatch.chdir(tmp_path)
    error = failure_of(make(f"mutant:{name}"))
    assert isinstance(error, RuleBroken)
    assert error.rule == rule
    printed = case_in(told(error))
    case = decode_case(printed)
    assert len(case.steps) <= most_steps
    Path("printed.jsonl").write_text(printed, encoding="utf-8")
    kept = re.findall(r"again: purgatory replay (\S+)", told(error))
    assert [Path(path).read_text(encoding="utf-8") for path in kept] == [printed]
    for words in (["printed.jsonl"], kept, ["printed.jsonl", "--recorded"]):
        again = CliRunner().invoke(replay, words)
        assert again.exit_code == 1, again.output
        assert f"diverges from {rule}" in again.output
    mended = CliRunner().invoke(replay, ["printed.jsonl", "--subject", "bundled"])
    assert mended.exit_code == 0, mended.output


@pytest.mark.parametrize(
    "machine",
    [
        timer_machine("bundled-inline"),
        timer_machine(NaiveTimer),
        purgatory_machine(purgatory.PurgatoryInstance, purgatory.PROFILE),
        memory_pool_machine(memory_pool.MemoryPoolInstance, memory_pool.PROFILE),
    ],
)
def test_a_right_implementation_passes(machine: type[StepMachine]) -> None:
    """Nothing is found."""
    run_state_machine_as_test(machine, settings=FEW)


def test_a_class_of_ones_own_is_replayed_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The case names the class, and is run again with the profile of the case."""
    monkeypatch.chdir(tmp_path)
    error = failure_of(timer_machine(LateTimer, {"features": ["elapse"]}))
    case = decode_case(case_in(told(error)))
    assert case.header.subject == f"{__name__}:LateTimer"
    Path("case.jsonl").write_text(case_in(told(error)), encoding="utf-8")
    wrong = ["case.jsonl", "--subject", case.header.subject]
    assert "diverges from TIMER-ROUNDING" in CliRunner().invoke(replay, wrong).output
    right = f"{__name__}:NaiveTimer"
    assert CliRunner().invoke(replay, ["case.jsonl", "--subject", right]).exit_code == 0


def test_a_failure_is_reproduced_by_its_blob_and_by_its_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a machine that found a defect: the same case is found."""
    monkeypatch.chdir(tmp_path)
    found = told(failure_of(timer_machine(LateTimer)))
    blob = re.search(r"@reproduce_failure\('[^']*', (b'[^']*')\)", found)
    assert blob is not None
    decorate = reproduce_failure(hypothesis.__version__, eval(blob[1]))
    assert case_in(told(failure_of(decorate(timer_machine(LateTimer))))) == case_in(found)
    seeded = [seed(7)(timer_machine(LateTimer)) for _ in range(2)]
    first, again = (told(failure_of(machine, AS_FOUND)) for machine in seeded)
    assert first == again


def test_what_is_no_answer_is_said_as_it_is() -> None:
    """The error is theirs, with the steps of Hypothesis; what never fails again is flaky."""
    crash = failure_of(timer_machine(CrashingTimer))
    assert isinstance(crash, OSError)
    assert "state.begin" in told(crash)
    silence = failure_of(timer_machine(SilentTimer))
    assert isinstance(silence, TypeError)
    assert re.fullmatch(r"do returned None for '[a-z].*', which is no Outcome", str(silence))
    assert "Flaky" in type(failure_of(timer_machine(MoodyTimer))).__name__


def test_a_subclass_adds_invariants() -> None:
    """Hypothesis tells the steps that refute it."""

    class Small(TimerMachine, tests=timer.TimerInstance, profile=timer.PROFILE):
        @invariant()
        def has_two_tasks_at_most(self) -> None:
            assert self.number("size") <= 2

    assert "state.has_two_tasks_at_most()" in told(failure_of(Small, AS_FOUND))


class PlainTimer:
    """A timer as somebody writes it, who knows nothing of this suite."""

    def __init__(self) -> None:
        self.now_ms, self.due_ms = 0, dict[str, int]()

    def add(self, task: str, delay_ms: int) -> None:
        if delay_ms > profiles.LARGEST_INT:
            raise OverflowError(delay_ms)
        self.due_ms[task] = self.now_ms + delay_ms

    def cancel(self, task: str) -> None:
        self.due_ms.pop(task, None)

    def advance(self, to_ms: int) -> Iterator[str]:
        self.now_ms = to_ms
        for task, due_ms in sorted(self.due_ms.items(), key=lambda item: item[1]):
            if due_ms <= to_ms:
                del self.due_ms[task]
                yield task


class TickingTimer(PlainTimer):
    """A timer that rounds down to ticks, and reads an absolute clock."""

    def __init__(self, tick_ms: int, start_ms: int) -> None:
        super().__init__()
        self.tick_ms, self.now_ms = tick_ms, start_ms

    def add(self, task: str, delay_ms: int) -> None:
        super().add(task, delay_ms)
        self.due_ms[task] -= self.due_ms[task] % self.tick_ms


class ForgetsToCancel(PlainTimer):
    """Takes a cancel, and does nothing."""

    def cancel(self, task: str) -> None:
        """Do nothing."""


class TellsNothing(PlainTimer):
    """Says whether something ran, and not what."""

    def advance(self, to_ms: int) -> Iterator[str]:
        return cast("Iterator[str]", bool([*super().advance(to_ms)]))


def test_a_timer_with_plain_methods_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is driven as it is, judged with its cancels, and replayed by its name."""
    monkeypatch.chdir(tmp_path)
    for right in (PlainTimer, TickingTimer):
        run_state_machine_as_test(timer_machine(right), settings=FEW)
    error = failure_of(timer_machine(ForgetsToCancel))
    assert isinstance(error, RuleBroken)
    assert error.rule == "TIMER-CANCEL"
    Path("case.jsonl").write_text(case_in(told(error)), encoding="utf-8")
    for name, code in (("ForgetsToCancel", 1), ("PlainTimer", 0)):
        words = ["case.jsonl", "--subject", f"{__name__}:{name}"]
        assert CliRunner().invoke(replay, words).exit_code == code
    answer = failure_of(timer_machine(TellsNothing))
    assert "advance returned" in str(answer)
    assert "it must return the names of the tasks that ran" in str(answer)


class NeedsMore(PlainTimer):
    def __init__(self, executor: object) -> None:
        super().__init__()


class NoClose:
    def do(self, operation: Operation) -> Outcome:
        return Outcome()


class NoConfiguration(NoClose):
    def __init__(self) -> None:
        """A configuration is not taken."""

    def close(self) -> None:
        """Nothing is held."""


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: timer_machine("bundeld"), "'bundeld' is no subject"),
        (lambda: timer_machine("mutant:none"), "there is no mutant 'none'"),
        (lambda: timer_machine("bundled-proposal"), "timer was asked for, it offers purgatory"),
        (lambda: timer_machine("bundled", {}), "declares its own profile: give none"),
        (lambda: timer_machine("bundled-real-clock"), "a machine needs a manual clock"),
        (lambda: timer_machine(NoClose), "NoClose has no method 'close'"),  # type: ignore[arg-type]
        (
            lambda: timer_machine(NoConfiguration),  # type: ignore[arg-type]
            "is not made with one configuration",
        ),
        (lambda: timer_machine(NeedsMore), "NeedsMore is not made with tick_ms, wheel_size and"),
        (
            lambda: timer_machine(NaiveTimer, {"features": ["cancle"]}),
            "Invalid enum value 'cancle'",
        ),
        (lambda: timer_machine(NaiveTimer, {"rouding": "up"}), "unknown field `rouding`"),
        (
            lambda: timer_machine(NaiveTimer, profiles.PurgatoryProfile()),
            "a TimerProfile or its words",
        ),
        (
            lambda: timer_machine(NaiveTimer, "kafka"),  # type: ignore[arg-type]
            "a TimerProfile or its words are needed",
        ),
        (lambda: memory_pool_machine(memory_pool.MemoryPoolInstance), "'strict', 'non_strict'"),
        (
            lambda: timer_machine(NaiveTimer, None, [Deviation("TIMER-SIZE", "none")]),
            "there is no variant 'none'; there are: ",
        ),
        (lambda: TimerMachine(), "TimerMachine tests nothing: say tests="),
    ],
)
def test_bad_input_is_said_where_the_machine_is_defined(
    make: Callable[[], object], message: str
) -> None:
    """The error says what is wrong."""
    with pytest.raises(Exception, match=re.escape(message)):
        make()


def shown(operation: Operation, result: bool | None = None, **observed: int) -> Step:
    return Step(operation, Outcome(result, observed=observed))


@pytest.mark.parametrize(
    ("machine", "configuration", "claim", "steps"),
    [
        (
            TheTimer,
            profiles.TimerConfiguration(tick_ms=10),
            "the_wheels_own_clock_is_a_tick_that_has_come",
            [shown(Advance(25), wheel_clock_ms=30)],
        ),
        (
            TheTimer,
            profiles.TimerConfiguration(tick_ms=10),
            "the_wheels_own_clock_is_a_tick_that_has_come",
            [shown(Advance(25), wheel_clock_ms=25)],
        ),
        (
            TheTimer,
            profiles.TimerConfiguration(wheel_size=2),
            "the_delay_queue_holds_buckets_and_not_tasks",
            [shown(Add("t1", 1), levels=1, queued_buckets=3)],
        ),
        (
            TheProposedPurgatory,
            profiles.PurgatoryConfiguration(purge_interval=2),
            "an_advance_leaves_no_more_to_purge_than_the_interval",
            [shown(Advance(1), estimate=5, timer_size=2)],
        ),
        (
            TheExactPurgatory,
            profiles.PurgatoryConfiguration(purge_interval=2),
            "an_advance_leaves_no_more_to_purge_than_the_interval",
            [shown(Advance(1), estimate=5, pending=2)],
        ),
        (
            TheExactPurgatory,
            profiles.PurgatoryConfiguration(),
            "the_estimate_is_what_is_owed_and_what_is_stale",
            [shown(Advance(1), estimate=5, pending=2, stale_entries=2)],
        ),
        (
            TheMemoryPool,
            profiles.MemoryPoolConfiguration(10, 4),
            "no_more_is_outstanding_than_the_bound",
            [shown(Allocate(f"b{n}", 4), True) for n in range(4)],
        ),
        (
            TheMemoryPool,
            profiles.MemoryPoolConfiguration(10, 4),
            "nothing_is_lost",
            [shown(Allocate("b1", 4), True), shown(Release("b1"), available_bytes=9)],
        ),
    ],
)
def test_each_claim_of_the_front_door_can_fail(
    machine: type[StepMachine], configuration: object, claim: str, steps: list[Step]
) -> None:
    front_door = machine()
    vars(front_door).update(configuration=configuration, steps=steps)
    with pytest.raises(AssertionError):
        getattr(front_door, claim)()
    vars(front_door).update(steps=steps[:-1])
    getattr(front_door, claim)()


def test_each_row_of_the_tables_is_a_rule() -> None:
    """There is one for each row, and one for the shutdown."""
    counted: Mapping[str, int] = {
        each.__name__: len(each.setup_state().rules) for each in StepMachine.__subclasses__()
    }
    assert counted == {
        "TimerMachine": 38,
        "PurgatoryMachine": 52,
        "MemoryPoolMachine": 20,
        "ChannelMutingMachine": 40,
    }
