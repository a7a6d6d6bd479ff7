"""Facts of a file's entry in its folder: its size in lines, about, and its day."""

from pathlib import Path
from typing import Final

_GROWTH: Final = {".gz": 10, ".parquet": 6}
"""The bytes of lines that a byte of a file of each kind holds, about."""
_SECONDS_OF_A_DAY: Final = 86_400


def bytes_of_lines(name: str) -> int:
    """Return the bytes of lines that a file holds, about; 0 where it cannot be asked."""
    try:
        size = Path(name).stat().st_size
    except OSError:
        return 0
    return size * _GROWTH.get(Path(name).suffix, 1)


def day_of_change(name: str) -> int:
    """Return the day of a file's last change, UTC, from 1970-01-01; -1 where it cannot be asked."""
    try:
        return int(Path(name).stat().st_mtime) // _SECONDS_OF_A_DAY
    except OSError:
        return -1
