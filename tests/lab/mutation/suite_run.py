"""Judge modules in their own place by the suite: as they are, and each with one wrong line."""

# A program for the same reason as ``tiny_run``; prints end and detail of each, as JSON.

import json
from pathlib import Path

from purgatory_conformance.running.campaign import Budget
from purgatory_lab.mutation import scope
from purgatory_lab.mutation.judging import Campaigns, SuiteJudge, record
from purgatory_lab.mutation.mutants import Mutant
from purgatory_lab.mutation.runner import judge_all

IMPLEMENTATION = Path(__file__).parents[3] / "impl" / "purgatory_impl"

SECOND_CHUNK = ("last.next = self.last = chunk", "self.last = chunk")
SECOND_BATCH = ("self._last.next = Batch()", "self._first = self._last.next = Batch()")

WRONG = {
    ("wheel", scope.TIMER): (
        "if expiry_ms < self._finest.turn_ms:",
        "if expiry_ms < self._finest.turn_ms + 1:",
    ),
    ("accounting", scope.PURGATORY): (
        "return self._pending + max(0, self._stale)",
        "return self._pending",
    ),
    ("accounting", scope.AS_PUBLISHED): ("self._estimate += 1", "self._estimate += 2"),
    ("chunks", scope.SMALL_CHUNKS[0]): SECOND_CHUNK,
    ("chunks", scope.AS_PUBLISHED): SECOND_CHUNK,
    ("task_queue", scope.SMALL_BATCHES[0]): SECOND_BATCH,
    ("task_queue", scope.TIMER): SECOND_BATCH,
    ("memory_pool", scope.POOL): ("return self._size - self.available_bytes", "return self._size"),
}
"""By module and trial: a line, and what stands in its place."""

MANY_CASES = Campaigns((1,), Budget(least_cases=150, most_cases=150, minimum_visits=0))


def main() -> None:
    """Print how the original of each module ends, and how the wrong one: end, detail, stage."""
    found = []
    for (module, trial), lines in WRONG.items():
        source = (IMPLEMENTATION / f"{module}.py").read_text(encoding="utf-8")
        assert source.count(lines[0]) == 1
        judge = SuiteJudge({module: (trial,)}, {trial: record(trial, MANY_CASES)})
        mutants = [
            Mutant(module, "", "", 0, lines[0], line, source.replace(lines[0], line))
            for line in (lines[0], lines[1])
        ]
        results = judge_all(mutants, judge, workers=1, limit_seconds=300)
        found.append([[each.end.value, each.detail, each.stage == trial.name] for each in results])
    print(json.dumps(found))


if __name__ == "__main__":
    main()
