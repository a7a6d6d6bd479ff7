"""Rules that hold once a time has passed: a bounded number of them is waited for."""

from collections import Counter
from dataclasses import dataclass, field
from heapq import heappop, heappush

MOST_PASSING = 1024


@dataclass(slots=True)
class PassingRules:
    """What was ended in time, so that nothing must come of it; visited when its time is over.

    Where more is ended at a time than is kept here, the visits of the rest are not counted.
    """

    _passing: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)

    def put(self, late_ms: int, rules: frozenset[str]) -> None:
        """Count a visit of these rules once the clock has passed a reading."""
        if len(self._passing) < MOST_PASSING:
            heappush(self._passing, (late_ms, tuple(sorted(rules))))

    def pass_to(self, now_ms: int, visits: Counter[str]) -> None:
        """Count what the clock has passed."""
        while self._passing and self._passing[0][0] < now_ms:
            visits.update(heappop(self._passing)[1])
