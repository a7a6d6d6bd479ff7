"""Long histories are cut where they are quiet; time and memory are bounded."""

from collections.abc import Iterator
from random import Random

import pytest

from purgatory_model.memory_pool import MemoryPoolModel
from purgatory_model.overlapping.interleaving import (
    Called,
    Happened,
    History,
    HistoryEvent,
    Returned,
)
from purgatory_model.overlapping.parts import Part
from purgatory_model.overlapping.sequential_rules import Effect, sequential
from purgatory_spec.operations import Allocate, Release, ReleaseForeign
from purgatory_spec.outcomes import completed
from purgatory_spec.profiles import MemoryPoolConfiguration, MemoryPoolProfile
from purgatory_traces.linearizability import decision
from purgatory_traces.linearizability.budget import Budget
from purgatory_traces.linearizability.calls import CallRules, ModelRules, RecordedCall
from purgatory_traces.linearizability.checker import Answered
from purgatory_traces.linearizability.decision import Explained, Stuck, decide
from purgatory_traces.traces.lines import Located, MemoryPoolInstance

from .traces import back, call, entries_of, explained_entries, found_of, located

TWO_BYTES = MemoryPoolModel(MemoryPoolConfiguration(2, 1), MemoryPoolProfile())


def rounds(count: int) -> History:
    """So many times two threads ask at once and give back at once."""
    history: list[HistoryEvent] = []
    for number in range(count):
        one, other = f"a{number}", f"b{number}"
        history += [Called("t", Allocate(one, 1)), Called("u", Allocate(other, 1))]
        history += [Returned("t", True), Returned("u", True)]
        history += [Called("t", Release(one)), Called("u", Release(other))]
        history += [Returned("t"), Returned("u")]
    return tuple(history)


def test_work_grows_with_the_length_of_a_history_that_is_quiet_now_and_then() -> None:
    spent = []
    for count in (100, 200):
        budget = Budget(most_configurations=40, calls=4 * count)
        rules = ModelRules(sequential(MemoryPoolModel(MemoryPoolConfiguration(2, 1), _NOTHING)))
        assert isinstance(decide(entries_of(rounds(count)), rules, budget), Explained)
        spent.append(budget.configurations)
    assert spent == [800, 1600]


_NOTHING = MemoryPoolProfile()


def test_all_states_in_which_a_piece_may_end_are_carried_over() -> None:
    first: History = (Called("t", ReleaseForeign(1)), Returned("t"))
    pool = MemoryPoolModel(MemoryPoolConfiguration(1, 1), MemoryPoolProfile())

    def then(*answers: bool) -> int | None:
        history = first
        for number, answer in enumerate(answers):
            history += (Called("t", Allocate(f"{number}", 1)), Returned("t", answer))
        return explained_entries(history, sequential(pool))

    assert then(True, True, False) is None
    assert then(True, False, False) is None
    assert then(True, False, True) == 7
    assert then(True, True, True) == 7
    assert then(False) == 3


def test_where_finding_all_ends_is_costly_some_have_to_do_and_the_rest_is_found_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool = MemoryPoolModel(MemoryPoolConfiguration(2, 2), MemoryPoolProfile())
    chance = Random(5)
    asked = [ReleaseForeign(1), ReleaseForeign(2), Allocate("x", 1), Allocate("y", 2)]
    histories: list[History] = []
    for _ in range(150):
        events: list[HistoryEvent] = []
        inside: dict[str, object] = {}
        for _ in range(chance.randrange(4, 16)):
            thread = chance.choice("tuv")
            if thread in inside:
                operation = inside.pop(thread)
                answer = chance.random() < 0.7 if isinstance(operation, Allocate) else None
                events.append(Returned(thread, answer))
            else:
                inside[thread] = chance.choice(asked)
                events.append(Called(thread, inside[thread]))  # type: ignore[arg-type]
        histories.append(tuple(events))
    expected = [explained_entries(each, sequential(pool)) for each in histories]
    monkeypatch.setattr(decision, "ALLOWANCE", 0)
    assert [explained_entries(each, sequential(pool)) for each in histories] == expected
    assert 30 < sum(each is None for each in expected) < 120


class Forgetful(CallRules[int]):
    """Rules by which nothing can be told apart but how many calls took effect."""

    def initial(self) -> int:
        return 0

    def effects(self, state: int, call: RecordedCall, part: Part) -> Iterator[Effect[int]]:
        yield Effect(state + 1)


def test_a_call_that_never_returns_is_carried_over_pieces() -> None:
    history: History = (Called("t", Allocate("a", 1)),)
    for number in range(200):
        history += (Called("u", Allocate(f"{number}", 1)), Returned("u", True))
    budget = Budget(most_configurations=20, calls=201)
    assert isinstance(decide(entries_of(history), Forgetful(), budget), Explained)


def test_a_history_is_cut_behind_what_a_call_shows_that_never_returns() -> None:
    def with_last_answer(answer: bool) -> History:
        return (
            Called("t", Release("x")),
            Called("u", Allocate("a", 1)),
            Returned("u", True),
            Happened("t", completed("x")),
            Called("u", Allocate("b", 1)),
            Returned("u", answer),
        )

    assert explained_entries(with_last_answer(False), sequential(TWO_BYTES)) == 5
    assert explained_entries(with_last_answer(True), sequential(TWO_BYTES)) is None


def all_granted(count: int, *, size_bytes: int) -> list[Located]:
    """A run of requests of one byte that all overlap, and are all granted."""
    instance = MemoryPoolInstance(configuration=MemoryPoolConfiguration(size_bytes, 1))
    calls = [call(f"t{each}", Allocate(f"{each}", 1)) for each in range(count)]
    return located(instance, [*calls, *(back(f"t{each}", True) for each in range(count))])


def test_a_run_that_cannot_be_decided_is_inconclusive() -> None:
    lines = all_granted(12, size_bytes=11)
    poor = found_of(lines, 1000)
    assert poor.answered is Answered.INCONCLUSIVE
    assert "1,000 configurations are remembered" in poor.reason
    rich = found_of(lines)
    assert rich.answered is Answered.NOT_LINEARIZABLE
    assert rich.shares[0].fails_at == 24


def test_where_the_budget_ends_while_the_line_is_looked_for_a_later_line_is_named() -> None:
    lines = all_granted(10, size_bytes=8)
    kinds: list[str] = []
    for most in (1000, 1020, 1040):
        finding = found_of(lines, most)
        if finding.answered is Answered.INCONCLUSIVE:
            kinds.append("inconclusive")
            continue
        refutation = finding.shares[0].refutation
        assert refutation is not None
        kinds.append("exact" if refutation.is_exact else "at the latest")
        assert finding.shares[0].fails_at == 19 or not refutation.is_exact
        assert finding.shares[0].fails_at >= 19
    assert list(dict.fromkeys(kinds)) == ["inconclusive", "at the latest", "exact"]


def test_a_stuck_piece_says_from_which_states_nothing_leads_on() -> None:
    history = (*rounds(2), Called("t", Allocate("x", 1)), Returned("t", False))
    rules = ModelRules(sequential(TWO_BYTES))
    decided = decide(entries_of(history), rules, Budget())
    assert isinstance(decided, Stuck)
    assert decided.places == (16, 18)
    assert {each.state.available_bytes for each in decided.starts} == {2}
