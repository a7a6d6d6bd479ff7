"""Which judge follows a run."""

from purgatory_pipeline.replay.judge import TraceJudge
from purgatory_pipeline.replay.sequential import SequentialJudge
from purgatory_pipeline.trace_lines import Begin


def judge_of(begin: Begin) -> TraceJudge:
    """The judge of the run that this line begins.

    Raises:
        Unusable: no judge can follow such a run.
    """
    return SequentialJudge(begin)
