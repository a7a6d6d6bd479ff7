"""Which judge follows a run."""

from purgatory_traces.replay.judge import TraceJudge
from purgatory_traces.replay.overlapping.judge import OverlappingJudge
from purgatory_traces.replay.overlapping.memory_pool.follower import MemoryPoolFollower
from purgatory_traces.replay.overlapping.purgatory.follower import PurgatoryFollower
from purgatory_traces.replay.overlapping.timer.follower import TimerFollower
from purgatory_traces.replay.sequential import SequentialJudge
from purgatory_traces.traces.lines import (
    Begin,
    ManualClock,
    MemoryPoolInstance,
    PurgatoryInstance,
    TimerInstance,
)


def judge_of(begin: Begin) -> TraceJudge:
    """The judge of the run that this line begins.

    On a clock that is moved by the lines calls follow one another; on one that moves by itself
    they may overlap.

    Raises:
        Unusable: no judge can follow such a run.
    """
    if isinstance(begin.clock, ManualClock):
        return SequentialJudge(begin)
    match begin.instance:
        case TimerInstance():
            return OverlappingJudge(begin, TimerFollower(begin))
        case PurgatoryInstance():
            return OverlappingJudge(begin, PurgatoryFollower(begin))
        case MemoryPoolInstance():
            return OverlappingJudge(begin, MemoryPoolFollower(begin))
