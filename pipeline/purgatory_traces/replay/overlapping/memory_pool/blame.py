"""Name the rule of the pool that an unexplained line breaks, with what was expected."""

from collections.abc import Mapping

from purgatory_model.claims.memory_pool import bound_of
from purgatory_model.memory_pool import rule_of_admission, rule_of_illegal
from purgatory_spec import operations as op
from purgatory_spec.profiles import MemoryPoolConfiguration
from purgatory_traces.replay.judge import Finding
from purgatory_traces.replay.overlapping.memory_pool.rules import Answer, PoolCall

_RULES: Mapping[object, str] = {
    op.Lose: "POOL-LEAK",
    op.ReleaseForeign: "POOL-RELEASE-FOREIGN",
    op.Construct: "POOL-CONSTRUCT",
}
_RULES_OF_FORMS = {
    op.ReleaseForm.SLICE: "POOL-RELEASE-SLICE",
    op.ReleaseForm.COPY: "POOL-RELEASE-COPY",
}


def of_outcome(
    configuration: MemoryPoolConfiguration,
    call: PoolCall,
    seen: Answer,
    right: set[Answer],
    outstanding_bytes: int,
) -> Finding:
    """Return the finding of a result that is possible at no instant."""
    expected = " or ".join(sorted(_words(outcome) for outcome in right)) or "another outcome"
    rule, also = _rules_of_outcome(configuration, call, seen, right, outstanding_bytes)
    rejection = any(outcome.raised is not seen.raised for outcome in right)
    kind = "rejection" if rejection else "result"
    return Finding(rule, kind, expected, _words(seen), also=also)


def of_credit(call: PoolCall) -> Finding:
    """Return the finding of a credit for a buffer that was not outstanding."""
    return Finding(
        "POOL-CONSERVATION",
        "invariant",
        "available and outstanding are the size, together",
        "what was seen is only explained where something was credited that was not outstanding",
        also=(rule_of_release(call), "POOL-BOUND"),
    )


def rule_of_release(call: PoolCall) -> str:
    """Return the rule of the object that a call gives back."""
    if not isinstance(call.operation, op.Release):
        return _RULES.get(type(call.operation), "POOL-RELEASE-NOTHING")
    itself = "POOL-RELEASE" if call.is_held else "POOL-RELEASE-AGAIN"
    return _RULES_OF_FORMS.get(call.operation.form, itself)


def _rules_of_outcome(
    configuration: MemoryPoolConfiguration,
    call: PoolCall,
    seen: Answer,
    right: set[Answer],
    outstanding_bytes: int,
) -> tuple[str, tuple[str, ...]]:
    if not isinstance(call.operation, op.Allocate):
        return rule_of_release(call), ()
    admission = rule_of_admission(configuration)
    if configuration.unbounded:
        return admission, ()
    size_bytes = call.operation.size_bytes
    if size_bytes == 0 or any(each.raised for each in right):
        return rule_of_illegal(size_bytes), ()
    too_much = outstanding_bytes + size_bytes > bound_of(configuration)
    if seen.result is True and too_much:
        return "POOL-BOUND", (admission, "POOL-CONSERVATION")
    return admission, ("POOL-RELEASE", "POOL-REFUSAL")


def _words(outcome: Answer) -> str:
    if outcome.raised is not None:
        return f"rejected: {outcome.raised.value}"
    if isinstance(outcome.result, bool):
        return "a buffer" if outcome.result else "no buffer"
    return "accepted"
