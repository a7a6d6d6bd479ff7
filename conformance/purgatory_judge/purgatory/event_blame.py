"""Name the rule of the purgatory that an unexpected rejection or event breaks.

Each kind of step has its own rules. Before them come the rules about what a callback does: cases
are shrunk, and one in which a callback calls the purgatory needs it to.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from purgatory_judge.purgatory.history import PurgatoryHistory
from purgatory_judge.purgatory.step import PurgatoryStep
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Event, EventKind
from purgatory_spec.profiles import CheckOrder
from purgatory_spec.reasons import Reason

TRIED, COMPLETED = EventKind.TRIED, EventKind.COMPLETED
EXPIRED, TIMED_OUT = EventKind.EXPIRED, EventKind.TIMED_OUT

_RULES_AFTER_SHUTDOWN: Mapping[object, str] = {
    op.CancelForKey: "PURGATORY-SHUTDOWN-COMPLETES",
    op.Force: "PURGATORY-SHUTDOWN-COMPLETES",
    op.Shutdown: "PURGATORY-SHUTDOWN-AGAIN",
}
"""The rule by which an operation is rejected after a shutdown, or is not."""


def rule_of_rejection(
    history: PurgatoryHistory, step: PurgatoryStep, expected: Reason | None
) -> str:
    """Return the rule that a rejection breaks, or the lack of one."""
    before = step.before
    operation = step.operation
    act = next(step.acts(), None)
    if act is not None and expected is None and step.outcome.rejected is Reason.INTERNAL:
        return act.rule  # no script has thrown: what a callback does has done harm
    if isinstance(operation, op.Watch):
        return _rule_of_watch_rejection(step, operation, expected)
    if isinstance(operation, op.Check):
        return _rule_of_check_rejection(history, step, operation.key, expected)
    if isinstance(operation, op.Force) and Reason.THROWN in (expected, step.outcome.rejected):
        return "PURGATORY-CALLBACK-THROWS"
    if before.closed:
        return _RULES_AFTER_SHUTDOWN.get(type(operation), "PURGATORY-SHUTDOWN-DROPS")
    if isinstance(operation, op.CancelForKey):
        is_known = operation.key in before.lists
        return "PURGATORY-CANCEL-RESULT" if is_known else "PURGATORY-CANCEL-UNKNOWN"
    if isinstance(operation, op.Force):
        again = step.was_completed(operation.operation)
        return "PURGATORY-FORCE-AGAIN" if again else "PURGATORY-FORCE"
    if isinstance(operation, op.Shutdown):
        return "PURGATORY-SHUTDOWN-DROPS"
    thrown = history.thrown_in_executor or bool(step.throwing_callbacks())
    return "PURGATORY-EXPIRY-THROWS" if thrown else "PURGATORY-TIME-OUT"


def _rule_of_watch_rejection(
    step: PurgatoryStep, operation: op.Watch, expected: Reason | None
) -> str:
    if step.before.closed:
        return "PURGATORY-SHUTDOWN-CLOSED"
    if not operation.keys:
        return "PURGATORY-NO-KEYS"
    name = operation.operation
    if step.was_completed(name):
        return "PURGATORY-WATCH-COMPLETED"
    if expected is Reason.THROWN:
        if step.is_completed(name):
            return "PURGATORY-CALLBACK-THROWS"
        first = step.is_at_first_try(name)
        return "PURGATORY-FIRST-TRY-THROWS" if first else "PURGATORY-SECOND-TRY-THROWS"
    if len(set(operation.keys)) < len(operation.keys):
        return "PURGATORY-DUPLICATE-KEYS"
    return "PURGATORY-REWATCH" if step.is_rewatch(operation) else "PURGATORY-WATCH-WAITS"


def _rule_of_check_rejection(
    history: PurgatoryHistory, step: PurgatoryStep, key: str, expected: Reason | None
) -> str:
    if step.before.closed and step.outcome.rejected not in (None, Reason.THROWN):
        return "PURGATORY-SHUTDOWN-COMPLETES"
    if key not in step.before.lists:
        return "PURGATORY-CHECK-UNKNOWN"
    if expected is Reason.THROWN:
        if step.throwing_callbacks():
            return "PURGATORY-CALLBACK-THROWS"
        missed = _missed_try(step)
        if missed is not None:  # what threw nothing was not tried: the exception is not the fault
            return _rule_of_missed(history, step, key, missed)
    return "PURGATORY-CHECK-THROWS"


def _missed_try(step: PurgatoryStep) -> Event | None:
    """Return the first try that a check leaves out, where it makes no try that throws."""
    throwing = step.throwing_tries()
    seen = [event for event in step.outcome.events if event.kind is TRIED]
    if not throwing or any(event.task in throwing for event in seen):
        return None
    return next((each for each in step.events if each.kind is TRIED and each not in seen), None)


@dataclass(frozen=True, slots=True)
class _Difference:
    """The difference of events: the first missing one, and the first unexpected one."""

    missing: Event | None
    extra: Event | None

    @property
    def event(self) -> Event | None:
        """Return the one to ask about."""
        return self.missing or self.extra

    @property
    def kind(self) -> str:
        """Return a plain word for the sort of mismatch."""
        if self.missing is not None:
            return "missing" if self.extra is None else "instead"
        return "order" if self.extra is None else self.extra.kind.value


def rule_of_events(history: PurgatoryHistory, step: PurgatoryStep) -> tuple[str, str]:
    """Return rule and kind for events that are not the expected ones."""
    wanted, seen = Counter(step.events), Counter(step.outcome.events)
    missing = next((event for event in step.events if wanted[event] > seen[event]), None)
    extra = next((event for event in step.outcome.events if seen[event] > wanted[event]), None)
    difference = _Difference(missing, extra)
    rule = _rule_of_count_of_completions(history, step, difference) or _rule_of_action(
        step, difference
    )
    return rule or _rule_by_operation(history, step, difference), difference.kind


def _rule_of_count_of_completions(
    history: PurgatoryHistory, step: PurgatoryStep, difference: _Difference
) -> str | None:
    """Return the rules about callbacks that any step may break."""
    extra = difference.extra
    if difference.event is None:
        return "PURGATORY-CALLBACK-ORDER" if _expires_first(step.outcome.events) else None
    if extra is None or (isinstance(step.operation, op.RunOne) and step.before.closed):
        return None
    if extra.kind in (COMPLETED, TIMED_OUT) and step.is_lost_expiry(extra.task):
        thrown = extra.task in step.throwing_callbacks()
        return "PURGATORY-CALLBACK-THROWS" if thrown else "PURGATORY-LOST-EXPIRY"
    closed_or_lost = step.before.closed or isinstance(step.operation, op.RunOne | op.Advance)
    if extra.kind is TIMED_OUT and not closed_or_lost:
        return "PURGATORY-CALLBACK-ORDER"
    watched = step.operation.operation if isinstance(step.operation, op.Watch) else None
    forced = step.operation.operation if isinstance(step.operation, op.Force) else None
    before = step.was_completed(extra.task) or history.has_forgotten(step, extra.task)
    again = before and extra.task not in (watched, forced)
    twice = sum(e.kind is COMPLETED and e.task == extra.task for e in step.outcome.events) > 1
    if extra.kind is COMPLETED and not closed_or_lost and (again or twice):
        return "PURGATORY-EXACTLY-ONCE"
    return None


def _expires_first(events: tuple[Event, ...]) -> bool:
    """Decide whether on_expiration of an operation is called before its on_complete."""
    return any(
        event.kind is TIMED_OUT and Event(COMPLETED, event.task) in events[place:]
        for place, event in enumerate(events)
    )


def _rule_of_action(step: PurgatoryStep, difference: _Difference) -> str | None:
    """Return the rule about actions of callbacks, if the difference concerns such an action."""
    event = difference.event
    if event is None:
        return None
    acts = list(step.acts())
    if event in step.outcome.events:  # the last of the actions is the one without an effect
        acts.reverse()
    for act in acts:
        if act.owner == event.task and event.kind is EventKind.REJECTED:
            if event.reason is Reason.CLOSED and step.before.closed:
                return "PURGATORY-SHUTDOWN-CLOSED"
            return act.rule
        if act.owner == event.task and not act.once_completed:
            return act.rule
        if act.owner == event.task and event.kind is TRIED:
            watches = isinstance(act.call, op.WatchInside) and act.call.operation == act.owner
            return "PURGATORY-WATCH-COMPLETED" if watches else "PURGATORY-CALLBACK-ORDER"
        if act.owner != event.task and _is_about(step, act.call, event.task):
            return act.rule
    return None


def _is_about(step: PurgatoryStep, call: op.CallInside, name: str) -> bool:
    match call:
        case op.WatchInside(operation) | op.ForceInside(operation):
            return operation == name
        case op.CheckInside(key):
            entries = step.before.lists.get(key, ())
            if isinstance(step.operation, op.Check) and step.operation.key == key:
                return step.of_kind(TRIED).count(name) > entries.count(name) > 0
            return name in entries + step.after.lists.get(key, ())
        case op.CancelForKeyInside(key):
            return name in step.before.lists.get(key, ())


def _rule_by_operation(
    history: PurgatoryHistory, step: PurgatoryStep, difference: _Difference
) -> str:
    operation = step.operation
    if isinstance(operation, op.Watch):
        return _rule_of_watch(step, operation, difference)
    if isinstance(operation, op.Check):
        return _rule_of_check(history, step, operation.key, difference)
    if isinstance(operation, op.Force):
        if step.was_completed(operation.operation):
            return "PURGATORY-FORCE-AGAIN"
        return "PURGATORY-SHUTDOWN-COMPLETES" if step.before.closed else "PURGATORY-FORCE"
    if isinstance(operation, op.RunOne):
        return _rule_of_run(history, step, difference)
    if isinstance(operation, op.CancelForKey | op.Shutdown):
        is_shutdown = isinstance(operation, op.Shutdown)
        return "PURGATORY-SHUTDOWN-DROPS" if is_shutdown else "PURGATORY-CANCEL-LEAVES"
    if difference.extra is not None:
        return _rule_of_extra_expiry(history, step, difference.extra.task)
    if difference.missing is not None and step.throwing_callbacks():
        return "PURGATORY-EXPIRY-THROWS"
    if difference.missing is not None:
        return _rule_of_missing_expiry(history, difference.missing.task)
    return "PURGATORY-TIME-OUT"


def _rule_of_watch(step: PurgatoryStep, operation: op.Watch, difference: _Difference) -> str:
    name = operation.operation
    if step.before.closed:
        return "PURGATORY-SHUTDOWN-CLOSED"
    if not operation.keys:
        return "PURGATORY-NO-KEYS"
    if step.was_completed(name):
        return "PURGATORY-WATCH-COMPLETED"
    first = step.is_at_first_try(name)
    if step.outcome.rejected is Reason.THROWN and not step.is_completed(name):
        return "PURGATORY-FIRST-TRY-THROWS" if first else "PURGATORY-SECOND-TRY-THROWS"
    if _is_about_expiry(step, difference):
        return "PURGATORY-TIME-OUT" if step.model.configuration.time_outs else _NO_TIME_OUTS
    if difference.extra is None and step.is_rewatch(operation) and not step.outcome.events:
        return "PURGATORY-REWATCH"
    return "PURGATORY-WATCH-FIRST-TRY" if first else "PURGATORY-WATCH-SECOND-TRY"


def _is_about_expiry(step: PurgatoryStep, difference: _Difference) -> bool:
    """Decide whether a time-out differs: handed over, or run at once by an inline executor."""
    if any(event and event.kind is EXPIRED for event in (difference.missing, difference.extra)):
        return True
    missing = difference.missing
    return missing is not None and Event(TIMED_OUT, missing.task) in step.events


_NO_TIME_OUTS = "PURGATORY-NO-TIME-OUTS"


def _rule_of_check(
    history: PurgatoryHistory, step: PurgatoryStep, key: str, difference: _Difference
) -> str:
    extra, missing = difference.extra, difference.missing
    if missing is not None:
        return _rule_of_missed(history, step, key, missing)
    if extra is None:
        return "PURGATORY-PURGE-REMOVES" if history.purged else "PURGATORY-CHECK-ORDER"
    name = extra.task
    before_it = step.outcome.events[: step.outcome.events.index(extra)]
    if step.was_completed(name) or Event(COMPLETED, name) in before_it:
        return "PURGATORY-COMPLETED-NOT-TRIED"
    if key in history.unseen:
        return min(history.unseen[key])
    entries = step.before.lists.get(key, ())
    if name in history.refused and name not in entries:
        return history.refused[name]
    if name in history.cancelled and name not in entries:
        return "PURGATORY-CANCEL-LEAVES"
    if not entries:
        return "PURGATORY-CHECK-UNKNOWN"
    stopped = step.outcome.rejected is Reason.THROWN
    return "PURGATORY-CHECK-THROWS" if stopped else "PURGATORY-CHECK-ORDER"


def _rule_of_missed(
    history: PurgatoryHistory, step: PurgatoryStep, key: str, missing: Event
) -> str:
    """Return the rule that a try is missing by, or a completion, in a check."""
    name = missing.task
    marks = history.marks.get(name, ())
    entries = step.before.lists.get(key, ())
    if step.before.closed:
        return "PURGATORY-SHUTDOWN-COMPLETES"
    if missing.kind is COMPLETED:
        return "PURGATORY-NOT-LOST"
    if step.outcome.rejected is Reason.THROWN or key in history.thrown_in_check:
        return "PURGATORY-CHECK-THROWS"
    ahead = entries[: entries.index(name)] if name in entries else ()
    if step.model.profile.check_order is CheckOrder.FREE:  # any of the others may be ahead
        ahead = tuple(other for other in entries if other != name)
    if any(other in step.before.live for other in ahead):  # alone in its list it may be tried
        inside = (act.rule for act in step.acts() if isinstance(act.call, op.CheckInside))
        in_order = "PURGATORY-NOT-LOST" if step.is_completable(name) else "PURGATORY-CHECK-ORDER"
        return next(inside, in_order)  # a check inside spoils the one around it
    for rule in ("PURGATORY-SECOND-TRY-THROWS", "PURGATORY-CANCEL-KEEPS-TIME-OUT"):
        if rule in marks:
            keeps = rule == "PURGATORY-CANCEL-KEEPS-TIME-OUT"
            return "PURGATORY-CANCEL-LEAVES" if keeps else rule
    if name in history.rewatched:
        return "PURGATORY-REWATCH"
    if entries.count(name) > 1:
        # A key that counts once is met once: whoever meets more entries stops too early.
        is_met_again = step.outcome.events.count(missing) > 1
        return "PURGATORY-CHECK-ORDER" if is_met_again else "PURGATORY-DUPLICATE-KEYS"
    if history.purged:
        return "PURGATORY-PURGE-REMOVES"
    if step.is_completable(name):
        return "PURGATORY-NOT-LOST"
    return "PURGATORY-CHECK-ORDER" if len(entries) > 1 else "PURGATORY-WATCH-WAITS"


def _rule_of_run(history: PurgatoryHistory, step: PurgatoryStep, difference: _Difference) -> str:
    queue = step.before.timer.queue
    if not queue:
        return "PURGATORY-TIME-OUT"
    head, extra = queue[0], difference.extra
    if step.was_completed(head):
        return "PURGATORY-LOST-EXPIRY"
    if extra is not None and extra.task == head:
        if head in step.throwing_callbacks() and extra.kind is TIMED_OUT:
            return "PURGATORY-CALLBACK-THROWS"
        return "PURGATORY-EXACTLY-ONCE" if extra.kind is COMPLETED else "PURGATORY-CALLBACK-ORDER"
    if step.before.closed:
        return "PURGATORY-SHUTDOWN-DROPS"
    if history.thrown_in_executor:
        return "PURGATORY-EXPIRY-THROWS"
    if head not in step.before.distinct and extra is None:
        return "PURGATORY-CANCEL-LAST-KEY"
    if difference.missing is not None and difference.missing.kind is TIMED_OUT:
        return "PURGATORY-CALLBACK-ORDER"
    return "PURGATORY-TIME-OUT"


def _rule_of_extra_expiry(history: PurgatoryHistory, step: PurgatoryStep, name: str) -> str:
    """Return the rule by which an operation must not expire in an advance."""
    if step.before.closed:
        return "PURGATORY-SHUTDOWN-DROPS"
    if not step.model.configuration.time_outs:
        return _NO_TIME_OUTS
    if history.has_forgotten(step, name):
        return "PURGATORY-EXACTLY-ONCE"
    if step.was_completed(name):
        watched = history.refused.get(name)
        return watched or history.completed_by.get(name, "PURGATORY-TIMER-LEFT")
    if name in history.refused:
        return history.refused[name]
    if name in step.before.timer.store.due_ticks:
        if "PURGATORY-SECOND-TRY-THROWS" in history.marks.get(name, ()):
            return "PURGATORY-SECOND-TRY-THROWS"
        early = "PURGATORY-REWATCH" if name in history.rewatched else "PURGATORY-TIME-OUT"
        twice = step.outcome.events.count(Event(EXPIRED, name)) > 1
        return "PURGATORY-REWATCH" if twice and name in history.rewatched else early
    for ended in history.ended:
        if ended.operation == name and ended.rule.startswith("PURGATORY-CANCEL"):
            return ended.rule
    if name not in step.before.distinct:
        return "PURGATORY-CANCEL-LAST-KEY"
    return "PURGATORY-REWATCH" if name in history.rewatched else "PURGATORY-TIME-OUT"


def _rule_of_missing_expiry(history: PurgatoryHistory, name: str) -> str:
    """Return the rule by which an operation must expire in an advance."""
    if name in history.refused:  # a watch that had to change nothing has moved the time-out
        return history.refused[name]
    marks = history.marks.get(name, set())
    for rule in (
        "PURGATORY-SECOND-TRY-THROWS",
        "PURGATORY-CANCEL-KEEPS-TIME-OUT",
        "PURGATORY-REWATCH",
    ):
        if rule in marks:
            return rule
    return "PURGATORY-EXPIRY-THROWS" if history.thrown_in_executor else "PURGATORY-TIME-OUT"
