"""Golden vectors held against the model, without a subject.

A subject is judged by the model. Where the model is wrong, a subject that is wrong alike passes,
and a right subject fails. So the model itself is judged first, by the recorded outcomes of the
golden vectors, under the profile of each vector's header:

- The model accepts every recorded outcome.
- The model allows no other outcome at any step, unless the header says ``others_allowed``.
- The model allows another outcome at some step where the header says so.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from purgatory_conformance.describing.steps import describe_operation, describe_outcome
from purgatory_judge.channel_muting.judge import ChannelMutingJudge
from purgatory_judge.derived_steps import derived_outcomes
from purgatory_judge.judgement import TooManyStates
from purgatory_judge.memory_pool.judge import MemoryPoolJudge
from purgatory_judge.purgatory.judge import PurgatoryJudge
from purgatory_judge.timer.judge import TimerJudge
from purgatory_spec.cases import (
    Case,
    CaseHeader,
    ChannelMutingCaseHeader,
    MemoryPoolCaseHeader,
    PurgatoryCaseHeader,
    Step,
    TimerCaseHeader,
)
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome

_StrictJudge: TypeAlias = TimerJudge | PurgatoryJudge | MemoryPoolJudge | ChannelMutingJudge


@dataclass(frozen=True)
class Contradiction:
    """A step of a golden vector on which vector and model do not agree.

    ``rules`` are the blamed rule, or those that the vector is for; ``expected`` is what the model
    expects, or allows besides. ``step`` counts from 1.
    """

    vector: Case
    step: int
    rules: tuple[str, ...]
    recorded: str
    expected: str

    def __str__(self) -> str:
        """Return the contradiction as a sentence for the terminal."""
        asked = describe_operation(self.vector.steps[self.step - 1].operation)
        return (
            f"the model contradicts the golden vector {self.vector.header.case}, step {self.step} "
            f"({asked}), {', '.join(self.rules)}. Recorded: {self.recorded}. Model: "
            f"{self.expected}. The installation is at fault, not the subject, which was not judged."
        )


def contradictions(vectors: Iterable[Case]) -> Iterator[Contradiction]:
    """Yield the first contradiction of each golden vector that has one."""
    for vector in vectors:
        found = contradiction_of(vector)
        if found is not None:
            yield found


def contradiction_of(vector: Case) -> Contradiction | None:
    """Return the first step on which a golden vector and the model disagree, or None."""
    header = vector.header
    judge = _judge(header)
    others = False
    for number, step in enumerate(vector.steps, start=1):
        if step.outcome is None:
            return Contradiction(vector, number, header.rules, "nothing", "an outcome is needed")
        other = None if others else _other_outcome(judge, step.operation, step.outcome)
        refused = _refused(vector, number, judge, step.operation, step.outcome)
        if refused is not None:
            return refused
        if other is not None and not header.others_allowed:
            recorded, besides = _told_apart(step, step.outcome, other)
            return Contradiction(vector, number, header.rules, recorded, f"also {besides}")
        others = others or other is not None
    if header.others_allowed and not others:
        last = len(vector.steps)
        recorded = "that other outcomes are allowed"
        return Contradiction(vector, last, header.rules, recorded, "no other at any step")
    return None


def _judge(header: CaseHeader) -> _StrictJudge:
    """Return the judge that follows a vector by the rules, under the vector's own profile."""
    match header:
        case TimerCaseHeader():
            return TimerJudge(header.configuration, header.profile)
        case PurgatoryCaseHeader():
            return PurgatoryJudge(header.configuration, header.profile)
        case MemoryPoolCaseHeader():
            return MemoryPoolJudge(header.configuration, header.profile)
        case ChannelMutingCaseHeader():
            return ChannelMutingJudge(header.configuration, header.profile)


def _refused(
    vector: Case, number: int, judge: _StrictJudge, operation: Operation, outcome: Outcome
) -> Contradiction | None:
    """Return the contradiction of an outcome that the model refuses, or None."""
    try:
        divergence = judge.step(operation, outcome).divergence
    except TooManyStates:
        expected = "more possible states than can be followed"
        return Contradiction(vector, number, vector.header.rules, "an outcome", expected)
    if divergence is None:
        return None
    rules = (divergence.rule,)
    return Contradiction(vector, number, rules, divergence.seen, divergence.expected)


def _other_outcome(judge: _StrictJudge, operation: Operation, recorded: Outcome) -> Outcome | None:
    """Return an outcome that the model allows besides the recorded one, or None."""
    return next((each for each in _outcomes(judge, operation) if each != recorded), None)


def _outcomes(judge: _StrictJudge, operation: Operation) -> Iterator[Outcome]:
    """Yield the outcomes that the model allows in the states that the judge believes possible."""
    match judge:
        case TimerJudge():
            for timer in judge.states:
                yield from derived_outcomes(judge.model, timer, operation)
        case PurgatoryJudge():
            for purgatory in judge.states:
                yield from (each for each, _ in judge.model.successors(purgatory, operation))
        case MemoryPoolJudge():
            for pool in judge.states:
                yield from (each for each, _ in judge.model.successors(pool, operation))
        case ChannelMutingJudge():
            for channels in judge.states:
                yield from (each for each, _ in judge.model.successors(channels, operation))


def _told_apart(step: Step, recorded: Outcome, other: Outcome) -> tuple[str, str]:
    """Return two outcomes of a step in words, with the observables in which they differ."""
    names = sorted({*recorded.observed, *other.observed})
    differing = [name for name in names if recorded.observed.get(name) != other.observed.get(name)]
    words, besides = (
        ", ".join(
            [
                describe_outcome(step.operation, outcome),
                *(f"{name} = {outcome.observed.get(name)}" for name in differing),
            ]
        )
        for outcome in (recorded, other)
    )
    return words, besides
