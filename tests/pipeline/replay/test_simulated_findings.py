"""Findings of simulations in the judges of overlapping calls, by the smallest traces."""

from collections.abc import Sequence

import msgspec

from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.reasons import Reason
from purgatory_traces.replay import replay
from purgatory_traces.results.rows import QuarantineRow, VerdictRow
from purgatory_traces.traces.lines import Begin, Instance, MemoryPoolInstance

from .simulation.judged import located, verdict_of
from .wall_clock import Line, at_once, begin, call, end, returns

POOL = MemoryPoolInstance(profiles.MemoryPoolConfiguration(size_bytes=3, max_single_bytes=2))
KNOWS = msgspec.structs.replace(
    POOL, profile=profiles.MemoryPoolProfile(release_validation=profiles.ReleaseValidation.IDENTITY)
)


def trace(instance: Instance, *lines: Line, first: int = 0) -> list[Begin | Line]:
    """A run of these lines, numbered."""
    of_run: Sequence[Begin | Line] = [begin(instance), *lines]
    return [
        msgspec.structs.replace(line, seq=seq, run="simulated")
        for seq, line in enumerate(of_run, start=first)
    ]


def verdict(instance: Instance, *lines: Line, first: int = 0) -> VerdictRow:
    return verdict_of(trace(instance, *lines, first=first))


def conforms(instance: Instance, *lines: Line, first: int = 0) -> bool:
    row = verdict(instance, *lines, first=first)
    assert row.verdict in ("conforms", "diverges"), row
    return row.verdict == "conforms"


def granted(buffer: str, size_bytes: int) -> list[Line]:
    return at_once(0, op.Allocate(buffer, size_bytes), True)


REJECTED: list[Line] = [
    call(0, "main", op.Release("x")),
    returns(0, "main", None, Reason.INVALID_ARGUMENT),
]


def test_a_buffer_that_was_given_back_long_ago_is_rejected() -> None:
    lines: list[Line] = []
    for name in ("x", *(f"b{number}" for number in range(1100))):
        lines += [*granted(name, 1), *at_once(0, op.Release(name))]
    assert conforms(KNOWS, *lines, *REJECTED, end(1))


def test_one_name_for_two_buffers_is_unusable() -> None:
    lines = trace(POOL, *granted("a", 1), *granted("a", 1), end(1))
    assert any(isinstance(row, QuarantineRow) for row in replay(located(lines)))
