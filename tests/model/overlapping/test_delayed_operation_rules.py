"""The rules for one delayed operation say what the sequential model says of it, and no more."""

from dataclasses import replace

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purgatory_model.overlapping.calls import OverlappingCalls
from purgatory_model.overlapping.interleaving import Called, Happened, History, Returned
from purgatory_model.overlapping.linearizability import explain
from purgatory_model.overlapping.projection import Projection
from purgatory_model.overlapping.sequential_rules import undivided
from purgatory_model.purgatory import purgatory_model
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.outcomes import Outcome, completed, expired, timed_out, tried

from ..purgatory_strategies import at_readings, moves
from .whole_calls import WholeCalls

KEYS_OF = {"a": ("k",), "b": ("k", "j"), "c": ("j",), "d": ("j", "k")}
EXACT = profiles.PurgatoryProfile(
    accounting=profiles.Accounting.EXACT, executor=profiles.Executor.STEPPED
)

WATCH = op.Watch("a", ("k",), 1)


def with_its_keys(operation: op.Operation) -> op.Operation:
    """A watch under the keys of the operation, none of them twice."""
    if isinstance(operation, op.Watch):
        return msgspec.structs.replace(operation, keys=KEYS_OF[operation.operation])
    return operation


@st.composite
def asked(draw: st.DrawFn) -> tuple[op.Operation, ...]:
    some = draw(st.lists(moves(scripted=False), min_size=1, max_size=12))
    if draw(st.integers(0, 5)) == 0:
        some.insert(draw(st.integers(0, len(some))), op.Shutdown())
    return tuple(map(with_its_keys, at_readings(some, 0)))


def shown(operation: op.Operation, outcome: Outcome) -> History:
    """A call that nothing interrupts, as a history."""
    events = (Happened("t", event) for event in outcome.events)
    return (Called("t", operation), *events, Returned("t", outcome.result, outcome.rejected))


def run(
    operations: tuple[op.Operation, ...],
    data: st.DataObject,
    profile: profiles.PurgatoryProfile = EXACT,
) -> History:
    """A run of the sequential model, which chooses where the rules leave a choice."""
    model = purgatory_model(profiles.PurgatoryConfiguration(purge_interval=1), profile)
    state = model.initial()
    history: History = ()
    for operation in operations:
        ways = list(model.successors(state, operation))
        outcome, state = data.draw(st.sampled_from(ways))
        history += shown(operation, outcome)
    return history


@given(asked(), st.data())
def test_what_the_sequential_model_does_is_explained_for_each_operation(
    operations: tuple[op.Operation, ...], data: st.DataObject
) -> None:
    """When it is projected on an operation, the rules for one operation explain it."""
    history = run(operations, data)
    for name in KEYS_OF:
        projection = Projection(name, frozenset(KEYS_OF[name]))
        explanation = explain(projection.of(history), WholeCalls(name))
        assert explanation.is_complete, explanation.unexplained


@pytest.mark.parametrize("tries_first", [True, False])
@pytest.mark.parametrize("cancels_live", [True, False])
@given(operations=asked(), data=st.data())
@settings(max_examples=30)
def test_what_a_profile_chooses_is_explained_for_each_operation(
    operations: tuple[op.Operation, ...],
    data: st.DataObject,
    *,
    cancels_live: bool,
    tries_first: bool,
) -> None:
    """The rules for one operation that make the same choices explain it."""
    profile = msgspec.structs.replace(
        EXACT,
        check_order=profiles.CheckOrder.FREE,
        first_try=profiles.FirstTry.BEFORE_WATCHING if tries_first else profiles.FirstTry.NONE,
        cancel_result=profiles.CancelResult.LIVE
        if cancels_live
        else profiles.CancelResult.WHOLE_LIST,
    )
    history = run(operations, data, profile)
    for name in KEYS_OF:
        projection = Projection(name, frozenset(KEYS_OF[name]))
        rules = WholeCalls(name, tries_first, cancels_live)
        explanation = explain(projection.of(history), rules)
        assert explanation.is_complete, explanation.unexplained


def call(operation: op.Operation, outcome: Outcome, thread: str = "t") -> History:
    events = (Happened(thread, event) for event in outcome.events)
    return (
        Called(thread, operation),
        *events,
        Returned(thread, outcome.result, outcome.rejected),
    )


WAITS = call(WATCH, Outcome(False, events=(tried("a"), tried("a"))))
SATISFIED = call(op.Satisfy("a"), Outcome())
CHECKED = call(op.Check("k"), Outcome(1, events=(tried("a"), completed("a"))))
HANDED_OVER = call(op.Advance(1), Outcome(events=(expired("a"),)))
TIMED_OUT = call(op.RunOne(), Outcome(events=(completed("a"), timed_out("a"))))

WRONG = {
    "a satisfied operation that a check passes over": (
        WAITS + SATISFIED + call(op.Check("k"), Outcome(0, events=(tried("a"),)))
    ),
    "a satisfied operation that a check does not even try": (
        WAITS + SATISFIED + call(op.Check("k"), Outcome(0))
    ),
    "a completion that nothing made possible": WAITS + CHECKED,
    "two completions": WAITS + SATISFIED + CHECKED + call(op.Force("a"), Outcome(True)),
    "on_complete twice": (
        WAITS + SATISFIED + CHECKED + call(op.Force("a"), Outcome(False, events=(completed("a"),)))
    ),
    "a completed operation that is tried": (
        WAITS + SATISFIED + CHECKED + call(op.Check("k"), Outcome(0, events=(tried("a"),)))
    ),
    "a completed operation that is handed over": WAITS + SATISFIED + CHECKED + HANDED_OVER,
    "a time-out without a hand-over": WAITS + TIMED_OUT,
    "a time-out of a completed operation": (WAITS + HANDED_OVER + SATISFIED + CHECKED + TIMED_OUT),
    "on_expiration without on_complete": (
        WAITS + HANDED_OVER + call(op.RunOne(), Outcome(events=(timed_out("a"),)))
    ),
    "a wait that is returned as a completion": call(
        WATCH, Outcome(True, events=(tried("a"), tried("a")))
    ),
    "a watch that tries once": call(WATCH, Outcome(False, events=(tried("a"),))),
    "a first try that misses": (
        SATISFIED + call(WATCH, Outcome(True, events=(tried("a"), tried("a"), completed("a"))))
    ),
    "a check that counts one that it has not completed": (
        WAITS + call(op.Check("k"), Outcome(1, events=(tried("a"),)))
    ),
    "a cancellation that misses an entry": WAITS + call(op.CancelForKey("k"), Outcome(())),
    "an entry that is left by a cancellation": (
        WAITS
        + call(op.CancelForKey("k"), Outcome(("a",)))
        + call(op.Check("k"), Outcome(0, events=(tried("a"),)))
    ),
    "a time-out that is left by a cancellation": (
        WAITS + call(op.CancelForKey("k"), Outcome(("a",))) + HANDED_OVER
    ),
    "a watch after shutdown": call(op.Shutdown(), Outcome()) + WAITS,
}


@pytest.mark.parametrize("history", WRONG.values(), ids=WRONG)
def test_what_breaks_a_rule_is_not_explained(history: History) -> None:
    """It is not, neither where calls take effect at once nor where they do so in parts."""
    at_once = explain(history, WholeCalls("a"))
    in_parts = (explain(history, OverlappingCalls("a", first)) for first in (True, False))
    for explanation in (at_once, *in_parts):
        assert explanation.unexplained is not None
        assert len(explanation.unexplained) > 1


@pytest.mark.parametrize(
    ("history", "choice"),
    [
        (call(WATCH, Outcome(False, events=(tried("a"),))), {"tries_first": False}),
        (
            WAITS
            + call(op.Force("a"), Outcome(True, events=(completed("a"),)))
            + call(op.CancelForKey("k"), Outcome(())),
            {"cancels_live": True},
        ),
    ],
    ids=["one-try", "cancels-live"],
)
def test_what_one_choice_allows_the_other_forbids(
    history: History, choice: dict[str, bool]
) -> None:
    """It is, and is not, whichever comes first, the time-out or the lists."""
    for arms_first in (True, False):
        assert explain(history, OverlappingCalls("a", arms_first, **choice)).is_complete
        assert not explain(history, OverlappingCalls("a", arms_first)).is_complete


def interleaved(first_call: History, cut: int, second_call: History) -> History:
    return first_call[:cut] + second_call + first_call[cut:]


SATISFIED_MEANWHILE = interleaved(
    call(WATCH, Outcome(True, events=(tried("a"), tried("a"), completed("a")))),
    2,
    call(op.Satisfy("a"), Outcome(), "u"),
)
CANCELLED_BEFORE_IT_IS_ARMED = (
    interleaved(WAITS, 3, call(op.CancelForKey("k"), Outcome(("a",)), "u")) + HANDED_OVER
)
EXPIRED_WHILE_IT_IS_CANCELLED = WAITS + interleaved(
    call(op.CancelForKey("k"), Outcome(("a",))),
    1,
    call(op.Check("k"), Outcome(0), "u")
    + call(op.Advance(1), Outcome(events=(expired("a"),)), "r"),
)
SWEPT_ONE_BY_ONE = (
    call(op.Watch("a", ("k", "j"), 1), Outcome(False, events=(tried("a"), tried("a"))))
    + call(op.Force("a"), Outcome(True, events=(completed("a"),)))
    + interleaved(
        call(op.Advance(1), Outcome(), "r"),
        1,
        call(op.CancelForKey("k"), Outcome(())) + call(op.CancelForKey("j"), Outcome(("a",))),
    )
)


@pytest.mark.parametrize(
    "history",
    [
        pytest.param(SATISFIED_MEANWHILE, id="an event between two tries"),
        pytest.param(CANCELLED_BEFORE_IT_IS_ARMED, id="cancelled before it is armed"),
        pytest.param(EXPIRED_WHILE_IT_IS_CANCELLED, id="expired while it is cancelled"),
        pytest.param(SWEPT_ONE_BY_ONE, id="a list that a purge has not come to"),
    ],
)
def test_what_comes_between_two_parts_of_a_call_is_not_explained_by_one_effect(
    history: History,
) -> None:
    assert not explain(history, WholeCalls("a")).is_complete
    assert explain(history, OverlappingCalls("a")).is_complete


def test_who_is_completed_while_it_is_being_watched_is_explained_by_one_effect() -> None:
    """The watch took effect before the check, and returned after it."""
    completes = call(op.Check("k"), Outcome(1, events=(tried("a"), completed("a"))), "u")
    history = interleaved(WAITS, 3, call(op.Satisfy("a"), Outcome(), "u") + completes)
    explanation = explain(history, WholeCalls("a"))
    assert explanation.is_complete
    assert [taken.operation for taken in explanation.order] == [
        WATCH,
        op.Satisfy("a"),
        op.Check("k"),
    ]


def test_kafkas_cancellation_takes_the_time_out_with_any_key() -> None:
    """The rules explain it, and those of Kafka do not."""
    watch = op.Watch("a", ("k", "j"), 1)
    history = (
        call(watch, Outcome(False, events=(tried("a"), tried("a"))))
        + call(op.CancelForKey("k"), Outcome(("a",)))
        + HANDED_OVER
    )
    assert explain(history, WholeCalls("a")).is_complete
    kafka = OverlappingCalls("a", any_key_takes_time_out=True)
    assert not explain(history, undivided(kafka)).is_complete
    assert explain(history, undivided(replace(kafka, any_key_takes_time_out=False))).is_complete
