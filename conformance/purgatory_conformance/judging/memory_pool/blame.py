"""Which rule a divergent step of a memory pool breaks, and what was expected and seen, in words.

The outcome is compared with the nearest expectation, part after part: rejection, result,
observables. The first part that differs is blamed on the rule of what the step did. Where the
subject does not show what is available, a request that goes wrong may be due to any step before
it: cases are shrunk before they are reported, so that what was done before is evidence.
"""

from dataclasses import dataclass

from purgatory_conformance.judging.blame_words import rejection_words, value_words
from purgatory_conformance.judging.judgement import Divergence
from purgatory_conformance.judging.memory_pool.history import EVIDENCE, MemoryPoolHistory
from purgatory_model.claims.memory_pool import Invariant, bound_of
from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_model.step import Expectation, observables_match, result_matches
from purgatory_spec.operations import Allocate, Operation, Release
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import MemoryPoolObservable

_RULES_OF_OBSERVABLES = {
    MemoryPoolObservable.SIZE.value: "POOL-SIZE",
    MemoryPoolObservable.USED.value: "POOL-USED",
    MemoryPoolObservable.OUT_OF_MEMORY.value: "POOL-OUT-OF-MEMORY",
    MemoryPoolObservable.DEPLETED_TIME.value: "POOL-DEPLETED-TIME",
}
"""The rules of observables that say one thing, whatever the step did."""

_OTHER_RELEASES = frozenset(
    {
        "POOL-RELEASE-FOREIGN",
        "POOL-RELEASE-COPY",
        "POOL-RELEASE-SLICE",
        "POOL-RELEASE-AGAIN",
        "POOL-RELEASE-NOTHING",
    }
)


@dataclass(frozen=True, slots=True)
class _Step:
    """A step that no expectation allows, and the expectation that is nearest to it."""

    history: MemoryPoolHistory
    before: MemoryPoolState
    operation: Operation
    outcome: Outcome
    nearest: Expectation[MemoryPoolState]
    after: MemoryPoolState

    @property
    def rule(self) -> str:
        """The rule of what the step did."""
        rule = self.history.rule_of(self.before, self.operation)
        return rule or ("POOL-CONSERVATION" if self.is_bounded else "POOL-UNBOUNDED-GRANTS")

    @property
    def is_bounded(self) -> bool:
        """Whether the pool has a bound."""
        return not self.history.model.configuration.unbounded

    @property
    def shows_available(self) -> bool:
        """Whether the subject shows what is available."""
        return self.history.shows(MemoryPoolObservable.AVAILABLE)

    @property
    def rule_of_admission(self) -> str:
        """The rule that says whether a legal request is granted."""
        if not self.is_bounded:
            return "POOL-UNBOUNDED-GRANTS"
        strict = self.history.model.configuration.strict
        return "POOL-STRICT" if strict else "POOL-NON-STRICT"

    def evidence(self, among: frozenset[str] = frozenset(EVIDENCE)) -> str | None:
        """The strongest of these rules that something before the step may have broken."""
        done = self.history.done & among
        return next((rule for rule in EVIDENCE if rule in done), None)


def blame(
    history: MemoryPoolHistory,
    before: MemoryPoolState,
    operation: Operation,
    outcome: Outcome,
    expectations: tuple[Expectation[MemoryPoolState], ...],
) -> Divergence:
    """The divergence of a step that no expectation allows."""
    nearest = max(expectations, key=lambda e: _likeness(e, outcome))
    after = nearest.complete(())
    step = _Step(history, before, operation, outcome, nearest, after)
    rules, kind, expected, seen = _first_difference(step)
    return Divergence(
        rules[0], kind, expected, seen, operation, outcome, before, after, also=rules[1:]
    )


def blame_state(
    model: MemoryPoolModel,
    before: MemoryPoolState,
    operation: Operation,
    outcome: Outcome,
    after: MemoryPoolState,
    invariant: Invariant,
) -> Divergence:
    """The divergence of a step that the profile allows and that breaks an invariant."""
    size = model.configuration.size_bytes
    seen = (
        f"{after.available_bytes} bytes available and {after.outstanding_bytes} outstanding "
        f"of {size}"
    )
    return Divergence(
        invariant.rule, "invariant", invariant.sentence, seen, operation, outcome, before, after
    )


def _likeness(
    expectation: Expectation[MemoryPoolState], outcome: Outcome
) -> tuple[bool, bool, int]:
    wanted = expectation.observe(expectation.complete(()))
    matching = [n for n, v in wanted.items() if observables_match({n: v}, outcome.observed)]
    return (
        expectation.rejected is outcome.rejected,
        result_matches(expectation.result, outcome.result),
        len(matching),
    )


def _first_difference(step: _Step) -> tuple[tuple[str, ...], str, str, str]:
    """Rules, kind, expected and seen of the first part that differs."""
    outcome, nearest = step.outcome, step.nearest
    if outcome.rejected is not nearest.rejected:
        seen = rejection_words(outcome.rejected)
        seen = f"{seen} ({outcome.detail})" if outcome.detail else seen
        return _rules_of_rejection(step), "rejection", rejection_words(nearest.rejected), seen
    if outcome.events:
        return (step.rule,), "event", "no event", f"{len(outcome.events)} events"
    if not result_matches(nearest.result, outcome.result):
        expected, seen = _result_words(nearest.result), _result_words(outcome.result)
        return _rules_of_result(step), "result", expected, seen
    wanted = nearest.observe(step.after)
    name = next(n for n, v in wanted.items() if not observables_match({n: v}, outcome.observed))
    value = outcome.observed.get(name, "nothing")
    seen = f"{name} = {value_words(value)}"
    if value == wanted[name]:
        seen = f"{name} of another type: {value!r}"
    return (_rule_of_observable(step, name),), name, f"{name} = {value_words(wanted[name])}", seen


def _rules_of_rejection(step: _Step) -> tuple[str, ...]:
    """The rule of an operation that is rejected, or not, against the rules."""
    operation = step.operation
    if not step.is_bounded:
        return (step.rule,)
    if isinstance(operation, Allocate) and step.nearest.rejected is None:
        most = step.history.model.configuration.max_single_bytes
        if operation.size_bytes == most > 1:
            return ("POOL-OVERSIZE-REQUEST", step.rule_of_admission)
        if step.nearest.result is True:
            return (step.rule_of_admission,)
    if isinstance(operation, Release) and step.rule == "POOL-RELEASE":
        return (step.evidence(_OTHER_RELEASES) or "POOL-RELEASE",)
    return (step.rule,)


def _rules_of_result(step: _Step) -> tuple[str, ...]:
    """The rule of a request that is granted, or refused, against the rules."""
    operation, admission = step.operation, step.rule_of_admission
    evidence = None if step.history.shows_account else step.evidence()
    if evidence is not None and step.is_bounded:
        return (evidence, admission)
    if not step.is_bounded or not isinstance(operation, Allocate) or step.outcome.result is None:
        return (admission,)
    if step.outcome.result is not True or step.before.available_bytes > 0:
        return (admission,)
    configuration = step.history.model.configuration
    if step.before.outstanding_bytes + operation.size_bytes > bound_of(configuration):
        return ("POOL-BOUND", admission)
    return (admission,)


def _rule_of_observable(step: _Step, name: str) -> str:
    """The rule of the first observable that is not as expected."""
    if not step.is_bounded:
        return step.rule
    if name == MemoryPoolObservable.BUFFER.value:
        return "POOL-EXACT-BUFFER" if step.nearest.result is True else step.rule
    if name == MemoryPoolObservable.DEPLETED_SPELLS.value:
        return _rule_of_spells(step)
    if name == MemoryPoolObservable.AVAILABLE.value:
        return step.rule
    if name == MemoryPoolObservable.USED.value and not step.shows_available:
        return step.history.rule_of(step.before, step.operation) or "POOL-USED"
    return _RULES_OF_OBSERVABLES[name]


def _rule_of_spells(step: _Step) -> str:
    """Whether a dry spell began wrongly, or ended wrongly."""
    before = step.before
    if before.spell_began_ms is None:
        return "POOL-SPELL-BEGINS"
    seen = step.outcome.observed.get(MemoryPoolObservable.DEPLETED_SPELLS.value)
    counted = seen if isinstance(seen, int) else before.depleted_spells
    if step.after.depleted_spells > before.depleted_spells:
        too_many = counted > step.after.depleted_spells
        return (
            "POOL-SPELL-BEGINS"
            if too_many or step.history.began_with_some_left
            else "POOL-SPELL-ENDS"
        )
    is_refusal = isinstance(step.operation, Allocate) and step.nearest.result is False
    return "POOL-SPELL-BEGINS" if is_refusal else "POOL-SPELL-ENDS"


def _result_words(result: object) -> str:
    if isinstance(result, bool):
        return "a buffer" if result else "no buffer"
    return "no result" if result is None else f"result {result}"
