"""Purgatories on a real clock: each delayed operation is explained by itself, and timed."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest

from purgatory_model.concurrent.exact.instance import ExactInstance
from purgatory_model.concurrent.exact.model import ConcurrentExact
from purgatory_model.overlapping.calls import OverlappingCalls
from purgatory_model.overlapping.histories import histories
from purgatory_model.overlapping.interleaving import Called, Happened, History, Returned
from purgatory_model.overlapping.linearizability import Explainer
from purgatory_model.overlapping.programs import Programmed
from purgatory_model.overlapping.projection import Projected, Projection
from purgatory_pipeline.errors import Unusable
from purgatory_pipeline.replay.judges import judge_of
from purgatory_pipeline.traces.lines import (
    Begin,
    DeclaredDeviation,
    PurgatoryInstance,
    Snapshot,
    WaitingOperation,
)
from purgatory_spec.operations import (
    CancelForKey,
    Check,
    Force,
    Operation,
    Satisfy,
    Shutdown,
    Watch,
)
from purgatory_spec.outcomes import EventKind
from purgatory_spec.profiles import (
    Accounting,
    CancelResult,
    FirstTry,
    PurgatoryConfiguration,
    PurgatoryProfile,
)
from purgatory_spec.reasons import Reason

from .wall_clock import (
    NS_PER_MS,
    Line,
    at_once,
    begin,
    call,
    end,
    event,
    judged,
    lines_of,
    returns,
    rule_of,
)

EXACT = begin(PurgatoryInstance(profile=PurgatoryProfile(accounting=Accounting.EXACT)))
PROPOSAL = begin(PurgatoryInstance())
UNTRIED = begin(PurgatoryInstance(), omitted=(EventKind.TRIED,))
KEPT = DeclaredDeviation("PURGATORY-CANCEL-KEEPS-TIME-OUT", "time_out_taken_with_key")


def tried(at_ms: int, thread: str = "main", name: str = "a") -> Line:
    return event(at_ms, thread, "tried", name)


def completed(at_ms: int, thread: str = "main", name: str = "a") -> Line:
    return event(at_ms, thread, "completed", name)


def timed_out(at_ms: int, thread: str = "executor", name: str = "a") -> list[Line]:
    return [completed(at_ms, thread, name), event(at_ms, thread, "timed_out", name)]


def watched(at_ms: int = 0, keys: tuple[str, ...] = ("k",), name: str = "a") -> list[Line]:
    return [
        call(at_ms, "main", Watch(name, keys, 50)),
        tried(at_ms, name=name),
        tried(at_ms, name=name),
        returns(at_ms, "main", False),
    ]


def checked(at_ms: int, key: str = "k", *, completes: bool = False) -> list[Line]:
    done = [completed(at_ms)] if completes else []
    return [call(at_ms, "main", Check(key)), tried(at_ms), *done, returns(at_ms, "main", len(done))]


RIGHT: dict[str, list[Line]] = {
    "times out": [*watched(), *timed_out(50), end(500)],
    "times out as late as it may": [*watched(), *timed_out(70), end(500)],
    "is completed by its first try": [
        call(0, "main", Watch("a", ("k",), 50)),
        tried(0),
        completed(0),
        returns(0, "main", True),
        end(500),
    ],
    "is completed by its second try": [
        call(0, "main", Watch("a", ("k",), 50)),
        tried(0),
        tried(0),
        completed(0),
        returns(0, "main", True),
        end(500),
    ],
    "is completed by a check": [*watched(), *checked(5), *checked(9, completes=True), end(500)],
    "satisfied, then completed": [
        *watched(),
        *at_once(5, Satisfy("a")),
        *checked(6, completes=True),
        end(500),
    ],
    "satisfied before it is watched": [
        *at_once(0, Satisfy("a")),
        call(1, "main", Watch("a", ("k",), 50)),
        tried(1),
        completed(1),
        returns(1, "main", True),
        end(500),
    ],
    "is forced": [
        *watched(),
        call(5, "main", Force("a")),
        completed(5),
        returns(5, "main", True),
        *at_once(6, Force("a"), False),
        end(500),
    ],
    "is cancelled": [*watched(), *at_once(5, CancelForKey("k"), ("a",)), end(500)],
    "is cancelled under one of its keys": [
        *watched(keys=("k", "l")),
        *at_once(5, CancelForKey("k"), ("a",)),
        *timed_out(50),
        end(500),
    ],
    "is cancelled when it was handed over": [
        *watched(),
        *at_once(51, CancelForKey("k"), ("a",)),
        *timed_out(52),
        end(500),
    ],
    "an unknown key": [*at_once(0, Check("x"), 0), *at_once(0, CancelForKey("x"), ()), end(0)],
    "a stale entry is returned": [
        *watched(keys=("k", "l")),
        *checked(5, completes=True),
        *at_once(6, CancelForKey("l"), ("a",)),
        end(500),
    ],
    "a check begins before its watch and completes it": [
        call(0, "t2", Check("k")),
        call(1, "main", Watch("a", ("k",), 50)),
        tried(1),
        tried(1, "t2"),
        completed(2, "t2"),
        returns(2, "t2", 1),
        returns(3, "main", False),
        end(500),
    ],
    "its time-out wins before that is seen": [
        *watched(),
        *at_once(52, Check("k"), 0),
        *timed_out(52),
        end(500),
    ],
    "calls inside a callback": [
        *watched(),
        *watched(name="b"),
        call(5, "main", Check("k")),
        tried(5),
        completed(5),
        call(5, "main", Check("k")),
        tried(5, name="b"),
        completed(5, name="b"),
        returns(5, "main", 1),
        call(6, "main", Watch("c", ("l",), 50)),
        tried(6, name="c"),
        tried(6, name="c"),
        returns(6, "main", False),
        returns(6, "main", 1),
        *at_once(7, CancelForKey("l"), ("c",)),
        end(500),
    ],
    "a call without return": [*watched(), call(5, "t2", Check("k")), *timed_out(50), end(500)],
    "closed": [
        *watched(),
        *at_once(5, Shutdown()),
        call(6, "main", Watch("b", ("k",), 50)),
        returns(6, "main", None, Reason.CLOSED),
        end(500),
    ],
    "under no key": [
        call(6, "main", Watch("b", (), 50)),
        returns(6, "main", None, Reason.INVALID_ARGUMENT),
        end(500),
    ],
}


@pytest.mark.parametrize("first", [EXACT, PROPOSAL], ids=["exact", "proposal"])
@pytest.mark.parametrize("lines", RIGHT.values(), ids=RIGHT)
def test_what_the_rules_allow_is_right(first: Begin, lines: list[Line]) -> None:
    assert judged(first, lines) is None


@pytest.mark.parametrize("lines", RIGHT.values(), ids=RIGHT)
def test_it_is_right_without_its_tries(lines: list[Line]) -> None:
    """Given a recorder that leaves out the tries: they are right as well."""
    left = [line for line in lines if getattr(line, "event", None) is not EventKind.TRIED]
    assert judged(UNTRIED, left) is None


ONE_TRY = [call(0, "main", Watch("a", ("k",), 50)), tried(0), returns(0, "main", False)]


def test_a_watch_that_tries_once_is_judged_by_its_choice() -> None:
    """The first is right, of which the rules of two tries want more, and the others are not."""
    profile = PurgatoryProfile(first_try=FirstTry.NONE)
    first = begin(PurgatoryInstance(profile=profile))
    assert judged(first, [*ONE_TRY, *checked(5), *timed_out(50), end(500)]) is None
    assert rule_of(PROPOSAL, ONE_TRY) == "PURGATORY-WATCH-SECOND-TRY"
    assert rule_of(first, watched()) == "PURGATORY-WATCH-SECOND-TRY"
    untried = [ONE_TRY[0], ONE_TRY[-1]]
    assert rule_of(first, untried) == "PURGATORY-WATCH-SECOND-TRY"


def test_a_cancellation_that_leaves_out_the_completed_is_judged_by_its_choice() -> None:
    """The second is right, and the others are not."""
    profile = PurgatoryProfile(cancel_result=CancelResult.LIVE)
    first = begin(PurgatoryInstance(profile=profile))
    done = [*watched(keys=("k", "l")), *checked(5, completes=True)]
    assert judged(first, [*done, *at_once(6, CancelForKey("l"), ()), end(500)]) is None
    assert rule_of(first, [*done, *at_once(6, CancelForKey("l"), ("a",))]) == _CANCEL_RESULT
    assert rule_of(first, [*watched(), *at_once(5, CancelForKey("k"), ())]) == _CANCEL_RESULT
    forced = [call(5, "t2", Force("a")), completed(5, "t2"), returns(5, "t2", True)]
    for answer in (("a",), ()):
        cancels = [call(4, "main", CancelForKey("k")), *forced, returns(6, "main", answer)]
        assert judged(first, [*watched(), *cancels, end(500)]) is None
    twice = [call(4, "main", CancelForKey("k")), *forced, returns(6, "main", ("a", "a"))]
    assert rule_of(first, [*watched(), *twice]) == _CANCEL_RESULT


_CANCEL_RESULT = "PURGATORY-CANCEL-RESULT"

WRONG: dict[str, tuple[list[Line], str]] = {
    "too early": ([*watched(), *timed_out(49)], "PURGATORY-TIME-OUT"),
    "too late": ([*watched(), *timed_out(71)], "PURGATORY-TIME-OUT"),
    "never": ([*watched(), end(71)], "PURGATORY-TIME-OUT"),
    "times out twice": ([*watched(), *timed_out(50), *timed_out(51)], "PURGATORY-EXACTLY-ONCE"),
    "on_expiration twice": (
        [*watched(), *timed_out(50), event(51, "executor", "timed_out", "a")],
        "PURGATORY-CALLBACK-ORDER",
    ),
    "on_expiration of what a check completed": (
        [*watched(), *checked(5, completes=True), event(50, "executor", "timed_out", "a")],
        "PURGATORY-CALLBACK-ORDER",
    ),
    "completed by a check and by its time-out": (
        [*watched(), *checked(5, completes=True), *timed_out(50)],
        "PURGATORY-EXACTLY-ONCE",
    ),
    "cancelled, yet times out": (
        [*watched(), *at_once(5, CancelForKey("k"), ("a",)), *timed_out(50)],
        "PURGATORY-CANCEL-LAST-KEY",
    ),
    "cancelled, yet tried": (
        [*watched(), *at_once(5, CancelForKey("k"), ("a",)), *checked(6)],
        "PURGATORY-CANCEL-LEAVES",
    ),
    "cancelled under one key, never times out": (
        [*watched(keys=("k", "l")), *at_once(5, CancelForKey("k"), ("a",)), end(500)],
        "PURGATORY-CANCEL-KEEPS-TIME-OUT",
    ),
    "not in the result of a cancellation": (
        [*watched(), *at_once(5, CancelForKey("k"), ())],
        "PURGATORY-CANCEL-RESULT",
    ),
    "twice in the result of a cancellation": (
        [*watched(), *at_once(5, CancelForKey("k"), ("a", "a"))],
        "PURGATORY-CANCEL-RESULT",
    ),
    "not tried by a check": ([*watched(), *at_once(5, Check("k"), 0)], "PURGATORY-NOT-LOST"),
    "satisfied and tried in vain": (
        [*watched(), *at_once(5, Satisfy("a")), *checked(6)],
        "PURGATORY-NOT-LOST",
    ),
    "tried when completed": (
        [*watched(), *checked(5, completes=True), *checked(6)],
        "PURGATORY-COMPLETED-NOT-TRIED",
    ),
    "tried twice by one check": (
        [*watched(), call(5, "main", Check("k")), tried(5), tried(5), returns(5, "main", 0)],
        "PURGATORY-NOT-LOST",
    ),
    "a check counts too many": (
        [*watched(), call(5, "main", Check("k")), tried(5), returns(5, "main", 1)],
        "PURGATORY-CHECK-COUNT",
    ),
    "a check counts too few": (
        [*watched(), *checked(5, completes=True)[:-1], returns(5, "main", 0)],
        "PURGATORY-CHECK-COUNT",
    ),
    "watched and tried once": (
        [call(0, "main", Watch("a", ("k",), 50)), tried(0), returns(0, "main", False)],
        "PURGATORY-WATCH-SECOND-TRY",
    ),
    "watched and not tried": (
        [call(0, "main", Watch("a", ("k",), 50)), returns(0, "main", False)],
        "PURGATORY-WATCH-FIRST-TRY",
    ),
    "a watch that completes says no": (
        [
            call(0, "main", Watch("a", ("k",), 50)),
            tried(0),
            completed(0),
            returns(0, "main", False),
        ],
        "PURGATORY-WATCH-FIRST-TRY",
    ),
    "a force that completes says no": (
        [*watched(), call(5, "main", Force("a")), completed(5), returns(5, "main", False)],
        "PURGATORY-FORCE",
    ),
    "a force completes what is completed": (
        [
            *watched(),
            *checked(5, completes=True),
            call(6, "main", Force("a")),
            completed(6),
            returns(6, "main", True),
        ],
        "PURGATORY-EXACTLY-ONCE",
    ),
    "times out after shutdown": (
        [*watched(), *at_once(5, Shutdown()), *timed_out(50)],
        "PURGATORY-TIME-OUT",
    ),
    "watched after shutdown": (
        [*at_once(5, Shutdown()), *watched(6)],
        "PURGATORY-SHUTDOWN-CLOSED",
    ),
    "watched under no key": (
        [call(0, "main", Watch("a", (), 50)), returns(0, "main", False)],
        "PURGATORY-NO-KEYS",
    ),
    "rejected before shutdown": (
        [call(0, "main", Watch("a", ("k",), 50)), returns(0, "main", None, Reason.CLOSED)],
        "PURGATORY-SHUTDOWN-CLOSED",
    ),
    "completed and never watched": (timed_out(5), "PURGATORY-EXACTLY-ONCE"),
}


@pytest.mark.parametrize(("lines", "rule"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("first", [EXACT, PROPOSAL], ids=["exact", "proposal"])
def test_what_the_rules_forbid_is_found(first: Begin, lines: list[Line], rule: str) -> None:
    found = judged(first, lines)
    assert found is not None
    assert rule in (found[1].rule, *found[1].also), found[1]
    assert found[1].rule == rule or rule == "PURGATORY-SHUTDOWN-DROPS", found[1]


def test_what_kafka_is_declared_to_do_is_a_deviation() -> None:
    """That is right and noted; one that was not cancelled has to time out all the same."""
    first = begin(PurgatoryInstance(), deviations=(KEPT,))
    lines = WRONG["cancelled under one key, never times out"][0]
    judge = judge_of(first)
    for line in lines:
        assert judge.take(line) is None
    assert judge.deviated == ("PURGATORY-CANCEL-KEEPS-TIME-OUT",)
    assert rule_of(first, [*watched(), end(500)]) == "PURGATORY-TIME-OUT"


def test_a_purgatory_without_time_outs_owes_none() -> None:
    without = begin(PurgatoryInstance(PurgatoryConfiguration(time_outs=False)))
    assert rule_of(without, [*watched(), end(500)]) is None
    assert rule_of(without, [*watched(), *timed_out(50)]) == "PURGATORY-TIME-OUT"


def test_without_completions_nothing_can_be_judged() -> None:
    with pytest.raises(Unusable, match="cannot be judged without completed"):
        judge_of(begin(PurgatoryInstance(), omitted=(EventKind.COMPLETED,)))


ONE = ExactInstance(
    purgers=(),
    operations=1,
    cancellers=("canceller",),
    forcers=("forcer",),
    features=frozenset({"time-outs", "stops-inserting"}),
    programs=True,
    ordered=True,
)
PROGRAMS: dict[str, tuple[tuple[str, ...], dict[str, tuple[Operation, ...]]]] = {
    "both keys are cancelled": (
        ("k1", "k2"),
        {"canceller": (CancelForKey("k1"), CancelForKey("k2"))},
    ),
    "cancelled and forced": (
        ("k1", "k2"),
        {"canceller": (CancelForKey("k1"),), "forcer": (Force("1"),)},
    ),
    "checked and forced": (("k1",), {"completer": (Check("k1"),), "forcer": (Force("1"),)}),
    "checked and cancelled": (
        ("k1",),
        {"completer": (Check("k1"),), "canceller": (CancelForKey("k1"),)},
    ),
}


def model_histories(name: str) -> Iterator[History]:
    """The histories of a small program of the concurrent model; operations are due at once."""
    keys, programs = PROGRAMS[name]
    watch = (Watch("1", keys, 1),)
    nobody: dict[str, tuple[Operation, ...]] = {"completer": (), "canceller": (), "forcer": ()}
    runs = Programmed(
        ConcurrentExact(replace(ONE, keys=keys)), {**nobody, "caller": watch, **programs}
    )
    for history in islice(histories(runs), 400):
        yield tuple(map(_due_at_once, history))


def _due_at_once(each: Called | Happened | Returned) -> Called | Happened | Returned:
    if isinstance(each, Called) and isinstance(each.operation, Watch):
        watch = each.operation
        return Called(each.thread, Watch(watch.operation, watch.keys, 0))
    return each


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_history_of_the_concurrent_model_is_right(name: str) -> None:
    """Given programs of the concurrent model with the exact accounting: none is found wrong."""
    number = 0
    for history in model_histories(name):
        assert judged(EXACT, lines_of(history)) is None, history
        number += 1
    assert number > 50


def may_complete(each: Called | Happened | Returned) -> bool:
    kinds = (EventKind.COMPLETED, EventKind.EXPIRED)
    return isinstance(each, Happened) and each.event.kind in kinds


def mutants(history: History) -> Iterator[History]:
    """The history with one thing made wrong."""
    for place, each in enumerate(history):
        before, behind = history[:place], history[place + 1 :]
        if isinstance(each, Happened) and each.event.kind is EventKind.COMPLETED:
            yield (*before, each, each, *behind)
        elif isinstance(each, Returned) and isinstance(each.result, bool):
            yield (*before, replace(each, result=not each.result), *behind)
        elif isinstance(each, Returned) and isinstance(each.result, tuple):
            # Stale entries are not followed: of an operation that is completed, or handed over and
            # perhaps completed, any number may be returned.
            if not any(may_complete(other) for other in history):
                yield (*before, replace(each, result=(*each.result, "1")), *behind)
        elif isinstance(each, Returned) and isinstance(each.result, int):
            yield (*before, replace(each, result=each.result + 1), *behind)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_history_with_one_fault_is_wrong_as_the_model_says(name: str) -> None:
    """Given histories of the model in each of which one thing is made wrong: nor does the judge."""
    rejected = 0
    projection = Projection("1", frozenset(PROGRAMS[name][0]))
    monitor = Projected(projection, Explainer(OverlappingCalls("1", arms_first=True)))
    for history in islice(model_histories(name), 0, None, 40):
        for mutant in mutants(history):
            memory = monitor.begin()
            explained = True
            for each in mutant:
                after = monitor.after(memory, each)
                if after is None:
                    explained = False
                    break
                memory = after
            if not explained:
                rejected += 1
                assert judged(EXACT, lines_of(mutant)) is not None, mutant
    assert rejected > 10


@pytest.mark.parametrize("lines", [*RIGHT.values(), *(each for each, _ in WRONG.values())])
def test_it_can_be_pickled_between_any_two_lines(lines: list[Line]) -> None:
    assert judged(EXACT, lines, pickled=True) == judged(EXACT, lines)


def test_a_run_may_begin_with_a_snapshot() -> None:
    """When the run goes on, the operation is judged as if it had been seen from its beginning."""
    first = begin(PurgatoryInstance(), seq=7)
    told = Snapshot(
        run="run",
        seq=8,
        at_ns=10 * NS_PER_MS,
        operations=(WaitingOperation("a", ("k",), 50, early_ms=50, late_ms=50),),
    )
    assert rule_of(first, [told, *timed_out(50), end(500)]) is None
    assert rule_of(first, [told, *checked(20, completes=True), end(500)]) is None
    assert rule_of(first, [told, *timed_out(49)]) == "PURGATORY-TIME-OUT"
    assert rule_of(first, [told, end(500)]) == "PURGATORY-TIME-OUT"
    assert rule_of(first, [told, *at_once(20, Check("k"), 0)]) == "PURGATORY-NOT-LOST"


def test_a_snapshot_in_the_middle_must_agree() -> None:
    told = Snapshot(
        run="run",
        seq=8,
        at_ns=10 * NS_PER_MS,
        operations=(WaitingOperation("a", ("k",), 50, early_ms=50, late_ms=50),),
    )
    nothing = Snapshot(run="run", seq=8, at_ns=10 * NS_PER_MS)
    assert rule_of(PROPOSAL, [*watched(), told, *timed_out(50)]) is None
    assert rule_of(PROPOSAL, [*watched(), nothing]) is not None
