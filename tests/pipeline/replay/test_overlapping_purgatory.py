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
from purgatory_spec.operations import CancelForKey, Check, Force, Operation, Watch
from purgatory_spec.outcomes import EventKind
from purgatory_spec.profiles import Accounting, PurgatoryProfile
from purgatory_traces.errors import Unusable
from purgatory_traces.replay.run_replay import judge_of
from purgatory_traces.traces.lines import PurgatoryInstance

from .wall_clock import Line, begin, call, event, judged, lines_of, returns

EXACT = begin(PurgatoryInstance(profile=PurgatoryProfile(accounting=Accounting.EXACT)))
PROPOSAL = begin(PurgatoryInstance())


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
