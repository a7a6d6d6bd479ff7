"""The rules for calls that overlap say what may be seen of one operation, and no more."""

# The histories here are those of the concurrent purgatory in the proposal's order; the sequential
# rules explain none of them, each for a reason of its own.

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from purgatory_model.concurrent.proposal.model import ConcurrentProposal, Feature, ProposalInstance
from purgatory_model.overlapping.calls import OverlappingCalls
from purgatory_model.overlapping.interleaving import Called, Happened, History, Returned, Step
from purgatory_model.overlapping.linearizability import explain
from purgatory_model.overlapping.parts import WHOLE
from purgatory_model.overlapping.projection import Projection
from purgatory_model.overlapping.sequential_rules import sequential
from purgatory_model.purgatory import purgatory_model
from purgatory_spec.operations import Add, Operation, Watch
from purgatory_spec.outcomes import EventKind
from purgatory_spec.profiles import Accounting, Executor, PurgatoryConfiguration, PurgatoryProfile

from .test_delayed_operation_rules import KEYS_OF, asked, run
from .whole_calls import WholeCalls

ONE_KEY = ProposalInstance(
    completers=("x1", "x2"),
    keys=("k1",),
    thresholds=(1,),
    features=frozenset({Feature.CANCEL_FOR_KEY}),
    ordered=True,
    programs=True,
)
TWO_KEYS = replace(ONE_KEY, keys=("k1", "k2"))

HANDED_IN = "FirstTryFails c1 1, Insert c1 1 k1, Count c1 1"
WATCHED = f"{HANDED_IN}, SecondTryFails c1 1, LookFindsLive c1 1, AddToTimer c1 1, LookAgain c1 1"
MET = "Snapshot x1 k1, FindLive x1 1"
COMPLETED = "CancelTimeOut x1 1, CallOnComplete x1 1, Drop x1 k1 1"

FINDINGS = {
    "an event comes between the two tries of a watch": (
        ONE_KEY,
        f"{HANDED_IN}, Raise x1 k1, SecondTryCompletes c1 1, CancelTimeOut c1 1, "
        "CallOnComplete c1 1",
    ),
    "an operation is cancelled before its watch tries again": (
        ONE_KEY,
        f"{HANDED_IN}, CancelForKey x1 k1, Withdraw x1 1, Raise x2 k1, SecondTryCompletes c1 1, "
        "CancelTimeOut c1 1, CallOnComplete c1 1",
    ),
    "a time-out is armed after the operation was completed, and handed over": (
        ONE_KEY,
        f"{HANDED_IN}, SecondTryFails c1 1, LookFindsLive c1 1, Raise x1 k1, {MET}, "
        "TryCompletes x1 1, CancelTimeOut x1 1, AddToTimer c1 1, CallOnComplete x1 1, "
        "Drop x1 k1 1, Advance reaper 1, LookAgain c1 1",
    ),
    "a check finds an operation completed that is handed over afterwards": (
        ONE_KEY,
        f"{WATCHED}, Raise x1 k1, {MET}, TryCompletes x1 1, Check x2 k1, Snapshot x2 k1, "
        f"DropCompleted x2 k1 1, Advance reaper 1, {COMPLETED}",
    ),
    "a cancellation returns an operation that a check has completed and not yet dropped": (
        ONE_KEY,
        f"{WATCHED}, Raise x1 k1, {MET}, TryCompletes x1 1, CancelForKey x2 k1, Withdraw x2 1, "
        f"{COMPLETED}",
    ),
    "a check completes what was cancelled after it had met it": (
        ONE_KEY,
        f"{WATCHED}, Check x1 k1, {MET}, CancelForKey x2 k1, Withdraw x2 1, Raise x2 k1, "
        f"TryCompletes x1 1, {COMPLETED}, Snapshot x2 k1",
    ),
    "a purge has gone through one list and not yet through the other": (
        TWO_KEYS,
        "FirstTryFails c1 1, Insert c1 1 k1, Insert c1 1 k2, Count c1 1, Raise x1 k1, "
        "SecondTryCompletes c1 1, CancelTimeOut c1 1, CallOnComplete c1 1, ReadEstimate reaper 1, "
        "Purge reaper 0, ReadSizeAgain reaper 0, Reset reaper 0, Sweep reaper k1, "
        "CancelForKey x2 k1, CancelForKey x2 k2, Withdraw x2 1, Sweep reaper k2",
    ),
}
"""Steps of the concurrent purgatory, in words."""


def labelled(words: str) -> Step:
    action, *arguments = words.split()
    return Step(action, tuple(int(each) if each.isdigit() else each for each in arguments))


def history_of(instance: ProposalInstance, steps: str) -> History:
    """The history of steps that the concurrent model takes, one after the other."""
    model = ConcurrentProposal(instance)
    state = model.initial()
    history: History = ()
    for words in steps.split(", "):
        step = labelled(words)
        (after,) = (each for label, each in model.steps(state) if label == step)
        history += model.history(state, step, after)
        state = after
    return history


@pytest.mark.parametrize(("instance", "steps"), FINDINGS.values(), ids=FINDINGS)
def test_only_parts_explain_what_overlaps(instance: ProposalInstance, steps: str) -> None:
    """No order of whole calls does, and some order of their parts."""
    history = Projection("1", frozenset(instance.keys)).of(history_of(instance, steps))
    assert not explain(history, WholeCalls("1")).is_complete
    explanation = explain(history, OverlappingCalls("1", any_key_takes_time_out=True))
    assert explanation.is_complete, explanation.unexplained


def test_a_check_is_not_one_effect_on_two_operations() -> None:
    """The first check completes the second: explained for each, for both by no order."""
    instance = replace(ONE_KEY, thresholds=(1, 1))
    second = WATCHED.replace(" 1", " 2")
    history = history_of(
        instance,
        f"{WATCHED}, {second}, Check x1 k1, Snapshot x1 k1, FindLive x1 1, TryFails x1 1, "
        "Raise x2 k1, Snapshot x2 k1, FindLive x2 1, TryCompletes x2 1, CancelTimeOut x2 1, "
        "CallOnComplete x2 1, Drop x2 k1 1, FindLive x1 2, TryCompletes x1 2, CancelTimeOut x1 2, "
        "CallOnComplete x1 2, Drop x1 k1 2, DropCompleted x2 k1 2",
    )
    profile = PurgatoryProfile(accounting=Accounting.PROPOSAL, executor=Executor.STEPPED)
    whole = sequential(purgatory_model(PurgatoryConfiguration(), profile))
    assert not explain(history, whole).is_complete
    for name in ("1", "2"):
        projected = Projection(name, frozenset({"k1"})).of(history)
        assert explain(projected, OverlappingCalls(name)).is_complete


def arms_in_one_order(history: History) -> bool:
    """Decide whether operations due at their watch are all handed over last, or all earlier."""
    watches, is_last = False, set()
    for event, following in pairwise(history):
        if isinstance(event, Called):
            watches = isinstance(event.operation, Watch)
        elif watches and isinstance(event, Happened) and event.event.kind is EventKind.EXPIRED:
            is_last.add(isinstance(following, Returned))
    return len(is_last) < 2


@given(operations=asked(), data=st.data())
def test_what_the_sequential_model_does_is_explained(
    operations: tuple[Operation, ...], data: st.DataObject
) -> None:
    """The parts of its calls add up to what is seen, with the time-out armed first or last."""
    history = run(operations, data)
    assume(arms_in_one_order(history))
    for name, keys in KEYS_OF.items():
        projected = Projection(name, frozenset(keys)).of(history)
        rules = (OverlappingCalls(name, arms_first) for arms_first in (True, False))
        assert any(explain(projected, each).is_complete for each in rules)


def test_what_no_purgatory_has_is_refused() -> None:
    rules = OverlappingCalls("a")
    with pytest.raises(ValueError, match="no delayed operation knows add"):
        list(rules.effects(rules.initial(), Add("a", 1), WHOLE))
