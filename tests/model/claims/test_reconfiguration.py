"""Tick and wheel size can be changed while tasks are pending, and every expiry is preserved."""

# The law is in the module: afterwards the timer is one of the new tick and size to which the same
# tasks were added with the same expiries. The naive ways in the end break it.

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purgatory_conformance.generation.source import HypothesisSource
from purgatory_conformance.generation.timer.table import draw_configuration, draw_operations
from purgatory_model.arithmetic import floor_to
from purgatory_model.claims.reconfiguration import (
    Reconfigured,
    Remembering,
    RememberingWheel,
    State,
    reconfigured,
    remembering_model,
)
from purgatory_model.replacing import replace
from purgatory_model.timer import TimerState, timer_model, timing_wheel_model
from purgatory_model.timing_wheel import TimingWheel, as_timer, broken_invariants
from purgatory_spec import profiles
from purgatory_spec.operations import Add, Advance, Cancel, Elapse, Operation
from purgatory_spec.outcomes import EventKind, Outcome

TICKS = st.sampled_from((1, 2, 3, 5, 8, 10, 40))
SIZES = st.sampled_from((2, 3, 7, 20))
PROFILES = st.builds(
    profiles.TimerProfile,
    rounding=st.sampled_from((profiles.Rounding.DOWN, profiles.Rounding.UP)),
    same_tick_order=st.sampled_from(profiles.SameTickOrder),
    executor=st.just(profiles.Executor.STEPPED),
    observables=st.just(frozenset({profiles.Observable.SIZE, profiles.Observable.QUEUED})),
)


@st.composite
def steps_of(draw: st.DrawFn, now_ms: int, most: int) -> tuple[Operation, ...]:
    """Some adds, cancellations and advances, from a reading of the clock on."""
    operations: list[Operation] = []
    for _ in range(draw(st.integers(0, most))):
        task = draw(st.sampled_from("abcdef"))
        later = now_ms + draw(st.integers(0, 25))
        asked: list[Operation] = [
            Add(task, draw(st.integers(-3, 120))),
            Add(task, draw(st.integers(0, 30))),
            Cancel(task),
            Elapse(later),
            Advance(later),
        ]
        operation = asked[draw(st.integers(0, 4))]
        operations.append(operation)
        if isinstance(operation, Elapse | Advance):
            now_ms = later
    return tuple(operations)


def after(model: Remembering, state: State, operation: Operation) -> tuple[Outcome, State]:
    """The first outcome of an operation, and the state after it."""
    return next(iter(model.successors(state, operation)))


@st.composite
def timers(draw: st.DrawFn) -> tuple[Remembering, State]:
    """A timer that holds some tasks."""
    configuration = profiles.TimerConfiguration(
        draw(TICKS), draw(SIZES), draw(st.integers(-50, 50))
    )
    model = remembering_model(configuration, draw(PROFILES))
    state = model.initial()
    for operation in draw(steps_of(state.now_ms, 14)):
        state = after(model, state, operation)[1]
    return model, state


Timer = tuple[Remembering, State]


def as_wheel(state: State) -> TimerState[TimingWheel]:
    """The state of a timing wheel that remembers no expiries."""
    beside = state.queue, state.scripts, state.order, state.closed, state.kept
    return TimerState(state.now_ms, state.store.wheel, *beside)


@st.composite
def cases(
    draw: st.DrawFn,
) -> tuple[profiles.TimerProfile, profiles.TimerConfiguration, tuple[Operation, ...]]:
    """A profile, a configuration, and steps with scripts; no executor refuses tasks."""
    features = frozenset(profiles.Feature) - {profiles.Feature.INT64, profiles.Feature.REFUSE}
    profile = msgspec.structs.replace(draw(PROFILES), features=features)
    source = HypothesisSource(draw)
    configuration = draw_configuration(profile, source, frozenset())
    return profile, configuration, draw_operations(configuration, profile, source, most=15)


@given(cases())
@settings(max_examples=60)
def test_remembering_expiries_changes_nothing_else(
    case: tuple[profiles.TimerProfile, profiles.TimerConfiguration, tuple[Operation, ...]],
) -> None:
    """Both have the same outcomes and states, and an expiry for each pending task."""
    profile, configuration, operations = case
    remembering = remembering_model(configuration, profile)
    plain = timing_wheel_model(configuration, profile)
    state, beside = remembering.initial(), plain.initial()
    for operation in operations:
        outcome, state = after(remembering, state, operation)
        assert as_wheel(state) in plain.accept(beside, operation, outcome)
        beside = as_wheel(state)
        assert set(state.store.expiries) == set(state.store.due_ticks)
        for task, expiry_ms in state.store.expiries.items():
            assert remembering.due_tick(expiry_ms) == state.store.due_ticks[task]


@given(timers(), TICKS, SIZES)
def test_no_task_is_lost_and_every_expiry_is_preserved(
    timer: Timer, tick_ms: int, wheel_size: int
) -> None:
    """Each is pending with its expiry, or in the executor's queue, once; and time stands still."""
    model, before = timer
    found = reconfigured(model, before, tick_ms, wheel_size)
    state = found.state
    handed = [event.task for event in found.events]
    assert {event.kind for event in found.events} <= {EventKind.EXPIRED}
    assert sorted([*state.store.expiries, *handed]) == sorted(before.store.expiries)
    assert all(
        state.store.expiries[task] == before.store.expiries[task] for task in state.store.expiries
    )
    assert state.queue == (*before.queue, *handed)
    assert (state.now_ms, state.scripts, state.closed) == (
        before.now_ms,
        before.scripts,
        before.closed,
    )
    assert state.order == tuple(task for task in before.order if task not in handed)
    assert list(broken_invariants(as_wheel(state))) == []


@given(timers(), TICKS, SIZES)
def test_due_ticks_move_by_less_than_a_tick(timer: Timer, tick_ms: int, wheel_size: int) -> None:
    """Due ticks are the expiries rounded to the new tick, and move by less than the law says."""
    model, before = timer
    old_tick = model.configuration.tick_ms
    found = reconfigured(model, before, tick_ms, wheel_size)
    down = model.profile.rounding is profiles.Rounding.DOWN
    for task, due_tick in found.state.store.due_ticks.items():
        moved_ms = due_tick - before.store.due_ticks[task]
        expiry_ms = before.store.expiries[task]
        assert due_tick % tick_ms == 0
        early_ms = expiry_ms - due_tick if down else due_tick - expiry_ms
        assert 0 <= early_ms < tick_ms
        assert -tick_ms < moved_ms < old_tick if down else -old_tick < moved_ms < tick_ms
        if old_tick % tick_ms == 0:
            assert moved_ms >= 0 if down else moved_ms <= 0


@given(timers(), TICKS, SIZES)
def test_what_expires_at_once_is_due_in_the_present_tick(
    timer: Timer, tick_ms: int, wheel_size: int
) -> None:
    """Tasks expire at once only where a coarser tick rounds down, and less than it too early."""
    model, before = timer
    found = reconfigured(model, before, tick_ms, wheel_size)
    own_clock_ms = before.store.wheel.own_clock_ms
    assert found.state.store.wheel.own_clock_ms == floor_to(own_clock_ms, tick_ms)
    for event in found.events:
        assert tick_ms > model.configuration.tick_ms
        assert model.profile.rounding is profiles.Rounding.DOWN
        expiry_ms = before.store.expiries[event.task]
        assert floor_to(expiry_ms, tick_ms) == floor_to(own_clock_ms, tick_ms)


@given(timers(), TICKS, SIZES, st.data())
def test_afterwards_it_is_a_timer_of_the_new_tick_to_which_the_tasks_were_added(
    timer: Timer, tick_ms: int, wheel_size: int, data: st.DataObject
) -> None:
    """The plain timer allows each outcome, and the states are the same."""
    model, before = timer
    found = reconfigured(model, before, tick_ms, wheel_size)
    plain = timer_model(found.model.configuration, model.profile)
    beside = replace(plain.initial(), now_ms=before.now_ms, queue=before.queue)
    arming = before.order or tuple(sorted(before.store.expiries))
    handed = {event.task: event for event in found.events}
    for task in arming:
        add = Add(task, before.store.expiries[task] - before.now_ms)
        events = (handed[task],) if task in handed else ()
        queued = len(beside.queue) + len(events)
        size = len(beside.store.due_ticks) + 1 - len(events)
        (beside,) = plain.accept(
            beside, add, Outcome(events=events, observed={"queued": queued, "size": size})
        )
    state = found.state
    assert as_timer(as_wheel(state)) == beside
    for operation in data.draw(steps_of(state.now_ms, 8)):
        outcome, state = after(found.model, state, operation)
        assert as_timer(as_wheel(state)) in plain.accept(beside, operation, outcome)
        beside = as_timer(as_wheel(state))


def expires_at(model: Remembering, state: State, until_ms: int) -> dict[str, int]:
    """Return each task's expiry if the timer is advanced in every millisecond."""
    found: dict[str, int] = {}
    for now_ms in range(state.now_ms, until_ms):
        outcome, state = after(model, state, Advance(now_ms))
        found |= dict.fromkeys((event.task for event in outcome.events), now_ms)
    return found


@pytest.mark.parametrize(("tick_ms", "wheel_size"), [(0, 20), (-1, 20), (1, 1)])
def test_sizes_of_which_there_is_no_wheel_are_refused(tick_ms: int, wheel_size: int) -> None:
    model = remembering_model(profiles.TimerConfiguration(), profiles.TimerProfile())
    with pytest.raises(ValueError, match="it must be at least"):
        reconfigured(model, model.initial(), tick_ms, wheel_size)


def holding(tick_ms: int, *steps: Operation) -> Timer:
    """A timer with the default wheel after some steps."""
    profile = profiles.TimerProfile(
        executor=profiles.Executor.STEPPED, same_tick_order=profiles.SameTickOrder.FIFO
    )
    model = remembering_model(profiles.TimerConfiguration(tick_ms), profile)
    state = model.initial()
    for each in steps:
        state = after(model, state, each)[1]
    return model, state


def test_what_expires_at_once_leaves_the_order_of_arming() -> None:
    """That task expires at once, and the order has the other one alone."""
    model, state = holding(1, Add("z", 31), Advance(31), Add("a", 6), Add("b", 60))
    found = reconfigured(model, state, 10, 20)
    assert [event.task for event in found.events] == ["a"]
    assert (state.order, found.state.order) == (("a", "b"), ("b",))


Naive = Callable[[Remembering, State, int, int], Reconfigured]


def keeping_due_ticks(
    model: Remembering, state: State, tick_ms: int, wheel_size: int
) -> Reconfigured:
    """Take the old due ticks for expiries, as a wheel has to that remembers nothing else."""
    ticks = state.store.wheel.due_ticks
    forgetful = replace(state, store=RememberingWheel(state.store.wheel, ticks))
    found = reconfigured(model, forgetful, tick_ms, wheel_size)
    known = {task: state.store.expiries[task] for task in found.state.store.expiries}
    store = replace(found.state.store, expiries=found.state.store.expiries.update(known))
    return replace(found, state=replace(found.state, store=store))


def adding_anew(model: Remembering, state: State, tick_ms: int, wheel_size: int) -> Reconfigured:
    """Add each task again with what is left of its delay by the wheel's own clock."""
    left = state.store.expiries.update(
        {
            task: state.now_ms + expiry_ms - state.store.wheel.own_clock_ms
            for task, expiry_ms in state.store.expiries.items()
        }
    )
    moved = replace(state, store=RememberingWheel(state.store.wheel, left))
    return reconfigured(model, moved, tick_ms, wheel_size)


def copying_buckets(
    model: Remembering, state: State, tick_ms: int, wheel_size: int
) -> Reconfigured:
    """Leave what is pending behind."""
    del state
    fresh = remembering_model(profiles.TimerConfiguration(tick_ms, wheel_size), model.profile)
    return Reconfigured(fresh, fresh.initial())


def obeys_the_law(change: Naive, timer: Timer, tick_ms: int, wheel_size: int = 20) -> bool:
    """Decide whether each task expires when its expiry, rounded to the new tick, comes."""
    model, before = timer
    found = change(model, before, tick_ms, wheel_size)
    seen = expires_at(found.model, found.state, before.now_ms + 200)
    seen |= {event.task: before.now_ms for event in found.events}
    return seen == {
        task: max(before.now_ms, found.model.due_tick(expiry_ms))
        for task, expiry_ms in before.store.expiries.items()
    }


@given(timers(), TICKS, SIZES)
@settings(max_examples=60)
def test_advanced_in_every_millisecond_each_task_expires_in_its_tick(
    timer: Timer, tick_ms: int, wheel_size: int
) -> None:
    """Each task expires when its expiry, rounded to the new tick, comes."""
    assert obeys_the_law(reconfigured, timer, tick_ms, wheel_size)


COARSE = holding(10, Add("a", 37), Add("b", 39))
LAGGING = holding(1, Add("a", 37), Elapse(5))


@pytest.mark.parametrize(
    ("change", "timer", "tick_ms"),
    [
        pytest.param(keeping_due_ticks, COARSE, 1, id="from due ticks: up to a tick too early"),
        pytest.param(adding_anew, LAGGING, 2, id="from what is left: too late"),
        pytest.param(copying_buckets, LAGGING, 2, id="tasks are lost"),
    ],
)
def test_naive_ways_break_the_law(change: Naive, timer: Timer, tick_ms: int) -> None:
    """Some task expires at another time than its expiry says."""
    assert not obeys_the_law(change, timer, tick_ms)


def test_a_wheel_cannot_hold_a_due_tick_between_its_ticks() -> None:
    """The task cannot go anywhere but into the bucket that was just popped."""
    wheel = TimingWheel(10, 20, 0)
    (kept,) = (wheel.insert("a", 37, 37, 0).pending,)
    assert kept is not None
    assert kept.places["a"] == (30, 1)
    popped = replace(kept, own_clock_ms=30)
    again = popped.remove("a").insert("a", 37, 37, 31).pending
    assert again is not None
    assert again.places["a"] == (30, 1)
    assert "TIMER-SPAN" in set(broken_invariants(TimerState(31, again)))
