"""What the doctor asks of a purgatory and of a memory pool: a few steps of each."""

from collections.abc import Iterator

from purgatory_conformance.doctor.finding import Finding, Verdict
from purgatory_conformance.doctor.interview import Interview
from purgatory_spec.operations import (
    Advance,
    Allocate,
    Answer,
    Check,
    Release,
    RunOne,
    Script,
    Watch,
)
from purgatory_spec.outcomes import EventKind
from purgatory_spec.profiles import (
    MemoryPoolConfiguration,
    MemoryPoolFeature,
    MemoryPoolProfile,
    PurgatoryConfiguration,
)

_DELAY_MS = 10
_MOST_RUNS = 10

PLAIN_WATCH = Watch("k", ("key",), _DELAY_MS)
"""An operation that every purgatory knows."""

PLAIN_ALLOCATE = Allocate("k", 1)
"""An operation that every memory pool knows."""


def purgatory_steps(ask: Interview) -> Iterator[Finding]:
    """One operation is completed by a check, another by its time-out."""
    if not (yield from ask.new(PurgatoryConfiguration())):
        return
    script = Script(tries=(Answer.WAIT, Answer.WAIT, Answer.COMPLETE))
    yield from ask.do(Watch("a", ("key",), 10 * _DELAY_MS, script))
    yield from ask.do(Check("key"))
    yield from _missing(ask, EventKind.TRIED, "a", "'watch' tries before and after it watches")
    yield from ask.do(Check("key"))
    yield from ask.do(Check("key"), "nothing is left to complete")
    yield from _missing(ask, EventKind.COMPLETED, "a", "its third try completes it")
    yield from ask.do(Watch("b", ("key", "other"), _DELAY_MS))
    for further_ms in (_DELAY_MS, 10, 100, 1000):
        ask.now_ms += further_ms
        yield from ask.do(Advance(ask.now_ms))
        if ask.is_stepped:
            yield from _run_all(ask)
        if (EventKind.TIMED_OUT, "b") in ask.happened or not ask.talk.runs:
            return
    yield from _missing(ask, EventKind.TIMED_OUT, "b", f"its delay was {_DELAY_MS} ms")


def _run_all(ask: Interview) -> Iterator[Finding]:
    for _ in range(_MOST_RUNS):
        outcome = yield from ask.do(RunOne())
        if outcome is None or not outcome.events:
            return


def _missing(ask: Interview, kind: EventKind, operation: str, why: str) -> Iterator[Finding]:
    """What is wrong where an event was never reported."""
    if (kind, operation) not in ask.happened and ask.talk.runs:
        yield Finding(
            Verdict.WRONG,
            f"no event '{kind.value}' of operation '{operation}' was reported, though {why}; "
            f'report it in \'events\' as {{"kind":"{kind.value}","task":"{operation}"}}',
        )


def memory_pool_steps(ask: Interview) -> Iterator[Finding]:
    """A buffer is granted, another is refused, and the first is released."""
    assert isinstance(ask.profile, MemoryPoolProfile)
    strict = MemoryPoolFeature.NON_STRICT not in ask.profile.features
    if not (yield from ask.new(MemoryPoolConfiguration(10, 10, strict=strict))):
        return
    granted = yield from ask.do(Allocate("a", 10))
    if granted is not None and granted.result is False:
        sentence = "a pool of 10 bytes refused the first 10; the suite will fail it"
        yield Finding(Verdict.NOTE, sentence)
        return
    yield from ask.do(Allocate("b", 1), "nothing is left, so it is refused")
    yield from ask.do(Release("a"))
    yield from ask.do(Allocate("c", 1))
