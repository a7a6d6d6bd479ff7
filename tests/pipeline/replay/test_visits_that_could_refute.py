"""A visit at a return counts only where another answer would have been found wrong."""

from collections import Counter
from collections.abc import Iterator

import msgspec
import pytest

from purgatory_pipeline.replay.judges import judge_of
from purgatory_pipeline.traces.lines import Begin, End, Return, TraceLine
from purgatory_spec.reasons import Reason

from .simulation.judged import verdict_of
from .simulation.memory_pool_run import drawn_plan as pool_plan
from .simulation.memory_pool_run import simulated_pool
from .simulation.timer_run import drawn_plan as timer_plan
from .simulation.timer_run import simulated_timer

AT_RETURNS = {
    "timer": ("TIMER-SHUTDOWN-CLOSED", "TIMER-NEGATIVE-DELAY"),
    "memory pool": ("POOL-BOUND", "POOL-REFUSAL", "POOL-STRICT", "POOL-NON-STRICT"),
}


def other_answer(line: Return) -> Return:
    """The same return with the other answer."""
    if isinstance(line.result, bool):
        return msgspec.structs.replace(line, result=not line.result)
    rejected = Reason.CLOSED if line.rejected is None else None
    return msgspec.structs.replace(line, rejected=rejected)


def visited(lines: list[TraceLine]) -> Iterator[tuple[int, Return, Counter[str]]]:
    """The returns of a run, with the rules that each puts to the test."""
    begin, *rest = lines
    assert isinstance(begin, Begin)
    judge = judge_of(begin)
    for place, line in enumerate(rest, start=1):
        assert not isinstance(line, Begin)
        before = Counter(judge.visits)
        assert judge.take(line) is None
        if isinstance(line, Return):
            yield place, line, judge.visits - before
        if isinstance(line, End):
            return


@pytest.mark.parametrize(
    ("component", "lines"),
    [
        ("timer", simulated_timer(11, timer_plan(11)).machine.lines),
        ("memory pool", simulated_pool(5, pool_plan(5)).machine.lines),
    ],
    ids=["timer", "memory pool"],
)
def test_no_return_visits_a_rule_that_its_other_answer_would_keep(
    component: str, lines: list[TraceLine]
) -> None:
    """
    Given a simulated run that conforms, with calls that overlap
    When one return gets the other answer, each in turn
    Then the run diverges wherever the return put one of these rules to the test
    And some other returns are free, so that the run shows the difference
    """
    tested = free = 0
    for place, line, rules in list(visited(lines)):
        changed = [*lines[:place], other_answer(line), *lines[place + 1 :]]
        if any(rule in rules for rule in AT_RETURNS[component]):
            assert verdict_of(changed).verdict == "diverges", (place, line)
            tested += 1
        else:
            free += verdict_of(changed).verdict != "diverges"
    assert tested > 0 < free
