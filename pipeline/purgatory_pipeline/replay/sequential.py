"""The judge of a run whose calls follow one another, on a manual clock."""

from collections import Counter
from dataclasses import dataclass, field

from purgatory_conformance.judging.case_judge import Deviation, Judge
from purgatory_conformance.judging.judgement import TooManyStates
from purgatory_conformance.supports import support_of
from purgatory_pipeline.errors import Undecided, Unusable
from purgatory_pipeline.replay.judge import Finding, JudgedLine
from purgatory_pipeline.trace_lines import Begin, End, Step
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import component_of


@dataclass(slots=True)
class SequentialJudge:
    """Follows a run by the judge that the conformance suite has for its component."""

    begin: Begin
    visits: Counter[str] = field(default_factory=Counter)
    _judge: Judge = field(init=False)

    def __post_init__(self) -> None:
        """Begin with a fresh instance."""
        instance = self.begin.instance
        deviations = tuple(
            Deviation(each.rule, each.variant, replay="") for each in self.begin.deviations
        )
        support = support_of(component_of(instance.configuration))
        self._judge = support.judge(instance.configuration, instance.profile, deviations)

    @property
    def deviated(self) -> tuple[str, ...]:
        """The declared deviation that was seen, if any."""
        divergence = self._judge.deviated
        return () if divergence is None else (divergence.rule,)

    def take(self, line: JudgedLine) -> Finding | None:
        """Judge one line; see ``TraceJudge``."""
        if isinstance(line, End):
            return None
        if not isinstance(line, Step):
            raise Unusable("calls that overlap cannot be judged on a manual clock")
        outcome = Outcome(line.result, line.rejected, line.events, line.observed)
        try:
            judgement = self._judge.step(line.operation, outcome)
        except TooManyStates:
            raise Undecided("too many states are possible") from None
        self.visits.update(judgement.visited)
        divergence = judgement.divergence
        if divergence is None:
            return None
        support = support_of(component_of(self.begin.instance.configuration))
        return Finding(
            rule=divergence.rule,
            kind=divergence.kind,
            expected=divergence.expected,
            seen=divergence.seen,
            operation=support.describe_operation(line.operation),
            thread=line.thread,
            also=divergence.also,
        )
