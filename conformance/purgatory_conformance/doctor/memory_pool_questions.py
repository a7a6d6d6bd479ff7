"""The doctor's questions about a memory pool."""

from collections.abc import Callable, Iterator

from purgatory_conformance.doctor.finding import Finding, Severity
from purgatory_conformance.doctor.interview import Interview
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import (
    MemoryPoolConfiguration,
    MemoryPoolFeature,
    MemoryPoolProfile,
    ZeroRequest,
)

PLAIN_ALLOCATE = op.Allocate("k", 1)
"""An operation that every memory pool knows."""

_ELAPSED_MS = 10

_AFTER_A_GRANT: dict[MemoryPoolFeature, tuple[tuple[op.Operation, str], ...]] = {
    MemoryPoolFeature.RELEASE_AGAIN: ((op.Release("a"), ""), (op.Release("a"), "a second time")),
    MemoryPoolFeature.RELEASE_SLICE: (
        (op.Release("a", op.ReleaseForm.SLICE), "another view of it"),
    ),
    MemoryPoolFeature.RELEASE_COPY: ((op.Release("a", op.ReleaseForm.COPY), "a copy of it"),),
    MemoryPoolFeature.RELEASE_FOREIGN: ((op.ReleaseForeign(1), "the pool never granted it"),),
    MemoryPoolFeature.RELEASE_NOTHING: ((op.ReleaseNothing(), "there is no buffer"),),
    MemoryPoolFeature.LEAK_DETECTION: ((op.Lose("a"), "nobody holds it any longer"),),
    MemoryPoolFeature.CONSTRUCT: (
        (op.Construct(10, 5), ""),
        (op.Construct(5, 10), "none can be made"),
    ),
    MemoryPoolFeature.ELAPSE: ((op.Elapse(_ELAPSED_MS), ""),),
    MemoryPoolFeature.FILL: ((op.Fill("a", 7), ""), (op.Read("a"), "7 was written all over it")),
}
"""The operations that each feature lets the suite ask of a pool that has granted ``a``."""


def plain_pool(profile: MemoryPoolProfile) -> MemoryPoolConfiguration:
    """Return a pool of 10 bytes of the simplest sort that is declared."""
    return _pools(profile)[0]


def _pools(profile: MemoryPoolProfile) -> list[MemoryPoolConfiguration]:
    sorts = {
        MemoryPoolFeature.NON_STRICT: MemoryPoolConfiguration(10, 10),
        MemoryPoolFeature.STRICT: MemoryPoolConfiguration(10, 10, strict=True),
        MemoryPoolFeature.UNBOUNDED: MemoryPoolConfiguration(unbounded=True),
    }
    return [pool for feature, pool in sorts.items() if feature in profile.features]


class MemoryPoolQuestions:
    """The questions about a memory pool, in their order."""

    def __init__(self, interview: Interview, profile: MemoryPoolProfile) -> None:
        """Prepare the questions that the profile allows, for an interview."""
        self._ask = interview
        self._profile = profile

    def parts(self) -> Iterator[Callable[[], Iterator[Finding]]]:
        """Yield the parts of the interview; each part begins with an instance of its own."""
        for pool in _pools(self._profile):
            yield self._first_steps_on(pool)
        for feature, asked in _AFTER_A_GRANT.items():
            if feature in self._profile.features:
                yield self._asked_after_a_grant(asked)
        if self._bounded and self._profile.zero_request is not ZeroRequest.NOT_OFFERED:
            yield self._asks_for_nothing
        if self._bounded and MemoryPoolFeature.FAIL in self._profile.features:
            yield self._asks_in_vain

    @property
    def _bounded(self) -> list[MemoryPoolConfiguration]:
        return [pool for pool in _pools(self._profile) if not pool.unbounded]

    def _asks_for_nothing(self) -> Iterator[Finding]:
        """Ask a bounded pool for a buffer of no bytes, and compare with the declared answer."""
        if (yield from self._ask.new(self._bounded[0])):
            yield from self._ask.do(op.Allocate("a", 0), "nothing is asked for", self._undeclared)

    def _asks_in_vain(self) -> Iterator[Finding]:
        """Ask a bounded pool for a buffer while the machine has no memory."""
        if (yield from self._ask.new(self._bounded[0])):
            failing = op.Allocate("a", 5, fail=True)
            yield from self._ask.do(failing, "there is no memory", _granted_in_vain)

    def _undeclared(self, outcome: Outcome) -> str:
        """Return the doubt about an answer to a request for nothing that is not declared."""
        answered = ZeroRequest.GRANT if outcome.result is True else ZeroRequest.REFUSE
        if outcome.rejected is not None:
            answered = ZeroRequest.REJECT
        if answered is self._profile.zero_request:
            return ""
        return (
            f"is what 'zero_request' \"{answered.value}\" means; declare that, "
            "or the suite will fail it (POOL-ZERO-REQUEST)"
        )

    def _first_steps_on(
        self, configuration: MemoryPoolConfiguration
    ) -> Callable[[], Iterator[Finding]]:
        return lambda: self._grants_and_refuses(configuration)

    def _asked_after_a_grant(
        self, asked: tuple[tuple[op.Operation, str], ...]
    ) -> Callable[[], Iterator[Finding]]:
        return lambda: self._after_a_grant(asked)

    def _grants_and_refuses(self, configuration: MemoryPoolConfiguration) -> Iterator[Finding]:
        """Ask for a buffer, for another that a bound refuses, and for the release of the first."""
        if not (yield from self._ask.new(configuration)):
            return
        granted = yield from self._ask.do(op.Allocate("a", 10))
        if granted is not None and granted.result is False:
            sentence = "a fresh memory pool refused the first 10 bytes; the suite will fail it"
            yield Finding(Severity.NOTE, sentence)
            return
        if configuration.unbounded or granted is None or granted.result is not True:
            yield from self._ask.do(op.Allocate("b", 1))
        else:
            yield from self._ask.do(op.Allocate("b", 1), "nothing is left", _granted_beyond)
        yield from self._ask.do(op.Release("a"))
        yield from self._ask.do(op.Allocate("c", 1))

    def _after_a_grant(self, asked: tuple[tuple[op.Operation, str], ...]) -> Iterator[Finding]:
        if (yield from self._ask.new(plain_pool(self._profile))):
            granted = yield from self._ask.do(op.Allocate("a", 5))
            if granted is not None and granted.result is True:
                for operation, about in asked:
                    yield from self._ask.do(operation, about)


def _granted_in_vain(outcome: Outcome) -> str:
    """Return the doubt about a grant where no allocation of memory succeeds."""
    if outcome.result is not True:
        return ""
    return (
        "is granted, so that nothing shows that an allocation fails; have the pool's allocator "
        "fail, or do not declare 'fail' (POOL-ALLOCATION-FAILS)"
    )


def _granted_beyond(outcome: Outcome) -> str:
    """Return the doubt about a grant where another buffer holds all bytes."""
    if outcome.result is not True:
        return ""
    return (
        "is granted, though 'a' holds all 10 bytes; answer false where the pool refuses, "
        "or the suite will fail it (POOL-STRICT, POOL-NON-STRICT)"
    )
