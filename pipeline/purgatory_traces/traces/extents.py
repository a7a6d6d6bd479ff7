"""Extents of runs in files: whether a run seems to be whole in them."""

from purgatory_traces.traces.lines import Located

_LAST = b'"end"'


class Extent:
    """The lines of one run in some files, counted.

    It is an estimate, made without a look into the lines: what was taken for whole may have lines
    elsewhere, and what was not may be all there is.
    """

    __slots__ = ("_ends", "_latest", "lines")

    def __init__(self) -> None:
        """Begin before any line of a run."""
        self.lines = 0
        self._latest = -1
        self._ends = False

    def take(self, line: Located) -> None:
        """Take a line and count it."""
        self.lines += 1
        if line.seq >= self._latest:
            self._latest = line.seq
            self._ends = _LAST in line.raw

    @property
    def is_whole(self) -> bool:
        """Decide whether the largest number is the run's last, with as many lines as it tells."""
        return self._ends and self.lines > self._latest
