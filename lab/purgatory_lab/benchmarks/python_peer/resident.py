"""The memory of this process."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from purgatory_lab.benchmarks.python_peer.messages import CannotMeasure

_STATUS: Final = Path("/proc/self/status")
_CLEAR_REFERENCES: Final = Path("/proc/self/clear_refs")


def resident_bytes() -> tuple[int, str]:
    """Return the memory that the process holds now, and how it is known.

    Without ``/proc`` it is the peak, which is the same in a process that only grows.

    Raises:
        CannotMeasure: the operating system does not tell.
    """
    if _STATUS.exists():
        return _status_bytes("VmRSS"), "growth of the resident set"
    return peak_bytes(), "growth of the peak of the resident set"


def peak_bytes() -> int:
    """Return the most that the process has held since it started, or since ``reset_peak``.

    Raises:
        CannotMeasure: the operating system does not tell.
    """
    if _STATUS.exists():
        return _status_bytes("VmHWM")
    try:
        import resource
    except ImportError:
        raise CannotMeasure("this operating system does not tell what a process holds") from None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def reset_peak() -> None:
    """Have the peak begin anew, where the operating system allows it."""
    with suppress(OSError):
        _CLEAR_REFERENCES.write_text("5")


def _status_bytes(name: str) -> int:
    for line in _STATUS.read_text().splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return int(value.split()[0]) * 1024
    raise CannotMeasure(f"{_STATUS} has no {name}")
