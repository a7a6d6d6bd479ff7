"""Steps without an answer: the subject did not return from an operation, or died in it.

Theory of operation. Whatever an operation has to do, it has to end. So a subject that hangs or dies
breaks the rule that the operation puts to the test; where it tests several, that which the page of
the component states last, since the special rules stand behind the general ones.

A step that takes long need not hang. The case is repeated and made smaller under a short limit,
within a fixed time, and what is left is asked once more with the whole limit. A step that still
does not end there hangs: it does so with little to do. One that ends is slow, and was longer the
more there was to do. That is no fault by the rules: the case is left out, and reported.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import msgspec

from purgatory_conformance.describing.steps import describe_operation
from purgatory_conformance.describing.words import counted
from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.running.causes import REPEATS, Cause
from purgatory_conformance.running.shrinking import reduce_case
from purgatory_conformance.subjects.subject import FailureKind, Subject, profile_of
from purgatory_conformance.subjects.time_limit import TimeLimit
from purgatory_conformance.support.support import Candidate
from purgatory_judge.case_judge import right_outcomes
from purgatory_judge.judgement import Divergence, TooManyStates
from purgatory_judge.registry import judged
from purgatory_spec.cases import Step
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component, Profile, component_of

_KINDS = {FailureKind.HUNG: "hung", FailureKind.CRASHED: "died"}

_WITHOUT_A_RULE = {
    Component.TIMER: "TIMER-EXACTLY-ONCE",
    Component.PURGATORY: "PURGATORY-EXACTLY-ONCE",
    Component.MEMORY_POOL: "POOL-CONSERVATION",
    Component.CHANNEL_MUTING: "MUTING-CONSERVATION",
}
"""The rule of an operation that puts none to the test."""

_MOST_RUNS = 600


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
    for shown in (silent, profile):
        visited = set(_visited(run, shown))
        tested = [rule.id for rule in component.judged_rules(shown) if rule.id in visited]
        if tested:
            return tested[-1]
    return _WITHOUT_A_RULE[component.component]


def _visited(run: CaseRun, profile: Profile) -> Iterator[str]:
    """Yield the rules that the operation tests where it is answered as it should be."""
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
        self.limit = TimeLimit(subject)

    def cause(self, run: CaseRun) -> Cause | Slow | None:
        """Return what is behind a run without an answer; None where no repetition is like it."""
        profile = profile_of(self._subject, component_of(run.configuration))
        until = time.monotonic() + self.limit.whole_s
        asked = run.operations[: len(run.steps) + 1]
        self.limit.shorten()
        try:
            again = [
                self._again(Candidate(run.configuration, asked), until) for _ in range(REPEATS)
            ]
            failed = sum(_is_like(each, run) for each in again)
            if not failed:
                return None
            tries = 1 if failed == REPEATS else REPEATS
            smallest = reduce_case(
                profile,
                Candidate(run.configuration, asked),
                lambda case: any(_is_like(self._again(case, until), run) for _ in range(tries)),
                _MOST_RUNS,
                until,
            )
        finally:
            self.limit.restore()
        before = time.monotonic()
        shown = run
        for _ in range(tries):
            shown = self._again(smallest, before + self.limit.whole_s)
            if _is_like(shown, run):
                break
        else:
            if _is_explained(run, shown, time.monotonic() - before, self.limit.whole_s):
                return self._slow(run, shown, time.monotonic() - before)
            shown = run
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
        """Return a run with a step that is too slow as a case that is left out."""
        steps = [*run.steps, Step(run.operations[len(run.steps)], None)]
        return replace(
            run,
            verdict=CaseVerdict.UNSUPPORTED,
            refused=slow.words,
            failure=None,
            steps=steps,
        )

    def _slow(self, run: CaseRun, shown: CaseRun, seconds: float) -> Slow:
        operation = describe_operation(run.operations[len(run.steps)])
        return Slow(
            f"slow, not hung: {operation} behind {counted(len(run.steps), 'operation')} took more "
            f"than {self.limit.whole_s:g} s; the same with less to do ended, after "
            f"{counted(len(shown.operations) - 1, 'operation')}, within {seconds:.1f} s"
        )

    def _again(self, case: Candidate, until: float) -> CaseRun:
        return run_case(self._subject, "again", case.configuration, case.operations, until=until)


def _is_explained(run: CaseRun, smaller: CaseRun, seconds: float, limit_s: float) -> bool:
    """Decide whether a step took long because it had more to do than the same in a smaller case.

    Args:
        run: The case of which a step did not end within the limit.
        smaller: A case that was made of it, all of which ended.
        seconds: How long the smaller one took.
        limit_s: The limit of a step, s.
    """
    more = (len(run.steps) + 1) / len(smaller.operations)
    further = _largest(run.operations[: len(run.steps) + 1]) / _largest(smaller.operations)
    return seconds * (more * max(further, 1)) ** 2 >= limit_s


def _largest(operations: tuple[Operation, ...]) -> int:
    """Return the largest number that is asked for, or 1."""
    largest, parts = 1, [msgspec.to_builtins(operations)]
    while parts:
        match parts.pop():
            case dict() as fields:
                parts.extend(fields.values())
            case list() | tuple() as items:
                parts.extend(items)
            case int() as number:
                largest = max(largest, abs(number))
    return largest


def _is_like(again: CaseRun, run: CaseRun) -> bool:
    """Decide whether a run has no answer, like another."""
    if not is_unanswered(again) or again.failure is None or run.failure is None:
        return False
    return again.failure.kind is run.failure.kind
