"""Name the rule that a divergent step of a memory pool breaks, with what was expected and seen.

The outcome is compared with the nearest expectation, part after part: rejection, result,
observables. The first part that differs is blamed on the rule of what the step did. Where the
subject does not show what is available, a request that goes wrong may be due to any step before
it: cases are shrunk before they are reported, so that what was done before is evidence.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from purgatory_judge.differences import (
    nearest_to,
    observable_words,
    rejection_words,
    right_outcome,
)
from purgatory_judge.judgement import Divergence
from purgatory_judge.memory_pool.history import (
    EVIDENCE,
    OTHER_RELEASES,
    MemoryPoolHistory,
)
from purgatory_model.claims.memory_pool import Invariant, bound_of
from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_model.step import Expectation, observables_match, result_matches
from purgatory_spec.operations import Allocate, Fill, Operation, Read
from purgatory_spec.outcomes import Outcome, Value
from purgatory_spec.profiles import MemoryPoolObservable as Observable


@dataclass(frozen=True, slots=True)
class _Step:
    """A step that no expectation allows.

    ``nearest`` is what was expected, ``way`` the way of the model that is nearest to the outcome.
    """

    history: MemoryPoolHistory
    before: MemoryPoolState
    operation: Operation
    outcome: Outcome
    nearest: Expectation[MemoryPoolState]
    way: Expectation[MemoryPoolState]

    def evidence(self, among: tuple[str, ...] = EVIDENCE) -> tuple[str, ...]:
        """Return the strongest of these rules that something before the step may have broken."""
        return tuple(rule for rule in among if rule in self.history.done)[:1]


def blame(
    history: MemoryPoolHistory,
    before: MemoryPoolState,
    operation: Operation,
    outcome: Outcome,
    expectations: tuple[Expectation[MemoryPoolState], ...],
) -> Divergence:
    """Return the divergence of a step that no expectation allows."""
    nearest = nearest_to(outcome, expectations)
    way = nearest_to(outcome, history.model.expectations(before, operation))
    after = nearest.complete(())
    step = _Step(history, before, operation, outcome, nearest, way)
    rules, kind, expected, seen = _first_difference(step, nearest.observe(after))
    return Divergence(
        rules[0],
        kind,
        expected,
        seen,
        operation,
        outcome,
        before,
        after,
        also=rules[1:],
        right=right_outcome(nearest, outcome),
    )


def blame_state(
    model: MemoryPoolModel,
    before: MemoryPoolState,
    operation: Operation,
    outcome: Outcome,
    after: MemoryPoolState,
    invariant: Invariant,
) -> Divergence:
    """Return the divergence of a step that the profile allows and that breaks an invariant."""
    size = model.configuration.size_bytes
    seen = (
        f"{after.available_bytes} bytes available and {after.outstanding_bytes} outstanding "
        f"of {size}"
    )
    return Divergence(
        invariant.rule, "invariant", invariant.sentence, seen, operation, outcome, before, after
    )


def _first_difference(
    step: _Step, wanted: Mapping[str, Value]
) -> tuple[tuple[str, ...], str, str, str]:
    """Return rules, kind, expected and seen of the first part that differs."""
    outcome, nearest = step.outcome, step.nearest
    if outcome.rejected is not nearest.rejected:
        return _rules_of_rejection(step), "rejection", *rejection_words(nearest.rejected, outcome)
    if outcome.events:
        return step.way.rules_of("effect"), "event", "no event", f"{len(outcome.events)} events"
    if not result_matches(nearest.result, outcome.result):
        expected, seen = _result_words(nearest.result), _result_words(outcome.result)
        return _rules_of_result(step), "result", expected, seen
    name = next(n for n, v in wanted.items() if not observables_match({n: v}, outcome.observed))
    return _rules_of_observable(step, name), name, *observable_words(name, wanted[name], outcome)


def _rules_of_rejection(step: _Step) -> tuple[str, ...]:
    """Return the rules of a wrong rejection or acceptance: the operation's, and its result's."""
    rules = step.way.rules
    if isinstance(step.operation, Fill | Read):
        return ("POOL-OWN-MEMORY",)
    if "POOL-RELEASE" in step.way.rules_of("effect"):
        return step.evidence(OTHER_RELEASES) or ("POOL-RELEASE",)
    own = (*rules.get("rejected", ()), *rules.get("result", ()))
    return tuple(dict.fromkeys(own)) or step.way.rules_of("effect")


def _rules_of_result(step: _Step) -> tuple[str, ...]:
    """Return the rules of a request that is granted, or refused, against the rules."""
    configuration, rules = step.history.model.configuration, step.way.rules_of("result")
    is_read = isinstance(step.operation, Read)
    if configuration.unbounded or is_read or "POOL-ZERO-REQUEST" in rules:
        return rules
    if not step.history.shows_account and (evidence := step.evidence()):
        return (*evidence, *rules)
    if isinstance(step.operation, Allocate) and step.outcome.result is True:
        wanted_bytes = step.before.outstanding_bytes + step.operation.size_bytes
        if wanted_bytes > bound_of(configuration):
            # A grant at nought exceeds the bound of a small pool, and not that of a larger one.
            is_beyond = step.before.available_bytes < 0
            return ("POOL-BOUND", *rules) if is_beyond else (*rules, "POOL-BOUND")
    return rules


def _rules_of_observable(step: _Step, name: str) -> tuple[str, ...]:
    """Return the rule of the first observable that is not as expected.

    What is available shows the effect of a step; where it is not shown, what is used does. The
    number of dry spells at the end of one also tells whether that one has begun as it must.
    """
    history, way = step.history, step.way
    account = Observable.AVAILABLE if history.shows(Observable.AVAILABLE) else Observable.USED
    if name == account and "effect" in way.rules:
        return way.rules["effect"]
    if name == Observable.DEPLETED_SPELLS and name in way.rules:
        before, after = step.before.depleted_spells, way.complete(()).depleted_spells
        seen = step.outcome.observed.get(name)
        too_many = isinstance(seen, int) and seen > after
        if after > before and (too_many or history.began_with_some_left):
            return ("POOL-SPELL-BEGINS",)
    return way.rules_of(name)[:1]


def _result_words(result: Value) -> str:
    if isinstance(result, bool):
        return "a buffer" if result else "no buffer"
    return "no result" if result is None else f"result {result}"
