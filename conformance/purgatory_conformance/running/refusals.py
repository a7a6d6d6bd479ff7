"""The refusals of a subject: instances and operations, reasons, and what was never tested.

A refused case judges nothing. A few of them leave the verdict as it is, and are shown. Many make it
inconclusive, and so does a kind of instance or operation of which every one was refused. A number
that needs more than 32 bits may always be refused: a type that cannot hold it makes no mistake
about it.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from purgatory_conformance.running.case_run import CaseRun, CaseVerdict
from purgatory_spec.operations import Add, Operation, Watch, operation_name
from purgatory_spec.profiles import Configuration, PurgatoryConfiguration, TimerConfiguration

MOST_REFUSED = 0.05
"""The largest share of refused cases that a verdict can rest on.

A rule is put to the test in 20 steps at the least, and the rarest situations take several hundred
cases for that: where more than one case in twenty is left out, whole situations can be missing.
"""

_LEAST = {
    "purge_interval": 0,
    "start_ms": 0,
    "tick_ms": 1,
    "wheel_size": 2,
    "size_bytes": 1,
    "max_single_bytes": 1,
}
"""The plainest value of each argument; above it there is something else to implement."""

_LARGEST_OF_32_BITS = 2**31 - 1

_MOST_TOLD = 4


@dataclass
class Refusals:
    """The refused cases among all cases, by their reasons and by what was asked.

    ``reasons`` has all of them, ``refused`` counts those that a verdict cannot rest on.
    """

    asked: int = 0
    refused: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    _refused_kinds: set[str] = field(default_factory=set)
    _granted_kinds: set[str] = field(default_factory=set)

    def note(self, run: CaseRun) -> None:
        """Count a case and its refusals."""
        self.asked += 1
        if run.verdict is CaseVerdict.SUBJECT_FAILED:
            return
        instance = set(_kinds_of_instance(run.configuration))
        if run.verdict is not CaseVerdict.UNSUPPORTED:
            self._granted_kinds |= instance
            self._granted_kinds.update(_kinds_of_operations(run))
            return
        self.reasons[run.refused] += 1
        if _needs_more_bits(run.steps[-1].operation if run.steps else run.configuration):
            return
        self.refused += 1
        if not run.steps:
            self._refused_kinds |= instance
            return
        self._granted_kinds |= instance
        *granted, last = _kinds_of_operations(run)
        self._granted_kinds.update(granted)
        self._refused_kinds.add(last)

    @property
    def never_tested(self) -> list[str]:
        """Return the kinds of instances and operations of which every one was refused."""
        return sorted(self._refused_kinds - self._granted_kinds)

    @property
    def problem(self) -> str:
        """Return the reason why the verdict cannot rest on the tested cases; empty where it can."""
        never = self.never_tested
        if not never and self.refused <= MOST_REFUSED * self.asked:
            return ""
        said = "; ".join(reason for reason, _ in self.reasons.most_common(2))
        words = f"{self.refused} of {self.asked} cases were refused ({said})"
        if never:
            more = f" and {len(never) - _MOST_TOLD} more" if len(never) > _MOST_TOLD else ""
            words += f"; never put to the test: {', '.join(never[:_MOST_TOLD])}{more}"
        return words


def _needs_more_bits(asked: Configuration | Operation) -> bool:
    """Decide whether an instance or an operation has a number that 32 bits cannot hold."""
    parts: list[object] = [msgspec.to_builtins(asked)]
    while parts:
        match parts.pop():
            case dict() as fields:
                parts.extend(fields.values())
            case list() as items:
                parts.extend(items)
            case int() as number if abs(number) > _LARGEST_OF_32_BITS:
                return True
    return False


def _kinds_of_instance(configuration: Configuration) -> Iterator[str]:
    for name, value in msgspec.structs.asdict(configuration).items():
        words = name.replace("_", " ")
        if isinstance(value, bool):
            yield f"an instance with {words}" if value else f"an instance without {words}"
        elif name in _LEAST:
            least = _LEAST[name]
            side = "below " if value < least else "above " if value > least else ""
            yield f"an instance with {words} {side}{least}"


def _kinds_of_operations(run: CaseRun) -> list[str]:
    return [_kind_of_operation(run.configuration, step.operation) for step in run.steps]


def _kind_of_operation(configuration: Configuration, operation: Operation) -> str:
    """Return the operation's name; an operation beyond the lowest wheel is a kind of its own."""
    name = f"the operation {operation_name(operation)}"
    if isinstance(configuration, TimerConfiguration | PurgatoryConfiguration) and isinstance(
        operation, Add | Watch
    ):
        span_ms = configuration.tick_ms * configuration.wheel_size
        if operation.delay_ms >= span_ms:
            return f"{name} beyond the lowest wheel"
    return name
