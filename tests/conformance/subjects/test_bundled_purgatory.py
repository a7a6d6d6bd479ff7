"""The bundled purgatory behind the step vocabulary: what each step is translated into."""

from collections.abc import Iterable

import pytest

from purgatory_conformance.subjects.bundled.purgatory import (
    PROFILE,
    PROPOSAL_PROFILE,
    PurgatoryInstance,
    proposal_instance,
)
from purgatory_spec.operations import (
    Advance,
    Answer,
    CancelForKey,
    CancelForKeyInside,
    Check,
    CheckInside,
    Elapse,
    Force,
    ForceInside,
    Operation,
    RunOne,
    Satisfy,
    Script,
    Shutdown,
    Throw,
    Wait,
    Watch,
    WatchInside,
)
from purgatory_spec.outcomes import (
    Event,
    EventKind,
    Outcome,
    Value,
    completed,
    expired,
    timed_out,
    tried,
)
from purgatory_spec.profiles import (
    Accounting,
    MemoryPoolConfiguration,
    PurgatoryConfiguration,
    PurgatoryObservable,
)
from purgatory_spec.reasons import Reason


def outcomes(
    operations: Iterable[Operation], configuration: PurgatoryConfiguration | None = None
) -> list[Outcome]:
    """What comes of a sequence of steps on a fresh purgatory."""
    instance = PurgatoryInstance(configuration or PurgatoryConfiguration())
    done = [instance.do(operation) for operation in operations]
    instance.close()
    return done


def seen(outcome: Outcome) -> tuple[Value, Reason | None, tuple[Event, ...]]:
    """An outcome but for the observables."""
    return outcome.result, outcome.rejected, outcome.events


def shown(**counts: int) -> dict[str, Value]:
    """The observables; those that are not given are 0."""
    return {each.value: counts.get(each.value, 0) for each in PurgatoryObservable}


def test_an_expiry_step_by_step() -> None:
    """Given purge interval 1.

    When an operation is watched under two keys, expires, and runs, and the purgatory advances.
    Then every outcome is as the rules have it.
    """
    steps: list[Operation] = [
        Watch("a", ("k", "l"), 10),
        Advance(10),
        RunOne(),
        RunOne(),
        Advance(11),
    ]
    assert outcomes(steps, PurgatoryConfiguration(purge_interval=1)) == [
        Outcome(
            False,
            events=(tried("a"), tried("a")),
            observed=shown(entries=2, keys=2, timer_size=1, pending=1, estimate=1),
        ),
        Outcome(
            events=(expired("a"),),
            observed=shown(entries=2, keys=2, queued=1, pending=1, estimate=1),
        ),
        Outcome(
            events=(completed("a"), timed_out("a")),
            observed=shown(entries=2, keys=2, stale_entries=2, stale_operations=1, estimate=2),
        ),
        Outcome(observed=shown(entries=2, keys=2, stale_entries=2, stale_operations=1, estimate=2)),
        Outcome(observed=shown()),
    ]


def test_results_and_the_script_of_tries() -> None:
    """Given operations whose tries wait, complete and throw, one of them satisfied later.

    When they are watched, checked, forced and cancelled.
    Then results, rejections and events follow the scripts.
    """
    later = Script(tries=(Answer.WAIT, Answer.WAIT, Answer.COMPLETE))
    thrower = Script(tries=(Answer.WAIT, Answer.WAIT, Answer.THROW))
    steps: list[Operation] = [
        Watch("at once", ("k",), 10, Script(tries=(Answer.COMPLETE,))),
        Watch("thrower", ("k", "l"), 10, thrower),
        Watch("later", ("k",), 10, later),
        Check("k"),
        Satisfy("thrower"),
        CancelForKey("k"),
        Check("l"),
        Force("thrower"),
        Force("fresh"),
        Watch("nowhere", (), 10),
        Elapse(50),
        Shutdown(),
        Watch("late", ("k",), 10),
    ]
    assert [seen(outcome) for outcome in outcomes(steps)] == [
        (True, None, (tried("at once"), completed("at once"))),
        (False, None, (tried("thrower"), tried("thrower"))),
        (False, None, (tried("later"), tried("later"))),
        (None, Reason.THROWN, (tried("thrower"), tried("later"), completed("later"))),
        (None, None, ()),
        (("thrower",), None, ()),
        (1, None, (tried("thrower"), completed("thrower"))),
        (False, None, ()),
        (True, None, (completed("fresh"),)),
        (None, Reason.INVALID_ARGUMENT, ()),
        (None, None, ()),
        (None, None, ()),
        (None, Reason.CLOSED, ()),
    ]


def test_callbacks_act_and_go_on_behind_a_refusal() -> None:
    """Given an operation whose callback does everything that there is.

    When it is forced.
    Then each action is done, refusals and exceptions of others are reported as its own events,
    and its own exception ends the callback.
    """
    thrower = Script(on_complete=(Throw(),))
    busy = Script(
        on_complete=(
            WatchInside("b", ("k",), 5),
            WatchInside("c", (), 5),
            CheckInside("none"),
            ForceInside("thrower"),
            CancelForKeyInside("k"),
            ForceInside("busy"),
            Throw(),
            ForceInside("b"),
        )
    )
    steps: list[Operation] = [
        Watch("thrower", ("l",), 10, thrower),
        Watch("busy", ("l",), 10, busy),
        Force("busy"),
    ]
    assert seen(outcomes(steps)[-1]) == (
        None,
        Reason.THROWN,
        (
            completed("busy"),
            tried("b"),
            tried("b"),
            Event(EventKind.REJECTED, "busy", reason=Reason.INVALID_ARGUMENT),
            completed("thrower"),
            Event(EventKind.REJECTED, "busy", reason=Reason.THROWN),
        ),
    )


def test_an_exception_in_the_executor_reaches_nobody() -> None:
    script = Script(on_complete=(Throw(),))
    steps: list[Operation] = [Watch("a", ("k",), 0, script), RunOne(), Check("k")]
    assert [seen(outcome) for outcome in outcomes(steps)][1:] == [
        (None, None, (completed("a"),)),
        (0, None, ()),
    ]


def test_the_accounting_as_published() -> None:
    """Given an instance with the accounting of the proposal, interval 0.

    When an operation is watched under two keys and completed, and the purgatory advances.
    Then the estimate counts it once.
    """
    instance = proposal_instance(PurgatoryConfiguration(purge_interval=0))
    estimates = [
        instance.do(operation).observed["estimate"]
        for operation in (Watch("a", ("k", "l"), 10), Force("a"), Advance(0))
    ]
    instance.close()
    assert estimates == [1, 1, 0]
    assert (PROFILE.accounting, PROPOSAL_PROFILE.accounting) == (
        Accounting.EXACT,
        Accounting.PROPOSAL,
    )


def test_what_is_none_of_a_purgatorys_is_refused() -> None:
    with pytest.raises(ValueError, match="no such operation"):
        PurgatoryInstance(PurgatoryConfiguration()).do(Wait(1))
    with pytest.raises(TypeError):
        PurgatoryInstance(MemoryPoolConfiguration())
