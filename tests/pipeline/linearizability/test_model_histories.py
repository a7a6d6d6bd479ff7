"""Histories of the concurrent models are explained as traces; not all of faulty models are."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from purgatory_model.concurrent.exact.instance import ExactInstance
from purgatory_model.concurrent.exact.model import ConcurrentExact
from purgatory_model.concurrent.memory_pool.model import ConcurrentMemoryPool
from purgatory_model.concurrent.proposal.model import ConcurrentProposal, Feature, ProposalInstance
from purgatory_model.overlapping.calls import OverlappingCalls
from purgatory_model.overlapping.histories import histories
from purgatory_model.overlapping.interleaving import Called, Happened, History, Returned
from purgatory_model.overlapping.linearizability import explain
from purgatory_model.overlapping.programs import Programmed
from purgatory_model.overlapping.projection import Projection
from purgatory_spec import operations as op
from purgatory_spec.profiles import Accounting, Executor, MemoryPoolConfiguration, PurgatoryProfile
from purgatory_traces.linearizability.calls import NoHistory, calls_of
from purgatory_traces.linearizability.checker import Answered, Finding
from purgatory_traces.traces import lines as trace_lines

from .traces import back, call, entries_of, event, explained_entries, found_of, located

pytestmark = pytest.mark.recorded

Programs = dict[str, tuple[op.Operation, ...]]


def told(history: History) -> Iterator[trace_lines.TraceLine]:
    """A history of a model as the lines of a trace."""
    for each in history:
        if isinstance(each, Called):
            yield call(each.thread, each.operation)
        elif isinstance(each, Happened):
            yield event(each.thread, each.event.kind, each.event.task)
        else:
            yield back(each.thread, each.result, rejected=each.raised)


def checked(history: History, instance: trace_lines.Instance) -> Finding:
    """Return what is found of a history as a run of its own."""
    return found_of(located(instance, told(history)))


EXACT = ExactInstance(
    purgers=(),
    operations=1,
    cancellers=("canceller",),
    forcers=("forcer",),
    features=frozenset({"time-outs", "stops-inserting"}),
    programs=True,
    ordered=True,
)
EXACT_TRACE = trace_lines.PurgatoryInstance(
    profile=PurgatoryProfile(accounting=Accounting.EXACT, executor=Executor.STEPPED)
)
PROPOSAL_TRACE = trace_lines.PurgatoryInstance(
    profile=PurgatoryProfile(accounting=Accounting.PROPOSAL, executor=Executor.STEPPED)
)
NOBODY: Programs = {"completer": (), "canceller": (), "forcer": ()}
BUSY: Programs = {
    "caller": (op.Watch("1", ("k1", "k2"), 1),),
    "completer": (op.Check("k1"),),
    "canceller": (op.CancelForKey("k2"),),
    "forcer": (op.Force("1"),),
}


def exact(instance: ExactInstance, programs: Programs, seed: int) -> History:
    """A random run of the concurrent purgatory with the exact accounting."""
    return _run(Programmed(ConcurrentExact(instance), {**NOBODY, **programs}), seed)


def _run(programmed: Programmed, seed: int) -> History:  # type: ignore[type-arg]
    """The history of a random run, which is over, or is broken off somewhere."""
    chance = Random(seed)
    progress = programmed.initial()
    history: History = ()
    for _ in range(400):
        if programmed.is_over(progress):
            break
        steps = list(programmed.steps(progress))
        if not steps:
            break
        taken, after = chance.choice(steps)
        history += programmed.history(progress, taken, after)
        progress = after
    if chance.random() < 0.3:
        history = history[: chance.randrange(len(history) + 1)]
    return history


def test_runs_of_the_exact_accounting_are_explained() -> None:
    instance = replace(EXACT, purgers=("purger",))
    for seed in range(100):
        history = exact(instance, BUSY, seed)
        finding = checked(history, EXACT_TRACE)
        assert finding.answered is Answered.LINEARIZABLE, (seed, history, finding.reason)


@pytest.mark.parametrize("variant", ["no-second-try", "test-then-set", "winner-stays-in-timer"])
def test_a_fault_of_the_exact_accounting_is_found(variant: str) -> None:
    instance = replace(EXACT, keys=("k1",), variants=frozenset({variant}))
    programs: Programs = {"caller": (op.Watch("1", ("k1",), 1),), "completer": (op.Check("k1"),)}
    found = {checked(exact(instance, programs, seed), EXACT_TRACE).answered for seed in range(300)}
    assert Answered.NOT_LINEARIZABLE in found
    assert Answered.INCONCLUSIVE not in found


def test_runs_in_the_proposals_order_are_explained() -> None:
    instance = ProposalInstance(
        completers=("x1", "x2"),
        keys=("k1", "k2"),
        thresholds=(1, 1),
        features=frozenset({Feature.CANCEL_FOR_KEY}),
        ordered=True,
        programs=True,
    )
    programs: Programs = {
        "c1": (op.Watch("1", ("k1", "k2"), 1),),
        "x1": (op.Check("k1"), op.Check("k2")),
        "x2": (op.CancelForKey("k1"), op.Check("k2")),
    }
    model = ConcurrentProposal(instance)
    callers = {each: programs.get(each, ()) for each in ("c1", "x1", "x2")}
    explained = 0
    for seed in range(80):
        history = _run(Programmed(model, callers, fits=_fits), seed)
        finding = checked(history, PROPOSAL_TRACE)
        assert finding.answered is Answered.LINEARIZABLE, (seed, history, finding.reason)
        explained += any(isinstance(each, Happened) for each in history)
    assert explained > 30


def _fits(wanted: op.Operation, called: op.Operation) -> bool:
    return isinstance(called, op.Watch) if isinstance(wanted, op.Watch) else wanted == called


def pool_of(*variants: str) -> Programmed:  # type: ignore[type-arg]
    """A pool of two bytes and three threads, each of which asks and gives back."""
    pool = ConcurrentMemoryPool(
        MemoryPoolConfiguration(2, 2), ("t1", "t2", "t3"), False, frozenset(variants)
    )
    programs: Programs = {
        thread: (op.Allocate(thread, size), op.Release(thread))
        for thread, size in (("t1", 1), ("t2", 2), ("t3", 1))
    }

    def leaves_out(state: object, thread: str, operation: op.Operation) -> bool:
        assert hasattr(state, "thread")
        return isinstance(operation, op.Release) and not state.thread(thread).held_bytes

    return Programmed(pool, programs, leaves_out=leaves_out)


POOL_TRACE = trace_lines.MemoryPoolInstance(configuration=MemoryPoolConfiguration(2, 2))


def test_every_history_of_the_pool_is_explained() -> None:
    looked_at = 0
    for history in list(histories(pool_of()))[::10]:
        assert checked(history, POOL_TRACE).answered is Answered.LINEARIZABLE, history
        looked_at += 1
    assert looked_at > 100


def test_some_history_of_a_pool_that_stores_blindly_is_not() -> None:
    found = [checked(history, POOL_TRACE).answered for history in histories(pool_of("blind-store"))]
    assert Answered.NOT_LINEARIZABLE in found


def spoiled(history: History, chance: Random) -> History:
    """The history with an answer changed, or two events of different threads swapped."""
    changed = list(history)
    for _ in range(chance.randrange(1, 3)):
        place = chance.randrange(len(changed))
        each = changed[place]
        if isinstance(each, Returned) and isinstance(each.result, bool):
            changed[place] = replace(each, result=not each.result)
        elif place and changed[place - 1].thread != each.thread:
            changed[place - 1 : place + 1] = [each, changed[place - 1]]
    return tuple(changed)


def test_of_divided_calls_the_search_says_what_the_models_explainer_says() -> None:
    chance = Random(11)
    projection = Projection("1", frozenset(EXACT.keys))
    rules = OverlappingCalls("1", arms_first=True)
    stopped = 0
    for seed in range(120):
        history = exact(EXACT, BUSY, seed)
        history = spoiled(history, chance) if history and seed % 3 else history
        try:
            projected = projection.of(history)
            expected = explain(projected, rules).unexplained
        except ValueError:
            continue  # A thread calls inside a call: no history of the model's explainer.
        if not _has_calls(projected):
            continue
        found = explained_entries(projected, rules)
        assert found == (None if expected is None else len(expected) - 1), (seed, projected)
        stopped += expected is not None
    assert stopped > 10


def _has_calls(history: History) -> bool:
    """Return whether every event and return stands inside a call."""
    try:
        calls_of(entries_of(history))
    except NoHistory:
        return False
    return True
