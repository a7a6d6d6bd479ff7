"""Cases for a timer on a real clock: short delays, and few of them, since time really passes."""

from purgatory_conformance.generation.source import Source
from purgatory_spec.operations import Add, Cancel, Operation, Wait
from purgatory_spec.profiles import Feature, NegativeDelay, TimerConfiguration, TimerProfile

_LONGEST_DELAY_MS = 60
_MOST_TASKS = 8
_NEGATIVE = frozenset({NegativeDelay.ALREADY_DUE, NegativeDelay.AS_ZERO})


def draw_real_clock_configuration(source: Source) -> TimerConfiguration:
    """Return a configuration; small wheels so that short delays cascade too."""
    return TimerConfiguration(source.item((1, 1, 5, 10)), source.item((2, 3, 5, 20)), 0)


def draw_real_clock_operations(profile: TimerProfile, source: Source) -> tuple[Operation, ...]:
    """Draw adds, cancels and short waits, and a last wait in which all tasks run."""
    delays: dict[str, int] = {}
    cancelled: list[str] = []
    operations: list[Operation] = []
    if Feature.CANCEL in profile.features:
        delays["c"] = source.integer(_LONGEST_DELAY_MS // 2, _LONGEST_DELAY_MS)
        cancelled.append("c")
        operations += [Add("c", delays["c"]), Cancel("c"), Cancel("c")]
        if Feature.READD in profile.features and source.integer(0, 1):
            operations.append(Add("c", delays["c"]))
    for _ in range(source.integer(6, 16)):
        kind = source.weighted((6, 3, 2, 2, 1))
        known = sorted(delays)
        if kind == 1:
            operations.append(Wait(source.integer(1, 15)))
        elif kind == 2 and known and Feature.CANCEL in profile.features:
            cancelled.append(source.item(known))
            operations.append(Cancel(cancelled[-1]))
        elif kind == 3 and known and Feature.READD in profile.features:
            operations.append(_again(profile, source, delays, cancelled or known))
        elif kind == 4 and Feature.CANCEL in profile.features:
            operations.append(Cancel(f"unknown{len(operations)}"))
        elif len(delays) < _MOST_TASKS:
            task = f"t{len(delays) + 1}"
            delays[task] = _delay(profile, source)
            operations.append(Add(task, delays[task]))
    operations.append(Wait(_LONGEST_DELAY_MS + profile.lateness_ms + 20))
    known = [task for task in sorted(delays) if task not in cancelled]
    if known and Feature.CANCEL in profile.features:
        operations += [Cancel(task) for task in known[:3]]
    if known and Feature.READD in profile.features:
        operations += [_again(profile, source, delays, [task]) for task in known[:3]]
    operations.append(Wait(_LONGEST_DELAY_MS + profile.lateness_ms + 20))
    return tuple(operations)


def _delay(profile: TimerProfile, source: Source) -> int:
    """Draw a delay: mostly a short one, sometimes none, seldom a negative one."""
    kind = source.weighted((6, 2, 1))
    if kind == 2 and profile.negative_delay in _NEGATIVE:
        return -source.integer(1, 3)
    return source.integer(1, _LONGEST_DELAY_MS) if kind == 0 else 0


def _again(profile: TimerProfile, source: Source, delays: dict[str, int], tasks: list[str]) -> Add:
    task = source.item(tasks)
    if Feature.CHANGE_DELAY in profile.features:
        delays[task] = _delay(profile, source)
    return Add(task, delays[task])
