"""Which rule of the purgatory is blamed where several could be, and what that explains."""

import pytest

from purgatory_conformance.generation.source import SeededSource
from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.specimens.small import purgatory
from purgatory_conformance.specimens.small.specimen import ScriptFailure
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate
from purgatory_judge.case_judge import Deviation
from purgatory_spec import profiles
from purgatory_spec.operations import (
    Answer,
    Check,
    Force,
    Operation,
    Script,
    Watch,
    WatchInside,
)

pytestmark = pytest.mark.recorded

SUPPORT = support_of(profiles.Component.PURGATORY)


def run_of(
    operations: tuple[Operation, ...],
    make: purgatory.MakePurgatory = purgatory.SmallPurgatory,
    profile: profiles.PurgatoryProfile = purgatory.PROFILE,
    deviations: tuple[Deviation, ...] = (),
) -> CaseRun:
    subject = purgatory.small_purgatory(make, profile)
    return run_case(subject, "case", profiles.PurgatoryConfiguration(), operations, deviations)


def blame_of(
    operations: tuple[Operation, ...],
    make: purgatory.MakePurgatory,
    profile: profiles.PurgatoryProfile = purgatory.PROFILE,
) -> tuple[str, tuple[str, ...]]:
    """The rule that the last step is blamed on, and those that explain it as well."""
    run = run_of(operations, make, profile)
    assert run.divergence is not None
    assert len(run.steps) == len(operations)
    return run.divergence.rule, run.divergence.also


WATCHES_ITSELF: tuple[Operation, ...] = (
    Watch("o1", ("a",), 9, Script(on_complete=(WatchInside("o1", ("b",), 9),))),
    Force("o1"),
)


class TriedAndWatched(purgatory.SmallPurgatory):
    """A completed operation is tried twice and gets entries, as in Kafka 3.9.1."""

    def watch_completed(self, operation: purgatory.DelayedOperation, keys: tuple[str, ...]) -> bool:
        """Like one that is not completed, but for the time-out."""
        self.attempt(operation)
        self.enlist(operation, keys)
        result = super().watch_completed(operation, keys)
        self.attempt(operation)
        return result


COMPLETED_WATCHED = Deviation("PURGATORY-WATCH-COMPLETED", "completed_watched", "")


def watches_itself(case: Candidate) -> bool:
    """Decide whether a callback watches its own operation, and no try acts.

    A try that completes its operation makes the subject deviate in another way.
    """
    watches = [each for each in case.operations if isinstance(each, Watch)]
    return not any(watch.script.on_try for watch in watches) and any(
        isinstance(action, WatchInside) and action.operation == watch.operation
        for watch in watches
        for action in (*watch.script.on_complete, *watch.script.on_expiration)
    )


def drawn(seed: int) -> Candidate:
    source, wanted = SeededSource(seed), frozenset({"PURGATORY-WATCH-INSIDE"})
    configuration = SUPPORT.draw_configuration(purgatory.PROFILE, source, wanted)
    operations = SUPPORT.draw_operations(
        configuration, purgatory.PROFILE, source, most=40, wanted=wanted
    )
    return Candidate(configuration, operations)


@pytest.mark.slow
def test_self_watching_callbacks_are_explained_by_the_declared_deviation() -> None:
    """Each passes or deviates as declared; undeclared, some of them fail by that rule."""
    subject = purgatory.small_purgatory(TriedAndWatched)
    cases = [case for seed in range(400) if watches_itself(case := drawn(seed))]
    declared = [
        run_case(subject, "case", case.configuration, case.operations, (COMPLETED_WATCHED,))
        for case in cases
    ]
    assert {run.verdict for run in declared} <= {CaseVerdict.PASS, CaseVerdict.DEVIATES}
    assert sum(run.verdict is CaseVerdict.DEVIATES for run in declared) > 10
    by_itself = run_of(WATCHES_ITSELF, TriedAndWatched, deviations=(COMPLETED_WATCHED,))
    assert by_itself.verdict is CaseVerdict.DEVIATES
    assert blame_of(WATCHES_ITSELF, TriedAndWatched)[0] == COMPLETED_WATCHED.rule


class StopsAtTheFirst(purgatory.SmallPurgatory):
    """A check tries the oldest entry and no other."""

    def met_by_check(self, key: str) -> list[purgatory.Entry]:
        return super().met_by_check(key)[:1]


class SwallowsTheException(purgatory.SmallPurgatory):
    """A check ends at a try that throws, and its caller hears nothing of it."""

    def check(self, key: str) -> int:
        try:
            return super().check(key)
        except ScriptFailure:
            return 0


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (StopsAtTheFirst, "PURGATORY-CHECK-ORDER"),
        (SwallowsTheException, "PURGATORY-CHECK-THROWS"),
    ],
)
def test_a_try_that_is_left_out_is_no_exception_that_is_lost(
    make: purgatory.MakePurgatory, rule: str
) -> None:
    throws = Script(tries=(Answer.WAIT, Answer.WAIT, Answer.THROW))
    operations = Watch("o1", ("a",), 9), Watch("o2", ("a",), 9, throws), Check("a")
    assert blame_of(operations, make)[0] == rule


class StopsAtTheSecond(purgatory.SmallPurgatory):
    """A check tries the two oldest entries and no other."""

    def met_by_check(self, key: str) -> list[purgatory.Entry]:
        return super().met_by_check(key)[:2]


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (StopsAtTheFirst, "PURGATORY-DUPLICATE-KEYS"),
        (StopsAtTheSecond, "PURGATORY-CHECK-ORDER"),
    ],
)
def test_what_meets_a_key_again_knows_that_it_counts_again(
    make: purgatory.MakePurgatory, rule: str
) -> None:
    operations = Watch("o1", ("a", "a", "a"), 9), Check("a")
    assert blame_of(operations, make)[0] == rule
