"""Name the rule that a divergent step breaks, with what was expected and seen.

The model says that no rule allows the outcome. The rule to name is found by comparing the outcome
with the nearest expectation, part after part: rejection, events, result, observables. The first
part that differs is blamed, on the most particular rule that the facts about the tasks involved
point to.

Cases are shrunk before they are reported, so that facts which do not matter are gone. What is left
is evidence, the stronger the more steps it needs: that a task was added again says more about a
failure than that its delay is zero. In this order the rules are asked.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import msgspec

from purgatory_judge.differences import (
    events_words,
    observable_words,
    rejection_words,
    result_words,
)
from purgatory_judge.judgement import Divergence
from purgatory_judge.timer.divergent_step import DivergentStep, rule_of_sign, throws
from purgatory_judge.timer.history import Arming, History, State
from purgatory_judge.timer.observable_blame import rule_of_observable, rule_of_result
from purgatory_judge.timer.wheel_places import is_first_beyond
from purgatory_model.arithmetic import ceiling_to, floor_to
from purgatory_model.step import Expectation, in_groups, observables_match, result_matches
from purgatory_model.timing_wheel import TimingWheel
from purgatory_spec.operations import Add, Cancel, Operation, RunOne, Shutdown
from purgatory_spec.outcomes import Event, EventKind, Outcome
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

_RULES_OF_DUE_TICKS = (
    "TIMER-READD-PENDING",
    "TIMER-READD-CANCELLED",
    "TIMER-READD-FIRED",
    "TIMER-NEGATIVE-DELAY",
)
"""The facts about a task that comes at another task's turn, the strongest first."""


def blame(
    history: History,
    before: State,
    operation: Operation,
    outcome: Outcome,
    expectations: tuple[Expectation[State], ...],
) -> Divergence:
    """Return the divergence of a step that no expectation allows."""
    nearest = max(expectations, key=lambda e: _likeness(e, outcome))
    events = tuple(
        event for group in nearest.groups for event in sorted(group, key=lambda e: e.task)
    )
    as_seen = in_groups(outcome.events, nearest.groups)
    after = nearest.complete(outcome.events if as_seen else events)
    step = DivergentStep(history, before, operation, outcome, nearest, events, after)
    rule, kind, expected, seen = _first_difference(step)
    if rule == "TIMER-EXECUTOR-ORDER" and history.model.profile.executor is Executor.THREADS:
        rule = "TIMER-EXACTLY-ONCE"  # several threads have no order: one task too many or too few
    edge = None if rule == "TIMER-SAME-TICK-ORDER" else _edge_of_arithmetic(step)
    refused = None
    if history.refused or history.is_refused(operation):
        refused = "TIMER-EXECUTOR-REFUSES"
    dropped = _rule_of_dropped(step) if rule == "TIMER-SIZE" else None
    most_particular = refused or edge or _other_rounding(step) or dropped or rule
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


def _first_difference(step: DivergentStep) -> tuple[str, str, str, str]:
    """Return rule, kind, expected and seen of the first part that differs."""
    outcome, nearest = step.outcome, step.nearest
    if outcome.rejected is not nearest.rejected:
        return _rule_of_rejection(step), "rejection", *rejection_words(nearest.rejected, outcome)
    if not in_groups(outcome.events, nearest.groups):
        rule, kind = _rule_of_events(step)
        return rule, kind, events_words(step.events), events_words(outcome.events)
    if not result_matches(nearest.result, outcome.result):
        return rule_of_result(step), "result", *result_words(nearest.result, outcome)
    wanted = nearest.observe(step.after)
    name = next(n for n, v in wanted.items() if not observables_match({n: v}, outcome.observed))
    return rule_of_observable(step, name), name, *observable_words(name, wanted[name], outcome)


def _edge_of_arithmetic(step: DivergentStep) -> str | None:
    """Return the rule about extreme numbers, which takes the blame from every other one."""
    armings = step.history.armings
    events = (*step.events, *step.outcome.events)
    delays = [armings[event.task].delay_ms for event in events if event.task in armings]
    if isinstance(step.operation, Add):
        delays.append(step.operation.delay_ms)
    if any(delay >= LARGEST_INT for delay in delays):
        return "TIMER-LARGEST-DELAY"
    return "TIMER-NEGATIVE-CLOCK" if step.history.model.configuration.start_ms < 0 else None


def _other_rounding(step: DivergentStep) -> str | None:
    """Return the rule of rounding, where another rounding explains the whole step."""
    if step.history.used_places and isinstance(step.operation, Add) and step.events:
        return None  # the own clock has moved: that a task did not expire at once is due to it
    model = step.history.model
    if model.accept(step.before, step.operation, step.outcome):
        return None  # the step is right as a whole: the expectation covers too little
    for rounding in Rounding:
        other = replace(model, profile=msgspec.structs.replace(model.profile, rounding=rounding))
        if other.accept(step.before, step.operation, step.outcome):
            return "TIMER-ROUNDING"
    return None


def _rule_of_rejection(step: DivergentStep) -> str:
    before = step.before
    rule: str | None = None
    match step.operation:
        case Add(task, delay_ms):
            if before.closed:
                return "TIMER-SHUTDOWN-CLOSED"
            if Reason.TOO_LARGE in (step.outcome.rejected, step.nearest.rejected):
                return "TIMER-LARGEST-DELAY"
            if step.outcome.rejected is Reason.INTERNAL and throws(step.operation.script):
                return "TIMER-THROWING-TASK"  # it ran in the caller, who got the exception
            rule = step.rule_of_readd(task) or rule_of_sign(delay_ms)
        case Cancel(task):
            return step.rule_of_cancel(task)
        case Shutdown():
            return "TIMER-SHUTDOWN-AGAIN" if before.closed else "TIMER-SHUTDOWN-DROPS"
        case RunOne():
            rule = step.script_rule or "TIMER-EXECUTOR-ORDER"
        case _ if before.closed:
            return "TIMER-SHUTDOWN-DROPS"
    if step.outcome.rejected is Reason.INTERNAL:
        rule = rule or step.action_rule
    return rule or ("TIMER-THROWING-TASK" if step.has_thrown else "TIMER-NOT-LATE")


def _rule_of_dropped(step: DivergentStep) -> str | None:
    """Return the rule of a delay for which an added task is not counted, whatever else is."""
    size = step.outcome.observed.get("size")
    if not isinstance(step.operation, Add) or size != len(step.before.store.due_ticks):
        return None
    return rule_of_sign(step.operation.delay_ms)


def _rule_of_events(step: DivergentStep) -> tuple[str, str]:
    """Return rule and kind for events that are not the expected ones."""
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
    return _rule_of_order([a for a in map(step.history.armings.get, handed) if a]), "order"


def _rule_of_order(handed: Sequence[Arming]) -> str:
    """Return the rule about how the arming came about that is out of its place, if there is one."""
    out_of_place = [pair for pair in combinations(handed, 2) if pair[0].due_tick > pair[1].due_tick]
    if not out_of_place:
        return "TIMER-SAME-TICK-ORDER"
    rules = {rule for pair in out_of_place for arming in pair for rule in arming.rules}
    return next((rule for rule in _RULES_OF_DUE_TICKS if rule in rules), "TIMER-TICK-ORDER")


def _rule_of_unrun(step: DivergentStep, task: str) -> str:
    """Return the rule that a run is missing by, or another task's run in its place."""
    owed = step.history.runs_owed.get(task)
    if owed and step.is_stepped:
        return min(owed)
    if any(event.kind is EventKind.RAN for event in step.outcome.events):
        return "TIMER-EXECUTOR-ORDER"
    if step.before.closed:
        return "TIMER-SHUTDOWN-QUEUE"
    if step.has_thrown:
        return "TIMER-THROWING-TASK"
    if step.is_stepped:
        return "TIMER-EXECUTOR-ORDER"
    # Nothing ran in its place: it did not come out of turn, it is lost.
    return "TIMER-ADD-INSIDE" if step.is_added_by_a_task(task) else "TIMER-EXACTLY-ONCE"


def _rule_of_extra(step: DivergentStep, event: Event, is_second: bool) -> tuple[str, str]:
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
    added = step.added_inside
    if step.is_stepped:
        return "TIMER-ADD-INSIDE" if task in added else "TIMER-EXACTLY-ONCE", "expired"
    expiry_ms = step.now_ms + added.get(task, 0)
    if history.model.due_tick(expiry_ms) > step.now_ms:
        return _rule_of_early(step, task, expiry_ms), "early"
    return "TIMER-EXACTLY-ONCE", "expired"


def _rule_of_early(step: DivergentStep, task: str, expiry_ms: int) -> str:
    model, wheel = step.history.model, step.before.store
    tick_ms = model.configuration.tick_ms
    down = model.profile.rounding is Rounding.DOWN
    if not down and floor_to(expiry_ms, tick_ms) <= step.now_ms:
        return "TIMER-ROUNDING"
    if isinstance(wheel, TimingWheel):
        bucket, due_tick = wheel.places.get(task), model.due_tick(expiry_ms)
        levels = range(2, bucket[1] + 1) if bucket is not None else ()
        if any(step.now_ms == floor_to(due_tick, wheel.tick_of(level)) for level in levels):
            return "TIMER-CASCADE"
        if bucket is None and is_first_beyond(wheel, due_tick):
            return "TIMER-SPAN"
    return "TIMER-NOT-EARLY"


def _rule_of_missing(step: DivergentStep, event: Event) -> str:
    """Return the rule that an expiry is missing by, or the rejection of an action."""
    history, operation = step.history, step.operation
    if event.kind is EventKind.REJECTED:
        return "TIMER-SHUTDOWN-CLOSED" if event.reason is Reason.CLOSED else "TIMER-ADD-INSIDE"
    if isinstance(operation, Add):
        waits = step.outcome.observed.get("size") == len(step.after.store.due_ticks) + 1
        # Once a bucket was popped, the task may have been compared with a wrong own clock.
        is_sign = not history.used_places and not (waits and operation.delay_ms == 0)
        sign = rule_of_sign(operation.delay_ms) if is_sign else None
        own_clock = "TIMER-EMPTIED-BUCKET" if history.popped_empty else "TIMER-OWN-CLOCK"
        return step.rule_of_readd(event.task) or sign or own_clock
    late = _rule_of_late(step, event.task)
    # A reduced case has a negative delay only where no other delay shows the fault.
    if isinstance(operation, RunOne) and late != "TIMER-NEGATIVE-DELAY":
        return step.script_rule or "TIMER-EXACTLY-ONCE"
    return late


def _rule_of_late(step: DivergentStep, task: str) -> str:
    history, wheel = step.history, step.before.store
    arming = history.armings.get(task)
    if arming is None:
        # It was handed over before. A throw may have kept it from its run, or nothing has.
        return "TIMER-THROWING-TASK" if step.has_thrown else "TIMER-EXACTLY-ONCE"
    model = history.model
    rounded_up = model.profile.rounding is Rounding.UP
    if not rounded_up and step.now_ms < ceiling_to(arming.expiry_ms, model.configuration.tick_ms):
        return "TIMER-ROUNDING"
    if task in step.added_inside:
        return "TIMER-ADD-INSIDE"
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
    evidence = next((rule for rule in _RULES_OF_LATENESS if rule in rules), None)
    return (
        evidence
        or step.action_rule  # what another task does that runs in this step has done harm
        or ("TIMER-EXACTLY-ONCE" if _is_gone(step) else "TIMER-NOT-LATE")
    )


def _is_gone(step: DivergentStep) -> bool:
    """Decide whether the size says that an unexpired task waits no longer: nothing will run it."""
    return step.outcome.observed.get("size") == len(step.after.store.due_ticks)
