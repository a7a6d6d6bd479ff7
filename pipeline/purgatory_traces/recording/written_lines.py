"""The lines of a trace as they are written: cheap to make and to encode, the same on paper.

``traces.lines`` says what may stand in a trace; its types check and are read with. These are made
in the middle of other people's calls: they are made by position, are not followed by the garbage
collector (none of them can be part of a cycle), and hold words where those hold enumerations.
"""

import msgspec

from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Value


class WrittenCall(msgspec.Struct, gc=False, tag_field="kind", tag="call"):
    """See ``traces.lines.Call``."""

    run: str
    seq: int
    at_ns: int
    thread: str
    operation: Operation


class WrittenEvent(msgspec.Struct, gc=False, tag_field="kind", tag="event"):
    """See ``traces.lines.Happened``."""

    run: str
    seq: int
    at_ns: int
    thread: str
    event: str
    task: str


class WrittenReturn(msgspec.Struct, gc=False, tag_field="kind", tag="return", omit_defaults=True):
    """See ``traces.lines.Return``."""

    run: str
    seq: int
    at_ns: int
    thread: str
    result: Value = None
    rejected: str | None = None
