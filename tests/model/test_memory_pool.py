"""The memory pool's model: two faces of one relation, invariants, and what is false of a pool."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purgatory_conformance.generation.memory_pool.table import draw_configuration, draw_operations
from purgatory_conformance.generation.source import HypothesisSource, SeededSource
from purgatory_model.claims.explorer import explore
from purgatory_model.claims.memory_pool import (
    FALSE_CLAIMS,
    TRUE_CLAIMS,
    PoolInstance,
    bound_of,
    breaks,
    broken_invariants,
)
from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.reasons import Reason

from .faces import agree

CAREFUL = profiles.MemoryPoolProfile(
    release_validation=profiles.ReleaseValidation.IDENTITY,
    features=frozenset(profiles.MemoryPoolFeature),
    observables=frozenset(profiles.MemoryPoolObservable),
)
NAIVE = msgspec.structs.replace(CAREFUL, release_validation=profiles.ReleaseValidation.NONE)

EXAMPLE = profiles.MemoryPoolConfiguration(100, 40)
STRICT = profiles.MemoryPoolConfiguration(100, 40, strict=True)

Case = tuple[MemoryPoolModel, tuple[op.Operation, ...]]


def meaning(
    means: profiles.ZeroRequest, profile: profiles.MemoryPoolProfile = CAREFUL
) -> profiles.MemoryPoolProfile:
    return msgspec.structs.replace(profile, zero_request=means)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    means = draw(st.sampled_from(profiles.ZeroRequest))
    profile = meaning(means, draw(st.sampled_from((CAREFUL, NAIVE))))
    source = HypothesisSource(draw)
    configuration = draw_configuration(profile, source, frozenset())
    operations = draw_operations(configuration, profile, source, most=20)
    return MemoryPoolModel(configuration, profile), operations


def after(model: MemoryPoolModel, *operations: op.Operation) -> MemoryPoolState:
    """The state after the operations, each going the first way."""
    state = model.initial()
    for operation in operations:
        _, state = next(iter(model.successors(state, operation)))
    return state


@pytest.mark.slow
@given(cases())
@settings(max_examples=80)
def test_accept_and_successors_are_one_relation(case: Case) -> None:
    """Accept gives, for each of them and for outcomes near it, the states enumerated with it."""
    model, operations = case
    state = model.initial()
    for operation in operations:
        pairs = list(model.successors(state, operation))
        assert agree(model, state, operation, pairs)
        state = pairs[-1][1]


@pytest.mark.slow
@given(cases())
@settings(max_examples=80)
def test_invariants_hold_unless_something_else_is_credited(case: Case) -> None:
    """When it never credits what is not its own, every invariant holds in each state."""
    model, operations = case
    state = model.initial()
    for operation in operations:
        others = operation_is_no_ordinary_release(state, operation)
        ways = [reached for _, reached in model.successors(state, operation)]
        state = ways[-1] if others else ways[0]
        assert list(broken_invariants(model, state)) == []


def operation_is_no_ordinary_release(state: MemoryPoolState, operation: op.Operation) -> bool:
    if isinstance(operation, op.Release):
        return operation.form is not op.ReleaseForm.ITSELF or operation.buffer not in state.held
    return isinstance(operation, op.ReleaseForeign)


def test_a_foreign_buffer_that_is_credited_breaks_conservation() -> None:
    """First conservation is broken, then the bound; the variant excuses both."""
    model = MemoryPoolModel(EXAMPLE, NAIVE)
    state = after(model, op.ReleaseForeign(40))
    assert [broken.rule for broken in broken_invariants(model, state)] == ["POOL-CONSERVATION"]
    asked = [op.Allocate(f"b{number}", 40) for number in range(4)]
    state = after(model, op.ReleaseForeign(40), *asked)
    assert state.outstanding_bytes == 160
    assert {broken.rule for broken in broken_invariants(model, state)} == {
        "POOL-CONSERVATION",
        "POOL-BOUND",
    }
    excused = MemoryPoolModel(EXAMPLE, NAIVE, frozenset({"credits_anything"}))
    assert list(broken_invariants(excused, state)) == []


@pytest.mark.parametrize("form", [op.ReleaseForm.SLICE, op.ReleaseForm.COPY])
def test_a_slice_that_is_credited_leaves_the_buffer_outstanding(form: op.ReleaseForm) -> None:
    state = after(MemoryPoolModel(EXAMPLE, NAIVE), op.Allocate("a", 30), op.Release("a", form))
    assert (state.available_bytes, state.outstanding_bytes) == (100, 30)


@given(st.integers(1, 60), st.integers(1, 60), st.booleans(), st.integers(0, 10**6))
@settings(max_examples=80)
def test_the_published_bound_is_never_reached(
    size: int, largest: int, strict: bool, seed: int
) -> None:
    """Given a pool and a random walk of legal requests and releases: it is always less."""
    sizes = profiles.MemoryPoolConfiguration(max(size, largest), largest, strict)
    model, source = MemoryPoolModel(sizes, profiles.MemoryPoolProfile()), SeededSource(seed)
    state = model.initial()
    for number in range(60):
        step: op.Operation = op.Allocate(f"b{number}", source.integer(1, largest))
        if state.held and source.integer(0, 3) == 0:
            step = op.Release(source.item(sorted(state.held)))
        state = next(iter(model.successors(state, step)))[1]
        assert state.outstanding_bytes <= bound_of(sizes)
        assert state.outstanding_bytes < sizes.size_bytes + sizes.max_single_bytes


SORTS = {
    "non-strict": PoolInstance(),
    "strict": PoolInstance(profiles.MemoryPoolConfiguration(3, 2, strict=True)),
}


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("claim", TRUE_CLAIMS)
def test_claim_holds_in_every_state_of_a_small_instance(claim: str, sort: str) -> None:
    """Given a pool of three bytes with buffers of one and two: no step breaks the claim."""
    instance = SORTS[sort]
    found = explore(instance.model().initial(), instance.steps, breaks(instance, claim))
    assert found.complete
    assert found.counterexample is None
    assert found.states > 100


@pytest.mark.parametrize(
    ("sort", "claim", "length"),
    [
        ("non-strict", "below-bound", 2),
        ("strict", "below-bound", 2),
        ("non-strict", "within-size", 2),
        ("strict", "refuses-only-depleted", 2),
        ("non-strict", "release-restores", 4),
    ],
)
def test_what_one_would_believe_is_false(sort: str, claim: str, length: int) -> None:
    """Given a claim that sounds right and is not: the shortest way to break it is found."""
    instance = SORTS[sort]
    found = explore(instance.model().initial(), instance.steps, breaks(instance, claim))
    assert found.counterexample is not None
    assert found.counterexample.broken == FALSE_CLAIMS[claim][0]
    assert len(found.counterexample.path) == length


@pytest.mark.parametrize(
    ("sort", "claim"), [("strict", "within-size"), ("non-strict", "refuses-only-depleted")]
)
def test_what_is_false_of_one_sort_is_true_of_the_other(sort: str, claim: str) -> None:
    """Given a claim that one sort of pool breaks: it holds there."""
    instance = SORTS[sort]
    found = explore(instance.model().initial(), instance.steps, breaks(instance, claim))
    assert (found.complete, found.counterexample) == (True, None)


def test_strict_pool_refuses_without_being_out_of_memory() -> None:
    model = MemoryPoolModel(STRICT, CAREFUL)
    state = after(model, op.Allocate("a", 40), op.Allocate("b", 40))
    ((outcome, reached),) = model.successors(state, op.Allocate("c", 40))
    assert outcome.result is False
    assert (outcome.observed["available_bytes"], outcome.observed["out_of_memory"]) == (20, False)
    assert reached.spell_began_ms == 0


def test_whether_a_loss_ends_a_dry_spell_is_free() -> None:
    """The spell may go on or have ended; without a spell, or if none is shown, there is one way."""
    model = MemoryPoolModel(EXAMPLE, CAREFUL)
    full = (op.Allocate("a", 40), op.Allocate("b", 40), op.Allocate("c", 40))
    dry = after(model, *full, op.Allocate("d", 1), op.Elapse(7))
    reached = {state for _, state in model.successors(dry, op.Lose("a"))}
    assert {(state.spell_began_ms, state.depleted_ms) for state in reached} == {(0, 0), (None, 7)}
    assert {state.available_bytes for state in reached} == {20}
    assert len(list(model.successors(after(model, *full), op.Lose("a")))) == 1
    silent = MemoryPoolModel(EXAMPLE, profiles.MemoryPoolProfile())
    assert len(list(silent.successors(dry, op.Lose("a")))) == 1


def test_names_that_were_never_granted_are_unknown() -> None:
    model = MemoryPoolModel(EXAMPLE, CAREFUL)
    lost = after(model, op.Allocate("a", 1), op.Lose("a"))
    for state in (model.initial(), lost):
        for operation in (op.Release("a"), op.Release("a", op.ReleaseForm.COPY), op.Lose("a")):
            ((outcome, reached),) = model.successors(state, operation)
            assert (outcome.rejected, reached) == (Reason.UNKNOWN_NAME, state)


def test_what_is_no_step_of_a_pool_is_an_error_of_the_caller() -> None:
    """Given a pool: it is a ValueError."""
    model = MemoryPoolModel(EXAMPLE, CAREFUL)
    with pytest.raises(ValueError, match="cannot go back"):
        model.expectations(after(model, op.Elapse(5)), op.Elapse(4))
    with pytest.raises(ValueError, match="no operation run_one"):
        model.expectations(model.initial(), op.RunOne())
    with pytest.raises(ValueError, match="no variant 'other'"):
        MemoryPoolModel(EXAMPLE, CAREFUL, frozenset({"other"}))


FULL = (op.Allocate("a", 40), op.Allocate("b", 40), op.Allocate("c", 20))

ANSWERS_TO_NOTHING = {
    (profiles.ZeroRequest.REJECT, False): {(None, Reason.INVALID_ARGUMENT)},
    (profiles.ZeroRequest.REJECT, True): {(None, Reason.INVALID_ARGUMENT)},
    (profiles.ZeroRequest.REFUSE, False): {(False, None)},
    (profiles.ZeroRequest.REFUSE, True): {(False, None)},
    (profiles.ZeroRequest.GRANT, False): {(True, None), (False, None)},
    (profiles.ZeroRequest.GRANT, True): {(True, None)},
}


@pytest.mark.parametrize(("means", "is_strict"), ANSWERS_TO_NOTHING)
def test_a_request_for_nothing_at_a_full_pool(means: profiles.ZeroRequest, is_strict: bool) -> None:
    """The answer is the declared one; where that is a grant and the pool is not strict, either."""
    model = MemoryPoolModel(STRICT if is_strict else EXAMPLE, meaning(means))
    full = after(model, *FULL)
    assert full.available_bytes == 0
    pairs = list(model.successors(full, op.Allocate("n", 0)))
    answers = {(outcome.result, outcome.rejected) for outcome, _ in pairs}
    assert answers == ANSWERS_TO_NOTHING[means, is_strict]
    assert {state.available_bytes for _, state in pairs} == {0}


@pytest.mark.parametrize("shows_spells", [True, False])
def test_whether_a_request_for_nothing_belongs_to_a_dry_spell_is_free(shows_spells: bool) -> None:
    """The spell begins, or ends, or does not; where no spell is shown there is one way."""
    refuses, grants = meaning(profiles.ZeroRequest.REFUSE), meaning(profiles.ZeroRequest.GRANT)
    if not shows_spells:
        refuses, grants = (
            msgspec.structs.replace(each, observables=frozenset()) for each in (refuses, grants)
        )
    model = MemoryPoolModel(EXAMPLE, refuses)
    begun = [s.spell_began_ms for _, s in model.successors(model.initial(), op.Allocate("n", 0))]
    assert begun == ([0, None] if shows_spells else [0])
    model = MemoryPoolModel(STRICT, grants)
    dry = after(model, *FULL, op.Allocate("d", 1))
    ended = [s.depleted_spells for _, s in model.successors(dry, op.Allocate("n", 0))]
    assert ended == ([1, 0] if shows_spells else [1])


def test_one_empty_buffer_may_be_taken_for_another() -> None:
    model = MemoryPoolModel(EXAMPLE, meaning(profiles.ZeroRequest.GRANT))
    for size_bytes, reasons in (
        (0, {None, Reason.INVALID_ARGUMENT}),
        (1, {Reason.INVALID_ARGUMENT}),
    ):
        state = after(model, op.Allocate("a", size_bytes), op.Release("a"))
        pairs = list(model.successors(state, op.Release("a")))
        assert {outcome.rejected for outcome, _ in pairs} == reasons
        assert {reached for _, reached in pairs} == {state}


@pytest.mark.parametrize("is_dry", [False, True])
def test_an_allocation_that_fails_leaves_the_account_alone(is_dry: bool) -> None:
    """It is an error or no buffer, and the dry spell may turn; a grant out of a reserve is one."""
    model = MemoryPoolModel(STRICT, CAREFUL)
    full = after(model, op.Allocate("a", 40), op.Allocate("b", 40))
    before = after(model, *FULL[:2], op.Allocate("d", 40)) if is_dry else full
    pairs = list(model.successors(before, op.Allocate("e", 20, fail=True)))
    answers = {(outcome.result, outcome.rejected): state for outcome, state in pairs}
    assert answers.keys() == {(None, Reason.NO_MEMORY), (False, None), (True, None)}
    failed = [state for outcome, state in pairs if outcome.result is not True]
    assert {(state.available_bytes, state.held) for state in failed} == {(20, before.held)}
    assert {state.spell_began_ms for state in failed} == {0, None}
    assert answers[True, None].available_bytes == 0


def test_an_illegal_request_is_rejected_for_that_where_there_is_no_memory() -> None:
    model = MemoryPoolModel(EXAMPLE, CAREFUL)
    for size_bytes in (-1, 0, 41):
        ((outcome, _),) = model.successors(model.initial(), op.Allocate("a", size_bytes, fail=True))
        assert outcome.rejected is Reason.INVALID_ARGUMENT


def test_what_was_written_is_read_and_all_else_is_free() -> None:
    """The contents of a fresh buffer are not compared, nor are those of an empty one."""
    model = MemoryPoolModel(EXAMPLE, meaning(profiles.ZeroRequest.GRANT))
    granted = (op.Allocate("a", 1), op.Allocate("b", 1), op.Allocate("n", 0))
    state = after(model, *granted, op.Fill("a", 7), op.Fill("n", 7), op.Release("b"))
    read = {name: next(iter(model.successors(state, op.Read(name))))[0] for name in "abn"}
    assert [read[name].result for name in "abn"] == [7, None, None]
    assert read["b"].rejected is Reason.UNKNOWN_NAME
    assert model.accept(state, op.Read("a"), msgspec.structs.replace(read["a"], result=8)) == set()
    assert model.accept(state, op.Read("n"), msgspec.structs.replace(read["n"], result=8)) == {
        state
    }
