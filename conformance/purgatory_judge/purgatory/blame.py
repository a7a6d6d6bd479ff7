"""Name the rule that a divergent step of a purgatory breaks, with what was expected and seen.

The model says that no rule allows the outcome. The rule to name is found by comparing the outcome
with the nearest expectation, part after part: rejection, events, result, observables. The first
part that differs is blamed, on the most particular rule that the facts about the operations
involved point to. Cases are shrunk before they are reported, so that what is left is evidence.
"""

from purgatory_judge.differences import (
    events_words,
    followed,
    nearest_to,
    observable_words,
    rejection_words,
    result_words,
    right_outcome,
)
from purgatory_judge.judgement import Divergence
from purgatory_judge.purgatory.count_blame import (
    is_right_by_other_drops,
    rule_of_counts,
    rule_of_result,
)
from purgatory_judge.purgatory.event_blame import rule_of_events, rule_of_rejection
from purgatory_judge.purgatory.history import PurgatoryHistory
from purgatory_judge.purgatory.step import PurgatoryStep, State
from purgatory_model.step import Expectation, in_groups, observables_match, result_matches
from purgatory_spec.operations import Advance, Operation, RunOne, Watch
from purgatory_spec.outcomes import Outcome


def blame(
    history: PurgatoryHistory,
    before: State,
    operation: Operation,
    outcome: Outcome,
    expectations: tuple[Expectation[State], ...],
) -> Divergence:
    """Return the divergence of a step that no expectation allows."""
    nearest = nearest_to(outcome, expectations)
    events, after = followed(nearest, outcome)
    step = PurgatoryStep(history.model, before, operation, outcome, events, after)
    rule, kind, expected, seen = _first_difference(history, step, nearest)
    right = right_outcome(nearest, outcome)
    if history.executor_refused or step.is_refused:
        refused = "PURGATORY-EXECUTOR-REFUSES"
        return Divergence(
            refused, kind, expected, seen, operation, outcome, before, after, (rule,), right
        )
    also = () if _is_watch_from_outside(rule, operation) else _FROM_OUTSIDE.get(rule, ())
    if isinstance(operation, Advance | RunOne) or kind in ("timer_size", "pending"):
        also += _AT_ITS_TIME.get(rule, ())
    if rule == "PURGATORY-WATCH-SECOND-TRY" and is_right_by_other_drops(step):
        also += ("PURGATORY-CHECK-DROPS",)  # the operation has left its lists at once
    return Divergence(rule, kind, expected, seen, operation, outcome, before, after, also, right)


_FROM_OUTSIDE = {
    "PURGATORY-WATCH-COMPLETED": ("PURGATORY-CALLBACK-ORDER",),
    "PURGATORY-WATCH-INSIDE": (
        "PURGATORY-WATCH-COMPLETED",
        "PURGATORY-SECOND-TRY-THROWS",
        "PURGATORY-REWATCH",
        "PURGATORY-SHUTDOWN-CLOSED",
    ),
    "PURGATORY-CHECK-INSIDE": ("PURGATORY-CHECK-THROWS", "PURGATORY-CHECK-DROPS"),
    "PURGATORY-CANCEL-INSIDE": (
        "PURGATORY-CANCEL-KEEPS-TIME-OUT",
        "PURGATORY-CANCEL-LAST-KEY",
        "PURGATORY-CANCEL-LEAVES",
    ),
    "PURGATORY-FORCE-INSIDE": ("PURGATORY-CALLBACK-THROWS", "PURGATORY-FORCE"),
}
_FROM_OUTSIDE |= dict.fromkeys(
    ("PURGATORY-TRY-INSIDE", "PURGATORY-MEANWHILE"),
    # A call that is wrong inside a try, or meanwhile, may be wrong inside every callback.
    (
        *(rule for rule in _FROM_OUTSIDE if rule.endswith("-INSIDE")),
        *dict.fromkeys(rule for rules in _FROM_OUTSIDE.values() for rule in rules),
    ),
)
"""The rules that may be broken from outside as well, by the rule that is broken in a callback.

An operation that its own on_complete has watched may be one that was not completed yet.
"""


_AT_ITS_TIME = dict.fromkeys(
    ("PURGATORY-WATCH-FIRST-TRY", "PURGATORY-WATCH-SECOND-TRY"), ("PURGATORY-TIMER-LEFT",)
)
"""An operation that a watch has completed stays in the timer: so may any other."""


def _is_watch_from_outside(rule: str, operation: Operation) -> bool:
    """Decide whether a step, and not its own callback, watched a completed operation."""
    return rule == "PURGATORY-WATCH-COMPLETED" and isinstance(operation, Watch)


def _first_difference(
    history: PurgatoryHistory, step: PurgatoryStep, nearest: Expectation[State]
) -> tuple[str, str, str, str]:
    """Return rule, kind, expected and seen of the first part that differs."""
    outcome = step.outcome
    if outcome.rejected is not nearest.rejected:
        rule = rule_of_rejection(history, step, nearest.rejected)
        return rule, "rejection", *rejection_words(nearest.rejected, outcome)
    if not in_groups(outcome.events, nearest.groups):
        rule, kind = rule_of_events(history, step)
        return rule, kind, events_words(step.events), events_words(outcome.events)
    if not result_matches(nearest.result, outcome.result):
        rule = rule_of_result(history, step, nearest.result)
        return rule, "result", *result_words(nearest.result, outcome)
    wanted = nearest.observe(step.after)
    differing = [n for n, v in wanted.items() if not observables_match({n: v}, outcome.observed)]
    rule, name = rule_of_counts(history, step, wanted, differing)
    return rule, name, *observable_words(name, wanted[name], outcome)
