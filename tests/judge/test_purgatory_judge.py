"""The judge of the purgatory: what it accepts, what it counts as a visit, and what it blames."""

import msgspec
import pytest

from purgatory_conformance.specimens.small import purgatory
from purgatory_judge.judgement import TooManyStates
from purgatory_judge.purgatory.judge import STATES_CAP, PurgatoryJudge
from purgatory_judge.registry import judged
from purgatory_spec.operations import Advance, Answer, Operation, RunOne, Script, Watch
from purgatory_spec.outcomes import Outcome, completed, tried
from purgatory_spec.profiles import (
    Accounting,
    Component,
    Executor,
    PurgatoryConfiguration,
    PurgatoryProfile,
    Structure,
)
from purgatory_spec.requirements import requirements_of_steps

MASS_EXPIRY: tuple[Operation, ...] = (Watch("o1", ("a",), 1), Advance(1), RunOne(), Advance(1))


def test_excused_rule_is_neither_judged_nor_visited() -> None:
    """There is no divergence, and the rule is not counted as visited."""
    configuration = PurgatoryConfiguration(purge_interval=0)
    excused = frozenset({"PURGATORY-STALE-OPERATIONS"})
    judge = PurgatoryJudge(configuration, purgatory.PROPOSAL_PROFILE, excused)
    subject = purgatory.small_purgatory(profile=purgatory.PROPOSAL_PROFILE)
    subject.new("excused", configuration)
    visited: set[str] = set()
    for operation, outcome in zip(MASS_EXPIRY, subject.do_all(MASS_EXPIRY), strict=True):
        judgement = judge.step(operation, outcome)
        assert judgement.divergence is None
        visited |= judgement.visited
    assert "PURGATORY-PURGE-START" in visited
    assert not visited & excused


def _second_try_completes(number: int) -> tuple[Operation, Outcome]:
    name = f"o{number}"
    events = (tried(name), tried(name), completed(name))
    script = Script((Answer.WAIT, Answer.COMPLETE))
    return Watch(name, ("a",), number, script), Outcome(True, events=events)


def test_too_many_states_are_told() -> None:
    """The judge carries both for each, up to its cap, and then says that it cannot follow."""
    profile = PurgatoryProfile(executor=Executor.STEPPED, structure=Structure.DELAY_QUEUE_WHEEL)
    judge = PurgatoryJudge(PurgatoryConfiguration(wheel_size=20), profile)
    counts = []
    for number in range(1, 9):
        judge.step(*_second_try_completes(number))
        counts.append(len(judge.states))
    with pytest.raises(TooManyStates):
        judge.step(*_second_try_completes(9))
    assert counts == [2**number for number in range(1, 9)]
    assert counts[-1] == STATES_CAP
    assert judge.state in judge.states


def test_rules_that_cannot_be_shown_are_not_asked_for() -> None:
    """Those are left out whose breach it would never show."""
    component = judged(Component.PURGATORY)

    def judged_of(profile: PurgatoryProfile) -> set[str]:
        return {rule.id.removeprefix("PURGATORY-") for rule in component.judged_rules(profile)}

    rules = requirements_of_steps(Component.PURGATORY)
    everything = {rule.id.removeprefix("PURGATORY-") for rule in rules}
    assert judged_of(purgatory.PROFILE) == everything - {"ESTIMATE-PROPOSAL"}
    assert everything - judged_of(purgatory.PROPOSAL_PROFILE) == {
        "PENDING",
        "ESTIMATE-EXACT",
        "STALE-ENTRIES",
    }
    stepped = msgspec.structs.replace(PurgatoryProfile(), executor=Executor.STEPPED)
    assert judged_of(stepped) - judged_of(PurgatoryProfile()) == {"LOST-EXPIRY", "TIMER-LEFT"}
    hidden = {"PURGE-START", "PURGE-REMOVES", "CHECK-DROPS"}
    assert hidden <= judged_of(purgatory.PROFILE) - judged_of(purgatory.SILENT_PROFILE)
    assert not hidden & judged_of(PurgatoryProfile(accounting=Accounting.EXACT))
