"""The comparison of a diverging step with the expected state, as the picture marks it.

Each comparison is one row below the picture of the wheel. An expected or seen value that is a time
has a place on the time axis; any other is words alone.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from purgatory_conformance.describing.words import describe_task, printable, shortened
from purgatory_judge.judgement import Divergence
from purgatory_judge.timer.history import State
from purgatory_model.timer import TimerState, declared_timer_model
from purgatory_model.timing_wheel import TimingWheel
from purgatory_spec.operations import Add, Cancel, RunOne
from purgatory_spec.outcomes import EventKind, Value
from purgatory_spec.profiles import TimerConfiguration, TimerProfile

_MOST_LETTERS = 12
_TIMES = {"wheel_clock_ms": "own clock", "next_expiry_ms": "next expiry"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A value that differs; ``expected_ms`` and ``seen_ms`` are None unless it is a time."""

    about: str
    expected: str
    seen: str
    expected_ms: int | None = None
    seen_ms: int | None = None


def comparisons(
    divergence: Divergence, configuration: TimerConfiguration, profile: TimerProfile
) -> tuple[Comparison, ...]:
    """Return the differences of a diverging step, at least one row."""
    before, after = states_of(divergence)
    rows: list[Comparison] = []
    if before is not None and after is not None:
        rows += _expiries(divergence, before, after)
        rows += _runs(divergence, before)
        rows += _observables(divergence, after, configuration, profile)
    told = bool(rows) and divergence.kind not in ("rejection", "result")
    if divergence.kind == "order" and not isinstance(divergence.operation, RunOne):
        told = False
    if told:
        return tuple(rows)
    about = "answer" if divergence.kind == "rejection" else divergence.kind
    outcome = Comparison(about, printable(divergence.expected), printable(divergence.seen))
    return (outcome, *rows)


def states_of(divergence: Divergence) -> tuple[State | None, State | None]:
    """Return the model's state before the step and the state expected afterwards, if known."""
    before, after = divergence.before, divergence.after
    return (
        before if isinstance(before, TimerState) else None,
        after if isinstance(after, TimerState) else None,
    )


def diverging_tasks(divergence: Divergence) -> frozenset[str]:
    """Return the tasks that a divergence is about."""
    before, after = states_of(divergence)
    if before is None or after is None:
        return frozenset()
    expected, seen = _handed_over(divergence, before, after)
    differing = (expected - seen) + (seen - expected)
    if differing:
        return frozenset(differing)
    if isinstance(divergence.operation, Add | Cancel):
        return frozenset({divergence.operation.task})
    if divergence.kind == "order":
        return frozenset(event.task for event in divergence.outcome.events)
    was, should_be = _kept(before), _kept(after)
    moved = {task for task in {*was, *should_be} if was.get(task) != should_be.get(task)}
    runs = isinstance(divergence.operation, RunOne)
    return frozenset({*moved, *before.queue[:1]} if runs else moved)


def _kept(state: State) -> dict[str, object]:
    """Return for each pending task its bucket, or its due tick in a store without buckets."""
    store = state.store
    return dict(store.places if isinstance(store, TimingWheel) else store.due_ticks)


def _handed_over(
    divergence: Divergence, before: State, after: State
) -> tuple[Counter[str], Counter[str]]:
    """Return the tasks that were expected to expire in the step, and those that were seen to."""
    kept = before.queue[1:] if isinstance(divergence.operation, RunOne) else before.queue
    events = divergence.outcome.events
    seen = Counter(event.task for event in events if event.kind is EventKind.EXPIRED)
    return Counter(after.queue[len(kept) :]), seen


def _expiries(divergence: Divergence, before: State, after: State) -> Iterator[Comparison]:
    expected, seen = _handed_over(divergence, before, after)
    now_ms = after.now_ms
    for task in sorted((expected - seen).elements()):
        about = f"{shortened(describe_task(task), _MOST_LETTERS)} expires"
        yield Comparison(about, f"at {now_ms}", "not in this step", expected_ms=now_ms)
    for task in sorted((seen - expected).elements()):
        about = f"{shortened(describe_task(task), _MOST_LETTERS)} expires"
        due_ms = after.store.due_ticks.get(task)
        words = "not again" if task in expected else "not at all"
        if due_ms is not None and due_ms > now_ms:
            words = f"at {due_ms}"
        elif due_ms is not None:
            due_ms, words = None, "in the next advance"
        yield Comparison(about, words, f"at {now_ms}", expected_ms=due_ms, seen_ms=now_ms)


def _runs(divergence: Divergence, before: State) -> Iterator[Comparison]:
    if not isinstance(divergence.operation, RunOne):
        return
    events = divergence.outcome.events
    ran = [describe_task(event.task) for event in events if event.kind is EventKind.RAN]
    first = [describe_task(task) for task in before.queue[:1]]
    if ran != first:
        yield Comparison("what runs", " ".join(first) or "nothing", " ".join(ran) or "nothing")


def _observables(
    divergence: Divergence, after: State, configuration: TimerConfiguration, profile: TimerProfile
) -> Iterator[Comparison]:
    observed = divergence.outcome.observed
    if not observed:
        return
    counts: list[tuple[str, Value, Value]] = []
    for name, value in declared_timer_model(configuration, profile).observe(after).items():
        other = observed.get(name)
        if other == value:
            continue
        if name in _TIMES:
            yield Comparison(
                _TIMES[name],
                "none" if value is None else f"at {value}",
                "none" if other is None else f"at {other}",
                expected_ms=value if isinstance(value, int) else None,
                seen_ms=other if isinstance(other, int) else None,
            )
        else:
            counts.append((name, value, other))
    for name, value, other in counts:
        yield Comparison(name.replace("_", " "), f"{value}", f"{other}")
