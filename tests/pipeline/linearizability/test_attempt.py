"""No share keeps the others from being looked at, and one that fails is enough."""

from random import Random

from purgatory_model.memory_pool import MemoryPoolModel
from purgatory_model.overlapping.interleaving import Called, History, HistoryEvent, Returned
from purgatory_model.overlapping.sequential_rules import Rule, sequential
from purgatory_spec.operations import Allocate, Check, Operation, Release, Satisfy, Watch
from purgatory_spec.outcomes import tried
from purgatory_spec.profiles import MemoryPoolConfiguration, MemoryPoolProfile
from purgatory_traces.linearizability.attempt import Attempt
from purgatory_traces.linearizability.budget import Budget
from purgatory_traces.linearizability.calls import CallRules, ModelRules
from purgatory_traces.linearizability.checker import Answered
from purgatory_traces.linearizability.decision import Explained, Undecided, decide
from purgatory_traces.linearizability.share import Share
from purgatory_traces.linearizability.words import Words
from purgatory_traces.traces.lines import TraceLine

from .traces import (
    EXACT,
    back,
    call,
    entries_of,
    explained_entries,
    found_of,
    located,
    requests,
    step,
)

ELEVEN_BYTES = sequential(MemoryPoolModel(MemoryPoolConfiguration(11, 1), MemoryPoolProfile()))
"""Of a pool that grants eleven times one byte."""


def share_of(name: str, history: History) -> Share[object]:
    """A share of these calls."""
    rules: ModelRules[object] = ModelRules(ELEVEN_BYTES)  # type: ignore[arg-type]
    return Share(name, entries_of(history), (rules,))


HARD = share_of("hard", requests([True] * 12))
"""It takes some thousand configurations to know that nothing explains it."""
WRONG = share_of("wrong", requests([False]))
RIGHT = share_of("right", requests([True] * 3))


def attempt_at(*shares: Share[object], budget: Budget) -> Attempt:
    """An attempt to explain these."""
    named = {share.name: share for share in shares}
    return Attempt(tuple(named), named.__getitem__, budget)


def names(found: object) -> list[str]:
    """The names of shares."""
    assert isinstance(found, list)
    return [each.name for each in found]


def test_a_share_that_fails_is_found_behind_one_that_takes_too_long() -> None:
    budget = Budget(most_configurations=900, calls=16)
    attempt = attempt_at(HARD, RIGHT, WRONG, budget=budget)
    assert names(attempt.refuted) == ["wrong"]
    assert names(attempt.explained) == ["right"]
    assert budget.configurations < 2 * 900


def test_a_share_that_takes_long_is_decided_in_a_later_round() -> None:
    attempt = attempt_at(HARD, RIGHT, budget=Budget())
    assert names(attempt.refuted) == ["hard"]
    assert names(attempt.explained) == ["right"]
    assert not attempt.undecided


def test_of_a_share_that_is_not_decided_only_what_stands_before_a_wrong_line_matters() -> None:
    attempt = attempt_at(HARD, WRONG, budget=Budget())
    assert names(attempt.refuted) == ["wrong"]
    assert names(attempt.explained) == ["hard"]
    assert all(
        entry.seq < 1 or isinstance(entry.event, Called) for entry in attempt.explained[0].entries
    )


def test_when_nothing_is_left_what_was_found_is_kept() -> None:
    budget = Budget(most_configurations=1)
    attempt = attempt_at(WRONG, RIGHT, HARD, budget=budget)
    assert names(attempt.refuted) == ["wrong"]
    assert names(attempt.undecided) == ["right", "hard"]
    assert {str(each.undecided) for each in attempt.undecided} == {
        "1 configurations were looked at, and more would be needed: too many calls overlap, or the "
        "rules leave too much open"
    }


def checks_at_once(count: int) -> list[TraceLine]:
    """An operation, and so many overlapping checks of its key that leave much open."""
    asked: list[TraceLine] = [
        step("w", Watch("many", ("m",), 10), False, tried("many"), tried("many"))
    ]
    asked += [call(f"t{number}", Check("m")) for number in range(count)]
    asked.append(call("s", Satisfy("many")))
    return asked + [back(f"t{number}", 0) for number in range(count)] + [back("s")]


def test_a_run_with_an_operation_that_fails_is_wrong_though_another_is_not_decided() -> None:
    bad: list[TraceLine] = [
        step("w", Watch("a", ("k",), 10), False, tried("a"), tried("a")),
        step("w", Satisfy("a")),
        step("w", Check("k"), 0),
    ]
    many = checks_at_once(12)
    poor = found_of(located(EXACT, many), 500)
    assert poor.answered is Answered.INCONCLUSIVE
    assert "500 configurations are remembered" in poor.reason
    wrong = found_of(located(EXACT, [*many, *bad]), 500)
    assert wrong.answered is Answered.NOT_LINEARIZABLE, wrong.reason
    assert wrong.shares[0].name == "a"
    assert wrong.shares[0].fails_at == len(many) + 3
    assert wrong.undecided == 1
    assert list(Words(wrong).details())[-1] == "not decided with the configurations allowed: 1 more"


def random_calls(chance: Random) -> History:
    """Overlapping requests, most of them answered rightly."""
    events: list[HistoryEvent] = []
    inside: dict[str, Operation] = {}
    for number in range(chance.randrange(10, 40)):
        thread = chance.choice("tuvw")
        operation = inside.pop(thread, None)
        if operation is None:
            release = chance.random() < 0.3
            name = f"{chance.randrange(max(number, 1))}" if release else f"{number}"
            inside[thread] = Release(name) if release else Allocate(name, 1)
            events.append(Called(thread, inside[thread]))
        else:
            answer = chance.random() < 0.8 if isinstance(operation, Allocate) else None
            events.append(Returned(thread, answer))
    return tuple(events)


def left_open(history: History, rules: CallRules[Rule], budget: Budget) -> Undecided | None:
    """Return how far a history is explained, if the budget is used up before it is decided."""
    try:
        decide(entries_of(history), rules, budget)
    except Undecided as problem:
        return problem
    return None


def test_what_is_said_to_be_explained_of_an_undecided_history_is() -> None:
    chance = Random(3)
    model = MemoryPoolModel(MemoryPoolConfiguration(3, 1), MemoryPoolProfile())
    rules = ModelRules(sequential(model))
    lengths = []
    for _ in range(150):
        history = random_calls(chance)
        most = explained_entries(history, sequential(model))
        for spent in (2, 5, 9, 14):
            undecided = left_open(history, rules, Budget(most_configurations=spent))
            if undecided is None:
                continue
            told = history[: undecided.explained]
            assert isinstance(decide(entries_of(told), rules, Budget()), Explained)
            assert most is None or undecided.explained <= most
            calls = sum(isinstance(each, Called) for each in told)
            done = {taken.call for taken in undecided.order}
            assert len(done) == len(undecided.order)
            assert done <= set(range(calls))
            assert len(done) >= sum(isinstance(each, Returned) for each in told)
            lengths.append(undecided.explained)
    assert len(lengths) > 200
    assert sum(length > 8 for length in lengths) > 50
    assert all(length >= 1 for length in lengths)


def test_an_allowance_ends_a_search_and_not_the_next_one() -> None:
    budget = Budget()
    poor = HARD.explained(budget, 100)
    assert poor.undecided is not None
    assert budget.configurations == 100
    assert HARD.explained(budget).refutation is not None
