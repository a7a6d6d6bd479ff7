"""The part of a purgatory's history that is about one delayed operation."""

from collections.abc import Iterator

from purgatory_model.overlapping.calls import OverlappingCalls
from purgatory_model.overlapping.explained_runs import UnexplainedRun, check_runs
from purgatory_model.overlapping.histories import histories
from purgatory_model.overlapping.interleaving import (
    Called,
    Happened,
    History,
    HistoryEvent,
    Returned,
    Step,
)
from purgatory_model.overlapping.linearizability import Explainer, explain
from purgatory_model.overlapping.programs import Programmed
from purgatory_model.overlapping.projection import Projected, Projection
from purgatory_spec import operations as op
from purgatory_spec.outcomes import completed, expired, timed_out, tried

from .whole_calls import WholeCalls

A = Projection("a", frozenset({"k"}))
B = Projection("b", frozenset({"k", "j"}))

WATCH_A, WATCH_B = op.Watch("a", ("k",), 1), op.Watch("b", ("k", "j"), 1)


def whole(thread: str, operation: op.Operation, *events: HistoryEvent, returns: object) -> History:
    assert returns is None or isinstance(returns, bool | int | tuple)
    return (Called(thread, operation), *events, Returned(thread, returns))


def happened(thread: str, *words: str) -> tuple[Happened, ...]:
    kinds = {"tried": tried, "completed": completed, "expired": expired, "timed_out": timed_out}
    split = (word.split() for word in words)
    return tuple(Happened(thread, kinds[kind](name)) for kind, name in split)


HISTORY: History = (
    *whole("c", WATCH_A, *happened("c", "tried a", "tried a"), returns=False),
    *whole("c", WATCH_B, *happened("c", "tried b", "tried b"), returns=False),
    *whole("x", op.Satisfy("b"), returns=None),
    *whole("x", op.Check("k"), *happened("x", "tried a", "tried b", "completed b"), returns=1),
    *whole("x", op.Check("j"), returns=0),
    *happened("reaper", "expired a"),
    *whole("x", op.CancelForKey("k"), returns=("a",)),
    *whole(
        "executor", op.RunOne(), *happened("executor", "completed a", "timed_out a"), returns=None
    ),
)


def test_the_projection_on_an_operation_is_what_concerns_it() -> None:
    """Each projection has the calls that may concern it, its own events, and its shares."""
    assert A.of(HISTORY) == (
        *whole("c", WATCH_A, *happened("c", "tried a", "tried a"), returns=False),
        *whole("x", op.Check("k"), *happened("x", "tried a"), returns=0),
        *whole("reaper", op.Advance(0), *happened("reaper", "expired a"), returns=None),
        *whole("x", op.CancelForKey("k"), returns=("a",)),
        *whole(
            "executor",
            op.RunOne(),
            *happened("executor", "completed a", "timed_out a"),
            returns=None,
        ),
    )
    assert B.of(HISTORY) == (
        *whole("c", WATCH_B, *happened("c", "tried b", "tried b"), returns=False),
        *whole("x", op.Satisfy("b"), returns=None),
        *whole("x", op.Check("k"), *happened("x", "tried b", "completed b"), returns=1),
        *whole("x", op.Check("j"), returns=0),
        *whole("x", op.CancelForKey("k"), returns=()),
        *whole("executor", op.RunOne(), returns=None),
    )


def test_both_projections_are_explained() -> None:
    for projection in (A, B):
        rules = WholeCalls(projection.name)
        assert explain(projection.of(HISTORY), rules).is_complete


def test_a_wrong_count_is_left_with_every_operation() -> None:
    """The share of each operation is one too large, and nothing explains it."""
    wrong = tuple(Returned("x", 2) if event == Returned("x", 1) else event for event in HISTORY)
    assert wrong != HISTORY
    for projection in (A, B):
        rules = WholeCalls(projection.name)
        assert not explain(projection.of(wrong), rules).is_complete


def test_what_happens_to_it_where_it_is_not_concerned_is_not_explained() -> None:
    """The event stays, outside every call."""
    before = whole("c", WATCH_A, *happened("c", "tried a", "tried a"), returns=False)
    stray = whole("x", op.Check("other"), *happened("x", "tried a"), returns=0)
    kept = A.of(before + stray)
    assert kept == before + happened("x", "tried a")
    assert explain(kept, WholeCalls("a")).unexplained == kept


def test_which_calls_concern_an_operation() -> None:
    assert A.concerns(op.Force("a"))
    assert A.concerns(op.Shutdown())
    assert not A.concerns(op.Force("b"))
    assert not A.concerns(op.Satisfy("b"))
    assert not A.concerns(WATCH_B)
    assert not A.concerns(op.Check("j"))
    assert not A.concerns(op.CancelForKey("j"))
    assert not A.concerns(op.Elapse(1))


def test_a_return_without_a_call_is_kept() -> None:
    assert A.of((Returned("x", 1),)) == (Returned("x", 1),)


Toy = tuple[str, str, bool]
"""The places of watcher and completer, and whether the operation is completed."""


class OneWatcherOneCompleter:
    """Two threads: one watches "a" under k in two steps, the other satisfies it and checks."""

    # A faulty one makes its second try before it enters the list.

    def __init__(self, *, faulty: bool) -> None:
        self.faulty = faulty

    def initial(self) -> Toy:
        return "begin", "begin", False

    def steps(self, state: Toy) -> Iterator[tuple[Step, Toy]]:
        watcher, completer, is_completed = state
        if watcher == "begin":
            after = ("end", completer, True) if completer != "begin" else ("list", *state[1:])
            yield Step("Try", ("c",)), after
        elif watcher == "list":
            again = not self.faulty and completer != "begin"
            yield Step("List", ("c",)), ("end", completer, is_completed or again)
        if completer == "begin":
            yield Step("Raise", ("x",)), (watcher, "check", is_completed)
        elif completer == "check":
            met = watcher == "end"
            yield Step("Check", ("x",)), (watcher, "end", is_completed or met)

    def history(self, before: Toy, step: Step, after: Toy) -> tuple[HistoryEvent, ...]:
        now = not before[2] and after[2]
        if step.action == "Raise":
            return *whole("x", op.Satisfy("a"), returns=None), Called("x", op.Check("k"))
        if step.action == "Check":
            met = happened("x", "tried a", "completed a") if now else ()
            return *met, Returned("x", int(now))
        met = happened("c", "completed a") if now else ()
        begins = (Called("c", WATCH_A),) if step.action == "Try" else ()
        ends = (Returned("c", now),) if after[0] == "end" else ()
        return *begins, *happened("c", "tried a"), *met, *ends


PROGRAMS: dict[str, tuple[op.Operation, ...]] = {"c": (WATCH_A,), "x": (op.Check("k"),)}


def test_a_check_on_the_fly_is_that_of_the_projected_histories() -> None:
    """Both say the same: the first is explained where a watch takes effect in parts."""
    for faulty in (False, True):
        for in_parts in (False, True):
            runs = Programmed(OneWatcherOneCompleter(faulty=faulty), PROGRAMS)
            found, each = both_verdicts(runs, in_parts=in_parts)
            assert len(each) >= 4
            assert (found is None) == all(each) == (in_parts and not faulty)


def both_verdicts(
    runs: Programmed[Toy], *, in_parts: bool
) -> tuple[UnexplainedRun | None, list[bool]]:
    """Return the finding of the check of all runs, and for each history whether it is explained."""
    if in_parts:
        overlapping = OverlappingCalls("a")
        found = check_runs(runs, Projected(A, Explainer(overlapping))).unexplained
        return found, [explain(A.of(each), overlapping).is_complete for each in histories(runs)]
    at_once = WholeCalls("a")
    found = check_runs(runs, Projected(A, Explainer(at_once))).unexplained
    return found, [explain(A.of(each), at_once).is_complete for each in histories(runs)]


def test_a_completion_that_is_lost_is_shown() -> None:
    """There is one in which the event comes in between, and neither side completes."""
    runs = Programmed(OneWatcherOneCompleter(faulty=True), PROGRAMS)
    run, _ = both_verdicts(runs, in_parts=True)
    assert run is not None
    assert [step.action for step in run.steps] == ["Try", "Raise", "Check", "List"]
    assert run.history[-1] == Returned("c", False)
