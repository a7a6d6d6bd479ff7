"""Simpler cases of a memory pool: smaller pools and requests, shorter times, plainer releases."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import msgspec

from purgatory_conformance.generation.memory_pool.world import MemoryPoolWorld, is_offered
from purgatory_conformance.reducing.times import smaller
from purgatory_spec.operations import (
    Allocate,
    Construct,
    Elapse,
    Lose,
    Operation,
    Release,
    ReleaseForeign,
)
from purgatory_spec.profiles import MemoryPoolConfiguration, MemoryPoolProfile

_NOT_PLAIN = 1000
"""The extra cost of an illegal request over a legal one: other rules govern illegal requests."""

_SMALL_POOLS = ((1, 1), (2, 1), (2, 2), (3, 2), (4, 2), (10, 4))


@dataclass(frozen=True)
class MemoryPoolCase:
    """A configuration and the operations to carry out under it."""

    configuration: MemoryPoolConfiguration
    operations: tuple[Operation, ...]

    @property
    def size(self) -> tuple[int, int, int, int]:
        """Smaller is simpler: operations, the sort of pool, illegal requests, the numbers."""
        given = self.configuration
        most = given.max_single_bytes
        illegal = sum(
            isinstance(op, Allocate) and not 1 <= op.size_bytes <= most for op in self.operations
        )
        sort = 2 if given.unbounded else int(given.strict)
        numbers = sum(_magnitude(op) for op in self.operations)
        return len(self.operations), sort, illegal, numbers + 2 * given.size_bytes + most

    def is_usable(self, profile: MemoryPoolProfile) -> bool:
        """Whether a subject of this profile can be asked the case."""
        if not is_offered(self.configuration, profile):
            return False
        world = MemoryPoolWorld(self.configuration, profile)
        for operation in self.operations:
            if not world.can_be_asked(operation):
                return False
            world.apply(operation)
        return True


def simpler_memory_pool_cases(case: MemoryPoolCase) -> Iterator[MemoryPoolCase]:
    """Simpler cases, beyond those with operations left out."""
    yield from _smaller_pools(case)
    yield from _shorter_times(case)
    for index, operation in enumerate(case.operations):
        for plainer in _plainer(case.configuration, operation):
            changed = (*case.operations[:index], plainer, *case.operations[index + 1 :])
            yield replace(case, operations=changed)


def _smaller_pools(case: MemoryPoolCase) -> Iterator[MemoryPoolCase]:
    given = case.configuration
    change = msgspec.structs.replace
    if given.unbounded:
        yield replace(case, configuration=change(given, unbounded=False))
    if given.strict:
        yield replace(case, configuration=change(given, strict=False))
    halves = (max(1, given.size_bytes // 2), max(1, given.max_single_bytes // 2))
    steps = (given.size_bytes - 1, min(given.max_single_bytes, given.size_bytes - 1))
    same_most = (given.max_single_bytes, given.max_single_bytes)
    for size, most in (*_SMALL_POOLS, same_most, halves, steps):
        if 1 <= most <= size and (size, most) != (given.size_bytes, given.max_single_bytes):
            smaller = change(given, size_bytes=size, max_single_bytes=most)
            fitted = tuple(_fitted(op, given.max_single_bytes, most) for op in case.operations)
            yield MemoryPoolCase(smaller, fitted)
            yield replace(case, configuration=smaller)


def _fitted(operation: Operation, most: int, smaller: int) -> Operation:
    """A request as large for the smaller pool as the original for the larger pool."""
    match operation:
        case Allocate(buffer, size_bytes) if size_bytes == most:
            return Allocate(buffer, smaller)
        case Allocate(buffer, size_bytes) if size_bytes > most:
            return Allocate(buffer, smaller + 1)
        case Allocate(buffer, size_bytes) if size_bytes > smaller:
            return Allocate(buffer, smaller)
        case _:
            return operation


def _shorter_times(case: MemoryPoolCase) -> Iterator[MemoryPoolCase]:
    """Take time out of a case: what comes later moves with it."""
    now = 0
    for index, operation in enumerate(case.operations):
        if not isinstance(operation, Elapse):
            continue
        gap = operation.to_ms - now
        now = operation.to_ms
        for rest in smaller(gap):
            later = (_shifted(op, rest - gap) for op in case.operations[index:])
            yield replace(case, operations=(*case.operations[:index], *later))


def _shifted(operation: Operation, by_ms: int) -> Operation:
    return Elapse(operation.to_ms + by_ms) if isinstance(operation, Elapse) else operation


def _plainer(configuration: MemoryPoolConfiguration, operation: Operation) -> Iterator[Operation]:
    match operation:
        case Allocate(buffer, size_bytes):
            most = configuration.max_single_bytes
            plain = (1, most, most // 2, size_bytes - 1, -1, 0, most + 1)
            yield from (Allocate(buffer, size) for size in plain if size != size_bytes)
        case Release(buffer, form):
            yield Release(buffer)
            del form
        case Lose(buffer):
            yield Release(buffer)
        case ReleaseForeign(size_bytes):
            yield from (ReleaseForeign(size) for size in smaller(size_bytes) if size > 0)
        case Construct(size_bytes, most):
            plain_sizes: Iterable[tuple[int, int]] = ((1, 1), (1, 2), (0, 1), (1, 0), (1, -1))
            for size, largest in plain_sizes:
                if (size, largest) != (size_bytes, most):
                    yield Construct(size, largest)
        case _:
            return


def _magnitude(operation: Operation) -> int:
    match operation:
        case Allocate(_, size_bytes):
            return size_bytes if size_bytes > 0 else _NOT_PLAIN - size_bytes
        case Release(_, form):
            return 0 if form.value == "itself" else 1
        case ReleaseForeign(size_bytes):
            return size_bytes
        case Lose():
            return 2
        case Construct(size_bytes, most):
            wrong = sum(_NOT_PLAIN for number in (size_bytes, most) if number < 1)
            return abs(size_bytes) + abs(most) + wrong
        case Elapse(to_ms):
            return to_ms
        case _:
            return 0
