"""Random purgatories and what is asked of them, for Hypothesis; and how to follow a model."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hypothesis import strategies as st

from purgatory_conformance.subjects.profile_rules import problem_of
from purgatory_model.purgatory import PurgatoryModel, PurgatoryState
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import (
    Accounting,
    CancelResult,
    CheckOrder,
    Executor,
    FirstTry,
    PurgatoryConfiguration,
    PurgatoryFeature,
    PurgatoryObservable,
    PurgatoryProfile,
    PurgeDue,
    Rounding,
    SameTickOrder,
    SevereThrow,
    Structure,
    ThrowingTry,
)

State = PurgatoryState
Model = PurgatoryModel
Asked = tuple[PurgatoryProfile, PurgatoryConfiguration, tuple[op.Operation, ...]]

NAMES = st.sampled_from(("a", "b", "c", "d"))
KEYS = st.sampled_from(("k", "j"))
DELAYS_MS = st.integers(-1, 5)


def profiles(
    accountings: Iterable[Accounting] = Accounting,
    executors: Iterable[Executor] = (Executor.STEPPED, Executor.INLINE),
) -> st.SearchStrategy[PurgatoryProfile]:
    """Profiles that show everything."""
    return st.builds(
        PurgatoryProfile,
        accounting=st.sampled_from(list(accountings)),
        purge_due=st.sampled_from(PurgeDue),
        first_try=st.sampled_from(FirstTry),
        check_order=st.sampled_from(CheckOrder),
        throwing_try=st.sampled_from(ThrowingTry),
        severe_throw=st.sampled_from(SevereThrow),
        cancel_result=st.sampled_from(CancelResult),
        executor=st.sampled_from(list(executors)),
        rounding=st.sampled_from(Rounding),
        same_tick_order=st.sampled_from(SameTickOrder),
        structure=st.sampled_from(Structure),
        features=st.just(frozenset(PurgatoryFeature)),
        observables=st.just(frozenset(PurgatoryObservable)),
    ).filter(lambda profile: not problem_of(profile))


def configurations(*, time_outs: bool | None = None) -> st.SearchStrategy[PurgatoryConfiguration]:
    """Small intervals, ticks and wheels."""
    return st.builds(
        PurgatoryConfiguration,
        purge_interval=st.integers(0, 2),
        time_outs=st.sampled_from((True, False)) if time_outs is None else st.just(time_outs),
        tick_ms=st.sampled_from((1, 2)),
        wheel_size=st.sampled_from((2, 3)),
        start_ms=st.sampled_from((0, 7)),
    )


def keys() -> st.SearchStrategy[tuple[str, ...]]:
    """One key, several, some of them twice; rarely none."""
    some = st.lists(KEYS, min_size=1, max_size=3).map(tuple)
    return st.one_of(some, some, some, st.lists(KEYS, max_size=1).map(tuple))


def actions() -> st.SearchStrategy[tuple[op.CallbackAction, ...]]:
    """Draw the actions of a callback."""
    one: st.SearchStrategy[op.CallbackAction] = st.one_of(
        st.builds(op.CheckInside, key=KEYS),
        st.builds(op.WatchInside, operation=NAMES, keys=keys(), delay_ms=DELAYS_MS),
        st.builds(op.CancelForKeyInside, key=KEYS),
        st.builds(op.ForceInside, operation=NAMES),
        st.builds(op.Throw, sort=st.sampled_from(op.ThrowSort)),
    )
    return st.one_of(st.just(()), st.lists(one, min_size=1, max_size=3).map(tuple))


WAIT, COMPLETE = op.Answer.WAIT, op.Answer.COMPLETE
USUAL_TRIES = ((), (WAIT, COMPLETE), (WAIT, WAIT, COMPLETE), (WAIT, WAIT, WAIT, COMPLETE))


def scripts() -> st.SearchStrategy[op.Script]:
    """Draw the script of an operation."""
    unusual = st.lists(st.sampled_from(op.Answer), max_size=4).map(tuple)
    return st.builds(
        op.Script,
        tries=st.one_of(st.sampled_from(USUAL_TRIES), st.sampled_from(USUAL_TRIES), unusual),
        on_complete=actions(),
        on_expiration=actions(),
    )


@dataclass(frozen=True)
class Later:
    """Time passes, with an advance or without."""

    by_ms: int
    advance: bool


def moves(*, scripted: bool) -> st.SearchStrategy[op.Operation | Later]:
    """One thing to ask, or some time to let pass."""
    script = scripts() if scripted else st.just(op.Script())
    watch = st.builds(op.Watch, operation=NAMES, keys=keys(), delay_ms=DELAYS_MS, script=script)
    return st.one_of(
        watch,
        st.builds(Later, by_ms=st.integers(0, 4), advance=st.just(True)),
        st.just(op.RunOne()),
        st.builds(op.Check, key=KEYS),
        st.builds(op.Force, operation=NAMES),
        watch,
        st.builds(Later, by_ms=st.integers(0, 4), advance=st.booleans()),
        st.builds(op.Satisfy, operation=NAMES),
        watch,
        st.builds(op.CancelForKey, key=KEYS),
    )


def at_readings(asked: Iterable[op.Operation | Later], start_ms: int) -> Iterator[op.Operation]:
    """The same with the clock's readings; names that nobody knows are only watched."""
    now_ms = start_ms
    known: set[str] = set()
    for each in asked:
        if isinstance(each, Later):
            now_ms += each.by_ms
            yield op.Advance(now_ms) if each.advance else op.Elapse(now_ms)
            continue
        if isinstance(each, op.Watch):
            known.add(each.operation)
        if not isinstance(each, op.Force | op.Satisfy) or each.operation in known:
            yield each


@st.composite
def cases(
    draw: st.DrawFn,
    profile: st.SearchStrategy[PurgatoryProfile] | None = None,
    configuration: st.SearchStrategy[PurgatoryConfiguration] | None = None,
    *,
    least: int = 4,
    most: int = 12,
    scripted: bool = True,
    shut: bool = True,
) -> Asked:
    """A profile, a configuration, and what is asked of such a purgatory."""
    made_with = draw(configurations() if configuration is None else configuration)
    asked = draw(st.lists(moves(scripted=scripted), min_size=least, max_size=most))
    if shut and draw(st.integers(0, 3)) == 3:
        asked.insert(max(0, len(asked) - draw(st.integers(0, 5))), op.Shutdown())
    declared = draw(profiles() if profile is None else profile)
    return declared, made_with, tuple(at_readings(asked, made_with.start_ms))


def only(model: Model, *asked: op.Operation) -> tuple[tuple[Outcome, ...], State]:
    """Return the outcomes of operations that leave nothing open, and the state behind them."""
    state = model.initial()
    seen: list[Outcome] = []
    for operation in asked:
        ((outcome, state),) = model.successors(state, operation)
        seen.append(outcome)
    return tuple(seen), state


def told(outcome: Outcome) -> str:
    """The events of an outcome as words."""
    return " ".join(f"{event.kind.value}:{event.task}" for event in outcome.events)
