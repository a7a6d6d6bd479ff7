"""Which rule of the purgatory is blamed where several could be, and what that explains."""

import msgspec
import pytest

from purgatory_conformance.generation.source import SeededSource
from purgatory_conformance.judging.case_judge import Deviation
from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.specimens.purgatory_mutants import SILENT_PROFILE
from purgatory_conformance.specimens.small.purgatory import (
    PROFILE,
    DelayedOperation,
    MakePurgatory,
    SmallPurgatory,
    small_purgatory,
)
from purgatory_conformance.specimens.wrong.checking import SweepsBehind
from purgatory_conformance.specimens.wrong.watching import (
    CompletedIsArmed,
    CompletedIsWatched,
    FirstTryThrowsArmed,
)
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate
from purgatory_spec import profiles
from purgatory_spec.operations import (
    Advance,
    Answer,
    Check,
    Elapse,
    Force,
    ForceInside,
    Operation,
    Satisfy,
    Script,
    Watch,
    WatchInside,
)

SUPPORT = support_of(profiles.Component.PURGATORY)
FORCES_FIRST = Script(on_complete=(ForceInside("o1"),))


def run_of(
    operations: tuple[Operation, ...],
    make: MakePurgatory = SmallPurgatory,
    profile: profiles.PurgatoryProfile = PROFILE,
    deviations: tuple[Deviation, ...] = (),
) -> CaseRun:
    subject = small_purgatory(make, profile)
    return run_case(subject, "case", profiles.PurgatoryConfiguration(), operations, deviations)


def blame_of(
    operations: tuple[Operation, ...],
    make: MakePurgatory,
    profile: profiles.PurgatoryProfile = PROFILE,
) -> tuple[str, tuple[str, ...]]:
    """The rule that the last step is blamed on, and those that explain it as well."""
    run = run_of(operations, make, profile)
    assert run.divergence is not None
    assert len(run.steps) == len(operations)
    return run.divergence.rule, run.divergence.also


SECOND_ENTRY: tuple[Operation, ...] = (
    Watch("o1", ("a", "a"), 9, Script((Answer.WAIT, Answer.WAIT, Answer.WAIT, Answer.COMPLETE))),
    Check("a"),
)
BY_CALLBACK: tuple[Operation, ...] = (
    Watch("o1", ("a",), 9),
    Watch("o2", ("a",), 9, FORCES_FIRST),
    Satisfy("o2"),
    Check("a"),
)


@pytest.mark.parametrize("operations", [SECOND_ENTRY, BY_CALLBACK], ids=["entry", "callback"])
def test_an_entry_that_a_check_has_passed_stays(operations: tuple[Operation, ...]) -> None:
    """The first is right, and the second is blamed on what a check drops."""
    right = run_of(operations)
    assert right.verdict is CaseVerdict.PASS
    outcome = right.steps[-1].outcome
    assert outcome is not None
    assert (outcome.result, outcome.observed["stale_entries"]) == (1, 1)
    assert blame_of(operations, SweepsBehind)[0] == "PURGATORY-CHECK-DROPS"


class ForcedIsLost(SmallPurgatory):
    """What a callback forces leaves all lists, and so does what waits beside it."""

    def check(self, key: str) -> int:
        """The list is forgotten."""
        count = super().check(key)
        self.lists.pop(key, None)
        return count


def test_other_wrong_lists_behind_a_callback_are_its_own() -> None:
    """More is wrong than the entry that was passed, and the callback's rule is blamed."""
    operations = (Watch("o3", ("a",), 9), *BY_CALLBACK)
    assert blame_of(operations, ForcedIsLost)[0] == "PURGATORY-FORCE-INSIDE"


WATCHES_ITSELF: tuple[Operation, ...] = (
    Watch("o1", ("a",), 9, Script(on_complete=(WatchInside("o1", ("b",), 9),))),
    Force("o1"),
)


@pytest.mark.parametrize("make", [CompletedIsWatched, CompletedIsArmed])
def test_an_operation_that_watches_itself_is_completed(make: type[SmallPurgatory]) -> None:
    assert blame_of(WATCHES_ITSELF, make) == (
        "PURGATORY-WATCH-COMPLETED",
        ("PURGATORY-CALLBACK-ORDER",),
    )


def test_a_completed_operation_watched_by_a_step_has_one_explanation() -> None:
    """When it is watched and then in the lists, the order of callbacks does not explain it."""
    operations = (Watch("o1", ("a",), 9), Force("o1"), Watch("o1", ("b",), 9))
    assert blame_of(operations, CompletedIsWatched) == ("PURGATORY-WATCH-COMPLETED", ())


class TriedAndWatched(SmallPurgatory):
    """A completed operation is tried twice and gets entries, as in Kafka 3.9.1."""

    def watch_completed(self, operation: DelayedOperation, keys: tuple[str, ...]) -> bool:
        """Like one that is not completed, but for the time-out."""
        self.attempt(operation)
        self.enlist(operation, keys)
        result = super().watch_completed(operation, keys)
        self.attempt(operation)
        return result


COMPLETED_WATCHED = Deviation("PURGATORY-WATCH-COMPLETED", "completed_watched", "")


def watches_itself(case: Candidate) -> bool:
    return any(
        isinstance(action, WatchInside) and action.operation == watch.operation
        for watch in case.operations
        if isinstance(watch, Watch)
        for action in (*watch.script.on_complete, *watch.script.on_expiration)
    )


def drawn(seed: int) -> Candidate:
    source, wanted = SeededSource(seed), frozenset({"PURGATORY-WATCH-INSIDE"})
    configuration = SUPPORT.draw_configuration(PROFILE, source, wanted)
    operations = SUPPORT.draw_operations(configuration, PROFILE, source, most=40, wanted=wanted)
    return Candidate(configuration, operations)


@pytest.mark.slow
def test_self_watching_callbacks_are_explained_by_the_declared_deviation() -> None:
    """Each passes or deviates as declared; undeclared, some of them fail by that rule."""
    subject = small_purgatory(TriedAndWatched)
    cases = [case for seed in range(200) if watches_itself(case := drawn(seed))]
    declared = [
        run_case(subject, "case", case.configuration, case.operations, (COMPLETED_WATCHED,))
        for case in cases
    ]
    assert {run.verdict for run in declared} <= {CaseVerdict.PASS, CaseVerdict.DEVIATES}
    assert sum(run.verdict is CaseVerdict.DEVIATES for run in declared) > 10
    by_itself = run_of(WATCHES_ITSELF, TriedAndWatched, deviations=(COMPLETED_WATCHED,))
    assert by_itself.verdict is CaseVerdict.DEVIATES
    assert blame_of(WATCHES_ITSELF, TriedAndWatched)[0] == COMPLETED_WATCHED.rule


@pytest.mark.parametrize("executor", [profiles.Executor.STEPPED, profiles.Executor.INLINE])
def test_time_out_that_a_wheel_must_run_at_once_is_missing(executor: profiles.Executor) -> None:
    profile = msgspec.structs.replace(
        SILENT_PROFILE, executor=executor, structure=profiles.Structure.DELAY_QUEUE_WHEEL
    )
    assert blame_of((Watch("o1", ("a",), 0),), SmallPurgatory, profile)[0] == "PURGATORY-TIME-OUT"


def test_time_out_that_a_throwing_watch_has_moved_is_blamed_on_that_watch() -> None:
    """It is blamed on the first try that threw, also where a second one threw before."""
    for tries in ((Answer.WAIT, Answer.WAIT, Answer.THROW), (Answer.WAIT, Answer.THROW)):
        watch = Watch("o1", ("a",), 4, Script(tries))
        operations = (watch, Elapse(1), watch, Advance(4))
        blamed = blame_of(operations, FirstTryThrowsArmed, SILENT_PROFILE)
        assert blamed[0] == "PURGATORY-FIRST-TRY-THROWS"
