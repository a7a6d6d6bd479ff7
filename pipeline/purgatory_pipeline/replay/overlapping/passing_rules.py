"""Rules that hold once a time has passed: a bounded number of them is waited for."""

from bisect import bisect_left, insort
from collections import Counter
from dataclasses import dataclass, field

MOST_PASSING = 1024


@dataclass(slots=True)
class PassingRules:
    """What came or was ended in time; visited when its time is over, and nothing more can come.

    Where more is waited for at a time than is kept here, those with the earliest times are kept,
    and the visits of the rest are not counted.
    """

    _passing: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)

    def put(self, late_ms: int, rules: frozenset[str]) -> None:
        """Count a visit of these rules once the clock has passed a reading."""
        if len(self._passing) >= MOST_PASSING:
            if late_ms >= self._passing[-1][0]:
                return
            self._passing.pop()
        insort(self._passing, (late_ms, tuple(sorted(rules))))

    def pass_to(self, now_ms: int, visits: Counter[str]) -> None:
        """Count what the clock has passed."""
        if not self._passing or self._passing[0][0] >= now_ms:
            return
        passed = bisect_left(self._passing, (now_ms, ()))
        for _, rules in self._passing[:passed]:
            visits.update(rules)
        del self._passing[:passed]
