"""Golden vectors bind the model: a model that is changed contradicts a recorded outcome."""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from purgatory_conformance import checking
from purgatory_conformance.commands.check import check
from purgatory_conformance.knowledge import all_vectors, vectors
from purgatory_conformance.problems import EXIT_CONTRADICTED, Problem
from purgatory_conformance.running.golden_vectors import (
    Contradiction,
    contradiction_of,
    contradictions,
)
from purgatory_model import memory_pool
from purgatory_model.arithmetic import ceiling_to, floor_to
from purgatory_model.call import Branch, Branches
from purgatory_model.choices.walks import AnyWalk
from purgatory_model.kafka_purgatory import appended
from purgatory_model.memory_pool import MemoryPoolModel
from purgatory_model.pending_tasks import PendingTasks
from purgatory_model.purgatory import PurgatoryModel, PurgatoryState
from purgatory_model.replacing import replace
from purgatory_model.step import Expectation
from purgatory_model.timer import TimerModel, TimerState
from purgatory_spec.cases import Case
from purgatory_spec.operations import Add, Advance, CallInside, Elapse, Operation, Shutdown
from purgatory_spec.outcomes import Event
from purgatory_spec.profiles import LARGEST_LONG, CheckDrops, Component, SameTickOrder
from purgatory_spec.reasons import Reason

Timer = TimerModel[PendingTasks]
State = TimerState[PendingTasks]
Purgatory = PurgatoryModel
Patch = pytest.MonkeyPatch

arm = TimerModel._arm
timer_expectations = TimerModel.expectations
refusal = TimerModel.refusal
same_tick = TimerModel._same_tick
purged = PurgatoryModel.purged
watch = PurgatoryModel.watch
add = PurgatoryModel._add
walks = PurgatoryModel._walks
meanwhile = PurgatoryModel._meanwhile
advance = PurgatoryModel._timer_expectations
pool_expectations = MemoryPoolModel.expectations


def rounds_down_always(patch: Patch) -> None:
    patch.setattr(TimerModel, "due_tick", lambda self, ms: floor_to(ms, self.configuration.tick_ms))


def rounds_up_always(patch: Patch) -> None:
    patch.setattr(
        TimerModel, "due_tick", lambda self, ms: ceiling_to(ms, self.configuration.tick_ms)
    )


def refused_add_disarms(patch: Patch) -> None:
    def wrong(self: Timer, state: State, task: str, delay_ms: int) -> object:
        if self.refusal(state, delay_ms) is not None:
            state = self._disarm(state, task)
        return arm(self, state, task, delay_ms)

    patch.setattr(TimerModel, "_arm", wrong)


def negative_delay_is_taken(patch: Patch) -> None:
    def wrong(self: Timer, state: State, delay_ms: int) -> Reason | None:
        return refusal(self, state, max(delay_ms, 0))

    patch.setattr(TimerModel, "refusal", wrong)


def last_armed_first(patch: Patch) -> None:
    patch.setattr(
        TimerModel, "_same_tick", lambda self, state, tick: same_tick(self, state, tick)[::-1]
    )


def purges_at_the_interval(patch: Patch) -> None:
    def wrong(self: Purgatory, state: PurgatoryState) -> bool:
        return state.stale_entries >= self.configuration.purge_interval

    patch.setattr(PurgatoryModel, "purge_is_due", wrong)


def purge_forgets_the_timer(patch: Patch) -> None:
    patch.setattr(
        PurgatoryModel, "purged", lambda self, state: replace(purged(self, state), estimate=0)
    )


def no_keys_before_closed(patch: Patch) -> None:
    def wrong(self: Purgatory, branch: Branch, name: str, keys: tuple[str, ...]) -> Branches:
        if not keys:
            return (branch.raises(Reason.INVALID_ARGUMENT),)
        return watch(self, branch, name, keys)

    patch.setattr(PurgatoryModel, "watch", wrong)


def without_second_try(
    self: Purgatory, branch: Branch, name: str, keys: tuple[str, ...]
) -> Branches:
    added = appended(self._counted(branch), name, keys)
    return tuple(self._arm(added.returns(False), name))


def second_try_missing(patch: Patch) -> None:
    patch.setattr(PurgatoryModel, "_add", without_second_try)


def check_with(patch: Patch, drops: CheckDrops) -> None:
    def wrong(self: Purgatory, branch: Branch, key: str) -> tuple[AnyWalk, ...]:
        profile = msgspec.structs.replace(self.profile, check_drops=drops)
        return walks(dataclasses.replace(self, profile=profile), branch, key)

    patch.setattr(PurgatoryModel, "_walks", wrong)


def check_drops_at_the_end(patch: Patch) -> None:
    check_with(patch, CheckDrops.AT_END)


def another_thread_is_passed_over(patch: Patch) -> None:
    patch.setattr(PurgatoryModel, "_meanwhile", lambda self, branch, owner, call: (branch,))


def another_thread_may_be_passed_over(patch: Patch) -> None:
    def wrong(self: Purgatory, branch: Branch, owner: str, call: CallInside) -> Branches:
        return (*meanwhile(self, branch, owner, call), branch)

    patch.setattr(PurgatoryModel, "_meanwhile", wrong)


def tries_only_satisfy(patch: Patch) -> None:
    patch.setattr(PurgatoryModel, "_walk_on", lambda self, walks: (walks[0].branch.returns(0),))


def inline_executor_runs_nothing(patch: Patch) -> None:
    patch.setattr(PurgatoryModel, "_run_all", lambda self, branch: (branch,))


def strict_keeps_a_byte(patch: Patch) -> None:
    patch.setattr(memory_pool, "is_granted", lambda available, asked, strict: available > asked)


def refusal_begins_no_spell(patch: Patch) -> None:
    patch.setattr(memory_pool, "with_spell", lambda state: state)


def tick_order_is_free(patch: Patch) -> None:
    def wrong(self: Timer, state: State, operation: Operation) -> tuple[Expectation[State], ...]:
        return tuple(
            replace(each, groups=(frozenset().union(*each.groups),)) if each.groups else each
            for each in timer_expectations(self, state, operation)
        )

    patch.setattr(TimerModel, "expectations", wrong)


def same_tick_order_is_free(patch: Patch) -> None:
    patch.setattr(TimerModel, "_same_tick", lambda self, state, tick: [tick])


def refused_add_may_be_taken(patch: Patch) -> None:
    def wrong(self: Timer, state: State, operation: Operation) -> tuple[Expectation[State], ...]:
        found = timer_expectations(self, state, operation)
        if isinstance(operation, Add) and operation.delay_ms < 0:
            found += timer_expectations(self, state, Add(operation.task, 0, operation.script))
        return found

    patch.setattr(TimerModel, "expectations", wrong)


def purge_is_optional(patch: Patch) -> None:
    def wrong(
        self: Purgatory,
        state: PurgatoryState,
        operation: Advance | Elapse | Shutdown,
        seen: tuple[Event, ...] | None,
    ) -> Iterator[Expectation[PurgatoryState]]:
        yield from advance(self, state, operation, seen)
        never = msgspec.structs.replace(self.configuration, purge_interval=LARGEST_LONG)
        yield from advance(dataclasses.replace(self, configuration=never), state, operation, seen)

    patch.setattr(PurgatoryModel, "_timer_expectations", wrong)


def second_try_is_optional(patch: Patch) -> None:
    def wrong(self: Purgatory, branch: Branch, name: str, keys: tuple[str, ...]) -> Branches:
        return (*add(self, branch, name, keys), *without_second_try(self, branch, name, keys))

    patch.setattr(PurgatoryModel, "_add", wrong)


def check_drops_either_way(patch: Patch) -> None:
    check_with(patch, CheckDrops.EITHER)


def strictness_is_free(patch: Patch) -> None:
    def wrong(
        self: MemoryPoolModel, state: memory_pool.MemoryPoolState, operation: Operation
    ) -> object:
        other = msgspec.structs.replace(self.configuration, strict=not self.configuration.strict)
        both = (self, dataclasses.replace(self, configuration=other))
        return tuple(way for each in both for way in pool_expectations(each, state, operation))

    patch.setattr(MemoryPoolModel, "expectations", wrong)


def what_is_foreign_may_be_credited(patch: Patch) -> None:
    patch.setattr(MemoryPoolModel, "knows_its_own", False)


def one_order_is_imposed(patch: Patch) -> None:
    def wrong(self: Timer, state: State, tick: frozenset[str]) -> list[frozenset[str]]:
        if self.profile.same_tick_order is SameTickOrder.FIFO:
            return same_tick(self, state, tick)
        return [frozenset({task}) for task in sorted(tick)]

    patch.setattr(TimerModel, "_same_tick", wrong)


def said_of(found: Contradiction) -> str:
    """Which of the three comparisons a contradiction comes from."""
    if found.expected.startswith("also "):
        return "another is allowed"
    return "no other" if found.expected.startswith("no other ") else "not accepted"


@dataclass(frozen=True)
class Planted:
    """A change of the model, and a vector that must notice it."""

    plant: Callable[[Patch], None]
    component: Component
    vector: str


NOT_ACCEPTED = [
    Planted(rounds_down_always, Component.TIMER, "rounding-up"),
    Planted(rounds_up_always, Component.TIMER, "early-window"),
    Planted(refused_add_disarms, Component.TIMER, "negative-delay-rejected"),
    Planted(negative_delay_is_taken, Component.TIMER, "negative-delay-rejected"),
    Planted(last_armed_first, Component.TIMER, "same-tick-fifo"),
    Planted(purges_at_the_interval, Component.PURGATORY, "purge-threshold"),
    Planted(purge_forgets_the_timer, Component.PURGATORY, "proposal-purge"),
    Planted(no_keys_before_closed, Component.PURGATORY, "no-keys-after-shutdown"),
    Planted(second_try_missing, Component.PURGATORY, "second-try-completes"),
    Planted(check_drops_at_the_end, Component.PURGATORY, "passed-entries"),
    Planted(another_thread_is_passed_over, Component.PURGATORY, "shared-lock"),
    Planted(another_thread_is_passed_over, Component.PURGATORY, "lost-wake-up"),
    Planted(tries_only_satisfy, Component.PURGATORY, "try-acts"),
    Planted(inline_executor_runs_nothing, Component.PURGATORY, "inline-time-outs"),
    Planted(strict_keeps_a_byte, Component.MEMORY_POOL, "strict-with-some-left"),
    Planted(refusal_begins_no_spell, Component.MEMORY_POOL, "dry-spell"),
]
"""Changes after which the model does not accept what is recorded."""

MORE_LIBERAL = [
    Planted(tick_order_is_free, Component.TIMER, "ticks-in-order"),
    Planted(same_tick_order_is_free, Component.TIMER, "same-tick-fifo"),
    Planted(refused_add_may_be_taken, Component.TIMER, "negative-delay-rejected"),
    Planted(purge_is_optional, Component.PURGATORY, "purge-threshold"),
    Planted(second_try_is_optional, Component.PURGATORY, "second-try-completes"),
    Planted(check_drops_either_way, Component.PURGATORY, "passed-entries"),
    Planted(another_thread_may_be_passed_over, Component.PURGATORY, "shared-lock"),
    Planted(strictness_is_free, Component.MEMORY_POOL, "strict-with-some-left"),
    Planted(what_is_foreign_may_be_credited, Component.MEMORY_POOL, "released-twice"),
]
"""Changes after which the model accepts what is recorded, and more."""


def named(planted: Planted) -> str:
    return planted.plant.__name__


@pytest.mark.parametrize("component", Component)
def test_the_model_and_the_golden_vectors_agree(component: Component) -> None:
    """Given the model as it is: there is no contradiction."""
    assert len(vectors(component)) >= 20
    assert list(contradictions(vectors(component))) == []


@pytest.mark.parametrize("planted", NOT_ACCEPTED, ids=named)
def test_a_changed_model_does_not_accept_what_is_recorded(
    planted: Planted, monkeypatch: Patch
) -> None:
    """The model does not accept an outcome of the vector that shows the rule."""
    planted.plant(monkeypatch)
    found = {each.vector.header.case: each for each in contradictions(vectors(planted.component))}
    assert said_of(found[planted.vector]) == "not accepted"


@pytest.mark.parametrize("planted", MORE_LIBERAL, ids=named)
def test_a_more_liberal_model_is_noticed_by_the_outcomes_that_it_allows(
    planted: Planted, monkeypatch: Patch
) -> None:
    """It accepts every recorded outcome, and is noticed by others that it allows."""
    planted.plant(monkeypatch)
    found = {each.vector.header.case: each for each in contradictions(vectors(planted.component))}
    assert {said_of(each) for each in found.values()} == {"another is allowed"}
    assert planted.vector in found


def test_a_model_that_allows_too_little_is_noticed(monkeypatch: Patch) -> None:
    """It contradicts the mark that other outcomes are allowed."""
    one_order_is_imposed(monkeypatch)
    golden = {each.header.case: each for each in vectors(Component.PURGATORY)}
    found = contradiction_of(golden["lost-expiry"])
    assert found is not None
    assert said_of(found) == "no other"


@pytest.mark.parametrize("vector", all_vectors(), ids=lambda vector: vector.header.case)
def test_the_mark_of_every_vector_is_the_right_one(vector: Case) -> None:
    """Given a golden vector with the opposite of its mark: there is a contradiction."""
    header = msgspec.structs.replace(vector.header, others_allowed=not vector.header.others_allowed)
    assert contradiction_of(Case(header, vector.steps)) is not None


def test_a_step_without_an_outcome_binds_nobody() -> None:
    """Given a golden vector with a step whose outcome is missing: that step is a contradiction."""
    vector = vectors(Component.MEMORY_POOL)[0]
    bare = msgspec.structs.replace(vector.steps[1], outcome=None)
    found = contradiction_of(Case(vector.header, (vector.steps[0], bare, *vector.steps[2:])))
    assert found is not None
    assert (found.step, found.recorded) == (2, "nothing")


def test_check_judges_nobody_by_a_model_that_contradicts_a_vector(
    monkeypatch: Patch, tmp_path: Path
) -> None:
    """Vector, step, rule, recorded and expected are told, with an exit code of its own."""
    refusal_begins_no_spell(monkeypatch)
    monkeypatch.setattr(checking, "run_campaign", lambda *_, **__: pytest.fail("judged"))
    arguments = ["bundled", "--component", "memory-pool", "--work", str(tmp_path)]
    outcome = CliRunner().invoke(check, arguments)
    assert isinstance(outcome.exception, Problem)
    assert outcome.exception.exit_code == EXIT_CONTRADICTED
    assert str(outcome.exception) == (
        "the model contradicts the golden vector dry-spell-ends-depleted, step 6 (release b1), "
        "POOL-SPELL-BEGINS. Recorded: depleted_spells = 1. Model: depleted_spells = 0. "
        "The installation is at fault, not the subject, which was not judged."
    )
    assert not list(tmp_path.rglob("results.jsonl"))
