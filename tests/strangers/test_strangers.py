"""Judge legal designs that are neither Kafka's nor ours; find what is planted in them."""

# Each is judged by the profile that its author would write, through steps that an adapter of the
# same author would make of calls. Nothing in the suite knows of them.

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from purgatory_conformance.knowledge import vectors
from purgatory_conformance.running.campaign import SUITES, Budget, Campaign, Verdict, run_campaign
from purgatory_conformance.running.case_run import CaseVerdict, run_case
from purgatory_conformance.stateful import RuleBroken, purgatory_machine
from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_spec.operations import Advance, CancelForKeyInside, Script, Watch
from purgatory_spec.outcomes import EventKind
from purgatory_spec.profiles import Component, PurgatoryConfiguration
from purgatory_spec.requirements import all_requirements

from .design import Stranger
from .purgatories import eager_removal
from .timers import binary_heap, calendar_queue, deadlines

DECISIONS = (
    Path(__file__).parents[2] / "docs" / "explanation" / "what-any-implementation-must-do.md"
)

_MODULES = sorted(Path(__file__).parent.glob("*/*.py"), key=lambda path: path.stem)
STRANGERS: Mapping[str, Stranger] = {
    module.STRANGER.design.__name__: module.STRANGER
    for module in (
        import_module(f".{path.parent.name}.{path.stem}", __package__) for path in _MODULES
    )
    if hasattr(module, "STRANGER")
}


def _marks(name: str) -> list[pytest.MarkDecorator]:
    """A server is asked over loopback, where a case takes some milliseconds."""
    is_server = STRANGERS[name].component is Component.CHANNEL_MUTING
    return [pytest.mark.slow] if is_server else []


NAMES = [pytest.param(name, marks=_marks(name)) for name in STRANGERS]
DEFECTS = [
    pytest.param(name, defect, marks=[*_marks(name), *([pytest.mark.verify] if place else [])])
    for name, stranger in STRANGERS.items()
    for place, defect in enumerate(stranger.defects)
]
"""Of each stranger the first defect is planted in every run, the others by `make verify`."""

_SEEDS = range(20)
_STEPS = settings(max_examples=150, stateful_step_count=20, derandomize=True, database=None)
_QUICK = SUITES["quick"]
"""Cases end it and not the time, which a busy machine has less of."""

_SHRUNK_LITTLE = replace(_QUICK, least_cases=50, shrink_runs=120)


@pytest.fixture(autouse=True)
def _same_chances_in_every_run() -> None:
    calendar_queue.CHANCE.seed(1)


def _judged(
    subject: InProcessSubject, component: Component, budget: Budget, seed: int = 1
) -> Campaign:
    return run_campaign(subject, component, seed=seed, budget=budget, vectors=vectors(component))


@pytest.mark.recorded
@pytest.mark.parametrize("name", NAMES)
def test_a_legal_design_is_conformant(name: str) -> None:
    stranger = STRANGERS[name]
    campaign = _judged(stranger.subject(), stranger.component, _QUICK)
    assert campaign.verdict is Verdict.CONFORMANT, campaign.why


@pytest.mark.large
@pytest.mark.parametrize("suite", ["quick", "standard"])
@pytest.mark.parametrize("name", STRANGERS)
def test_a_legal_design_is_conformant_by_every_seed(name: str, suite: str) -> None:
    stranger = STRANGERS[name]
    for seed in _SEEDS:
        budget = SUITES[suite]
        campaign = _judged(stranger.subject(), stranger.component, budget, seed)
        assert campaign.verdict is Verdict.CONFORMANT, (seed, campaign.why)


@pytest.mark.parametrize(
    "name", [name for name, each in STRANGERS.items() if each.component is Component.MEMORY_POOL]
)
def test_an_allocation_that_fails_takes_nothing(name: str) -> None:
    large = 2**50
    pool = STRANGERS[name].design(large, large)
    with suppress(MemoryError):
        assert pool.ask(large // 2) is None
    assert pool.free_bytes() == large
    assert len(pool.ask(1)) == 1


@pytest.mark.recorded
@pytest.mark.parametrize(("name", "defect"), DEFECTS)
def test_a_planted_defect_is_found_and_rightly_blamed(name: str, defect: type[Any]) -> None:
    stranger = STRANGERS[name]
    campaign = _judged(stranger.subject(defect), stranger.component, _SHRUNK_LITTLE)
    assert campaign.verdict is Verdict.NOT_CONFORMANT, campaign.why
    # The most frequent cause is the defect; few defects show in a further one.
    assert campaign.causes[0].rule in stranger.defects[defect], campaign.causes[0].shrunk.operations


@pytest.mark.recorded
@pytest.mark.slow
def test_a_count_that_several_operations_get_wrong_is_one_cause() -> None:
    """Given entries that are left behind however an operation completes, one fault is shown."""
    stranger = STRANGERS["EagerPurgatory"]
    subject = stranger.subject(eager_removal.LeavesOneList)
    campaign = _judged(subject, stranger.component, _SHRUNK_LITTLE)
    assert {"PURGATORY-PURGE-START", "PURGATORY-WATCH-SECOND-TRY"} <= set(campaign.blamed)
    assert len(campaign.causes) == 1


CHOSEN = {
    "LedgerPool": "zero_request",
    "LendingPool": "zero_request",
    "HashSetPurgatory": "check_order",
    "JournalPurgatory": "purge_due",
    "OneTablePurgatory": "first_try",
    "RotatingPurgatory": "cancel_result",
}
"""Designs that make a choice which neither Kafka's nor ours makes."""


@pytest.mark.verify
@pytest.mark.parametrize("name", ["HashSetPurgatory", "OneTablePurgatory", "RotatingPurgatory"])
def test_a_state_machine_finds_the_defects_of_a_legal_design_and_nothing_else(name: str) -> None:
    stranger = STRANGERS[name]

    def run(design: type[Any]) -> None:
        machine = purgatory_machine(lambda asked: stranger.make(design, asked), stranger.profile)
        run_state_machine_as_test(machine, settings=_STEPS)

    run(stranger.design)
    rules = stranger.defects[next(iter(stranger.defects))]
    with pytest.raises(RuleBroken) as broken:
        run(next(iter(stranger.defects)))
    assert any(rule in str(broken.value) for rule in rules), broken.value


@pytest.mark.recorded
@pytest.mark.parametrize(("name", "choice"), CHOSEN.items())
def test_who_does_not_declare_a_choice_is_told_the_line_to_change(name: str, choice: str) -> None:
    stranger = STRANGERS[name]
    silent = {field: value for field, value in stranger.profile.items() if field != choice}
    assert f'"{choice}": "{stranger.profile[choice]}"' in _told_lines(stranger, silent)


@pytest.mark.recorded
@pytest.mark.slow
def test_who_keeps_no_order_is_told_so_though_an_exception_ends_its_checks() -> None:
    stranger = STRANGERS["HashSetPurgatory"]
    offered = stranger.profile["features"]
    assert isinstance(offered, list)
    features = [*offered, "script_throw"]
    silent = {**stranger.profile, "check_order": "as_watched", "features": features}
    assert '"check_order": "free"' in _told_lines(stranger, silent)


def _told_lines(stranger: Stranger, profile: Mapping[str, str | int | Sequence[str]]) -> list[str]:
    """The lines to change that the first cause names, where a stranger declares this profile."""
    subject = replace(stranger, profile=profile).subject()
    campaign = _judged(subject, stranger.component, replace(_SHRUNK_LITTLE, shrink_runs=20))
    assert campaign.verdict is Verdict.NOT_CONFORMANT, campaign.why
    return [way.line for way in campaign.causes[0].ways_out]


def test_generated_cases_find_a_task_that_is_lost_where_it_adds_itself() -> None:
    subject = deadlines.STRANGER.subject(deadlines.RunsBeforeItForgets)
    campaign = run_campaign(subject, Component.TIMER, seed=1, budget=_SHRUNK_LITTLE)
    assert "TIMER-ADD-INSIDE" in [cause.rule for cause in campaign.causes]


@pytest.mark.recorded
def test_a_timer_without_limit_that_shows_nothing_can_be_conformant() -> None:
    """It is conformant, and the other one is not."""

    class RefusesTheLargest(binary_heap.BinaryHeapTimer):
        def add(self, task: str, delay_ms: int) -> None:
            if delay_ms == 2**31 - 1:
                raise OverflowError
            super().add(task, delay_ms)

    profile = {**binary_heap.STRANGER.profile, "larger_delay": "not_offered", "observables": []}
    stranger = replace(binary_heap.STRANGER, profile=profile)
    campaign = _judged(stranger.subject(), Component.TIMER, _QUICK)
    assert campaign.verdict is Verdict.CONFORMANT, campaign.why
    campaign = _judged(stranger.subject(RefusesTheLargest), Component.TIMER, _SHRUNK_LITTLE)
    assert "TIMER-LARGEST-DELAY" in {cause.rule for cause in campaign.causes}


def test_a_callback_may_cancel_what_is_due_with_its_operation() -> None:
    operations = (
        Watch("first", ("a",), 5, Script(on_expiration=(CancelForKeyInside("b"),))),
        Watch("second", ("b",), 5),
        Advance(5),
    )
    expired = {}
    for name in ("DropAtEndPurgatory", "EagerPurgatory"):
        subject = STRANGERS[name].subject()
        run = run_case(subject, "both due", PurgatoryConfiguration(), operations)
        assert run.verdict is CaseVerdict.PASS, run.divergence
        outcome = run.steps[-1].outcome
        assert outcome is not None
        expired[name] = [e.task for e in outcome.events if e.kind is EventKind.TIMED_OUT]
    assert expired == {"DropAtEndPurgatory": ["first", "second"], "EagerPurgatory": ["first"]}


def test_there_is_a_decision_for_every_rule() -> None:
    rows = [line for line in DECISIONS.read_text(encoding="utf-8").splitlines() if "|" in line]
    named = Counter(re.findall(r"[A-Z]+(?:-[A-Z]+)+", " ".join(row.split("|")[1] for row in rows)))
    assert named == Counter(rule.id for rule in all_requirements())
