"""Cases for a timer on a real clock: short delays, and few of them, since time really passes."""

from purgatory_conformance.generation.source import Source
from purgatory_spec.operations import Add, Cancel, Operation, Wait
from purgatory_spec.profiles import Feature, NegativeDelay, TimerConfiguration, TimerProfile

_LONGEST_DELAY_MS = 60
_MOST_TASKS = 8


def draw_real_clock_configuration(source: Source) -> TimerConfiguration:
    """A configuration; small wheels so that short delays cascade too."""
    return TimerConfiguration(source.item((1, 1, 5, 10)), source.item((2, 3, 5, 20)), 0)


def draw_real_clock_operations(profile: TimerProfile, source: Source) -> tuple[Operation, ...]:
    """Adds, cancels and short waits; a last wait in which everything runs."""
    delays: dict[str, int] = {}
    cancelled: list[str] = []
    operations: list[Operation] = []
    lowest = 0 if profile.negative_delay is NegativeDelay.REJECT else -3
    for _ in range(source.integer(6, 16)):
        kind = source.weighted((6, 3, 2, 2, 1))
        known = sorted(delays)
        if kind == 1:
            operations.append(Wait(source.integer(1, 15)))
        elif kind == 2 and known and Feature.CANCEL in profile.features:
            cancelled.append(source.item(known))
            operations.append(Cancel(cancelled[-1]))
        elif kind == 3 and known and Feature.READD in profile.features:
            again = source.item(cancelled or known)
            delay = source.integer(0, _LONGEST_DELAY_MS)
            if Feature.CHANGE_DELAY not in profile.features:
                delay = delays[again]
            operations.append(Add(again, delay))
        elif kind == 4 and Feature.CANCEL in profile.features:
            operations.append(Cancel(f"unknown{len(operations)}"))
        elif len(delays) < _MOST_TASKS:
            task = f"t{len(delays) + 1}"
            delays[task] = source.integer(lowest, _LONGEST_DELAY_MS)
            operations.append(Add(task, delays[task]))
    operations.append(Wait(_LONGEST_DELAY_MS + profile.lateness_ms + 20))
    return tuple(operations)
