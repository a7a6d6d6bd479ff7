"""The old design before the suite: right in everything but the accounting that it never had."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from purgatory_conformance.running.campaign import Budget, Campaign, Verdict, run_campaign
from purgatory_lab.benchmarks.baselines import Purgatory
from purgatory_spec.operations import Advance
from purgatory_spec.outcomes import completed
from purgatory_spec.profiles import Component, PurgatoryObservable
from tests.lab.benchmarks.baselines import old_design_subject as subject_module
from tests.lab.benchmarks.baselines.old_design_subject import LISTS, NEVER_HAD, old_design_subject

pytestmark = pytest.mark.recorded

BUDGET = Budget(least_cases=60, shrink_runs=60)


def judged(
    observables: frozenset[PurgatoryObservable] = frozenset(),
    *,
    by_stale: bool = False,
    budget: Budget = BUDGET,
) -> Campaign:
    subject = old_design_subject(observables, by_stale=by_stale)
    campaign = run_campaign(subject, Component.PURGATORY, seed=1, budget=budget)
    subject.close()
    return campaign


@pytest.mark.slow
def test_it_conforms_on_completion() -> None:
    campaign = judged()
    assert (campaign.verdict, campaign.causes) == (Verdict.CONFORMANT, [])
    assert campaign.visits["PURGATORY-EXACTLY-ONCE"] >= BUDGET.minimum_visits
    assert campaign.visits["PURGATORY-CHECK-COUNT"] >= BUDGET.minimum_visits


@pytest.mark.large
def test_its_lists_and_purges_conform_where_the_exact_rule_says_when() -> None:
    campaign = judged(LISTS, by_stale=True)
    assert (campaign.verdict, campaign.causes) == (Verdict.CONFORMANT, [])
    assert campaign.visits["PURGATORY-PURGE-REMOVES"] >= BUDGET.minimum_visits


@pytest.mark.large
def test_of_its_own_accord_it_purges_by_size() -> None:
    campaign = judged(LISTS)
    assert campaign.verdict is Verdict.NOT_CONFORMANT
    assert campaign.causes[0].rule == "PURGATORY-PURGE-START"
    assert campaign.causes[0].rule in NEVER_HAD
    for cause in campaign.causes:
        divergence = cause.shrunk.divergence
        assert divergence is not None
        assert isinstance(divergence.operation, Advance)
        observed = divergence.outcome.observed
        assert observed["stale_entries"] == 0
        assert _number(divergence.seen) < _number(divergence.expected)
        assert divergence.kind == "entries"


@pytest.mark.large
def test_completed_operations_stay_in_its_queue() -> None:
    campaign = judged(LISTS | {PurgatoryObservable.TIMER_SIZE}, by_stale=True)
    assert campaign.verdict is Verdict.NOT_CONFORMANT
    assert [cause.rule for cause in campaign.causes] == ["PURGATORY-TIMER-LEFT"]
    assert campaign.causes[0].rule in NEVER_HAD
    divergence = campaign.causes[0].shrunk.divergence
    assert divergence is not None
    assert _number(divergence.seen) > _number(divergence.expected)


def complete_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    def on_complete(self: subject_module._ScriptedOperation) -> None:
        self._owner.events.append(completed(self.name))
        self._owner.events.append(completed(self.name))

    monkeypatch.setattr(subject_module._ScriptedOperation, "on_complete", on_complete)


def count_one_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Purgatory.check_and_complete

    def check_and_complete(self: Purgatory[str], key: str) -> int:
        completed_now = honest(self, key)
        return completed_now + 1 if completed_now else 0

    monkeypatch.setattr(Purgatory, "check_and_complete", check_and_complete)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plant", "rule"),
    [(complete_twice, "PURGATORY-EXACTLY-ONCE"), (count_one_too_many, "PURGATORY-CHECK-COUNT")],
)
def test_a_planted_fault_of_completion_is_found(
    plant: Callable[[pytest.MonkeyPatch], None], rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    campaign = judged(budget=replace(BUDGET, least_cases=10, minimum_visits=1, shrink_runs=20))
    assert campaign.verdict is Verdict.NOT_CONFORMANT
    assert rule in {cause.rule for cause in campaign.causes}


def _number(words: str) -> int:
    """The number in ``name = number``."""
    return int(words.rpartition("=")[2])
