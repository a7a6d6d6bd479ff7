"""Shrinking: from a failing case to the shortest one that fails, through the subject itself.

The case that was found in the campaign is reduced: operations are left out and numbers made smaller
as long as the case still fails. Where more than a few operations are left, short cases are drawn
anew, and the smallest of the first that fail is reduced as well. The smaller of the two is kept.
How to make a case simpler, beyond leaving out operations, is the reducer's business.
"""

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import msgspec

from purgatory_conformance.generation.source import SeededSource
from purgatory_conformance.reducing.reducer import in_less_time, simpler
from purgatory_conformance.reducing.size import size
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate
from purgatory_spec.operations import Advance, Operation
from purgatory_spec.profiles import Profile, component_of, goes_far

_FEW_OPERATIONS = 3
"""The operations followed at a glance; to look for fewer would take most of the time."""

_ENOUGH_MET = 4
"""The number of failing cases that are drawn anew."""

_MOST_FOR_PAIRS = 12
"""The most operations of a case from which pairs are left out together."""

_MOST_FOR_SPANS = 4
"""An operation is left out and a span shortened at once only where there are so few."""

_FEW_TICKS = 2**16
"""The number of ticks that any timer goes through at once, one after the other."""

Fails = Callable[[Candidate], bool]


class _Exhausted(Exception):
    """The budget of runs is used up."""


@dataclass
class _Budgeted:
    """A check that counts its runs, and stops in time."""

    fails: Fails
    left: int
    until: float = math.inf

    def __call__(self, case: Candidate) -> bool:
        if self.left <= 0 or time.monotonic() > self.until:
            raise _Exhausted
        self.left -= 1
        return self.fails(case)


def search_smaller(
    profile: Profile, reduced: Candidate, fails: Fails, *, seed: int, most_runs: int
) -> Candidate:
    """Return a smaller failing case than a reduced one, where one is drawn; else itself."""
    if len(reduced.operations) <= _FEW_OPERATIONS:
        return reduced
    met = _met(profile, fails, seed, most_runs // 4, len(reduced.operations))
    if met is None:
        return reduced
    return min(reduced, reduce_case(profile, met, fails, most_runs // 4), key=size_of)


def _met(profile: Profile, fails: Fails, seed: int, most_runs: int, most: int) -> Candidate | None:
    """Return the smallest of the first failing cases that are drawn with ``most`` operations."""
    met: list[Candidate] = []
    for number in range(most_runs):
        case = short_case(profile, f"{seed}-short-{number}", 1 + number % most)
        if fails(case):
            met.append(case)
        if len(met) == _ENOUGH_MET:
            break
    return min(met, key=size_of, default=None)


def short_case(profile: Profile, seed: str, most: int) -> Candidate:
    """Return a drawn case with at most so many operations."""
    support, source = support_of(component_of(profile)), SeededSource(seed)
    configuration = support.draw_configuration(profile, source, frozenset())
    operations = support.draw_operations(
        configuration, profile, source, most=most, wanted=frozenset()
    )
    return Candidate(configuration, operations)


def reduce_case(
    profile: Profile, case: Candidate, fails: Fails, most_runs: int, until: float = math.inf
) -> Candidate:
    """Leave out and make smaller, one change at a time, until no change keeps the failure.

    No further case is run after the reading ``until`` of the monotonic clock.
    """
    budgeted = _Budgeted(fails, most_runs, until)
    asked: set[Candidate] = set()
    with contextlib.suppress(_Exhausted):
        progress = True
        while progress:
            progress = False
            size = size_of(case)
            for other in simpler_cases(profile, case):
                if other in asked or size_of(other) >= size:
                    continue
                asked.add(other)
                if budgeted(other):
                    case = other
                    progress = True
                    break
    return case


def is_part_of(part: Candidate, whole: Candidate) -> bool:
    """Decide whether a case is another with operations, or parts of them, left out; not the last.

    An advance may also go less far in time: what happens until then is the same.
    """
    if part.configuration != whole.configuration or not part.operations:
        return False
    *before, last = part.operations
    *others, end = whole.operations
    return _is_part(last, end) and _is_part(tuple(before), tuple(others))


def _is_part(part: object, whole: object) -> bool:
    if isinstance(part, tuple) and isinstance(whole, tuple):
        rest = iter(whole)
        return all(any(_is_part(each, other) for other in rest) for each in part)
    if isinstance(part, Advance) and isinstance(whole, Advance):
        return part.to_ms <= whole.to_ms
    if isinstance(part, msgspec.Struct) and type(part) is type(whole):
        fields = part.__struct_fields__
        return all(_is_part(getattr(part, name), getattr(whole, name)) for name in fields)
    return part == whole


def simpler_cases(profile: Profile, case: Candidate) -> Iterator[Candidate]:
    """Return the usable cases that are simpler in a single respect, perhaps larger in another.

    None takes the clock over more ticks where a timer may need as many steps of its own for them.
    """
    support = support_of(component_of(profile))
    most_ticks = math.inf if goes_far(profile) else max(_ticks(case), _FEW_TICKS)
    return (
        each
        for each in _simpler(profile, case)
        if _ticks(each) <= most_ticks and support.usable(profile, each)
    )


def _ticks(case: Candidate) -> int:
    """Return the number of ticks from the first reading of the clock to the last."""
    start_ms = getattr(case.configuration, "start_ms", 0)
    last_ms = max((getattr(each, "to_ms", start_ms) for each in case.operations), default=start_ms)
    return (last_ms - start_ms) // getattr(case.configuration, "tick_ms", 1)


def size_of(case: Candidate) -> tuple[int, ...]:
    """Return how simple a case is: the smaller the simpler; operations count first."""
    return size(case.configuration, case.operations)


def _simpler(profile: Profile, case: Candidate) -> Iterator[Candidate]:
    for fewer in _fewer(case.operations):
        yield replace(case, operations=fewer)
    for configuration, operations in simpler(profile, case.configuration, case.operations):
        yield Candidate(configuration, operations)
    for fewer in _without_pairs(case.operations):
        yield replace(case, operations=fewer)
    # What is early shows among others that are due, and alone only before they are.
    if len(case.operations) <= _MOST_FOR_SPANS:
        for fewer in _fewer(case.operations):
            for shorter in in_less_time(case.configuration, fewer):
                yield replace(case, operations=shorter)


def _fewer(operations: tuple[Operation, ...]) -> Iterator[tuple[Operation, ...]]:
    """Yield the operations with a run left out: the longest runs first, of these the last first."""
    length = len(operations) // 2
    while length >= 1:
        for start in range(len(operations) - length, -1, -length):
            yield operations[:start] + operations[start + length :]
        length //= 2


def _without_pairs(operations: tuple[Operation, ...]) -> Iterator[tuple[Operation, ...]]:
    if len(operations) <= _MOST_FOR_PAIRS:
        for first in range(len(operations)):
            for second in range(first + 1, len(operations)):
                yield tuple(op for i, op in enumerate(operations) if i not in (first, second))
