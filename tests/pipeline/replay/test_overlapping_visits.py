"""Which rules a run on a real clock puts to the test, and how often."""

from purgatory_spec.operations import Check, Force
from purgatory_traces.replay.overlapping.purgatory.followed_operations import MOST_STALE_KEYS
from purgatory_traces.replay.run_replay import judge_of

from .test_overlapping_purgatory import EXACT, completed, watched
from .wall_clock import Line, at_once, call, returns


def test_so_many_keys_are_remembered_and_no_more() -> None:
    lines: list[Line] = []
    number = MOST_STALE_KEYS + 1
    for each in range(number):
        lines += watched(1, (f"k{each}",), f"o{each}")
        lines += [call(1, "main", Force(f"o{each}")), completed(1, name=f"o{each}")]
        lines += [returns(1, "main", True)]
    for each in range(number):
        lines += at_once(2, Check(f"k{each}"), 0)
    judge = judge_of(EXACT)
    assert [judge.take(line) for line in lines] == [None] * len(lines)
    assert judge.visits["PURGATORY-COMPLETED-NOT-TRIED"] == MOST_STALE_KEYS
