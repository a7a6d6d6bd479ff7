"""The table of situations for the purgatory, and how its cases are made simpler."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given, settings

import purgatory_conformance.subjects.bundled.purgatory as bundled_purgatory
from purgatory_conformance.generation.fields import parts
from purgatory_conformance.generation.purgatory.table import PurgatoryDraft
from purgatory_conformance.generation.purgatory.tries import changes_a_long_list
from purgatory_conformance.generation.source import SeededSource
from purgatory_conformance.reducing.reducer import simpler
from purgatory_conformance.reducing.size import size
from purgatory_conformance.running.case_run import CaseVerdict, run_case
from purgatory_conformance.running.shrinking import reduce_case, search_smaller
from purgatory_conformance.specimens.mutants import mutant
from purgatory_conformance.specimens.small.purgatory import PROFILE, small_purgatory
from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate
from purgatory_impl.chunks import CHUNK, Chunk
from purgatory_judge.components import narrowed
from purgatory_spec.operations import (
    Advance,
    Answer,
    Check,
    Elapse,
    Force,
    ForceInside,
    Operation,
    RunOne,
    Satisfy,
    Script,
    Shutdown,
    Throw,
    ThrowSort,
    Watch,
    WatchInside,
    operation_name,
)
from purgatory_spec.profiles import (
    Component,
    Executor,
    PurgatoryConfiguration,
    PurgatoryFeature,
    PurgatoryProfile,
)
from tests.conformance.generated import candidates, drawn, run_of

pytestmark = pytest.mark.recorded

SUPPORT = support_of(Component.PURGATORY)


def seeded(
    seed: int, profile: PurgatoryProfile = PROFILE, wanted: frozenset[str] = frozenset()
) -> Candidate:
    return drawn(Component.PURGATORY, profile, seed, most=40, wanted=wanted)


LISTS = {"PURGATORY-TRY-INSIDE", "PURGATORY-CHECK-ORDER", "PURGATORY-CHECK-INSIDE"}

ALWAYS = {"watch", "check", "advance", "satisfy"}


@pytest.mark.parametrize("feature", [None, *PurgatoryFeature])
def test_only_declared_features_are_asked_for(feature: PurgatoryFeature | None) -> None:
    """No operation needs another feature, and the subject can be asked each case."""
    profile = PurgatoryProfile(features=frozenset({feature} if feature else ()))
    used: Counter[str] = Counter()
    scripts = 0
    for seed in range(40):
        case = seeded(seed, profile)
        assert SUPPORT.usable(profile, case)
        used.update(operation_name(operation) for operation in case.operations)
        configuration = case.configuration
        assert isinstance(configuration, PurgatoryConfiguration)
        assert configuration.time_outs or feature is PurgatoryFeature.NO_TIME_OUTS
        scripts += sum(any(op.script.callbacks) for op in case.operations if isinstance(op, Watch))
    assert set(used) <= ALWAYS | ({feature.value} if feature else set())
    assert min(used[name] for name in ALWAYS) > 20
    goes_with_another = feature in {
        PurgatoryFeature.SCRIPT_THROW_SEVERE,
        PurgatoryFeature.SCRIPT_CROSSWISE,
    }
    is_of_scripts = feature is not None and feature.value.startswith("script_")
    assert (scripts > 0) == (is_of_scripts and not goes_with_another)


def test_severe_exceptions_are_thrown_where_they_are_declared() -> None:
    """They are about half of the exceptions there, and elsewhere there are none."""
    features = frozenset(PurgatoryFeature)
    for offered in (features, features - {PurgatoryFeature.SCRIPT_THROW_SEVERE}):
        sorts: Counter[ThrowSort] = Counter()
        for seed in range(80):
            for struct in parts(
                seeded(seed, msgspec.structs.replace(PROFILE, features=offered)).operations
            ):
                sorts.update([struct.sort] if isinstance(struct, Throw) else [])
                if isinstance(struct, Script):
                    sorts.update(answer.sort for answer in struct.tries if answer.throws)
        assert sorts[ThrowSort.ORDINARY] > 20
        assert (sorts[ThrowSort.SEVERE] > 20) == (offered == features)


@pytest.mark.parametrize(
    ("feature", "is_reached"),
    [
        (PurgatoryFeature.SCRIPT_CHECK, True),
        (PurgatoryFeature.SCRIPT_FORCE, True),
        (PurgatoryFeature.SCRIPT_WATCH, False),
    ],
)
def test_a_lost_expiry_is_reached_with_one_feature_of_scripts(
    feature: PurgatoryFeature, is_reached: bool
) -> None:
    """The rule is put to the test often enough for a verdict, or never."""
    lost = "PURGATORY-LOST-EXPIRY"
    profile = msgspec.structs.replace(
        PROFILE, features=frozenset({feature}), executor=Executor.INLINE
    )
    subject = small_purgatory(profile=profile)
    runs = [run_of(subject, seeded(seed, profile, frozenset({lost}))) for seed in range(60)]
    visits = sum(run.visits[lost] for run in runs)
    assert (visits >= 20) if is_reached else (visits == 0)


@pytest.mark.slow
def test_wanted_rules_are_steered_to() -> None:
    """Its situation comes up a quarter again as often, or more; a case counts twice at most."""

    def forces(wanted: frozenset[str]) -> int:
        cases = [seeded(seed, wanted=wanted).operations for seed in range(120)]
        return sum(min(2, sum(isinstance(op, Force) for op in case)) for case in cases)

    without = forces(frozenset())
    assert 4 * forces(frozenset({"PURGATORY-FORCE"})) > 5 * without > 60


@pytest.mark.slow
def test_steering_ends_with_time_outs_disabled_and_with_shutdown() -> None:
    """Draw more cases of a situation where its rule is wanted than where it is not."""
    no_time_outs, shutdown = "PURGATORY-NO-TIME-OUTS", "PURGATORY-SHUTDOWN-AGAIN"
    plain = [seeded(seed) for seed in range(60)]
    without = [seeded(seed, wanted=frozenset({no_time_outs})) for seed in range(60)]
    shut = [seeded(seed, wanted=frozenset({shutdown})) for seed in range(60)]
    assert _without_time_outs(without) > _without_time_outs(plain) > 0
    assert _with_shutdown(shut) > _with_shutdown(plain) > 0


def _without_time_outs(cases: list[Candidate]) -> int:
    configurations = [case.configuration for case in cases]
    return sum(isinstance(c, PurgatoryConfiguration) and not c.time_outs for c in configurations)


def _with_shutdown(cases: list[Candidate]) -> int:
    return sum(Shutdown() in case.operations for case in cases)


@given(candidates(PROFILE, most=12))
@settings(max_examples=40)
def test_the_small_purgatory_passes_what_hypothesis_draws(case: Candidate) -> None:
    """Given cases that Hypothesis draws from the same table: it passes."""
    run = run_case(small_purgatory(), "drawn", case.configuration, case.operations)
    assert run.verdict is CaseVerdict.PASS


def shrunk(name: str) -> Candidate:
    subject = mutant(name).make()
    profile = subject.profiles[Component.PURGATORY]
    assert isinstance(profile, PurgatoryProfile)

    def fails(case: Candidate) -> bool:
        run = run_case(subject, "c", case.configuration, case.operations)
        return run.verdict is CaseVerdict.FAIL

    found = next(case for seed in range(99) if fails(case := seeded(seed, profile)))
    reduced = reduce_case(profile, found, fails, 400)
    return search_smaller(profile, reduced, fails, seed=1, most_runs=800)


@pytest.mark.slow
def test_a_failing_case_is_shrunk_to_its_core() -> None:
    """Shrink the case to one watch under two keys, and one cancel."""
    smallest = shrunk("cancel-takes-time-out")
    watch, cancel = smallest.operations
    assert isinstance(watch, Watch)
    assert (watch.operation, set(watch.keys), watch.delay_ms) == ("o1", {"a", "b"}, 1)
    assert watch.script == Script()
    assert operation_name(cancel) == "cancel_for_key"
    assert smallest.configuration == PurgatoryConfiguration(purge_interval=0, wheel_size=2)


LONG = Candidate(
    PurgatoryConfiguration(20, False, 3, 5, 7),
    (
        Watch(
            "o7",
            ("c", "d", "c"),
            9,
            Script(on_complete=(Throw(), WatchInside("o9", ("d", "a"), 4), ForceInside("o8"))),
        ),
        Elapse(10),
        Watch("o8", ("d",), 6),
        Satisfy("o7"),
        Check("d"),
        Force("o8"),
        Advance(25),
        RunOne(),
    ),
)


def test_simpler_cases_take_away_each_thing_in_turn() -> None:
    """
    Given a case in which everything is more than it must be
    When simpler cases are asked for
    Then each thing is taken away in one of them, and most are simpler by the size
    """
    cases = list(simpler(PROFILE, LONG.configuration, LONG.operations))
    configurations = [narrowed(each, PurgatoryConfiguration) for each, _ in cases]
    firsts = [operations[0] for _, operations in cases]
    watches = [first for first in firsts if isinstance(first, Watch)]
    assert any(each.purge_interval == 0 for each in configurations)
    assert any(each.time_outs for each in configurations)
    assert any(each.tick_ms == 1 for each in configurations)
    assert any(each.wheel_size == 2 for each in configurations)
    assert any(each.start_ms == 0 for each in configurations)
    assert any(watch.keys == ("c", "d") for watch in watches)
    assert any("c" not in watch.keys for watch in watches)
    assert any(watch.operation == "o1" and watch.keys == ("a", "b", "a") for watch in watches)
    assert any(watch.script == Script() for watch in watches)
    assert any(watch.delay_ms == 1 for watch in watches)
    assert any(Watch("o9", ("d", "a"), 4) in operations for _, operations in cases)
    forced = [operations for _, operations in cases if Force("o7") in operations]
    assert {len(operations) for operations in forced} == {len(LONG.operations) - 1}
    unforced = simpler(PurgatoryProfile(), LONG.configuration, LONG.operations)
    assert not any(Force("o7") in operations for _, operations in unforced)
    smaller = [case for case in cases if size(*case) < size(LONG.configuration, LONG.operations)]
    assert len(smaller) > len(cases) // 2


def test_reduction_keeps_failing_and_ends_small() -> None:
    """
    Given a failure that needs one check of a key under which somebody waits
    When a case is reduced
    Then nothing else is left
    """

    def fails(candidate: Candidate) -> bool:
        watched = {key for op in candidate.operations if isinstance(op, Watch) for key in op.keys}
        return any(isinstance(op, Check) and op.key in watched for op in candidate.operations)

    smallest = reduce_case(PROFILE, LONG, fails, 3000)
    assert smallest.operations == (Watch("o1", ("a",), 1), Check("a"))
    assert smallest.configuration == PurgatoryConfiguration(purge_interval=0, wheel_size=2)


UNUSABLE: dict[str, tuple[Operation, ...]] = {
    "the clock goes back": (Advance(8), Advance(5)),
    "a key is given twice": (Watch("o1", ("a", "a"), 1),),
    "an operation is watched again": (Watch("o1", ("a",), 1), Watch("o1", ("b",), 1)),
    "a forced operation is watched": (Force("o1"), Watch("o1", ("b",), 1)),
    "an unknown operation is satisfied": (Satisfy("o1"),),
    "an operation that a callback forced is watched": (
        Watch("o0", ("a",), 1, Script(on_complete=(ForceInside("o1"),))),
        Force("o0"),
        Watch("o1", ("b",), 1),
    ),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_unusable_cases_are_told(name: str) -> None:
    """It is not, and the case without the offending operation is."""
    profile = PurgatoryProfile(executor=Executor.STEPPED)
    operations = UNUSABLE[name]
    configuration = PurgatoryConfiguration()
    assert not SUPPORT.usable(profile, Candidate(configuration, operations))
    assert SUPPORT.usable(profile, Candidate(configuration, operations[:-1]))


def test_a_callback_may_force_what_was_watched_before() -> None:
    first, force, second = UNUSABLE["an operation that a callback forced is watched"]
    case = Candidate(PurgatoryConfiguration(), (first, second, force))
    assert SUPPORT.usable(PurgatoryProfile(executor=Executor.STEPPED), case)


def test_what_a_feature_allows_is_usable() -> None:
    """Given a subject that offers to watch again, and under a key twice: they are usable."""
    features = frozenset({PurgatoryFeature.REWATCH, PurgatoryFeature.DUPLICATE_KEYS})
    profile = msgspec.structs.replace(PurgatoryProfile(), features=features)
    for name in ("a key is given twice", "an operation is watched again"):
        candidate = Candidate(PurgatoryConfiguration(), UNUSABLE[name])
        assert SUPPORT.usable(profile, candidate)


SECOND_ENTRY_COMPLETES = Script((Answer.WAIT, Answer.WAIT, Answer.WAIT, Answer.COMPLETE))


def _at_second_entry(operations: Sequence[Operation]) -> bool:
    return any(
        isinstance(watch, Watch)
        and watch.script == SECOND_ENTRY_COMPLETES
        and isinstance(check, Check)
        and watch.keys.count(check.key) == 2
        for watch, check in pairwise(operations)
    )


def _under_no_key_after_shutdown(operations: Sequence[Operation]) -> bool:
    if Shutdown() not in operations:
        return False
    later = operations[operations.index(Shutdown()) :]
    return any(isinstance(watch, Watch) and not watch.keys for watch in later)


def _introduced_by_a_refused_watch(operations: Sequence[Operation]) -> bool:
    return any(
        isinstance(refused, Watch)
        and isinstance(again, Watch)
        and not refused.keys
        and refused.operation == again.operation
        and refused.delay_ms < again.delay_ms
        for refused, again in pairwise(operations)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "happens",
    [_at_second_entry, _under_no_key_after_shutdown, _introduced_by_a_refused_watch],
    ids=lambda happens: happens.__name__.strip("_"),
)
def test_rare_situations_are_drawn(happens: Callable[[Sequence[Operation]], bool]) -> None:
    """Draw the situation in several of some hundred cases, and not in most of them."""
    found = sum(happens(seeded(seed).operations) for seed in range(400))
    assert 3 <= found < 200


def _is_forced(watch: Watch, case: Candidate) -> bool:
    return Force(watch.operation) in case.operations


def test_interval_and_entries_are_lowered_together() -> None:
    """One operation under one key and an interval of one are left."""

    def fails(candidate: Candidate) -> bool:
        watches = [op for op in candidate.operations if isinstance(op, Watch)]
        configuration = candidate.configuration
        assert isinstance(configuration, PurgatoryConfiguration)
        stale = sum(len(watch.keys) for watch in watches if _is_forced(watch, candidate))
        return stale == configuration.purge_interval > 0

    two_keys = (Watch("o1", ("a", "b"), 1), Force("o1"))
    two_operations = (Watch("o1", ("a",), 1), Force("o1"), Watch("o2", ("b",), 1), Force("o2"))
    for case in (two_keys, two_operations):
        found = Candidate(PurgatoryConfiguration(purge_interval=2), case)
        smallest = reduce_case(PROFILE, found, fails, 3000)
        assert smallest.configuration == PurgatoryConfiguration(purge_interval=1, wheel_size=2)
        assert [op.keys for op in smallest.operations if isinstance(op, Watch)] == [("a",)]


@pytest.mark.parametrize("seed", range(3))
def test_a_try_changes_a_long_list_under_a_check(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The case passes; where the check goes on at the same number of another part, it fails."""
    draft = PurgatoryDraft(PurgatoryConfiguration(), bundled_purgatory.PROFILE)
    operations = changes_a_long_list(draft.world, SeededSource(f"long-{seed}"))
    entries = Counter(key for each in operations if isinstance(each, Watch) for key in each.keys)
    subject = bundled_subject()

    passed = run_case(subject, "passes", PurgatoryConfiguration(), operations)
    monkeypatch.setattr(Chunk, "moved", lambda self, index: index)
    failed = run_case(subject, "fails", PurgatoryConfiguration(), operations)

    assert max(entries.values()) > CHUNK
    assert passed.verdict is CaseVerdict.PASS
    assert failed.verdict is CaseVerdict.FAIL
    assert failed.divergence is not None
    assert failed.divergence.rule in LISTS
