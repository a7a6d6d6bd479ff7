"""Events and results of a purgatory, in the words of a report."""

import pytest

from purgatory_conformance.describing import steps
from purgatory_conformance.describing.states import describe_state
from purgatory_conformance.describing.words import legend_of
from purgatory_conformance.support.registry import support_of
from purgatory_model.purgatory import purgatory_model
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Outcome, tried
from purgatory_spec.profiles import Component, Executor, PurgatoryConfiguration, PurgatoryProfile
from purgatory_spec.reasons import Reason

SUPPORT = support_of(Component.PURGATORY)
SCRIPT = op.Script(
    (op.Answer.WAIT, op.Answer.THROW),
    (op.CheckInside("a"), op.WatchInside("o2", ("b",), 3)),
    (op.CancelForKeyInside("a"), op.ForceInside("o2"), op.Throw()),
)

OPERATIONS: list[tuple[op.Operation, str]] = [
    (op.Watch("o1", ("a", "b"), 5), "watch o1 under a and b, time-out 5 ms"),
    (op.Watch("o1", (), 5), "watch o1 under no key, time-out 5 ms"),
    (
        op.Watch("o1", ("a",), 5, SCRIPT),
        "watch o1 under a, time-out 5 ms; tries: wait, throw; "
        "on_complete checks a and watches o2 under b, time-out 3 ms; "
        "on_expiration cancels for a, forces o2 and throws",
    ),
    (op.Check("a"), "check a"),
    (op.CancelForKey("two words"), "cancel for 'two words'"),
    (op.Force("o1"), "force o1"),
    (op.Satisfy("o1"), "satisfy o1"),
    (op.Elapse(3), "let the clock reach 3"),
    (op.Advance(4), "advance to 4"),
    (op.RunOne(), "run one task"),
    (op.Shutdown(), "shut down"),
    (op.Wait(1), "wait 1 ms"),
]


@pytest.mark.parametrize(("operation", "words"), OPERATIONS)
def test_operations_in_words(operation: op.Operation, words: str) -> None:
    assert steps.describe_operation(operation) == words


OUTCOMES: list[tuple[op.Operation, Outcome, str]] = [
    (op.Watch("o1", ("a",), 5), Outcome(True), "completed by this call, no event"),
    (op.Watch("o1", ("a",), 5), Outcome(False), "not completed by this call"),
    (op.Force("o1"), Outcome(False), "was completed already"),
    (op.Check("a"), Outcome(2, events=(tried("o1"),)), "2 completed, o1 tried"),
    (op.CancelForKey("a"), Outcome(("o1", "o2")), "cancelled o1 and o2, no event"),
    (op.CancelForKey("a"), Outcome(()), "nothing there"),
    (op.Advance(1), Outcome(), "no event"),
    (op.Advance(1), Outcome(7), "result 7, no event"),
    (op.Check("a"), Outcome(rejected=Reason.THROWN), "rejected: thrown"),
]


@pytest.mark.parametrize(("operation", "outcome", "words"), OUTCOMES)
def test_outcomes_in_words(operation: op.Operation, outcome: Outcome, words: str) -> None:
    assert steps.describe_outcome(operation, outcome) == words


def test_configuration_profile_and_state_in_words() -> None:
    """Each is one line; anything else has no words."""
    configuration = PurgatoryConfiguration(purge_interval=2, time_outs=False)
    assert steps.describe_configuration(configuration) == (
        "purge interval 2, no time-outs, tick 1 ms, wheel size 20, clock at 0"
    )
    profile = PurgatoryProfile(executor=Executor.STEPPED)
    assert "accounting proposal" in steps.describe_profile(profile)
    model = purgatory_model(PurgatoryConfiguration(), profile)
    state = model.initial()
    for step in (
        op.Watch("o1", ("a",), 5),
        op.Watch("o2", ("a",), 3),
        op.Force("o1"),
        op.Advance(3),
    ):
        _, state = next(iter(model.successors(state, step)))
    assert describe_state(state) == (
        "clock 3; lists [a: o1* o2]; timer empty; executor's queue [o2]; estimate 2"
    )
    _, state = next(iter(model.successors(state, op.Shutdown())))
    assert describe_state(state).endswith("; shut down")
    assert describe_state("anything else") == ""


@pytest.mark.parametrize(
    ("states", "legend"),
    [
        (("clock 3; lists [a: o1* o2]", ""), "* completed"),
        (("", "clock 3; lists [a: o1, b: o2*]"), "* completed"),
        (("clock 3; lists [a: o1 o2]", "clock 3; no lists"), ""),
        (("clock 3; lists [a: '*']",), ""),
    ],
)
def test_the_sign_in_a_state_is_explained(states: tuple[str, ...], legend: str) -> None:
    """Given descriptions of states: there is a legend, and none otherwise."""
    assert legend_of(*states) == legend
