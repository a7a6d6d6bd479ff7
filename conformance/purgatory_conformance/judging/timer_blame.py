"""Which rule a divergent step breaks, and what was expected and seen, in words.

The model says that no rule allows the outcome. The rule to name is found by comparing the outcome
with the nearest expectation, part after part: rejection, events, result, observables. The first
part that differs is blamed, on the most particular rule that the facts about the tasks involved
point to.

Cases are shrunk before they are reported, so that facts which do not matter are gone. What is left
is evidence, the stronger the more steps it needs: that a task was added again says more about a
failure than that its delay is zero. In this order the rules are asked.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import msgspec

from purgatory_conformance.judging.judgement import Divergence
from purgatory_conformance.judging.timer_history import (
    History,
    State,
    in_last_bucket,
    is_first_beyond,
)
from purgatory_model.arithmetic import ceiling_to, floor_to
from purgatory_model.timing_wheel import TimingWheel
from purgatory_model.transition import Expectation, in_groups, observables_match
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
    Throw,
)
from purgatory_spec.outcomes import Event, EventKind, Outcome, Value
from purgatory_spec.profiles import LARGEST_INT, Executor, Rounding
from purgatory_spec.reasons import Reason

_RULES_OF_LATENESS = (
    "TIMER-ADD-INSIDE",
    "TIMER-READD-PENDING",
    "TIMER-READD-CANCELLED",
    "TIMER-READD-FIRED",
    "TIMER-BUCKET-REUSE",
    "TIMER-CASCADE",
    "TIMER-NEGATIVE-DELAY",
    "TIMER-ZERO-DELAY",
    "TIMER-ALREADY-DUE",
)
"""The facts about a late task that are evidence, the strongest first."""

_RULES_OF_ACTIONS = (
    (Throw, "TIMER-THROWING-TASK"),
    (AdvanceInside, "TIMER-ADVANCE-INSIDE"),
    (AddInside, "TIMER-ADD-INSIDE"),
    (CancelInside, "TIMER-CANCEL-INSIDE"),
)

_RULES_OF_OBSERVABLES = {
    "size": "TIMER-SIZE",
    "queued": "TIMER-EXECUTOR-ORDER",
    "wheel_clock_ms": "TIMER-OWN-CLOCK",
    "queued_buckets": "TIMER-DELAY-QUEUE-BOUND",
    "next_expiry_ms": "TIMER-WAKE-UP",
    "levels": "TIMER-OVERFLOW-ON-DEMAND",
}
"""The rule of each observable, where nothing points to a more particular one."""


@dataclass(frozen=True, slots=True)
class _Step:
    """A divergent step beside the nearest expectation: its events, one after another, its state."""

    history: History
    before: State
    operation: Operation
    outcome: Outcome
    nearest: Expectation[State]
    events: tuple[Event, ...]
    after: State

    @property
    def now_ms(self) -> int:
        """The clock's reading during the step."""
        return self.after.now_ms

    @property
    def is_stepped(self) -> bool:
        """Whether running a task is a step of its own."""
        return self.history.model.profile.executor is Executor.STEPPED

    @property
    def has_thrown(self) -> bool:
        """Whether a task has thrown, or may have in this step."""
        running = () if self.is_stepped else (event.task for event in self.events)
        scripts = (self.before.scripts.get(task, ()) for task in running)
        return self.history.thrown or any(Throw() in script for script in scripts)

    @property
    def script_rule(self) -> str | None:
        """The rule about what the running task does, if its script does anything."""
        if not isinstance(self.operation, RunOne) or not self.before.queue:
            return None
        script = self.before.scripts.get(self.before.queue[0], ())
        for kind, rule in _RULES_OF_ACTIONS:
            if any(isinstance(action, kind) for action in script):
                return rule
        return None

    @property
    def added_inside(self) -> set[str]:
        """The tasks that the running task adds."""
        running = self.before.queue[:1] if isinstance(self.operation, RunOne) else ()
        scripts = (self.before.scripts.get(task, ()) for task in running)
        return {
            action.task for script in scripts for action in script if isinstance(action, AddInside)
        }


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
        event for group in nearest.groups for event in sorted(group, key=lambda e: e.task)
    )
    as_seen = in_groups(outcome.events, nearest.groups)
    after = nearest.complete(outcome.events if as_seen else events)
    step = _Step(history, before, operation, outcome, nearest, events, after)
    rule, kind, expected, seen = _first_difference(step)
    most_particular = _edge_of_arithmetic(step) or _other_rounding(step) or rule
    also = () if most_particular == rule else (rule,)
    return Divergence(
        most_particular, kind, expected, seen, operation, outcome, before, after, also
    )


def _likeness(expectation: Expectation[State], outcome: Outcome) -> tuple[bool, bool, int]:
    wanted = Counter(e for group in expectation.groups for e in group)
    seen = Counter(outcome.events)
    return (
        expectation.rejected is outcome.rejected,
        in_groups(outcome.events, expectation.groups),
        -(wanted - seen).total() - (seen - wanted).total(),
    )


def _first_difference(step: _Step) -> tuple[str, str, str, str]:
    """Rule, kind, expected and seen of the first part that differs."""
    outcome, nearest = step.outcome, step.nearest
    if outcome.rejected is not nearest.rejected:
        seen = _rejection_words(outcome.rejected)
        seen = f"{seen} ({outcome.detail})" if outcome.detail else seen
        return _rule_of_rejection(step), "rejection", _rejection_words(nearest.rejected), seen
    if not in_groups(outcome.events, nearest.groups):
        rule, kind = _rule_of_events(step)
        return rule, kind, _events_words(step.events), _events_words(outcome.events)
    if nearest.result is not None and outcome.result is not nearest.result:
        results = _value(nearest.result), _value(outcome.result)
        return _rule_of_result(step), "result", f"result {results[0]}", f"result {results[1]}"
    wanted = nearest.observe(step.after)
    name = next(n for n, v in wanted.items() if not observables_match({n: v}, outcome.observed))
    value = outcome.observed.get(name, "nothing")
    seen = f"{name} = {_value(value)}"
    if value == wanted[name]:
        seen = f"{name} of another type: {value!r}"
    return _rule_of_observable(step, name), name, f"{name} = {_value(wanted[name])}", seen


def _edge_of_arithmetic(step: _Step) -> str | None:
    """The two rules about extreme numbers take the blame from every other one."""
    armings = step.history.armings
    events = (*step.events, *step.outcome.events)
    delays = [armings[event.task].delay_ms for event in events if event.task in armings]
    if isinstance(step.operation, Add):
        delays.append(step.operation.delay_ms)
    if any(delay >= LARGEST_INT for delay in delays):
        return "TIMER-LARGEST-DELAY"
    return "TIMER-NEGATIVE-CLOCK" if step.history.model.configuration.start_ms < 0 else None


def _other_rounding(step: _Step) -> str | None:
    """The rule of rounding, where rounding the other way explains the whole step."""
    if step.history.used_places and isinstance(step.operation, Add) and step.events:
        return None  # the own clock has moved: that a task did not expire at once is due to it
    model = step.history.model
    down = model.profile.rounding is Rounding.DOWN
    rounding = Rounding.UP if down else Rounding.DOWN
    other = replace(model, profile=msgspec.structs.replace(model.profile, rounding=rounding))
    explained = other.accept(step.before, step.operation, step.outcome)
    return "TIMER-ROUNDING" if explained else None


def _rule_of_rejection(step: _Step) -> str:
    before = step.before
    rule: str | None = None
    match step.operation:
        case Add(task, delay_ms):
            if before.closed:
                return "TIMER-SHUTDOWN-CLOSED"
            if Reason.TOO_LARGE in (step.outcome.rejected, step.nearest.rejected):
                return "TIMER-LARGEST-DELAY"
            if step.outcome.rejected is Reason.INTERNAL and Throw() in step.operation.script:
                return "TIMER-THROWING-TASK"  # it ran in the caller, who got the exception
            rule = _rule_of_readd(step.history, task) or _rule_of_sign(delay_ms)
        case Cancel(task):
            return _rule_of_cancel(step, task)
        case Shutdown():
            return "TIMER-SHUTDOWN-AGAIN" if before.closed else "TIMER-SHUTDOWN-DROPS"
        case RunOne():
            rule = step.script_rule or "TIMER-EXECUTOR-ORDER"
        case _ if before.closed:
            return "TIMER-SHUTDOWN-DROPS"
    return rule or ("TIMER-THROWING-TASK" if step.has_thrown else "TIMER-NOT-LATE")


def _rule_of_sign(delay_ms: int) -> str | None:
    if delay_ms < 0:
        return "TIMER-NEGATIVE-DELAY"
    return "TIMER-ZERO-DELAY" if delay_ms == 0 else None


def _rule_of_readd(history: History, task: str) -> str | None:
    if task in history.armings:
        return "TIMER-READD-PENDING"
    if task in history.cancelled:
        return "TIMER-READD-CANCELLED"
    return "TIMER-READD-FIRED" if task in history.expired else None


def _rule_of_cancel(step: _Step, task: str) -> str:
    if task in step.history.armings:
        return "TIMER-CANCEL"
    if task in step.before.queue:
        return "TIMER-CANCEL-TOO-LATE"
    if task in step.history.cancelled:
        return "TIMER-CANCEL-AGAIN"
    return "TIMER-CANCEL-FIRED" if task in step.history.expired else "TIMER-CANCEL-UNKNOWN"


def _rule_of_events(step: _Step) -> tuple[str, str]:
    """Rule and kind for events that are not the expected ones."""
    wanted, seen = Counter(step.events), Counter(step.outcome.events)
    extra = list((seen - wanted).elements())
    missing = list((wanted - seen).elements())
    if missing and missing[0].kind is EventKind.RAN:
        return _rule_of_unrun(step, missing[0].task), "order" if extra else "missing"
    if extra:
        return _rule_of_extra(step, extra[0], extra[0] in wanted)
    if missing:
        return _rule_of_missing(step, missing[0]), "missing"
    handed = [e.task for e in step.outcome.events if e.kind is EventKind.EXPIRED]
    if isinstance(step.operation, RunOne) and step.outcome.events[0] != step.events[0]:
        return "TIMER-EXECUTOR-ORDER", "order"
    armings = step.history.armings
    ticks = [armings[task].due_tick for task in handed if task in armings]
    return "TIMER-SAME-TICK-ORDER" if ticks == sorted(ticks) else "TIMER-TICK-ORDER", "order"


def _rule_of_unrun(step: _Step, task: str) -> str:
    """The rule that a run is missing by, or another task's run in its place."""
    owed = step.history.runs_owed.get(task)
    if owed and step.is_stepped:
        return min(owed)
    if any(event.kind is EventKind.RAN for event in step.outcome.events):
        return "TIMER-EXECUTOR-ORDER"
    if step.before.closed:
        return "TIMER-SHUTDOWN-QUEUE"
    return "TIMER-THROWING-TASK" if step.has_thrown else "TIMER-EXECUTOR-ORDER"


def _rule_of_extra(step: _Step, event: Event, is_second: bool) -> tuple[str, str]:
    task, history, operation = event.task, step.history, step.operation
    if event.kind is EventKind.REJECTED:
        return step.script_rule or "TIMER-ADD-INSIDE", "rejection"
    if step.before.closed:
        return "TIMER-SHUTDOWN-DROPS", event.kind.value
    if event.kind is EventKind.RAN:
        stepped = isinstance(operation, RunOne)
        return "TIMER-EXACTLY-ONCE" if stepped else "TIMER-EXECUTOR-ORDER", "ran"
    for ended in history.ended:
        if ended.task == task and ended.due_tick <= step.now_ms:
            return min(ended.rules), "expired"
    if isinstance(operation, Add) and operation.task == task:
        expiry_ms = step.now_ms + operation.delay_ms
        if history.model.due_tick(expiry_ms) <= step.now_ms:
            return "TIMER-OWN-CLOCK", "at once"
        return _rule_of_early(step, task, expiry_ms), "early"
    arming = history.armings.get(task)
    if is_second:
        readd = sorted(rule for rule in arming.rules if "READD" in rule) if arming else []
        return readd[0] if readd else "TIMER-EXACTLY-ONCE", "twice"
    if arming is not None:
        return _rule_of_early(step, task, arming.expiry_ms), "early"
    if task in history.cancelled:
        return "TIMER-CANCEL", "expired"
    return "TIMER-ADD-INSIDE" if task in step.added_inside else "TIMER-EXACTLY-ONCE", "expired"


def _rule_of_early(step: _Step, task: str, expiry_ms: int) -> str:
    model, wheel = step.history.model, step.before.store
    tick_ms = model.configuration.tick_ms
    if model.profile.rounding is Rounding.UP and floor_to(expiry_ms, tick_ms) <= step.now_ms:
        return "TIMER-ROUNDING"
    if isinstance(wheel, TimingWheel):
        bucket, due_tick = wheel.places.get(task), model.due_tick(expiry_ms)
        levels = range(2, bucket[1] + 1) if bucket is not None else ()
        if any(step.now_ms == floor_to(due_tick, wheel.tick_of(level)) for level in levels):
            return "TIMER-CASCADE"
        if bucket is None and is_first_beyond(wheel, due_tick):
            return "TIMER-SPAN"
    return "TIMER-NOT-EARLY"


def _rule_of_missing(step: _Step, event: Event) -> str:
    """The rule that an expiry is missing by, or the rejection of an action."""
    history, operation = step.history, step.operation
    if event.kind is EventKind.REJECTED:
        return "TIMER-SHUTDOWN-CLOSED" if event.reason is Reason.CLOSED else "TIMER-ADD-INSIDE"
    if isinstance(operation, Add):
        waits = step.outcome.observed.get("size") == len(step.after.store.due_ticks) + 1
        # Once a bucket was popped, the task may have been compared with a wrong own clock.
        is_sign = not history.used_places and not (waits and operation.delay_ms == 0)
        sign = _rule_of_sign(operation.delay_ms) if is_sign else None
        own_clock = "TIMER-EMPTIED-BUCKET" if history.popped_empty else "TIMER-OWN-CLOCK"
        return _rule_of_readd(history, event.task) or sign or own_clock
    if isinstance(operation, RunOne):
        return step.script_rule or "TIMER-EXACTLY-ONCE"
    return _rule_of_late(step, event.task)


def _rule_of_late(step: _Step, task: str) -> str:
    history, wheel = step.history, step.before.store
    arming = history.armings.get(task)
    if arming is None:
        return "TIMER-EXACTLY-ONCE"
    model = history.model
    down = model.profile.rounding is Rounding.DOWN
    if down and step.now_ms < ceiling_to(arming.expiry_ms, model.configuration.tick_ms):
        return "TIMER-ROUNDING"
    if step.has_thrown:
        return "TIMER-THROWING-TASK"
    rules = set(arming.rules)
    if isinstance(wheel, TimingWheel):
        if history.is_reused(wheel, (arming.due_tick, 1), step.now_ms):
            rules.add("TIMER-BUCKET-REUSE")
        if wheel.places[task][1] > 1:
            rules.add("TIMER-CASCADE")
        if "TIMER-ALREADY-DUE" in rules:
            # It waits although it was due, so that the own clock lagged: not every delay does this.
            rules -= {"TIMER-NEGATIVE-DELAY", "TIMER-ZERO-DELAY"}
    return next((rule for rule in _RULES_OF_LATENESS if rule in rules), "TIMER-NOT-LATE")


def _rule_of_result(step: _Step) -> str:
    """The rule that an advance's result breaks; nothing else has a result."""
    if step.nearest.result is False:
        return "TIMER-IDLE-ADVANCE"
    wheel = step.before.store
    if step.events or not isinstance(wheel, TimingWheel):
        return "TIMER-ADVANCE-RESULT"
    wanted = step.nearest.observe(step.after)
    if "wheel_clock_ms" in wanted and observables_match(wanted, step.outcome.observed):
        return "TIMER-ADVANCE-RESULT"
    if not any(tasks for bucket, tasks in wheel.buckets.items() if bucket[0] <= step.now_ms):
        return "TIMER-EMPTIED-BUCKET"
    return "TIMER-CASCADE" if "wheel_clock_ms" in wanted else "TIMER-ADVANCE-RESULT"


def _rule_of_observable(step: _Step, name: str) -> str:
    rule: str | None = None
    match step.operation:
        case Add():
            rule = _rule_after_add(step, name)
        case Cancel(task) if name not in ("wheel_clock_ms", "levels"):
            rule = _rule_of_cancel(step, task)
            if rule == "TIMER-CANCEL" and name in ("size", "queued"):
                rule = None
            elif rule == "TIMER-CANCEL":
                rule = "TIMER-EMPTIED-BUCKET"
        case Advance():
            rule = _rule_after_advance(step, name)
        case RunOne():
            rule = step.script_rule
        case Shutdown() if name == "queued":
            rule = "TIMER-SHUTDOWN-QUEUE"
    return rule or _RULES_OF_OBSERVABLES[name]


def _rule_after_add(step: _Step, name: str) -> str | None:
    operation, before, after = step.operation, step.before.store, step.after.store
    assert isinstance(operation, Add)
    readd = _rule_of_readd(step.history, operation.task)
    if not isinstance(before, TimingWheel) or not isinstance(after, TimingWheel):
        return readd
    emptied = before.places.get(operation.task)
    if emptied is not None and not after.buckets[emptied]:
        without = replace(after, buckets=after.buckets.delete(emptied))
        if _is_shown(without, step.outcome.observed):
            return "TIMER-EMPTIED-BUCKET"
    if readd is not None:
        return readd
    bucket = after.places.get(operation.task)
    if bucket is None or name not in ("queued_buckets", "next_expiry_ms", "levels"):
        return None
    due_tick = after.due_ticks[operation.task]
    if due_tick <= step.now_ms:
        return "TIMER-ALREADY-DUE"
    if step.history.is_reused(before, bucket, before.own_clock_ms):
        return "TIMER-BUCKET-REUSE"
    return _rule_of_level(step, before, due_tick, name)


def _is_shown(wheel: TimingWheel, shown: Mapping[str, Value]) -> bool:
    wanted = {o.value: value for o, value in wheel.observe().items() if o.value in shown}
    return observables_match(wanted, shown)


def _rule_of_level(step: _Step, wheel: TimingWheel, due_tick: int, name: str) -> str | None:
    """The rule of the span, where a task was put into another level than the right one."""
    wanted, seen = step.nearest.observe(step.after)[name], step.outcome.observed.get(name)
    if wanted is None or seen is None or name == "queued_buckets":
        return None
    if name == "next_expiry_ms":
        return "TIMER-SPAN" if seen > wanted and is_first_beyond(wheel, due_tick) else None
    # With two buckets a level has no other bucket than the last, which then is no evidence.
    at_end = wheel.wheel_size > 2 and in_last_bucket(wheel, due_tick)
    return "TIMER-SPAN" if seen < wanted or at_end else None


def _rule_after_advance(step: _Step, name: str) -> str | None:
    before, after = step.before.store, step.after.store
    if not isinstance(before, TimingWheel) or not isinstance(after, TimingWheel):
        return None
    popped = {bucket: tasks for bucket, tasks in before.buckets.items() if bucket[0] <= step.now_ms}
    if name == "wheel_clock_ms":
        if popped and after.own_clock_ms > max(popped)[0]:
            return "TIMER-CASCADE"
        return "TIMER-EMPTIED-BUCKET" if popped and not popped[max(popped)] else None
    if name not in ("size", "queued_buckets", "next_expiry_ms"):
        return None
    passed_down = {task for tasks in popped.values() for task in tasks if task in after.places}
    if any(step.history.is_reused(before, after.places[task], step.now_ms) for task in passed_down):
        return "TIMER-BUCKET-REUSE"
    if passed_down:
        return "TIMER-CASCADE"
    return None if popped else "TIMER-IDLE-ADVANCE"


def _rejection_words(reason: Reason | None) -> str:
    return "accepted" if reason is None else f"rejected: {reason.value}"


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
