"""A case while it is drawn: what is predicted of the subject, and the situations that come next."""

from typing import Protocol

from purgatory_conformance.generation.source import Source
from purgatory_spec.operations import Operation


class Draft(Protocol):
    """A case while it is drawn, situation after situation of the component's table.

    Whatever is drawn is followed by the prediction at once, so that the next situation fits.
    """

    def opening(self, source: Source) -> tuple[Operation, ...]:
        """Return the operations that the case begins with: seldom any."""

    def offers(self, situation: str) -> bool:
        """Decide whether a subject of this profile can be brought into the situation now."""

    def draw(self, situation: str, source: Source) -> tuple[Operation, ...]:
        """Return the operations of a situation, none where it cannot arise at present."""

    def shutdown(self, source: Source, share: int = 9) -> tuple[Operation, ...]:
        """Return the operations of a shutdown, in one of ``share + 1`` cases; otherwise none."""
