"""The rule that a divergent step breaks by its result or observables, where its events are right.

An observable shows one thing that many rules have a say in. What the step did tells which: a
cancel that changes the delay queue, a bucket that was passed down, a task in another level.
"""

from collections.abc import Mapping

from purgatory_judge.timer.divergent_step import DivergentStep
from purgatory_judge.timer.wheel_places import in_last_bucket, is_first_beyond
from purgatory_model.replacing import replace
from purgatory_model.step import observables_match
from purgatory_model.timing_wheel import TimingWheel
from purgatory_spec.operations import Add, Advance, Cancel, Reachable, RunOne, Shutdown
from purgatory_spec.outcomes import Value

_RULES = {
    "size": "TIMER-SIZE",
    "queued": "TIMER-EXECUTOR-ORDER",
    "wheel_clock_ms": "TIMER-OWN-CLOCK",
    "queued_buckets": "TIMER-DELAY-QUEUE-BOUND",
    "next_expiry_ms": "TIMER-WAKE-UP",
    "levels": "TIMER-OVERFLOW-ON-DEMAND",
}
"""The rule of each observable, where nothing points to a more particular one."""


def rule_of_result(step: DivergentStep) -> str:
    """Return the rule that the result of an advance breaks, or that of a look at a task."""
    if isinstance(step.operation, Reachable):
        return "TIMER-RELEASES"
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


def rule_of_observable(step: DivergentStep, name: str) -> str:
    """Return the rule that an observable breaks, the first one that is not as expected."""
    rule: str | None = None
    match step.operation:
        case Add():
            rule = _rule_after_add(step, name)
        case Cancel(task) if name not in ("wheel_clock_ms", "levels"):
            rule = step.rule_of_cancel(task)
            if rule == "TIMER-CANCEL" and name in ("size", "queued"):
                rule = None
            elif rule == "TIMER-CANCEL":
                rule = "TIMER-EMPTIED-BUCKET"
        case Advance():
            rule = _rule_after_advance(step, name)
        case RunOne() if name == "size" and step.is_size_too_large and step.cancels_inside:
            rule = "TIMER-CANCEL-INSIDE"  # whatever the task adds besides
        case RunOne():
            rule = step.script_rule or (step.rule_of_overwritten() if name == "size" else None)
        case Shutdown() if name == "queued":
            rule = "TIMER-SHUTDOWN-QUEUE"
    return rule or _RULES[name]


def _rule_after_add(step: DivergentStep, name: str) -> str | None:
    operation, before, after = step.operation, step.before.store, step.after.store
    assert isinstance(operation, Add)
    readd = step.rule_of_readd(operation.task)
    if not isinstance(before, TimingWheel) or not isinstance(after, TimingWheel):
        return readd
    emptied = before.places.get(operation.task)
    if emptied is not None and emptied in after.buckets and not after.buckets[emptied]:
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


def _rule_of_level(step: DivergentStep, wheel: TimingWheel, due_tick: int, name: str) -> str | None:
    """Return the rule of the span, where a task was put into another level than the right one."""
    wanted, seen = step.nearest.observe(step.after)[name], step.outcome.observed.get(name)
    if not isinstance(wanted, int) or not isinstance(seen, int) or name == "queued_buckets":
        return None
    if name == "next_expiry_ms":
        return "TIMER-SPAN" if seen > wanted and is_first_beyond(wheel, due_tick) else None
    # With two buckets a level has no other bucket than the last, which then is no evidence.
    at_end = wheel.wheel_size > 2 and in_last_bucket(wheel, due_tick)
    return "TIMER-SPAN" if seen < wanted or at_end else None


def _rule_after_advance(step: DivergentStep, name: str) -> str | None:
    before, after = step.before.store, step.after.store
    if not isinstance(before, TimingWheel) or not isinstance(after, TimingWheel):
        return step.rule_of_lost() if name == "size" else None
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
