"""Judge two modules in the wheel's place, by the suite: itself, and one that expires too early.

A program for the same reason as ``tiny_run``; prints end and detail of each, as JSON.
"""

import json
from pathlib import Path

from benchmarks.mutation.judging import SuiteJudge, record
from benchmarks.mutation.mutants import Mutant
from benchmarks.mutation.runner import judge_all
from benchmarks.mutation.scope import TIMER

WHEEL = Path(__file__).parents[3] / "impl" / "purgatory_impl" / "wheel.py"
LINE = "if expiry_ms < clock_ms + self._tick_ms:"
TOO_EARLY = "if expiry_ms < clock_ms + 2 * self._tick_ms:"


def main() -> None:
    """Print the two results."""
    source = WHEEL.read_text(encoding="utf-8")
    assert source.count(LINE) == 1
    mutants = [
        Mutant("wheel", "Wheel.place", "", 0, LINE, line, source.replace(LINE, line))
        for line in (LINE, TOO_EARLY)
    ]
    judge = SuiteJudge({"wheel": (TIMER,)}, {TIMER: record(TIMER)})
    results = judge_all(mutants, judge, workers=2, limit_seconds=30)
    ends = {result.mutant.mutated: [result.end.value, result.detail] for result in results}
    print(json.dumps([ends[LINE], ends[TOO_EARLY]]))


if __name__ == "__main__":
    main()
