"""Smaller numbers for smaller cases, and whether the clock of a case goes on."""

from collections.abc import Iterable, Iterator

from purgatory_spec.operations import Advance, Elapse, Operation


def smaller(number: int) -> Iterator[int]:
    """Numbers of the same sign that are nearer to nought, the smallest first."""
    sign = -1 if number < 0 else 1
    for size in dict.fromkeys((0, 1, abs(number) // 2, abs(number) - 1)):
        if 0 <= size < abs(number):
            yield sign * size


def clock_goes_on(start_ms: int, operations: Iterable[Operation]) -> bool:
    """Whether no operation sets the clock back."""
    now = start_ms
    for operation in operations:
        if isinstance(operation, Advance | Elapse):
            if operation.to_ms < now:
                return False
            now = operation.to_ms
    return True
