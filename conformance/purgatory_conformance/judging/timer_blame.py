"""Which rule a divergent step breaks, and what was expected and seen, in words.

The model says that no rule allows the outcome. The rule to name is found by comparing the outcome
with the nearest expectation, part after part: rejection, events, result, observables. The first
part that differs is blamed, on the most particular rule that the facts about the tasks involved
point to. Cases are shrunk before they are reported, so that facts which do not matter are gone.
"""

from collections import Counter
from collections.abc import Iterable

from purgatory_conformance.judging.judgement import Divergence
from purgatory_conformance.judging.timer_history import Arming, History, State
from purgatory_model.arithmetic import ceiling_to, floor_to
from purgatory_model.timing_wheel import TimingWheel
from purgatory_model.transition import Expectation, in_groups
from purgatory_spec.operations import (
    Add,
    AddInside,
    Advance,
    AdvanceInside,
    Cancel,
    CancelInside,
    Operation,
    RunOne,
    Shutdown,
)
from purgatory_spec.outcomes import Event, EventKind, Outcome
from purgatory_spec.profiles import LARGEST_INT, LARGEST_SAFE_INTEGER, Rounding

_MOST_PARTICULAR_FIRST = (
    "TIMER-ADD-INSIDE",
    "TIMER-READD-PENDING",
    "TIMER-READD-CANCELLED",
    "TIMER-READD-FIRED",
    "TIMER-NEGATIVE-DELAY",
    "TIMER-CASCADE",
    "TIMER-BUCKET-REUSE",
    "TIMER-SPAN",
    "TIMER-ALREADY-DUE",
    "TIMER-ZERO-DELAY",
)


def blame(
    history: History,
    before: State,
    operation: Operation,
    outcome: Outcome,
    expectations: tuple[Expectation[State], ...],
) -> Divergence:
    """The divergence of a step that no expectation allows."""
    nearest = max(expectations, key=lambda e: _likeness(e, outcome))
    events = tuple(
        e
        for group in nearest.groups
        for e in (sorted(group, key=lambda e: e.task) if len(group) > 1 else group)
    )
    seen_order = outcome.events if in_groups(outcome.events, nearest.groups) else events
    after = nearest.complete(seen_order)

    def divergence(rule: str, kind: str, expected: str, seen: str) -> Divergence:
        rule = _edge_of_arithmetic(history, before, operation) or rule
        return Divergence(rule, kind, expected, seen, operation, outcome, before, after)

    if outcome.rejected is not nearest.rejected:
        rule = _rule_of_rejection(history, before, operation, outcome, nearest)
        return divergence(
            rule, "rejection", _rejection_words(nearest.rejected), _seen_rejection(outcome)
        )
    if not in_groups(outcome.events, nearest.groups):
        rule, kind, expected, seen = _events(history, before, operation, outcome.events, nearest)
        return divergence(rule, kind, expected, seen)
    if nearest.result is not None and outcome.result is not nearest.result:
        return divergence(
            _rule_of_result(before, operation, nearest),
            "result",
            f"result {_value(nearest.result)}",
            f"result {_value(outcome.result)}",
        )
    wanted = nearest.observe(after)
    for name, value in wanted.items():
        if name not in outcome.observed or outcome.observed[name] != value:
            seen_value = outcome.observed.get(name, "nothing")
            return divergence(
                _rule_of_observable(history, before, operation, name),
                name,
                f"{name} = {_value(value)}",
                f"{name} = {_value(seen_value)}",
            )
    name = next(n for n, v in wanted.items() if type(outcome.observed[n]) is not type(v))
    return divergence(
        _rule_of_observable(history, before, operation, name),
        name,
        f"{name} = {_value(wanted[name])}",
        f"{name} of another type: {outcome.observed[name]!r}",
    )


def _likeness(expectation: Expectation[State], outcome: Outcome) -> tuple[bool, bool, int]:
    wanted = Counter(e for group in expectation.groups for e in group)
    seen = Counter(outcome.events)
    return (
        expectation.rejected is outcome.rejected,
        in_groups(outcome.events, expectation.groups),
        -(wanted - seen).total() - (seen - wanted).total(),
    )


def _edge_of_arithmetic(history: History, before: State, operation: Operation) -> str | None:
    """The two rules about extreme numbers take the blame from every other one."""
    delays = [operation.delay_ms] if isinstance(operation, Add) else []
    delays += [arming.delay_ms for arming in history.armings.values()]
    if any(delay > LARGEST_SAFE_INTEGER for delay in delays):
        return "TIMER-LARGEST-DELAY"
    if history.model.configuration.start_ms < 0:
        return "TIMER-NEGATIVE-CLOCK"
    return None


def _rule_of_rejection(
    history: History,
    before: State,
    operation: Operation,
    outcome: Outcome,
    nearest: Expectation[State],
) -> str:
    match operation:
        case Add(task, delay_ms):
            if before.closed:
                return "TIMER-SHUTDOWN-CLOSED"
            if delay_ms > LARGEST_INT or delay_ms >= history.model.profile.largest_delay_ms:
                return "TIMER-LARGEST-DELAY"
            if delay_ms < 0:
                return "TIMER-NEGATIVE-DELAY"
            if delay_ms == 0:
                return "TIMER-ZERO-DELAY"
            return _rule_of_readd(history, task) or _or_thrown(history, "TIMER-NOT-LATE")
        case Cancel(task):
            return _rule_of_cancel(history, before, task)
        case Shutdown():
            return "TIMER-SHUTDOWN-AGAIN" if before.closed else "TIMER-SHUTDOWN-DROPS"
        case RunOne():
            return _or_thrown(history, "TIMER-EXECUTOR-ORDER")
        case _:
            return _or_thrown(history, "TIMER-NOT-LATE")


def _or_thrown(history: History, rule: str) -> str:
    return "TIMER-THROWING-TASK" if history.thrown else rule


def _rule_of_readd(history: History, task: str) -> str | None:
    if task in history.armings:
        return "TIMER-READD-PENDING"
    if task in history.cancelled:
        return "TIMER-READD-CANCELLED"
    if task in history.expired:
        return "TIMER-READD-FIRED"
    return None


def _rule_of_cancel(history: History, before: State, task: str) -> str:
    if task in history.armings:
        return "TIMER-CANCEL"
    if task in before.queue:
        return "TIMER-CANCEL-TOO-LATE"
    if task in history.cancelled:
        return "TIMER-CANCEL-AGAIN"
    if task in history.expired:
        return "TIMER-CANCEL-FIRED"
    return "TIMER-CANCEL-UNKNOWN"


def _events(
    history: History,
    before: State,
    operation: Operation,
    events: tuple[Event, ...],
    nearest: Expectation[State],
) -> tuple[str, str, str, str]:
    """Rule, kind, expected and seen for events that are not the expected ones."""
    wanted = Counter(e for group in nearest.groups for e in group)
    seen = Counter(events)
    expected_words = _events_words(e for group in nearest.groups for e in sorted(group, key=repr))
    seen_words = _events_words(events)
    extra = list((seen - wanted).elements())
    missing = list((wanted - seen).elements())
    if extra:
        rule, kind = _rule_of_extra(history, before, operation, extra[0], missing, wanted)
    elif missing:
        rule, kind = _rule_of_missing(history, before, operation, missing[0])
    elif isinstance(operation, RunOne):
        rule, kind = "TIMER-EXECUTOR-ORDER", "order"
    else:
        ticks = [history.armings[e.task].due_tick for e in events if e.task in history.armings]
        sorted_ticks = ticks == sorted(ticks)
        rule = "TIMER-SAME-TICK-ORDER" if sorted_ticks else "TIMER-TICK-ORDER"
        kind = "order"
    return rule, kind, expected_words, seen_words


def _rule_of_extra(
    history: History,
    before: State,
    operation: Operation,
    event: Event,
    missing: list[Event],
    wanted: Counter[Event],
) -> tuple[str, str]:
    task = event.task
    if event.kind is EventKind.REJECTED:
        return _rule_inside(before, operation) or "TIMER-ADD-INSIDE", "rejection"
    if event.kind is EventKind.RAN:
        if before.closed and not before.queue:
            return "TIMER-SHUTDOWN-DROPS", "ran"
        return ("TIMER-EXECUTOR-ORDER", "order") if missing else ("TIMER-EXACTLY-ONCE", "ran")
    if before.closed:
        return "TIMER-SHUTDOWN-DROPS", "expired"
    now = operation.to_ms if isinstance(operation, Advance) else before.now_ms
    for ended in history.ended:
        if ended.task == task and ended.due_tick <= now:
            return min(ended.rules), "expired"
    if isinstance(operation, Add) and operation.task == task:
        due_tick = history.model.due_tick(before.now_ms + operation.delay_ms)
        if due_tick > before.now_ms:
            return _early(history, before.now_ms + operation.delay_ms, before.now_ms), "early"
        return "TIMER-OWN-CLOCK", "at once"
    if event in wanted:
        arming = history.armings.get(task)
        rules = arming.rules if arming else set()
        readd = [rule for rule in _MOST_PARTICULAR_FIRST[1:4] if rule in rules]
        return (readd[0] if readd else "TIMER-EXACTLY-ONCE"), "twice"
    if task in history.armings:
        return _early(history, history.armings[task].expiry_ms, now), "early"
    if task in history.cancelled:
        return "TIMER-CANCEL", "expired"
    inside = _rule_inside(before, operation)
    return inside or "TIMER-EXACTLY-ONCE", "expired"


def _early(history: History, expiry_ms: int, now_ms: int) -> str:
    tick = history.model.configuration.tick_ms
    rounds_up = history.model.profile.rounding is Rounding.UP
    if rounds_up and floor_to(expiry_ms, tick) <= now_ms:
        return "TIMER-ROUNDING"
    return "TIMER-NOT-EARLY"


def _rule_of_missing(
    history: History, before: State, operation: Operation, event: Event
) -> tuple[str, str]:
    task = event.task
    if event.kind is EventKind.REJECTED:
        return _rule_inside(before, operation) or "TIMER-ADD-INSIDE", "rejection"
    if event.kind is EventKind.RAN:
        owed = history.runs_owed.get(task)
        if owed:
            return min(owed), "missing"
        if before.closed:
            return "TIMER-SHUTDOWN-QUEUE", "missing"
        return _or_thrown(history, "TIMER-EXACTLY-ONCE"), "missing"
    if isinstance(operation, Add) and operation.task == task:
        return (_rule_of_readd(history, task) or "TIMER-OWN-CLOCK"), "missing"
    if isinstance(operation, RunOne):
        return _rule_inside(before, operation) or "TIMER-EXACTLY-ONCE", "missing"
    arming = history.armings.get(task)
    if arming is None or not isinstance(operation, Advance):
        return "TIMER-EXACTLY-ONCE", "missing"
    return _late(history, before, arming, task, operation.to_ms), "missing"


def _late(history: History, before: State, arming: Arming, task: str, now_ms: int) -> str:
    tick = history.model.configuration.tick_ms
    rounds_down = history.model.profile.rounding is Rounding.DOWN
    if rounds_down and now_ms < ceiling_to(arming.expiry_ms, tick):
        return "TIMER-ROUNDING"
    if history.thrown:
        return "TIMER-THROWING-TASK"
    rules = set(arming.rules)
    if isinstance(before.store, TimingWheel) and before.store.places[task][1] > 1:
        rules.add("TIMER-CASCADE")
    for rule in _MOST_PARTICULAR_FIRST:
        if rule in rules:
            return rule
    return "TIMER-NOT-LATE"


def _rule_inside(before: State, operation: Operation) -> str | None:
    """The rule about what a running task does, if its script does anything."""
    if not isinstance(operation, RunOne) or not before.queue:
        return None
    script = before.scripts.get(before.queue[0], ())
    for kind, rule in (
        (AdvanceInside, "TIMER-ADVANCE-INSIDE"),
        (AddInside, "TIMER-ADD-INSIDE"),
        (CancelInside, "TIMER-CANCEL-INSIDE"),
    ):
        if any(isinstance(action, kind) for action in script):
            return rule
    return None


def _rule_of_result(before: State, operation: Operation, nearest: Expectation[State]) -> str:
    if not isinstance(operation, Advance):
        return "TIMER-ADVANCE-RESULT"
    if nearest.result is False:
        return "TIMER-SHUTDOWN-DROPS" if before.closed else "TIMER-IDLE-ADVANCE"
    return "TIMER-ADVANCE-RESULT" if nearest.groups else _popped_without_expiry(before, operation)


def _popped_without_expiry(before: State, operation: Advance) -> str:
    wheel = before.store
    if not isinstance(wheel, TimingWheel):
        return "TIMER-ADVANCE-RESULT"
    popped = [tasks for bucket, tasks in wheel.buckets.items() if bucket[0] <= operation.to_ms]
    return "TIMER-ADVANCE-RESULT" if any(popped) else "TIMER-EMPTIED-BUCKET"


def _rule_of_observable(history: History, before: State, operation: Operation, name: str) -> str:
    match operation:
        case Add(task):
            due_tick = history.model.due_tick(before.now_ms + operation.delay_ms)
            boundary = history.is_boundary(before, due_tick)
            if name == "size":
                return _rule_of_readd(history, task) or "TIMER-SIZE"
            if boundary and name in ("levels", "next_expiry_ms", "queued_buckets"):
                return "TIMER-SPAN"
        case Cancel():
            if name in ("queued_buckets", "next_expiry_ms"):
                return "TIMER-EMPTIED-BUCKET"
        case Advance(to_ms) if isinstance(before.store, TimingWheel):
            popped = {b: t for b, t in before.store.buckets.items() if b[0] <= to_ms}
            if name == "wheel_clock_ms" and popped and not popped[max(popped)]:
                return "TIMER-EMPTIED-BUCKET"
            passed_down = any(level > 1 and tasks for (_, level), tasks in popped.items())
            if name in ("next_expiry_ms", "queued_buckets", "size") and passed_down:
                return "TIMER-CASCADE"
            if not popped and name != "queued":
                return "TIMER-IDLE-ADVANCE" if name != "wheel_clock_ms" else "TIMER-OWN-CLOCK"
        case _:
            pass
    inside = _rule_inside(before, operation)
    if inside is not None:
        return inside
    return {
        "size": "TIMER-SIZE",
        "queued": "TIMER-EXECUTOR-ORDER",
        "wheel_clock_ms": "TIMER-OWN-CLOCK",
        "queued_buckets": "TIMER-DELAY-QUEUE-BOUND",
        "next_expiry_ms": "TIMER-WAKE-UP",
        "levels": "TIMER-OVERFLOW-ON-DEMAND",
    }[name]


def _rejection_words(reason: object) -> str:
    return "accepted" if reason is None else f"rejected: {getattr(reason, 'value', reason)}"


def _seen_rejection(outcome: Outcome) -> str:
    words = _rejection_words(outcome.rejected)
    return f"{words} ({outcome.detail})" if outcome.detail else words


def _events_words(events: Iterable[Event]) -> str:
    words = [
        f"{e.task} {e.kind.value}" + (f" ({e.reason.value})" if e.reason else "") for e in events
    ]
    return ", ".join(words) if words else "no event"


def _value(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
