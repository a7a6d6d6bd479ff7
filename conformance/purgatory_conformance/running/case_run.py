"""A case on a subject: carry out the operations, judge every step as it comes."""

import math
import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import product

from purgatory_conformance.subjects.subject import (
    Subject,
    SubjectFailure,
    UnsupportedConfigurationError,
    profile_of,
)
from purgatory_judge.case_judge import Deviation
from purgatory_judge.judgement import Divergence, TooManyStates
from purgatory_judge.registry import judged
from purgatory_spec.cases import Step
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Configuration, component_of
from purgatory_spec.reasons import Reason


class CaseVerdict(Enum):
    """The end of a case."""

    PASS = "pass"
    DEVIATES = "expected fail"
    FAIL = "fail"
    SUBJECT_FAILED = "subject failed"
    UNSUPPORTED = "unsupported"
    INCONCLUSIVE = "inconclusive"


@dataclass
class CaseRun:
    """A case with the verdict, the judged steps and the divergence, if any.

    ``steps`` are the judged steps, the diverging step last; of a refused operation too, which ends
    its case without a judgement. ``visits`` counts for each rule the steps that put it to the test,
    ``pairs`` for each two rules how often a step put the second to the test and the step before it
    the first.
    ``refused`` is what the subject said when it refused the instance or an operation.
    """

    name: str
    configuration: Configuration
    operations: tuple[Operation, ...]
    verdict: CaseVerdict = CaseVerdict.PASS
    steps: list[Step] = field(default_factory=list)
    visits: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    divergence: Divergence | None = None
    failure: SubjectFailure | None = None
    refused: str = ""
    has_begun: bool = False
    """True once the subject has made an instance; an earlier failure is no operation's fault."""

    def breaks(self, rule: str) -> bool:
        """Decide whether the case failed, and for this rule."""
        if self.verdict is not CaseVerdict.FAIL or self.divergence is None:
            return False
        return self.divergence.rule == rule


def run_case(
    subject: Subject,
    name: str,
    configuration: Configuration,
    operations: Sequence[Operation],
    deviations: tuple[Deviation, ...] = (),
    *,
    until: float = math.inf,
) -> CaseRun:
    """Run one case of the configuration's component; never raises for what a subject does.

    A case that is still under way at the reading ``until`` of the monotonic clock is given up, as
    inconclusive.
    """
    run = CaseRun(name, configuration, tuple(operations))
    component = component_of(configuration)
    try:
        profile = profile_of(subject, component)
        judge = judged(component).judge(configuration, profile, deviations)
        subject.new(name, configuration)
        run.has_begun = True
        outcomes = subject.do_all(run.operations)
        before: Collection[str] = ()
        for operation, outcome in zip(run.operations, outcomes, strict=True):
            run.steps.append(Step(operation, outcome))
            if is_refused(outcome):
                run.verdict = CaseVerdict.UNSUPPORTED
                run.refused = outcome.detail or "unsupported"
                break
            judgement = judge.step(operation, outcome)
            run.visits.update(judgement.visited)
            run.pairs.update(product(before, judgement.visited))
            before = judgement.visited
            if judgement.divergence is not None:
                run.divergence = judgement.divergence
                run.verdict = CaseVerdict.FAIL
                break
            if until < math.inf and time.monotonic() > until:
                run.verdict = CaseVerdict.INCONCLUSIVE
                break
        if run.verdict is CaseVerdict.PASS and judge.deviated is not None:
            run.divergence = judge.deviated
            run.verdict = CaseVerdict.DEVIATES
        subject.end()
    except SubjectFailure as failure:
        run.failure = failure
        run.verdict = CaseVerdict.SUBJECT_FAILED
    except UnsupportedConfigurationError as refusal:
        run.verdict = CaseVerdict.UNSUPPORTED
        run.refused = str(refusal) or "unsupported"
    except TooManyStates:
        run.verdict = CaseVerdict.INCONCLUSIVE
    return run


def is_refused(outcome: Outcome) -> bool:
    """Decide whether an operation, or its script, was refused as not offered."""
    refused = outcome.rejected is Reason.UNSUPPORTED
    return refused or any(event.reason is Reason.UNSUPPORTED for event in outcome.events)
