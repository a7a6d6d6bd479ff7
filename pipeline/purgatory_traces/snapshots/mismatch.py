"""Contradictions between a snapshot and the possible states by the lines before it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from purgatory_traces.errors import Unusable

_MOST_NAMES = 10


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The rule that is broken, and what was expected and seen, as sentences."""

    rule: str
    expected: str
    seen: str


def expiry_of(name: str, early_ms: int, late_ms: int | None) -> int:
    """Return the one expiry of a task on a manual clock.

    Raises:
        Unusable: there are two.
    """
    if late_ms is not None and early_ms != late_ms:
        raise Unusable(f"the expiry of {name!r} lies between two times, on a manual clock")
    return early_ms


def reject_parts(component: str, parts: Mapping[str, object]) -> None:
    """Refuse parts of a snapshot that belong to another component.

    Raises:
        Unusable: something is.
    """
    for name, part in parts.items():
        if part:
            raise Unusable(f"the snapshot of a {component} has no {name}")


def reject_other_time(told_ms: int, believed_ms: int) -> None:
    """Refuse a clock that differs from the lines before: only lines move it.

    Raises:
        Unusable: it does not.
    """
    if told_ms != believed_ms:
        raise Unusable(f"now_ms is {told_ms}; by the lines before, the clock reads {believed_ms}")


def names_words(what: str, names: Iterable[str]) -> str:
    """Return names in their order, cut short where they are many: ``pending: t1, t2``."""
    listed = list(names)
    words = ", ".join(listed[:_MOST_NAMES]) or "nothing"
    rest = len(listed) - _MOST_NAMES
    return f"{what}: {words}" + (f" and {rest} more" if rest > 0 else "")


def mapping_difference(
    believed: Mapping[str, int], told: Mapping[str, int]
) -> tuple[list[str], list[str], list[str]]:
    """Return the names that are missing, too many, or with another number; sorted."""
    missing = sorted(name for name in believed if name not in told)
    extra = sorted(name for name in told if name not in believed)
    other = sorted(name for name in told if told[name] != believed.get(name, told[name]))
    return missing, extra, other


def time_outs_mismatch(
    believed: Mapping[str, int], told: Mapping[str, int], rules: tuple[str, str, str]
) -> Mismatch | None:
    """Return the difference of pending time-outs, or None.

    Args:
        believed: By the lines before, each with its due tick (ms).
        told: By the snapshot.
        rules: The rules for one that is missing or too many, too early, too late.
    """
    missing, extra, other = mapping_difference(believed, told)
    lost_or_twice, early, late = rules
    if missing or extra:
        words = names_words("missing", missing) if missing else names_words("too many", extra)
        return Mismatch(lost_or_twice, f"{len(believed)} pending", f"{len(told)} pending; {words}")
    if other:
        name = other[0]
        rule = early if told[name] < believed[name] else late
        return Mismatch(rule, f"{name} due at {believed[name]} ms", f"{name} at {told[name]} ms")
    return None
