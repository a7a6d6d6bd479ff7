"""The concurrent purgatory: its instances, its threads, and what it leaves out for programs."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from immutables import Map

from purgatory_model.concurrent.exact.instance import CALLBACK, EXECUTOR, ExactInstance
from purgatory_model.concurrent.exact.model import ConcurrentExact
from purgatory_model.concurrent.exact.state import ExactState, Thread
from purgatory_model.overlapping.interleaving import Step, thread_of

ONE_OF_EACH = ExactInstance(
    cancellers=("canceller",),
    forcers=("forcer",),
    duplicates=2,
    max_calls=2,
    features=frozenset({"time-outs", "stops-inserting", "insert-fails", "throwing-try"}),
)


def a_run(
    model: ConcurrentExact, seed: int, most: int
) -> Iterator[tuple[ExactState, Step, ExactState]]:
    """Some steps, chosen by a seed."""
    random = Random(seed)
    state = model.initial()
    for _ in range(most):
        steps = list(model.steps(state))
        if not steps:
            return
        step, after = random.choice(steps)
        yield state, step, after
        state = after


def unordered(state: ExactState) -> ExactState:
    """The state without the order of lists, and without what is noted for results."""

    def plain(thread: Thread) -> Thread:
        return replace(thread, batch=tuple(sorted(thread.batch)), about=(), failed=False)

    return replace(
        state,
        lists=Map({key: tuple(sorted(listed)) for key, listed in state.lists.items()}),
        threads=Map({name: plain(thread) for name, thread in state.threads.items()}),
    )


@pytest.mark.parametrize("seed", range(12))
def test_with_order_and_results_it_takes_no_step_of_its_own(seed: int) -> None:
    """Without order and results the same step is one of the plain model, to the same state."""
    ordered = ConcurrentExact(replace(ONE_OF_EACH, ordered=True, programs=True))
    plain = ConcurrentExact(ONE_OF_EACH)
    compared = 0
    for before, step, after in a_run(ordered, seed, 200):
        source, target = unordered(before), unordered(after)
        if source.events == target.events and step.action == "BeginCheck":
            continue
        if source != target:
            assert (step, target) in list(plain.steps(source))
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("seed", range(6))
def test_a_step_changes_no_other_thread(seed: int) -> None:
    """Given a run: no other thread is changed, but the one that stands for its callback."""
    instance = replace(ONE_OF_EACH, features=frozenset({"time-outs", "re-entrant-watch"}))
    for before, step, after in a_run(ConcurrentExact(instance), seed, 150):
        changed = {name for name in before.threads if before.threads[name] != after.threads[name]}
        assert changed <= {thread_of(step), CALLBACK}


def test_a_thread_that_waits_for_its_callback_is_not_busy() -> None:
    """The callback is busy and the thread around it is not."""
    instance = ExactInstance(
        operations=2, features=frozenset({"time-outs", "re-entrant-watch"}), keys=("k1",)
    )
    model = ConcurrentExact(instance)
    nested = [
        after
        for seed in range(20)
        for _, step, after in a_run(model, seed, 60)
        if step == Step("BeginWatch", (CALLBACK, 2)) and after.threads[CALLBACK].stage != "idle"
    ]
    assert nested
    for state in nested:
        waiting = {name for name, each in state.threads.items() if each.stage == "nested"}
        assert CALLBACK in model.busy(state)
        assert not waiting & model.busy(state)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"features": frozenset({"time-out"})}, "no feature 'time-out'"),
        ({"variants": frozenset({"second-try"})}, "no variant 'second-try'"),
        ({"callers": ("a", "a")}, "a name of its own: a, a"),
        ({"callers": (EXECUTOR,)}, "a name of its own"),
        ({"keys": ()}, "keys are \\(\\)"),
        ({"keys": ("k", "k")}, "none twice"),
        ({"operations": 0}, "operations is 0; it must be at least 1"),
        ({"purge_interval": -1}, "purge_interval is -1"),
        ({"features": frozenset({"conditions-fall"})}, "needs evaluate-then-win"),
    ],
)
def test_what_makes_no_instance_is_refused(changes: dict[str, object], words: str) -> None:
    """The error says what was wrong."""
    with pytest.raises(ValueError, match=words):
        ExactInstance(**changes)  # type: ignore[arg-type]
