"""The history of a memory pool: the rules a step puts to the test, and their evidence.

Where the subject shows what is available, every fault of the accounting is seen in the step that
made it. Where it does not, the fault is seen later, in a request that is granted or refused by
mistake: until then a rule waits in ``unseen``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from purgatory_model.claims.memory_pool import bound_of
from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_model.step import Expectation
from purgatory_spec.operations import (
    Allocate,
    Fill,
    Operation,
    Read,
    Release,
    ReleaseForeign,
    ReleaseNothing,
)
from purgatory_spec.profiles import MemoryPoolObservable as Observable

OTHER_RELEASES = (
    "POOL-RELEASE-FOREIGN",
    "POOL-RELEASE-COPY",
    "POOL-RELEASE-SLICE",
    "POOL-RELEASE-AGAIN",
    "POOL-RELEASE-NOTHING",
)

EVIDENCE = (
    "POOL-LEAK",
    "POOL-ALLOCATION-FAILS",
    *OTHER_RELEASES,
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

_RELEASES = (Release, ReleaseForeign, ReleaseNothing)


@dataclass(slots=True)
class MemoryPoolHistory:
    """The facts about one case so far."""

    model: MemoryPoolModel
    done: set[str] = field(default_factory=set)
    """The rules of what was done so far; see ``EVIDENCE``."""
    unseen: set[str] = field(default_factory=set)
    """Rules that were put to the test by a step whose effect has not been seen."""
    erred: bool = False
    """True if a request was an error since the last grant or release."""
    began_with_some_left: bool = False
    """True if something was available at the refusal that began the dry spell."""

    def shows(self, *observables: Observable) -> bool:
        """Decide whether the subject shows at least one of some observables."""
        return not self.model.profile.observables.isdisjoint(observables)

    @property
    def shows_account(self) -> bool:
        """Decide whether the subject shows what is available, in one way or another."""
        return self.shows(Observable.AVAILABLE, Observable.USED)

    def note(
        self,
        before: MemoryPoolState,
        operation: Operation,
        way: Expectation[MemoryPoolState],
        after: MemoryPoolState,
    ) -> set[str]:
        """Take in a step that went a right way; returns the rules that it put to the test."""
        if isinstance(operation, Fill | Read):
            others = sum(name in before.held for name in before.filled)
            return set() if way.result is None or others < 2 else set(way.rules["result"])
        bounded = not self.model.configuration.unbounded
        visited = set(way.rules.get("rejected", ()))
        effect = way.rules.get("effect", ())
        self.done.update(effect)
        has_failed = "POOL-ALLOCATION-FAILS" in effect
        is_rejected = way.rejected is not None and not has_failed
        is_seen = is_rejected or "POOL-CONSTRUCT" in effect or self.shows_account
        (visited if is_seen else self.unseen).update(effect)
        about_nothing = has_failed or (bounded and _is_about_nothing(before, operation))
        if not bounded or (self._is_close(before, after, way) and not about_nothing):
            visited.update(way.rules.get("result", ()), self.unseen)
            self.unseen.clear()
        if not bounded:
            return visited
        if isinstance(operation, Allocate) and way.rejected is None and not about_nothing:
            wanted_bytes = before.outstanding_bytes + operation.size_bytes
            if wanted_bytes >= bound_of(self.model.configuration):
                visited.add("POOL-BOUND")
        might_end = way.result is True or isinstance(operation, _RELEASES)
        might_end = might_end and not about_nothing
        for name in self._telling(before, way, after, might_end):
            if name in self.model.profile.observables:
                visited.update(way.rules_of(name))
        if isinstance(operation, Allocate) and is_rejected:
            self.erred = True
        elif might_end and way.rejected is None:
            self.erred = False
        if before.spell_began_ms is None and after.spell_began_ms is not None:
            self.began_with_some_left = before.available_bytes > 0
        return visited - self.model.excused

    def _is_close(
        self, before: MemoryPoolState, after: MemoryPoolState, way: Expectation[MemoryPoolState]
    ) -> bool:
        """Decide whether a request is refused, or would have been with a largest buffer less."""
        configuration = self.model.configuration
        left = after.available_bytes if configuration.strict else before.available_bytes - 1
        return way.result is False or (way.result is True and left < configuration.max_single_bytes)

    def _telling(
        self,
        before: MemoryPoolState,
        way: Expectation[MemoryPoolState],
        after: MemoryPoolState,
        might_end: bool,
    ) -> Iterator[Observable]:
        """Yield the observables that would show a breach: they are not those of a fresh pool."""
        if way.result is True:
            yield Observable.BUFFER
        if before.held or after.held:
            yield from (Observable.AVAILABLE, Observable.USED, Observable.SIZE)
            if after.available_bytes <= self.model.configuration.max_single_bytes:
                yield Observable.OUT_OF_MEMORY
        began_ms = before.spell_began_ms
        if might_end and (began_ms is not None or before.available_bytes <= 0 or self.erred):
            yield Observable.DEPLETED_SPELLS
        has_lasted = began_ms is not None and began_ms < after.now_ms
        if has_lasted and (might_end or before.now_ms < after.now_ms):
            yield Observable.DEPLETED_TIME


def _is_about_nothing(before: MemoryPoolState, operation: Operation) -> bool:
    """Decide whether an empty buffer is asked for or released, which shows no account."""
    if isinstance(operation, Allocate):
        return operation.size_bytes == 0
    return isinstance(operation, Release) and before.held.get(operation.buffer) == 0
