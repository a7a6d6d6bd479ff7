"""The suite catches each of its own wrong subjects, and blames it on the right rule."""

from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from purgatory_conformance.specimens import reported, wrong
from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.mutants import mutants
from purgatory_conformance.specimens.small import memory_pool
from purgatory_conformance.specimens.small.memory_pool import SmallMemoryPool, small_pool_subject
from purgatory_conformance.specimens.small.purgatory import PROFILE, SmallPurgatory, small_purgatory
from purgatory_conformance.specimens.small.timer import SILENT_PROFILE, SmallTimer, small_subject
from purgatory_spec.profiles import Component, Executor, PurgatoryFeature, PurgatoryObservable
from purgatory_spec.requirements import requirements_of_steps
from tests.conformance.generated import passes, shrunk_divergence

OWN = [each for each in mutants() if not each.report and each.rule != "PURGATORY-NO-CIRCLE"]
"""Our own wrong subjects, but for those that hang; see ``test_two_threads``."""

BLAMED_OTHERWISE = {"offered-twice": "TIMER-READD-PENDING"}
"""Wrong subjects whose first case is shrunk to another situation: a task that is added again."""


@pytest.mark.recorded
@pytest.mark.parametrize("mutant", OWN, ids=lambda mutant: mutant.name)
def test_mutant_is_caught_and_blamed_on_its_rule(mutant: Mutant) -> None:
    with closing(mutant.make()) as subject:
        rule = shrunk_divergence(subject, mutant.component).rule
    assert rule in (BLAMED_OTHERWISE.get(mutant.name, mutant.rule), *mutant.also)


def test_mutants_have_names_and_summaries_of_their_own() -> None:
    """Names are words of the command line; each mutant says in a sentence what is wrong with it."""
    names = [mutant.name for mutant in mutants()]
    assert len(names) == len(set(names))
    for mutant in mutants():
        first = mutant.summary.splitlines()[0]
        assert first.endswith("."), mutant.name
        assert first.split()[0] not in {"What", "Who", "Whoever", "Where", "When", "Nobody", "No"}


def test_every_module_of_wrong_subjects_is_imported_by_their_package() -> None:
    """A module that is not imported would register nothing, and nobody would miss it."""
    for package in (reported, wrong):
        modules = {path.stem for path in Path(package.__path__[0]).glob("*.py")}
        assert modules - {"__init__"} <= set(vars(package))


@pytest.mark.parametrize("component", Component)
def test_each_rule_is_broken_by_a_mutant(component: Component) -> None:
    """None is missing but the one that needs a real clock."""
    rules = {rule.id for rule in requirements_of_steps(component)} - {"TIMER-LATENESS"}
    mine = [mutant for mutant in mutants() if mutant.component is component]
    assert {mutant.rule for mutant in mine} == rules
    assert {rule for mutant in mine for rule in mutant.also} <= rules


VISIBLE_BY_EVENTS = (
    (wrong.expiry.rounds_up, "TIMER-ROUNDING"),
    (wrong.expiry.early_at_tick_ten, "TIMER-NOT-EARLY"),
    (wrong.expiry.one_tick_late, "TIMER-NOT-LATE TIMER-ADVANCE-INSIDE"),
    (wrong.expiry.ticks_backwards, "TIMER-TICK-ORDER"),
    (wrong.expiry.bucket_keeps_tasks, "TIMER-EXACTLY-ONCE"),
    (wrong.expiry.zero_dropped, "TIMER-ZERO-DELAY"),
    (wrong.expiry.huge_wraps, "TIMER-LARGEST-DELAY"),
    (wrong.arming.readd_leaves_old_arming, "TIMER-READD-PENDING"),
    (wrong.arming.cancel_sticks, "TIMER-READD-CANCELLED"),
    (wrong.arming.only_once, "TIMER-READD-FIRED"),
    (wrong.arming.readd_takes_queued_run, "TIMER-READD-FIRED"),
    (wrong.arming.cancelled_still_fires, "TIMER-CANCEL"),
    (wrong.arming.cancel_takes_queued_run, "TIMER-CANCEL-TOO-LATE"),
    (wrong.executor.last_in_first_out, "TIMER-EXECUTOR-ORDER"),
    (wrong.executor.throw_loses_batch, "TIMER-THROWING-TASK TIMER-READD-FIRED"),
    (wrong.executor.cancel_inside_ignored, "TIMER-CANCEL-INSIDE"),
    (wrong.executor.advance_inside_ignored, "TIMER-ADVANCE-INSIDE"),
    (wrong.executor.shutdown_empties_queue, "TIMER-SHUTDOWN-QUEUE"),
    (wrong.wheel.lost_on_cascade, "TIMER-NOT-LATE TIMER-READD-PENDING"),
    (wrong.wheel.expires_with_its_bucket, "TIMER-NOT-EARLY TIMER-LARGEST-DELAY"),
)
"""Wrong timers that declare no structure and show nothing, with the rules to blame."""


@pytest.mark.recorded
@pytest.mark.parametrize(
    ("timer", "rules"), VISIBLE_BY_EVENTS, ids=lambda value: getattr(value, "__name__", None)
)
def test_events_alone_name_the_rule(timer: type[SmallTimer], rules: str) -> None:
    """A first adapter shows nothing but events, and no rule about timing wheels is named."""
    subject = small_subject(timer, SILENT_PROFILE)
    assert shrunk_divergence(subject, Component.TIMER).rule in rules.split()


VISIBLE_BY_ANSWERS = (
    (wrong.granting.strict_ignores_size, "POOL-STRICT"),
    (wrong.granting.non_strict_wants_all, "POOL-NON-STRICT"),
    (wrong.granting.admits_at_zero, "POOL-NON-STRICT"),
    (wrong.granting.refusal_debits, "POOL-REFUSAL"),
    (wrong.granting.failure_credits, "POOL-ALLOCATION-FAILS"),
    (wrong.granting.negative_changes, "POOL-NEGATIVE-REQUEST"),
    (wrong.granting.zero_refused, "POOL-ZERO-REQUEST"),
    (wrong.granting.oversize_granted, "POOL-OVERSIZE-REQUEST"),
    (wrong.releasing.release_forgets, "POOL-RELEASE"),
    (wrong.releasing.first_byte_stays, "POOL-RELEASE"),
    (wrong.releasing.release_twice, "POOL-RELEASE-AGAIN"),
    (wrong.releasing.slice_frees_buffer, "POOL-RELEASE-SLICE"),
    (wrong.releasing.EqualIsTaken, "POOL-RELEASE-COPY POOL-RELEASE-FOREIGN"),
    (wrong.releasing.ForeignIsCredited, "POOL-RELEASE-FOREIGN"),
    (wrong.releasing.leak_is_lost, "POOL-LEAK"),
)


@pytest.mark.recorded
@pytest.mark.parametrize(
    ("pool", "rules"), VISIBLE_BY_ANSWERS, ids=lambda value: getattr(value, "__name__", None)
)
def test_answers_alone_name_the_rule(pool: type[SmallMemoryPool], rules: str) -> None:
    """A pool that does not show what is available is blamed by what was done before."""
    silent = msgspec.structs.replace(memory_pool.PROFILE, observables=frozenset())
    subject = small_pool_subject(pool, profile=silent)
    assert shrunk_divergence(subject, Component.MEMORY_POOL).rule in rules.split()


INLINE = (
    (wrong.completing.expiration_first, "PURGATORY-CALLBACK-ORDER"),
    (wrong.completing.time_out_late, "PURGATORY-TIME-OUT"),
    (wrong.completing.lost_expiry_expires, "PURGATORY-LOST-EXPIRY"),
    (wrong.completing.expiry_throw_loses_queue, "PURGATORY-EXPIRY-THROWS"),
    (wrong.completing.expiration_despite_throw, "PURGATORY-CALLBACK-THROWS"),
    (wrong.checking.cancel_for_key_inside_lost, "PURGATORY-CANCEL-INSIDE"),
    (wrong.counting.never_purges, "PURGATORY-PURGE-START"),
)
"""Wrong purgatories whose executor runs inline, with the rule that is to blame."""


@pytest.mark.recorded
@pytest.mark.parametrize(("make", "rule"), INLINE, ids=lambda each: getattr(each, "__name__", None))
def test_inline_executor_names_the_rule(make: type[SmallPurgatory], rule: str) -> None:
    """The rule is named although expiries are not seen."""
    features = PROFILE.features - {PurgatoryFeature.SCRIPT_TRY, PurgatoryFeature.SCRIPT_MEANWHILE}
    profile = msgspec.structs.replace(PROFILE, executor=Executor.INLINE, features=features)
    subject = small_purgatory(make, profile)
    assert shrunk_divergence(subject, Component.PURGATORY).rule == rule


@pytest.mark.recorded
@pytest.mark.parametrize("is_shown", [True, False])
def test_time_out_taken_after_on_complete_is_seen_by_the_size_in_the_callback(
    is_shown: bool,
) -> None:
    shown = {PurgatoryObservable.CALLBACK_TIMER_SIZE} if is_shown else set()
    profile = msgspec.structs.replace(PROFILE, features=frozenset(), observables=frozenset(shown))
    subject = small_purgatory(wrong.completing.time_out_taken_last, profile)
    if is_shown:
        found = shrunk_divergence(subject, Component.PURGATORY)
        assert (found.rule, found.kind) == ("PURGATORY-CALLBACK-ORDER", "callback_timer_size")
    else:
        passes(subject, Component.PURGATORY, cases=40)
