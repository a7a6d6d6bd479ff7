"""The concurrent memory pool: linearizable, and without interleaving the sequential one."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purgatory_model.claims.explorer import explore
from purgatory_model.concurrent.memory_pool.model import (
    VARIANTS,
    ConcurrentMemoryPool,
    ConcurrentPoolState,
)
from purgatory_model.memory_pool import MemoryPoolState
from purgatory_model.overlapping.explained_runs import UnexplainedRun, check_runs
from purgatory_model.overlapping.histories import histories
from purgatory_model.overlapping.interleaving import Called, History, Returned, Step, thread_of
from purgatory_model.overlapping.linearizability import Explainer, explain
from purgatory_model.overlapping.programs import Programmed
from purgatory_model.overlapping.sequential_rules import sequential
from purgatory_spec.operations import Allocate, Operation, Release, ReleaseForeign
from purgatory_spec.outcomes import Value
from purgatory_spec.profiles import MemoryPoolConfiguration
from purgatory_spec.reasons import Reason

from ..concurrent_pools import Forgetful, pool, programmed, sequential_pool

pytestmark = pytest.mark.recorded

BOTH = pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])
MISUSE = ("double-release", "foreign-release")


# Without interleaving.


def alone(
    shared: ConcurrentMemoryPool, state: ConcurrentPoolState
) -> list[tuple[Step, ConcurrentPoolState]]:
    """The steps of the thread that is inside a call; of every thread where none is."""
    inside = state.inside
    return [each for each in shared.steps(state) if not inside or thread_of(each[0]) in inside]


@dataclass(frozen=True)
class Answer:
    """The answer to a call that nothing interrupts."""

    operation: Operation
    result: Value
    raised: Reason | None


def answered(
    shared: ConcurrentMemoryPool, state: ConcurrentPoolState, only: Operation | None = None
) -> set[tuple[Answer, ConcurrentPoolState]]:
    """Every call that may be made in a state, or one of them, run to its end by itself."""
    found = set()
    for step, after in alone(shared, state):
        events = shared.history(state, step, after)
        called = events[0]
        assert isinstance(called, Called)
        if only is not None and called.operation != only:
            continue
        while after.inside:
            ((step, following),) = alone(shared, after)
            events += shared.history(after, step, following)
            after = following
        _, returned = events
        assert isinstance(returned, Returned)
        found.add((Answer(called.operation, returned.result, returned.raised), after))
    return found


def state_beside(state: ConcurrentPoolState) -> tuple[int, frozenset[tuple[str, int]]]:
    """Return the state that both models have: the bytes available, and those of each holder."""
    held = frozenset((name, each.held_bytes) for name, each in state.threads if each.held_bytes)
    return state.available_bytes, held


def sequential_state(state: MemoryPoolState) -> tuple[int, frozenset[tuple[str, int]]]:
    return state.available_bytes, frozenset(state.held.items())


def possible_calls(shared: ConcurrentMemoryPool, state: ConcurrentPoolState) -> set[Operation]:
    """Return the calls that threads with one buffer at a time may make."""
    calls: set[Operation] = set()
    for name, thread in state.threads:
        if thread.held_bytes:
            calls.add(Release(name))
            continue
        calls |= {Allocate(name, size_bytes) for size_bytes in shared.sizes}
        if thread.spent_bytes:
            calls.add(Release(name))
        if "foreign-release" in shared.variants:
            largest = shared.configuration.max_single_bytes
            calls |= {ReleaseForeign(size_bytes) for size_bytes in range(1, largest + 1)}
    return calls


def same_answers(shared: ConcurrentMemoryPool) -> int:
    """Walk both models side by side; the number of pairs of states that were met."""
    # In each pair, each call must have the same answers in both, and lead to the same pairs.
    model = Forgetful(sequential_pool(shared))
    first = (shared.initial(), model.initial())
    met, fresh = {first}, [first]
    while fresh:
        concurrent, alone = fresh.pop()
        assert state_beside(concurrent) == sequential_state(alone)
        found = answered(shared, concurrent)
        calls = possible_calls(shared, concurrent)
        predicted = {
            (Answer(call, outcome.result, outcome.rejected), after)
            for call in calls
            for outcome, after in model.successors(alone, call)
        }
        assert {answer for answer, _ in found} == {answer for answer, _ in predicted}
        for answer, state in found:
            (after,) = (after for other, after in predicted if other == answer)
            if (state, after) not in met:
                met.add((state, after))
                fresh.append((state, after))
    return len(met)


@BOTH
def test_without_interleaving_it_is_the_sequential_pool(strict: bool) -> None:
    """Each call has the same answers there, and only these, and leads to the same state."""
    assert same_answers(pool(3, 2, 3, strict=strict)) > 20


@BOTH
def test_without_interleaving_misuse_is_found_out_as_by_the_sequential_pool(strict: bool) -> None:
    """The same with callers at fault and a pool that tells its own buffers from others."""
    assert same_answers(pool(3, 2, 2, *MISUSE, strict=strict, identity=True)) > 20


@pytest.mark.parametrize("variant", ["double-release", "foreign-release"])
def test_a_sequential_pool_with_another_validation_is_another_one(variant: str) -> None:
    shared = pool(2, 2, 2, variant)
    checking = pool(2, 2, 2, variant, identity=True)
    steps = [Step("Ask", ("t1", 1)), Step("Read", ("t1",)), Step("Swap", ("t1",))]
    state = followed(shared, *steps, Step("Release", ("t1",)))
    answers = {answer for answer, _ in answered(shared, state)}
    assert answers != {answer for answer, _ in answered(checking, state)}


@st.composite
def large_cases(draw: st.DrawFn) -> tuple[ConcurrentMemoryPool, list[tuple[str, int]]]:
    """A pool of any size, and who asks for how much, or gives back what he has."""
    largest = draw(st.integers(1, 40))
    configuration = MemoryPoolConfiguration(
        draw(st.integers(largest, 100)), largest, draw(st.booleans())
    )
    shared = ConcurrentMemoryPool(configuration, ("t1", "t2", "t3", "t4"))
    turns = st.tuples(st.sampled_from(shared.threads), st.integers(-1, largest + 1))
    return shared, draw(st.lists(turns, max_size=25))


@given(large_cases())
def test_sequential_calls_are_a_run_of_the_concurrent_pool(
    case: tuple[ConcurrentMemoryPool, list[tuple[str, int]]],
) -> None:
    """The concurrent one has exactly one run without interleaving, with the same answers."""
    shared, turns = case
    model = sequential_pool(shared)
    alone, state = model.initial(), shared.initial()
    for thread, size_bytes in turns:
        holds = thread in alone.held
        operation = Release(thread) if holds else Allocate(thread, size_bytes)
        ((outcome, alone),) = model.successors(alone, operation)
        answer = Answer(operation, outcome.result, outcome.rejected)
        ((same, state),) = answered(shared, state, operation)
        assert same == answer
        assert state_beside(state) == sequential_state(alone)


# Linearizable.


def explainer(shared: ConcurrentMemoryPool) -> Explainer[MemoryPoolState]:
    return Explainer(sequential(Forgetful(sequential_pool(shared))))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size_bytes", "largest", "threads", "strict", "pairs"),
    [
        (3, 3, 2, False, 1866),
        (3, 3, 2, True, 1461),
        (2, 1, 3, False, 16_553),
        pytest.param(2, 1, 3, True, 15_740, marks=pytest.mark.large),
        pytest.param(2, 2, 3, False, 68_953, marks=pytest.mark.large),
        pytest.param(2, 2, 3, True, 36_769, marks=pytest.mark.large),
    ],
)
def test_every_history_is_explained(
    size_bytes: int, largest: int, threads: int, strict: bool, pairs: int
) -> None:
    """Every one of them is, of any length; and as many pairs are visited as the docs say."""
    shared = pool(size_bytes, largest, threads, strict=strict)
    checked = check_runs(Programmed(shared, {}), explainer(shared))
    assert checked.unexplained is None
    assert checked.pairs == pairs


@pytest.mark.slow
def test_a_pool_that_checks_releases_is_explained_also_with_callers_at_fault() -> None:
    """Every one of them is, of any length."""
    shared = pool(2, 2, 2, *MISUSE, identity=True)
    checked = check_runs(Programmed(shared, {}), explainer(shared))
    assert checked.unexplained is None
    assert checked.pairs > 5000


@BOTH
def test_each_history_of_small_programs_is_explained_by_itself(strict: bool) -> None:
    """Each has an order of its calls that explains it."""
    shared = pool(2, 2, 2, strict=strict)
    rules = sequential(sequential_pool(shared))
    count = 0
    for history in histories(programmed(shared, (1, 2), (2, 1))):
        explanation = explain(history, rules)
        assert explanation.is_complete
        assert len(explanation.order) == len(history) // 2
        count += 1
    assert count > 800


WRONG_HISTORIES = {
    "split-test-and-subtract": (
        "t1 asks for 2, t2 asks for 1, t1 has it, t2 has it",
        True,
    ),
    "blind-store": ("t1 asks for 2, t2 asks for 1, t1 has it, t2 has it", True),
    "swap-gives-up": ("t1 asks for 1, t2 asks for 1, t1 has it, t2 is refused", False),
}


def words(history: History) -> str:
    told = []
    for event in history:
        if isinstance(event, Called) and isinstance(event.operation, Allocate):
            told.append(f"{event.thread} asks for {event.operation.size_bytes}")
        elif isinstance(event, Called):
            told.append(f"{event.thread} gives back")
        elif isinstance(event, Returned) and event.result is not None:
            told.append(f"{event.thread} {'has it' if event.result else 'is refused'}")
    return ", ".join(told)


@pytest.mark.parametrize("variant", WRONG_HISTORIES)
def test_a_pool_with_a_defect_has_a_history_that_nothing_explains(variant: str) -> None:
    """A shortest one that is not explained is found, and it is the one to be expected."""
    told, over_granted = WRONG_HISTORIES[variant]
    sizes = ((2,), (1,)) if over_granted else ((1,), (1,))
    shared = pool(2, 2, 2, variant, strict=True)
    run = check_runs(programmed(shared, *sizes), explainer(shared)).unexplained
    assert run is not None
    assert sorted(words(run.history).split(", ")) == sorted(told.split(", "))
    assert explain(run.history, sequential(sequential_pool(shared))).unexplained == run.history
    assert history_of(shared, run) == run.history


def test_a_credited_foreign_buffer_is_explained_by_a_pool_that_does_not_check() -> None:
    """The first explain them, and the second do not."""
    naive = pool(1, 1, 2, "foreign-release")
    programs: dict[str, tuple[Operation, ...]] = {
        "t1": (ReleaseForeign(1), Allocate("t1", 1)),
        "t2": (Allocate("t2", 1),),
    }
    runs = Programmed(naive, programs)
    assert check_runs(runs, explainer(naive)).unexplained is None
    checking = explainer(pool(1, 1, 2, identity=True))
    run = check_runs(runs, checking).unexplained
    assert run is not None
    assert run.history == (Called("t1", ReleaseForeign(1)), Returned("t1"))


def test_a_refusal_has_a_reason_at_some_instant_of_its_call() -> None:
    """The refusal took effect before the release, although it returned after it."""
    shared = pool(1, 1, 2)
    steps = (
        *(Step("Ask", ("t1", 1)), Step("Read", ("t1",)), Step("Swap", ("t1",))),
        *(Step("Ask", ("t2", 1)), Step("Read", ("t2",))),
        Step("Release", ("t1",)),
        Step("Refuse", ("t2",)),
    )
    history = shown(shared, steps)
    assert words(history) == (
        "t1 asks for 1, t1 has it, t2 asks for 1, t1 gives back, t2 is refused"
    )
    order = explain(history, sequential(sequential_pool(shared))).order
    assert [taken.operation for taken in order] == [
        Allocate("t1", 1),
        Allocate("t2", 1),
        Release("t1"),
    ]


def followed(shared: ConcurrentMemoryPool, *steps: Step) -> ConcurrentPoolState:
    state = shared.initial()
    for step in steps:
        state = dict(shared.steps(state))[step]
    return state


def shown(shared: ConcurrentMemoryPool, steps: tuple[Step, ...]) -> History:
    """The history of these steps."""
    state = shared.initial()
    told: History = ()
    for step in steps:
        after = dict(shared.steps(state))[step]
        told += shared.history(state, step, after)
        state = after
    return told


def history_of(shared: ConcurrentMemoryPool, run: UnexplainedRun) -> History:
    return shown(shared, run.steps)


@pytest.mark.parametrize("variants", [(), *((each,) for each in VARIANTS)])
def test_every_step_names_its_thread(variants: tuple[str, ...]) -> None:
    shared = pool(2, 2, 2, *variants)
    threads = set()

    def told(_: ConcurrentPoolState, step: Step, __: ConcurrentPoolState) -> str | None:
        threads.add(thread_of(step))
        return None

    explore(shared.initial(), shared.steps, told, limit=1000)
    assert threads == {"t1", "t2"}


def test_what_there_is_not() -> None:
    with pytest.raises(ValueError, match="there is no variant 'leaky'"):
        pool(1, 1, 1, "leaky")
    with pytest.raises(ValueError, match="an unbounded pool has no count"):
        ConcurrentMemoryPool(MemoryPoolConfiguration(unbounded=True))
    assert set(WRONG_HISTORIES) | set(MISUSE) == set(VARIANTS)
