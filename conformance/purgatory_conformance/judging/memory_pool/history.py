"""What has happened to a memory pool: which rules a step puts to the test, and what is evidence.

Where the subject shows what is available, every fault of the accounting is seen in the step that
made it. Where it does not, the fault is seen later, in a request that is granted or refused by
mistake: until then a rule waits in ``unseen``.
"""

from dataclasses import dataclass, field

from purgatory_model.claims.memory_pool import bound_of
from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_model.memory_pool_arithmetic import is_legal
from purgatory_spec.operations import (
    Allocate,
    Construct,
    Lose,
    Operation,
    Release,
    ReleaseForeign,
    ReleaseForm,
    ReleaseNothing,
)
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import MemoryPoolObservable

_RULES_OF_FORMS = {
    ReleaseForm.SLICE: "POOL-RELEASE-SLICE",
    ReleaseForm.COPY: "POOL-RELEASE-COPY",
}

EVIDENCE = (
    "POOL-LEAK",
    "POOL-RELEASE-FOREIGN",
    "POOL-RELEASE-COPY",
    "POOL-RELEASE-SLICE",
    "POOL-RELEASE-AGAIN",
    "POOL-RELEASE-NOTHING",
    "POOL-CONSTRUCT",
    "POOL-OVERSIZE-REQUEST",
    "POOL-NEGATIVE-REQUEST",
    "POOL-ZERO-REQUEST",
    "POOL-REFUSAL",
    "POOL-RELEASE",
)
"""The rules of what a case did before, the strongest evidence first.

A case is shrunk before its failure is blamed: what it did not need is gone.
"""


@dataclass(slots=True)
class MemoryPoolHistory:
    """The facts about one case so far."""

    model: MemoryPoolModel
    done: set[str] = field(default_factory=set)
    """The rules of what was done so far; see ``EVIDENCE``."""
    unseen: set[str] = field(default_factory=set)
    """Rules that were put to the test by a step whose effect has not been seen."""
    erred: bool = False
    """Whether a request was an error since the last grant or release."""
    began_with_some_left: bool = False
    """Whether the refusal that began the dry spell was made with something available."""

    @property
    def shows_account(self) -> bool:
        """Whether the subject shows what is available, in one way or another."""
        shown = {MemoryPoolObservable.AVAILABLE, MemoryPoolObservable.USED}
        return bool(shown & self.model.profile.observables)

    def shows(self, observable: MemoryPoolObservable) -> bool:
        """Whether the subject shows this."""
        return observable in self.model.profile.observables

    def rule_of(self, before: MemoryPoolState, operation: Operation) -> str | None:
        """The rule that says what becomes of the pool by an operation, if there is one."""
        if self.model.configuration.unbounded:
            return _rule_without_bound(operation)
        match operation:
            case Allocate(_, size_bytes):
                return self._rule_of_request(before, size_bytes)
            case Release(_, form) if form in _RULES_OF_FORMS:
                return self._if_identity(_RULES_OF_FORMS[form])
            case Release(buffer):
                return (
                    "POOL-RELEASE"
                    if buffer in before.held
                    else self._if_identity("POOL-RELEASE-AGAIN")
                )
            case ReleaseForeign():
                return self._if_identity("POOL-RELEASE-FOREIGN")
            case ReleaseNothing():
                return "POOL-RELEASE-NOTHING"
            case Lose():
                return "POOL-LEAK"
            case Construct():
                return "POOL-CONSTRUCT"
            case _:
                return None

    def note(
        self,
        before: MemoryPoolState,
        operation: Operation,
        outcome: Outcome,
        after: MemoryPoolState,
    ) -> set[str]:
        """Take in a step that was right; returns the rules that it put to the test."""
        visited: set[str] = set()
        rule = self.rule_of(before, operation)
        if rule is not None:
            if outcome.rejected is None and rule != "POOL-CONSTRUCT" and not self.shows_account:
                self.unseen.add(rule)
            else:
                visited.add(rule)
            self.done.add(rule)
        if self.model.configuration.unbounded:
            visited |= self.unseen
            self.unseen.clear()
            return visited
        if isinstance(operation, Allocate):
            visited |= self._request(before, operation.size_bytes, outcome)
        visited |= self._account(before, after)
        visited |= self._spells(before, operation, outcome, after)
        return visited - self.model.excused

    def _if_identity(self, rule: str) -> str | None:
        return rule if self.model.knows_its_own else None

    def _rule_of_request(self, before: MemoryPoolState, size_bytes: int) -> str | None:
        if size_bytes <= 0:
            return "POOL-NEGATIVE-REQUEST" if size_bytes < 0 else "POOL-ZERO-REQUEST"
        if not is_legal(size_bytes, self.model.configuration.max_single_bytes):
            return "POOL-OVERSIZE-REQUEST"
        (way,) = self.model.expectations(before, Allocate("", size_bytes))
        return "POOL-REFUSAL" if way.result is False else None

    def _request(self, before: MemoryPoolState, asked: int, outcome: Outcome) -> set[str]:
        """The rules of a request: of admission where the numbers are close, and of the buffer."""
        configuration = self.model.configuration
        most = configuration.max_single_bytes
        if not is_legal(asked, most):
            return set()
        visited: set[str] = set()
        granted = outcome.result is True
        left = before.available_bytes - (asked if configuration.strict else 1)
        if not granted or left < most:
            visited.add("POOL-STRICT" if configuration.strict else "POOL-NON-STRICT")
            visited |= self.unseen
            self.unseen.clear()
        if granted and asked == most:
            visited.add("POOL-OVERSIZE-REQUEST")
        if granted and self.shows(MemoryPoolObservable.BUFFER):
            visited.add("POOL-EXACT-BUFFER")
        if before.outstanding_bytes + asked >= bound_of(configuration):
            visited.add("POOL-BOUND")
        return visited

    def _account(self, before: MemoryPoolState, after: MemoryPoolState) -> set[str]:
        """The rules of the numbers that are shown, where they are not those of a fresh pool."""
        visited: set[str] = set()
        if not before.outstanding_bytes and not after.outstanding_bytes:
            return visited
        shown = {
            MemoryPoolObservable.AVAILABLE: "POOL-CONSERVATION",
            MemoryPoolObservable.USED: "POOL-USED",
            MemoryPoolObservable.SIZE: "POOL-SIZE",
        }
        visited |= {rule for observable, rule in shown.items() if self.shows(observable)}
        close = after.available_bytes <= self.model.configuration.max_single_bytes
        if close and self.shows(MemoryPoolObservable.OUT_OF_MEMORY):
            visited.add("POOL-OUT-OF-MEMORY")
        return visited

    def _spells(
        self,
        before: MemoryPoolState,
        operation: Operation,
        outcome: Outcome,
        after: MemoryPoolState,
    ) -> set[str]:
        """The rules of dry spells: where one ends, or would, if it had begun or ended wrongly."""
        visited: set[str] = set()
        shows_spells = self.shows(MemoryPoolObservable.DEPLETED_SPELLS)
        under_way = before.spell_began_ms is not None
        might_end = isinstance(operation, Release | ReleaseForeign | ReleaseNothing) or (
            outcome.result is True
        )
        if might_end and shows_spells:
            if under_way:
                visited |= {"POOL-SPELL-BEGINS", "POOL-SPELL-ENDS"}
            elif before.available_bytes <= 0 or self.erred:
                visited.add("POOL-SPELL-BEGINS")
        if self.shows(MemoryPoolObservable.DEPLETED_TIME) and before.spell_began_ms is not None:
            began_ms = before.spell_began_ms
            if after.now_ms > began_ms and (might_end or after.now_ms > before.now_ms):
                visited.add("POOL-DEPLETED-TIME")
        if isinstance(operation, Allocate) and outcome.rejected is not None:
            self.erred = True
        elif might_end and outcome.rejected is None:
            self.erred = False
        if not under_way and after.spell_began_ms is not None:
            self.began_with_some_left = before.available_bytes > 0
        return visited


def _rule_without_bound(operation: Operation) -> str | None:
    match operation:
        case Allocate(_, size_bytes):
            return "POOL-UNBOUNDED-NEGATIVE" if size_bytes < 0 else "POOL-UNBOUNDED-GRANTS"
        case Release() | ReleaseForeign() | ReleaseNothing():
            return "POOL-UNBOUNDED-RELEASE"
        case Construct():
            return "POOL-CONSTRUCT"
        case _:
            return None
