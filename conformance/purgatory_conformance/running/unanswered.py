"""Steps without an answer: the subject did not return from an operation, or died in it.

Theory of operation. Whatever an operation has to do, it has to end. So a subject that hangs or dies
breaks the rule that the operation puts to the test; where it tests several, that which the page of
the component states last, since the special rules stand behind the general ones.

A step that takes long need not hang. The case is repeated and made smaller under a short limit,
until so many smaller ones have hung, and what is left is asked once more with the whole limit. A
step that ends then, though not within the short limit, is slow: it takes the longer the more is
pending. One that does not end is asked with ever smaller times and delays. If it ends with some,
and sooner with smaller ones, it is slow, too: it takes the longer the further it has to go. Slow is
no fault by the rules: the case is left out, and reported. Any other step hangs.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import msgspec

from purgatory_conformance.describing.steps import describe_operation
from purgatory_conformance.describing.words import counted
from purgatory_conformance.generation.fields import all_changed, of_numbers
from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.running.causes import REPEATS, Cause
from purgatory_conformance.running.shrinking import reduce_case
from purgatory_conformance.subjects.subject import FailureKind, Subject, profile_of
from purgatory_conformance.subjects.time_limit import TimeLimit
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate
from purgatory_judge.case_judge import right_outcomes
from purgatory_judge.judgement import Divergence, TooManyStates
from purgatory_judge.registry import judged
from purgatory_spec.cases import Step
from purgatory_spec.operations import operation_name
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component, Profile, component_of

_KINDS = {FailureKind.HUNG: "hung", FailureKind.CRASHED: "died"}

_OTHERWISE = {
    Component.TIMER: "TIMER-EXACTLY-ONCE",
    Component.PURGATORY: "PURGATORY-EXACTLY-ONCE",
    Component.MEMORY_POOL: "POOL-CONSERVATION",
    Component.CHANNEL_MUTING: "MUTING-CONSERVATION",
}
_OTHERWISE_OF = {
    "cancel": "TIMER-CANCEL",
    "watch": "PURGATORY-WATCH-WAITS",
    "release": "POOL-RELEASE",
}
"""The rule of an operation whose effect only a later operation shows, and of all other ones."""

_MOST_RUNS = 600

_MOST_HUNG = 20
"""The most smaller cases that may hang, each for the short limit, while a case is made smaller."""

_SEARCH_S = 15.0
"""The time for repeating a case, and again for making it smaller, of a subject that is slow, s."""

_MANY_STEPS = 3
"""The time for asking a whole case, as a multiple of the limit of a step."""

_MOST_SLOW = 2
"""The most slow steps that are looked at; each takes some times the limit of a step."""

_NEARER = 4
"""The divisor of times and delays, again and again, by which a growth of time is seen.

A step may be so many times faster when it is asked again, on a busy machine, and is slow still.
"""


def is_unanswered(run: CaseRun) -> bool:
    """Decide whether the subject hung or died in an operation of the case."""
    if run.failure is None or run.failure.kind not in _KINDS:
        return False
    return run.has_begun and len(run.steps) < len(run.operations)


def told(run: CaseRun, profile: Profile) -> CaseRun:
    """Return a run whose last step has no answer as one that breaks the rule of that step."""
    assert run.failure is not None
    operation = run.operations[len(run.steps)]
    divergence = Divergence(
        rule=_rule(run, profile),
        kind=_KINDS[run.failure.kind],
        expected="the operation ends",
        seen=str(run.failure),
        operation=operation,
        outcome=Outcome(),
    )
    steps = [*run.steps, Step(operation, None)]
    return replace(run, verdict=CaseVerdict.FAIL, divergence=divergence, steps=steps)


def _rule(run: CaseRun, profile: Profile) -> str:
    """Return the rule that the operation without an answer puts to the test."""
    component = judged(component_of(run.configuration))
    # The counts are compared after every operation, and say nothing about this one.
    silent = msgspec.structs.replace(profile, observables=frozenset())
    visited = set(_visited(run, silent))
    tested = [rule.id for rule in component.judged_rules(silent) if rule.id in visited]
    if tested:
        return tested[-1]
    name = operation_name(run.operations[len(run.steps)])
    return _OTHERWISE_OF.get(name, _OTHERWISE[component.component])


def _visited(run: CaseRun, profile: Profile) -> Iterator[str]:
    """Yield the rules that the operation puts to the test when its outcome is right."""
    judge = judged(component_of(run.configuration)).judge(run.configuration, profile, ())
    try:
        for step in run.steps:
            assert step.outcome is not None
            judge.step(step.operation, step.outcome)
        operation = run.operations[len(run.steps)]
        for outcome in islice(right_outcomes(judge, operation), 1):
            yield from judge.step(operation, outcome).visited
    except TooManyStates:
        return


@dataclass(frozen=True)
class Slow:
    """A step that ends when it has less to do; the words say how long it took."""

    words: str


class Unanswered:
    """The search for what is behind steps without an answer, within a fixed time."""

    def __init__(self, subject: Subject) -> None:
        """Search with this subject, whose time limit is shortened meanwhile."""
        self._subject = subject
        self._slow = 0
        self.limit = TimeLimit(subject)

    def cause(self, run: CaseRun) -> Cause | Slow | None:
        """Return what is behind a run without an answer; None where no repetition is like it."""
        profile = profile_of(self._subject, component_of(run.configuration))
        whole = Candidate(run.configuration, run.operations[: len(run.steps) + 1])
        if self._slow >= _MOST_SLOW:
            return self._found_slow("others like it were slow, and it was looked at no further")
        until = time.monotonic() + _SEARCH_S
        self.limit.shorten()
        try:
            again = [self._again(whole, until) for _ in range(REPEATS)]
            alike = [each for each in again if _is_like(each, run)]
            failed = len(alike)
            if not failed and any(each.verdict is CaseVerdict.INCONCLUSIVE for each in again):
                return self._found_slow(f"{_step(run)} took longer than the limit of a step")
            if not failed:
                return None
            tries = 1 if failed == REPEATS else REPEATS
            # What takes the longer the more there is passes the short limit sooner.
            fewest = min(len(each.steps) for each in alike)
            whole = Candidate(run.configuration, run.operations[: fewest + 1])
            until = time.monotonic() + _SEARCH_S
            hung = 0

            def fails(case: Candidate) -> bool:
                nonlocal hung
                # Counted and not timed, so that a busy machine shows the same case.
                failed = hung < _MOST_HUNG and any(
                    _is_like(self._again(case, until), run) for _ in range(tries)
                )
                hung += failed and _hangs(run)
                return failed

            smallest = reduce_case(profile, whole, fails, _MOST_RUNS, until)
        finally:
            self.limit.restore()
        shown, seconds = self._timed(smallest, run, tries)
        if not _is_like(shown, run):
            if seconds >= self.limit.short_s / _NEARER:
                return self._found_slow(
                    f"{_step(run)} took longer than the limit of a step, and all of "
                    f"{counted(len(smallest.operations), 'operation')} of it {seconds:.1f} s"
                )
            shown = run
        elif _hangs(run):
            slow = self._slow_by_distance(profile, smallest)
            if slow is not None:
                return slow
        shown = told(shown, profile)
        assert shown.divergence is not None
        return Cause(
            rule=shown.divergence.rule,
            kind=shown.divergence.kind,
            cases=1,
            shrunk=shown,
            source=run.name,
            answers=None if failed == REPEATS else (failed, REPEATS),
            runs=[run],
        )

    def left_out(self, run: CaseRun, slow: Slow) -> CaseRun:
        """Return a run with a step that is too slow as a case that is left out.

        The steps that follow have less time, so that many slow ones do not use up all there is.
        """
        self.limit.shorten(2**self._slow)
        return replace(
            run,
            verdict=CaseVerdict.UNSUPPORTED,
            refused=slow.words,
            failure=None,
            steps=[*run.steps, Step(run.operations[len(run.steps)], None)],
        )

    def _timed(self, case: Candidate, like: CaseRun, tries: int) -> tuple[CaseRun, float]:
        """Run a case, some times where it need not be like another; return how long it took, s."""
        for left in reversed(range(tries)):
            began = time.monotonic()
            shown = self._again(case, began + max(_MANY_STEPS * self.limit.whole_s, _SEARCH_S))
            if _is_like(shown, like) or not left:
                break
        return shown, time.monotonic() - began

    def _slow_by_distance(self, profile: Profile, case: Candidate) -> Slow | None:
        """Return that a case is slow where it takes the longer the further times and delays are."""
        took: list[float] = []
        support = support_of(component_of(case.configuration))
        self.limit.shorten()
        try:
            for nearer, times in _nearer(case):
                if not support.usable(profile, nearer):
                    continue
                began = time.monotonic()
                if is_unanswered(self._again(nearer, math.inf)):
                    continue
                took.append(time.monotonic() - began)
                if took[0] < self.limit.short_s / _NEARER**2:
                    return None
                if len(took) > 1:
                    grows = took[0] > 1.5 * took[1]
                    words = (
                        f"{describe_operation(case.operations[-1])} took longer than the limit of "
                        f"a step, {took[0]:.2f} s where times and delays are {times // _NEARER} "
                        f"times as short, and {took[1]:.2f} s where they are {times} times as short"
                    )
                    return self._found_slow(words) if grows else None
        finally:
            self.limit.restore()
        return None

    def _found_slow(self, words: str) -> Slow:
        self._slow += 1
        return Slow(f"slow, not hung: {words}")

    def _again(self, case: Candidate, until: float) -> CaseRun:
        return run_case(self._subject, "again", case.configuration, case.operations, until=until)


def _step(run: CaseRun) -> str:
    """Return the operation without an answer, and how much has gone before it."""
    operation = describe_operation(run.operations[len(run.steps)])
    return f"{operation} behind {counted(len(run.steps), 'operation')}"


def _nearer(case: Candidate) -> Iterator[tuple[Candidate, int]]:
    """Yield the case with ever shorter times and delays, and how many times they are shorter."""
    start_ms: int = getattr(case.configuration, "start_ms", 0)
    times, before = 1, case.operations
    while True:
        times *= _NEARER
        operations = all_changed(
            case.operations, of_numbers(partial(_shortened, times=times, from_ms=start_ms), "to_ms")
        )
        operations = all_changed(
            operations, of_numbers(partial(_shortened, times=times, from_ms=0), "delay_ms")
        )
        if operations == before:
            return
        yield Candidate(case.configuration, operations), times
        before = operations


def _shortened(ms: int, *, times: int, from_ms: int) -> int:
    return from_ms + int((ms - from_ms) / times)


def _hangs(run: CaseRun) -> bool:
    return run.failure is not None and run.failure.kind is FailureKind.HUNG


def _is_like(again: CaseRun, run: CaseRun) -> bool:
    """Decide whether a run has no answer, like another."""
    if not is_unanswered(again) or again.failure is None or run.failure is None:
        return False
    return again.failure.kind is run.failure.kind
