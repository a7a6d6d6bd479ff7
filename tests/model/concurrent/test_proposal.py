"""The concurrent purgatory in the proposal's order: what is claimed of it, and its histories."""

from dataclasses import replace

import pytest

from purgatory_model.claims.explorer import explore
from purgatory_model.concurrent.proposal import instances
from purgatory_model.concurrent.proposal.claims import CLAIMS
from purgatory_model.concurrent.proposal.model import (
    ConcurrentProposal,
    Defect,
    Feature,
    ProposalInstance,
)
from purgatory_model.concurrent.proposal.state import (
    EXECUTOR,
    REAPER,
    Executor,
    Place,
    ProposalState,
)
from purgatory_model.overlapping.calls import OverlappingCalls
from purgatory_model.overlapping.explained_runs import ExplainedRuns, check_runs
from purgatory_model.overlapping.histories import histories
from purgatory_model.overlapping.interleaving import Called, Happened, History, Returned, Step
from purgatory_model.overlapping.linearizability import Explainer
from purgatory_model.overlapping.programs import Programmed
from purgatory_model.overlapping.projection import Projected, Projection
from purgatory_spec import operations as op
from purgatory_spec.outcomes import completed, expired, timed_out, tried

pytestmark = pytest.mark.recorded

KEYS = ("k1",)
WATCH = op.Watch("1", KEYS, 1)
ADVANCE = op.Advance(0)
ONE = ProposalInstance(keys=KEYS, thresholds=(1,), most_events=1, ordered=True, programs=True)
Programs = dict[str, tuple[op.Operation, ...]]


def fits(wanted: op.Operation, called: op.Operation) -> bool:
    """Operations are numbered in the order in which they are handed in, whoever does it."""
    return isinstance(called, op.Watch) if isinstance(wanted, op.Watch) else wanted == called


def programmed(instance: ProposalInstance, programs: Programs) -> Programmed[ProposalState]:
    model = ConcurrentProposal(instance)
    return Programmed(model, programs, frozenset({EXECUTOR}), fits)


def explained(instance: ProposalInstance, programs: Programs, operation: int) -> ExplainedRuns:
    """Check whether the rules for overlapping calls explain every history for an operation."""
    rules = OverlappingCalls(str(operation), any_key_takes_time_out=True)
    projection = Projection(str(operation), frozenset(instance.keys))
    return check_runs(programmed(instance, programs), Projected(projection, Explainer(rules)))


@pytest.mark.parametrize("instance", instances.TRUE_CLAIMS, ids=["overlapping", "one at a time"])
def test_true_claims_hold_of_every_state(instance: ProposalInstance) -> None:
    """Given an instance, and what is claimed to be true of it: no claim is broken."""
    model = ConcurrentProposal(instance)
    found = explore(
        model.initial(), model.steps, instances.breaks(instance, *instances.TRUE_CLAIMS[instance])
    )
    assert found.counterexample is None
    assert found.complete
    assert found.states > 2000


@pytest.mark.parametrize("name", instances.FALSE_CLAIMS)
def test_false_claims_have_counterexamples(name: str) -> None:
    """A state is found that breaks it."""
    examined = instances.examine(*instances.FALSE_CLAIMS[name])
    assert examined.found.counterexample is not None
    assert examined.found.counterexample.broken == CLAIMS[examined.claim][0]


@pytest.mark.parametrize("name", instances.FAULTS)
def test_true_claims_fail_where_there_is_a_fault(name: str) -> None:
    """It is broken with the fault, and without it holds of every state."""
    instance, claim = instances.FAULTS[name]
    assert instances.examine(instance, claim).found.counterexample is not None
    sound = instances.examine(replace(instance, defects=frozenset()), claim).found
    assert sound.complete
    assert sound.counterexample is None


def test_every_claim_that_is_true_somewhere_fails_somewhere() -> None:
    """Those that do not fail with a fault or a feature fail when they are made tighter."""
    fail = {claim for _, claim in (*instances.FALSE_CLAIMS.values(), *instances.FAULTS.values())}
    tighter = {f"{claim}-minus-one" for claim in ("estimate-bound", "live-bound")}
    assert tighter <= fail
    assert set(CLAIMS) - fail == {"estimate-bound", "live-bound"}


def test_the_executor_never_has_to_wait_for_a_lock() -> None:
    """Find the lock free: its last holder completed the operation, or has not armed it yet."""
    model = ConcurrentProposal(instances.ONE_OPERATION)
    decisions = 0

    def broken(before: ProposalState, step: Step, after: ProposalState) -> str | None:
        nonlocal decisions
        executor = after.threads[EXECUTOR]
        assert isinstance(executor, Executor)
        if executor.place is not Place.DECIDE or executor.operation in after.completed:
            return None
        decisions += 1
        return "it waits" if executor.operation in after.holders else None

    assert explore(model.initial(), model.steps, broken).counterexample is None
    assert decisions > 100


PROGRAMS: dict[str, tuple[ProposalInstance, Programs]] = {
    "a watch and a check": (
        ONE,
        {"c1": (WATCH,), "x1": (op.Check("k1"),), REAPER: (ADVANCE, ADVANCE)},
    ),
    "a watch and two checks": (
        replace(ONE, completers=("x1", "x2")),
        {"c1": (WATCH,), "x1": (op.Check("k1"),), "x2": (op.Check("k1"),), REAPER: ()},
    ),
    "a watch and a cancellation with a check behind it": (
        replace(ONE, features=frozenset({Feature.CANCEL_FOR_KEY})),
        {"c1": (WATCH,), "x1": (op.CancelForKey("k1"), op.Check("k1")), REAPER: (ADVANCE,)},
    ),
}
LARGE_PROGRAMS: dict[str, tuple[ProposalInstance, Programs]] = {
    "two watches and a check": (
        replace(ONE, callers=("c1", "c2"), thresholds=(1, 1)),
        {"c1": (WATCH,), "c2": (WATCH,), "x1": (op.Check("k1"),), REAPER: ()},
    ),
    "a watch of two keys and a check of both": (
        replace(ONE, keys=("k1", "k2")),
        {"c1": (WATCH,), "x1": (op.Check("k1"), op.Check("k2")), REAPER: (ADVANCE,)},
    ),
    "a watch, two checks and a hand-over": (
        replace(ONE, completers=("x1", "x2")),
        {
            "c1": (WATCH,),
            "x1": (op.Check("k1"),),
            "x2": (op.Check("k1"),),
            REAPER: (ADVANCE, ADVANCE),
        },
    ),
    "two watches, a check and a hand-over": (
        replace(ONE, callers=("c1", "c2"), thresholds=(1, 1)),
        {"c1": (WATCH,), "c2": (WATCH,), "x1": (op.Check("k1"),), REAPER: (ADVANCE, ADVANCE)},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("instance", "programs"), PROGRAMS.values(), ids=PROGRAMS)
def test_every_history_of_small_programs_is_explained_for_each_operation(
    instance: ProposalInstance, programs: Programs
) -> None:
    """For each operation the parts of the calls explain what was seen of it."""
    for operation in range(1, len(instance.thresholds) + 1):
        found = explained(instance, programs, operation)
        assert found.unexplained is None, found.unexplained
        assert found.over > 0


@pytest.mark.large
@pytest.mark.parametrize(("instance", "programs"), LARGE_PROGRAMS.values(), ids=LARGE_PROGRAMS)
def test_every_history_of_longer_programs_is_explained_for_each_operation(
    instance: ProposalInstance, programs: Programs
) -> None:
    """For each operation the parts of the calls explain what was seen of it."""
    for operation in range(1, len(instance.thresholds) + 1):
        assert explained(instance, programs, operation).unexplained is None


SEEN_IN_HISTORIES = {
    Defect.NO_SECOND_TRY: {"c1": (WATCH,), "x1": (op.Check("k1"),), REAPER: ()},
    Defect.NO_SECOND_LOOK: {"c1": (WATCH,), "x1": (op.Check("k1"),), REAPER: (ADVANCE, ADVANCE)},
    Defect.TEST_THEN_SET: {"c1": (WATCH,), "x1": (op.Check("k1"),), REAPER: (ADVANCE,)},
    Defect.EXPIRES_ANYWAY: {"c1": (WATCH,), "x1": (op.Check("k1"),), REAPER: (ADVANCE,)},
    Defect.SWEEP_TAKES_ALL: {
        "c1": (WATCH,),
        "x1": (op.Check("k1"), op.Check("k1")),
        REAPER: (ADVANCE,),
    },
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("defect", "programs"), SEEN_IN_HISTORIES.items(), ids=[str(each) for each in SEEN_IN_HISTORIES]
)
def test_a_fault_leaves_a_history_that_nothing_explains(defect: Defect, programs: Programs) -> None:
    """The parts of calls do not explain one of its histories."""
    instance = replace(ONE, defects=frozenset({defect}))
    assert explained(instance, programs, 1).unexplained is not None


def test_the_histories_of_a_watch_that_nothing_meets_but_its_time_out() -> None:
    """Given a watch, and a reaper that takes one step: there is one with a time-out."""
    found = set(histories(programmed(ONE, {"c1": (WATCH,), "x1": (), REAPER: (ADVANCE,)})))
    watched: History = (
        Called("c1", WATCH),
        Happened("c1", tried("1")),
        Happened("c1", tried("1")),
        Returned("c1", False),
    )
    handed_over: History = (
        Called(REAPER, ADVANCE),
        Happened(REAPER, expired("1")),
        Returned(REAPER),
    )
    ran: History = (
        Called(EXECUTOR, op.RunOne()),
        Happened(EXECUTOR, completed("1")),
        Happened(EXECUTOR, timed_out("1")),
        Returned(EXECUTOR),
    )
    assert (*watched, *handed_over, *ran) in found
    assert (*watched, Called(REAPER, ADVANCE), Returned(REAPER)) in found


def test_an_event_is_told_with_what_it_makes_possible() -> None:
    """Each satisfies one of them, and is followed by a check that finds nothing."""
    instance = replace(ONE, thresholds=(1, 2), most_events=2)
    programs: Programs = {"c1": (), "x1": (op.Check("k1"), op.Check("k1")), REAPER: ()}
    checked: History = (Called("x1", op.Check("k1")), Returned("x1", 0))
    told: History = ()
    for number in "12":
        told += (Called("x1", op.Satisfy(number)), Returned("x1"), *checked)
    assert told in set(histories(programmed(instance, programs)))


@pytest.mark.parametrize("order", [True, False])
def test_lists_keep_their_order_where_they_are_asked_to(order: bool) -> None:
    instance = replace(ONE, ordered=order)
    assert instance.appended((2,), 1) == ((2, 1) if order else (1, 2))
