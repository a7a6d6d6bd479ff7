"""Faults in lines that an adapter wrote, or did not write."""

from purgatory_conformance.subjects.subject import FailureKind


class Fault(Exception):
    """A breach of the protocol by a line that was read, or that did not come.

    ``received`` is what came instead where the line itself does not say it.
    """

    def __init__(self, kind: FailureKind, explanation: str, received: bytes = b"") -> None:
        """Keep the parts, so that a failure can be made of them."""
        super().__init__(explanation)
        self.kind = kind
        self.explanation = explanation
        self.received = received
