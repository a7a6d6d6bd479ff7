"""Name the rule that a divergent step of a purgatory breaks where its events are right.

The fault is then in the result or in the counts. A count that contradicts the others is wrong by
itself; counts that agree with each other show that the lists, or the timer, are wrong, and what the
step did tells by which rule.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from purgatory_judge.purgatory.history import PurgatoryHistory
from purgatory_judge.purgatory.step import PurgatoryStep
from purgatory_model.step import accepted
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Value
from purgatory_spec.profiles import Accounting, CheckDrops
from purgatory_spec.reasons import Reason

_LISTS = frozenset({"entries", "keys", "stale_entries", "stale_operations"})
_TIMER = frozenset({"timer_size", "pending", "queued"})
_RULES_OF_NAMED: Mapping[object, tuple[str, str]] = {
    op.Watch: ("PURGATORY-WATCH-COMPLETED", "PURGATORY-WATCH-WAITS"),
    op.Force: ("PURGATORY-FORCE-AGAIN", "PURGATORY-FORCE"),
}
"""The rules of a result about an operation that was completed before, and about another."""
_RULES_OF_KEYS: Mapping[object, tuple[str, str]] = {
    op.Check: ("PURGATORY-CHECK-UNKNOWN", "PURGATORY-CHECK-COUNT"),
    op.CancelForKey: ("PURGATORY-CANCEL-UNKNOWN", "PURGATORY-CANCEL-RESULT"),
}
"""The rules of a result about a key without a list, and about a key that has one."""


def rule_of_result(history: PurgatoryHistory, step: PurgatoryStep, expected: Value) -> str:
    """Return the rule that a result breaks."""
    operation = step.operation
    if isinstance(operation, op.Watch | op.Force):
        name = operation.operation
        again, first = _RULES_OF_NAMED[type(operation)]
        if step.was_completed(name):
            return again
        tries = isinstance(operation, op.Watch) and expected is not False
        return _rule_of_try(step, name) if tries else first
    if isinstance(operation, op.Check | op.CancelForKey):
        is_alike = Counter(_names(expected)) == Counter(_names(step.outcome.result))
        if isinstance(operation, op.CancelForKey) and history.purged and is_alike:
            return "PURGATORY-PURGE-REMOVES"  # the others keep their order
        listed, names = _names(expected), _names(step.outcome.result)
        is_once = len(listed) > len(set(listed)) and set(listed) == set(names)
        if is_once and not step.shows_entries:
            return "PURGATORY-DUPLICATE-KEYS"
        unknown, known = _RULES_OF_KEYS[type(operation)]
        return known if operation.key in step.before.lists else unknown
    return "PURGATORY-RELEASES" if isinstance(operation, op.Reachable) else "PURGATORY-TIME-OUT"


def rule_of_counts(
    history: PurgatoryHistory,
    step: PurgatoryStep,
    wanted: Mapping[str, Value],
    differing: Sequence[str],
) -> tuple[str, str]:
    """Return the rule that observables break, and the observable that shows the breach best."""
    rule = _rule_of_one_count(step, wanted, differing)
    if rule is not None:
        return rule, differing[0]
    if isinstance(step.operation, op.Shutdown | op.RunOne | op.Advance) and step.before.closed:
        return _rule_after_shutdown(step, differing), differing[0]
    return _rule_by_operation(history, step, wanted, differing), differing[0]


def _rule_of_one_count(
    step: PurgatoryStep, wanted: Mapping[str, Value], differing: Sequence[str]
) -> str | None:
    """Return the rule about a count, where that count alone is wrong."""
    seen = step.outcome.observed
    if any(name not in seen for name in differing):
        return None
    entries = _number(seen.get("entries"))
    contradicted = entries is not None and any(
        (other := _number(seen.get(name))) is not None and entries < other
        for name in ("keys", "stale_entries", "stale_operations")
    )
    if "entries" in differing and contradicted:
        return "PURGATORY-ENTRIES"
    alone = differing[0] if len(differing) == 1 else ""
    if alone == "keys" and seen["keys"] != 0 and "entries" in wanted:
        return "PURGATORY-EMPTY-LISTS"
    if alone == "timer_size" and "pending" in wanted:
        return "PURGATORY-TIMER-SIZE"
    if alone == "pending":
        return "PURGATORY-PENDING"
    if alone == "estimate" and not _is_about_watch_or_purge(step):
        proposal = step.model.profile.accounting is Accounting.PROPOSAL
        return "PURGATORY-ESTIMATE-PROPOSAL" if proposal else "PURGATORY-ESTIMATE-EXACT"
    return None


def _is_about_watch_or_purge(step: PurgatoryStep) -> bool:
    """Decide whether the estimate shows a watch that must not count, or an early purge."""
    if step.model.profile.accounting is not Accounting.PROPOSAL:
        return False
    if isinstance(step.operation, op.Watch):
        return step.after.estimate == step.before.estimate
    if isinstance(step.operation, op.Advance):
        early = step.outcome.observed.get("estimate") == step.after.timer_size
        return early and step.after.lists == step.before.lists
    return False


def _rule_after_shutdown(step: PurgatoryStep, differing: Sequence[str]) -> str:
    if isinstance(step.operation, op.Shutdown):
        return "PURGATORY-SHUTDOWN-AGAIN"
    lists = _LISTS & set(differing)
    return "PURGATORY-SHUTDOWN-COMPLETES" if lists else "PURGATORY-SHUTDOWN-DROPS"


def _rule_by_operation(
    history: PurgatoryHistory,
    step: PurgatoryStep,
    wanted: Mapping[str, Value],
    differing: Sequence[str],
) -> str:
    names = set(differing)
    if names == {"callback_timer_size"}:
        return "PURGATORY-CALLBACK-ORDER"
    if not isinstance(step.operation, op.Watch) and is_right_by_other_drops(step):
        return "PURGATORY-CHECK-DROPS"
    inside = _rule_of_actions(step)
    if inside is not None:
        return inside
    operation = step.operation
    if isinstance(operation, op.Watch):
        return _rule_after_watch(step, operation, names)
    if isinstance(operation, op.Check):
        return _rule_after_check(step, operation.key, names)
    if isinstance(operation, op.CancelForKey):
        return _rule_after_cancel(step, operation.key, wanted, names)
    if isinstance(operation, op.Force):
        return _rule_after_force(step, operation.operation, names)
    if isinstance(operation, op.Advance):
        return _rule_after_advance(history, step, names)
    if isinstance(operation, op.Shutdown):
        return "PURGATORY-SHUTDOWN-COMPLETES" if names & _LISTS else "PURGATORY-SHUTDOWN-DROPS"
    if isinstance(operation, op.RunOne) and step.throwing_callbacks():
        return "PURGATORY-EXPIRY-THROWS" if "queued" in names else "PURGATORY-CALLBACK-THROWS"
    return "PURGATORY-TIME-OUT" if names & _TIMER else "PURGATORY-ENTRIES"


def is_right_by_other_drops(step: PurgatoryStep) -> bool:
    """Decide whether the step is right but for drops that another choice allows.

    Whoever completed what is dropped does not matter then, a callback or a later entry.
    """
    if step.outcome.rejected is Reason.THROWN:
        return False
    profile = step.model.profile
    return any(
        accepted(
            replace(
                step.model, profile=msgspec.structs.replace(profile, check_drops=drops)
            ).expectations(step.before, step.operation, step.outcome.events),
            step.outcome,
        )
        for drops in (CheckDrops.AS_PASSED, CheckDrops.AT_END, CheckDrops.EVERYWHERE)
        if drops is not profile.check_drops
    )


def _rule_of_actions(step: PurgatoryStep) -> str | None:
    """Return the rule about what a callback did in this step; cancelling leaves no event to see."""
    rules: list[str] = []
    for act in step.acts():
        watches = act.call.operation if isinstance(act.call, op.WatchInside) else None
        if watches == act.owner and act.once_completed:
            return "PURGATORY-WATCH-COMPLETED"
        rules.append(act.rule)
    if "PURGATORY-CANCEL-INSIDE" in rules:
        return "PURGATORY-CANCEL-INSIDE"
    return rules[0] if rules else None


def _rule_after_watch(step: PurgatoryStep, watch: op.Watch, names: set[str]) -> str:
    name = watch.operation
    if step.before.closed:
        return "PURGATORY-SHUTDOWN-CLOSED"
    if not watch.keys:
        return "PURGATORY-NO-KEYS"
    if step.was_completed(name):
        return "PURGATORY-WATCH-COMPLETED"
    thrown = step.outcome.rejected is Reason.THROWN
    if thrown and step.is_completed(name):
        return "PURGATORY-CALLBACK-THROWS"
    if thrown:
        first = step.is_at_first_try(name)
        return "PURGATORY-FIRST-TRY-THROWS" if first else "PURGATORY-SECOND-TRY-THROWS"
    if step.is_completed(name):
        return _rule_of_try(step, name)
    if not names & _LISTS and not step.model.configuration.time_outs:
        return "PURGATORY-NO-TIME-OUTS"
    if step.is_rewatch(watch):
        return "PURGATORY-REWATCH"
    if len(set(watch.keys)) < len(watch.keys):
        return "PURGATORY-DUPLICATE-KEYS"
    return "PURGATORY-WATCH-WAITS"


def _rule_of_try(step: PurgatoryStep, name: str) -> str:
    first = step.is_at_first_try(name)
    return "PURGATORY-WATCH-FIRST-TRY" if first else "PURGATORY-WATCH-SECOND-TRY"


def _rule_after_check(step: PurgatoryStep, key: str, names: set[str]) -> str:
    if key not in step.before.lists:
        return "PURGATORY-CHECK-UNKNOWN"
    if step.throwing_callbacks() and not names & {"entries", "keys"}:
        return "PURGATORY-CALLBACK-THROWS"
    if step.outcome.rejected is Reason.THROWN:
        return "PURGATORY-CHECK-THROWS"
    if not names & _LISTS:
        return "PURGATORY-TIMER-LEFT"
    return "PURGATORY-CHECK-DROPS"


def _rule_after_cancel(
    step: PurgatoryStep, key: str, wanted: Mapping[str, Value], names: set[str]
) -> str:
    if key not in step.before.lists:
        return "PURGATORY-CANCEL-UNKNOWN"
    if names & _LISTS:
        return "PURGATORY-CANCEL-LEAVES"
    if "queued" in names:
        return "PURGATORY-CANCEL-LAST-KEY"
    for name in ("timer_size", "pending", "estimate"):
        seen, expected = _number(step.outcome.observed.get(name)), _number(wanted.get(name))
        if name in names and seen is not None and expected is not None and seen < expected:
            return "PURGATORY-CANCEL-KEEPS-TIME-OUT"
    return "PURGATORY-CANCEL-LAST-KEY"


def _rule_after_force(step: PurgatoryStep, name: str, names: set[str]) -> str:
    if step.was_completed(name):
        return "PURGATORY-FORCE-AGAIN"
    if name in step.throwing_callbacks():
        return "PURGATORY-CALLBACK-THROWS"
    return "PURGATORY-FORCE" if names & _LISTS else "PURGATORY-TIMER-LEFT"


def _rule_after_advance(history: PurgatoryHistory, step: PurgatoryStep, names: set[str]) -> str:
    before, seen = step.before, step.outcome.observed
    if not names & (_LISTS | {"estimate"}) or names & {"timer_size", "queued"}:
        thrown = history.thrown_in_executor
        return "PURGATORY-EXPIRY-THROWS" if thrown else "PURGATORY-TIME-OUT"
    if before.lists == step.after.lists:
        return "PURGATORY-PURGE-START"
    if names == {"keys"}:
        return "PURGATORY-EMPTY-LISTS"
    if step.is_stepped:
        untouched = {
            "entries": before.entries,
            "stale_entries": before.stale_entries,
            "stale_operations": len(before.stale_operations),
            "keys": len(before.lists),
        }
        if any(name in names and seen.get(name) != value for name, value in untouched.items()):
            return "PURGATORY-PURGE-REMOVES"
    return _rule_of_missing_purge(step)


def _rule_of_missing_purge(step: PurgatoryStep) -> str:
    """Return the rule by which the purge had to be made that is missing."""
    seen, interval = step.outcome.observed, step.model.interval(step.after.live_entries)
    entries, operations = (
        _number(seen.get(name)) for name in ("stale_entries", "stale_operations")
    )
    if entries is None or operations is None:
        entries, operations = step.before.stale_entries, len(step.before.stale_operations)
        listed = _number(seen.get("entries"))
        if not step.is_stepped and listed is not None:
            # What has expired in this step is stale, too; what lives is no purge's to remove.
            entries = operations = listed - step.after.live_entries
    if step.model.profile.accounting is not Accounting.EXACT:
        return "PURGATORY-PURGE-START"
    if entries <= interval and not step.is_stepped:
        return "PURGATORY-PURGE-REMOVES"
    return (
        "PURGATORY-STALE-ENTRIES" if operations <= interval < entries else "PURGATORY-PURGE-START"
    )


def _names(value: Value) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def _number(value: Value) -> int | None:
    return value if isinstance(value, int) else None
