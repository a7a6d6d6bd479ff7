"""On a clock that moves by itself, the lines of one thread are in the order of their times."""

import pytest

from purgatory_spec.operations import Add, Shutdown
from purgatory_traces.errors import Unusable
from purgatory_traces.replay.run_replay import judge_of
from purgatory_traces.traces.lines import TimerInstance

from .wall_clock import at_once, begin, call, returns


@pytest.mark.parametrize(("first_ms", "then_ms"), [(10, 9), (1, -1), (-1, -2)])
def test_a_line_before_the_latest_of_its_thread_is_unusable(first_ms: int, then_ms: int) -> None:
    judge = judge_of(begin(TimerInstance()))
    for line in at_once(first_ms, Add("a", 1000)):
        judge.take(line)
    with pytest.raises(Unusable, match=f"thread 'main': {then_ms}000000 after {first_ms}000000"):
        judge.take(call(then_ms, "main", Shutdown()))


def test_another_thread_may_be_a_little_behind() -> None:
    """Judge the line: a time is read before the number is given out."""
    judge = judge_of(begin(TimerInstance()))
    for line in at_once(10, Add("a", 1000)):
        judge.take(line)
    assert judge.take(call(9, "other", Add("b", 1000))) is None
    assert judge.take(returns(9, "other")) is None
