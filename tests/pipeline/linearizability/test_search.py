"""The search against the definition of linearizability, and against the model's own explainer."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations, product
from math import factorial
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_model.overlapping.interleaving import Called, History, HistoryEvent, Returned
from purgatory_model.overlapping.linearizability import explain
from purgatory_model.overlapping.parts import WHOLE, Part
from purgatory_model.overlapping.sequential_rules import Effect, sequential
from purgatory_spec.operations import (
    Allocate,
    Lose,
    Operation,
    Release,
    ReleaseForeign,
    ReleaseForm,
)
from purgatory_spec.outcomes import Value
from purgatory_spec.profiles import (
    MemoryPoolConfiguration,
    MemoryPoolProfile,
    ReleaseValidation,
    ZeroRequest,
)
from purgatory_spec.reasons import Reason
from purgatory_traces.linearizability.budget import Budget
from purgatory_traces.linearizability.calls import (
    CallRules,
    Entry,
    ModelRules,
    RecordedCall,
    calls_of,
)
from purgatory_traces.linearizability.decision import Explained, decide
from purgatory_traces.linearizability.pool_rules import PoolRules, pool_rules
from purgatory_traces.linearizability.search import Taken
from purgatory_traces.linearizability.share import Share
from purgatory_traces.traces.lines import MemoryPoolInstance

from .traces import entries_of, explained_entries, requests

TWO_BYTES = MemoryPoolModel(MemoryPoolConfiguration(2, 1), MemoryPoolProfile())


def explained_by_trying_all_orders(history: History, model: MemoryPoolModel) -> bool:
    """The definition of linearizability, word for word; calls may be left out that never return."""
    calls = calls_of(entries_of(history))
    unreturned = [call for call in calls if call.returned is None]
    for kept in product((True, False), repeat=len(unreturned)):
        left_out = {each.number for each, keep in zip(unreturned, kept, strict=True) if not keep}
        chosen = [each for each in calls if each.number not in left_out]
        if any(_is_allowed(order, model) for order in permutations(chosen)):
            return True
    return False


def _is_allowed(order: tuple[RecordedCall, ...], model: MemoryPoolModel) -> bool:
    for early, late in combinations(order, 2):
        if late.ended is not None and late.ended.seq < early.called.seq:
            return False
    states = {model.initial()}
    for each in order:
        states = {
            after
            for state in states
            for outcome, after in model.successors(state, each.operation)
            if each.returned is None
            or (outcome.rejected is each.returned.raised and outcome.result == each.returned.result)
        }
    return bool(states)


@st.composite
def pool_histories(draw: st.DrawFn) -> History:
    """Up to six calls of three threads on a pool of two bytes, with any answers, some with none."""
    threads = ("t", "u", "v")
    programs: dict[str, list[tuple[Operation, Value]]] = {}
    for thread in threads:
        asked = draw(st.lists(st.booleans(), max_size=2))
        programs[thread] = []
        for number, granted in enumerate(asked):
            name = f"{thread}{number}"
            programs[thread].append((Allocate(name, 1), granted))
            if granted and draw(st.booleans()):
                programs[thread].append((Release(name), None))
        del programs[thread][2:]
    events: list[HistoryEvent] = []
    inside: dict[str, Value] = {}
    while True:
        ready = [each for each in threads if programs[each] or each in inside]
        if not ready or (len(events) > 3 and draw(st.integers(0, 9)) == 0):
            return tuple(events)
        thread = draw(st.sampled_from(ready))
        if thread in inside:
            events.append(Returned(thread, inside.pop(thread)))
        else:
            operation, answer = programs[thread].pop(0)
            inside[thread] = answer
            events.append(Called(thread, operation))


@given(pool_histories())
@settings(max_examples=200)
def test_it_says_what_the_definition_says(history: History) -> None:
    """When the search decides, and when all orders of its calls are tried, both say the same."""
    explained = explained_entries(history, sequential(TWO_BYTES)) is None
    assert explained == explained_by_trying_all_orders(history, TWO_BYTES)


@given(pool_histories())
@settings(max_examples=200)
def test_it_stops_at_the_line_at_which_the_models_explainer_stops(history: History) -> None:
    """Given a short history: both say how long the longest beginning is that is explained."""
    unexplained = explain(history, sequential(TWO_BYTES)).unexplained
    expected = None if unexplained is None else len(unexplained) - 1
    assert explained_entries(history, sequential(TWO_BYTES)) == expected


def test_both_kinds_of_histories_are_tried() -> None:
    chance = Random(3)
    verdicts: Counter[bool] = Counter()
    for _ in range(300):
        answers = [chance.random() < 0.55 for _ in range(4)]
        events: list[HistoryEvent] = []
        waiting = [f"t{number}" for number in range(4)]
        opened: list[str] = []
        while waiting or opened:
            if opened and (not waiting or chance.random() < 0.5):
                thread = opened.pop(chance.randrange(len(opened)))
                events.append(Returned(thread, answers[int(thread[1:])]))
            else:
                thread = waiting.pop()
                opened.append(thread)
                events.append(Called(thread, Allocate(thread, 1)))
        explained = explained_entries(tuple(events), sequential(TWO_BYTES)) is None
        assert explained == explained_by_trying_all_orders(tuple(events), TWO_BYTES)
        verdicts[explained] += 1
    assert min(verdicts[True], verdicts[False]) > 30


def test_few_configurations_stand_for_very_many_orders() -> None:
    """Refute all 39,916,800 orders by 2,048 - 1 configurations."""
    pool = MemoryPoolModel(MemoryPoolConfiguration(10, 1), MemoryPoolProfile())
    budget = Budget()
    history = entries_of(requests((True,) * 11))
    decided = decide(history, ModelRules(sequential(pool)), budget)
    assert not isinstance(decided, Explained)
    assert factorial(11) == 39_916_800
    assert budget.configurations == 2**11 - 1


def test_without_memory_every_order_would_be_tried() -> None:
    pool = MemoryPoolModel(MemoryPoolConfiguration(5, 1), MemoryPoolProfile())
    budget = Budget()

    class ByHistory(CallRules[tuple[str, ...]]):
        """The pool's rules, whose state remembers in which order it was reached."""

        def initial(self) -> tuple[str, ...]:
            return ()

        def effects(
            self, state: tuple[str, ...], call: RecordedCall, part: Part
        ) -> Iterator[Effect[tuple[str, ...]]]:
            model = pool.initial()
            for name in state:
                ((_, model),) = pool.successors(model, Allocate(name, 1))
            ((outcome, _),) = pool.successors(model, call.operation)
            yield Effect((*state, call.thread), (), outcome.result)

    history = entries_of(requests((True,) * 6))
    assert not isinstance(decide(history, ByHistory(), budget), Explained)
    beginnings = sum(factorial(6) // factorial(6 - length) for length in range(6))
    assert budget.configurations == beginnings == 1237


def pool_rules_of(size_bytes: int, history: History) -> PoolRules:
    """The rules of a pool as a trace is searched by them."""
    instance = MemoryPoolInstance(configuration=MemoryPoolConfiguration(size_bytes, 1))
    return pool_rules(instance, None, [each.operation for each in calls_of(entries_of(history))])


def test_refused_requests_are_put_in_order_without_trying() -> None:
    history = requests((*[False] * 11, *[True] * 4))
    history = (*history, Called("x", Allocate("x", 1)), Returned("x", True))
    spent = []
    knowing = pool_rules_of(4, history)
    for rules in (knowing, NothingIsKnown(knowing)):
        budget = Budget()
        assert not isinstance(decide(entries_of(history), rules, budget), Explained)
        spent.append(budget.configurations)
    assert spent[0] < 30
    assert spent[1] > 2**11


class NothingIsKnown(CallRules[MemoryPoolState]):
    """The rules of a pool, asked for effects alone."""

    def __init__(self, rules: PoolRules) -> None:
        self.rules = rules

    def initial(self) -> MemoryPoolState:
        return self.rules.initial()

    def effects(
        self, state: MemoryPoolState, call: RecordedCall, part: Part
    ) -> Iterator[Effect[MemoryPoolState]]:
        return self.rules.effects(state, call, part)


@given(
    answers=st.lists(st.booleans(), min_size=1, max_size=7),
    size_bytes=st.integers(1, 4),
)
def test_what_changes_nothing_may_take_effect_at_once(answers: list[bool], size_bytes: int) -> None:
    """Both find the same, and the first looks at no more than the second."""
    history = requests(answers)
    knowing = pool_rules_of(size_bytes, history)
    few, many = Budget(), Budget()
    one = decide(entries_of(history), knowing, few)
    other = decide(entries_of(history), NothingIsKnown(knowing), many)
    assert isinstance(one, Explained) == isinstance(other, Explained)
    assert few.configurations <= many.configurations


def test_the_order_explains_the_history() -> None:
    history = entries_of(requests((False, True, True)))
    decided = decide(history, ModelRules(sequential(TWO_BYTES)), Budget())
    assert isinstance(decided, Explained)
    assert decided.order == [Taken(1, WHOLE), Taken(2, WHOLE), Taken(0, WHOLE)]


def test_a_call_that_took_effect_in_time_is_taken_for_done() -> None:
    opened: History = (Called("t", Allocate("a", 1)),)
    for answers, first in (((True, False), True), ((True, True), False)):
        entries = entries_of(opened + requests(answers))
        entries = [replaced._replace(seq=place) for place, replaced in enumerate(entries)]
        entries[1:] = [
            each._replace(event=replace(each.event, thread=f"u{each.event.thread}"))
            for each in entries[1:]
        ]
        decided = decide(entries, ModelRules(sequential(TWO_BYTES)), Budget())
        assert isinstance(decided, Explained)
        assert (Taken(0, WHOLE) in decided.order) == first


def mixed_history(chance: Random) -> tuple[History, MemoryPoolInstance]:
    """Up to nine calls of four threads on a small pool: of every kind, some without an answer."""
    validation = chance.choice([ReleaseValidation.NONE, ReleaseValidation.IDENTITY])
    zero = chance.choice([ZeroRequest.GRANT, ZeroRequest.REFUSE, ZeroRequest.REJECT])
    instance = MemoryPoolInstance(
        configuration=MemoryPoolConfiguration(
            chance.randint(2, 5), 2, strict=chance.random() < 0.5
        ),
        profile=MemoryPoolProfile(release_validation=validation, zero_request=zero),
    )
    events: list[HistoryEvent] = []
    held: list[str] = []
    inside: dict[str, Operation] = {}
    left = chance.randint(5, 9)
    while left or (inside and chance.random() < 0.9):
        thread = f"t{chance.randrange(4)}"
        operation = inside.pop(thread, None)
        if operation is not None:
            events.append(_answered(chance, thread, operation, held))
        elif left:
            left -= 1
            inside[thread] = _asked(chance, f"b{left}", held)
            events.append(Called(thread, inside[thread]))
    return tuple(events), instance


def _asked(chance: Random, name: str, held: list[str]) -> Operation:
    if held and chance.random() < 0.5:
        buffer = held[-1] if chance.random() < 0.2 else held.pop()
        form = ReleaseForm.SLICE if chance.random() < 0.1 else ReleaseForm.ITSELF
        return Lose(buffer) if chance.random() < 0.1 else Release(buffer, form)
    if chance.random() < 0.05:
        return ReleaseForeign(1)
    size_bytes = chance.choice([0, 1, 1, 2, 2, 2, 3])
    return Allocate(name, size_bytes, fail=chance.random() < 0.1)


def _answered(chance: Random, thread: str, operation: Operation, held: list[str]) -> HistoryEvent:
    if not isinstance(operation, Allocate):
        is_refused = chance.random() < 0.15
        return Returned(thread, raised=Reason.INVALID_ARGUMENT if is_refused else None)
    if operation.size_bytes > 2:
        return Returned(thread, raised=Reason.INVALID_ARGUMENT)
    granted = chance.random() < 0.6
    if granted:
        held.append(operation.buffer)
    return Returned(thread, granted)


class AnythingGoesFirst(NothingIsKnown):
    """Wrong knowledge: each call takes effect as soon as it can."""

    def may_go_first(self, call: RecordedCall, others: Iterable[RecordedCall]) -> bool:
        return True


class AlwaysDetermined(NothingIsKnown):
    """Wrong knowledge: an answer is taken to say what a call did."""

    @property
    def is_determined(self) -> bool:
        return True


def found_by(rules: CallRules[MemoryPoolState], entries: Sequence[Entry]) -> object:
    """Return None for an explained history, else its explained extent and the possible answers."""
    found = Share("", entries, (rules,)).explained(Budget())
    told = found.refutation
    return None if told is None else (told.explained, told.answers, told.all_answers)


def test_knowledge_of_pools_alters_no_finding() -> None:
    """Long ways are left out, and nothing else; what is wrongly known would be noticed."""
    chance = Random(5)
    findings: Counter[bool] = Counter()
    noticed: Counter[type] = Counter()
    for _ in range(1500):
        history, instance = mixed_history(chance)
        entries = entries_of(history)
        operations = [each.operation for each in calls_of(entries)]
        knowing = pool_rules(instance, None, operations)
        expected = found_by(NothingIsKnown(knowing), entries)
        assert found_by(knowing, entries) == expected, (history, instance)
        findings[expected is None] += 1
        for wrong in (AnythingGoesFirst, AlwaysDetermined):
            noticed[wrong] += found_by(wrong(knowing), entries) != expected
    assert min(findings.values()) > 150
    assert noticed[AnythingGoesFirst] > 20
    assert noticed[AlwaysDetermined] > 2


def busy_history(calls: int, wrong: int) -> History:
    """Calls of eight threads without a pause on a pool; from some refusal on all are granted."""
    chance = Random(1)
    free = 160
    events: list[HistoryEvent] = []
    held: list[list[Allocate]] = [[] for _ in range(8)]
    inside: dict[int, Operation] = {}
    answers: dict[int, bool | None] = {}
    for number in range(calls + 16):
        while len(inside) == 8 or (number >= calls and inside):
            thread = chance.choice(sorted(inside))
            operation = inside[thread]
            if thread in answers:
                del inside[thread]
                events.append(Returned(f"t{thread}", answers.pop(thread)))
            elif isinstance(operation, Allocate):
                wrong -= free <= 0
                answers[thread] = free > 0 or wrong <= 0
                if answers[thread]:
                    free -= operation.size_bytes
                    held[thread].append(operation)
            else:
                answers[thread] = None
                free += held[thread].pop().size_bytes
        if number < calls:
            thread = chance.choice([each for each in range(8) if each not in inside])
            if held[thread] and chance.random() < 0.5 + 0.2 * len(held[thread]):
                inside[thread] = Release(held[thread][-1].buffer)
            else:
                inside[thread] = Allocate(f"b{number}", chance.choice([10, 30, 40]))
            events.append(Called(f"t{thread}", inside[thread]))
    return tuple(events)


def test_an_illegal_history_of_two_thousand_calls_by_eight_threads_is_decided() -> None:
    """Each call costs few configurations, though seven others may stand before or behind it."""
    instance = MemoryPoolInstance(configuration=MemoryPoolConfiguration(160, 40))
    spent = []
    for calls, wrong in ((2000, 150), (400, 40)):
        entries = entries_of(busy_history(calls, wrong))
        rules = pool_rules(instance, None, [each.operation for each in calls_of(entries)])
        budget = Budget()
        assert Share("", entries, (rules,)).explained(budget).refutation is not None
        spent.append(budget.configurations)
    assert spent[0] < 50 * 2000
    budget = Budget()
    assert Share("", entries, (NothingIsKnown(rules),)).explained(budget).refutation is not None
    assert budget.configurations > 2 * spent[1]
