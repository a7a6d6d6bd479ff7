"""Each history of ``histories`` is explained, refuted or left open as stands above it."""

from pathlib import Path

import pytest

from purgatory_traces.linearizability.checker import Answered
from purgatory_traces.replay.run_replay import RunReplay, rows_of
from purgatory_traces.results.rows import RunVerdict, VerdictRow
from purgatory_traces.traces.lines import WallClock
from tests.pipeline.trace_cases import TraceCase, cases_in

from .traces import found_of

HISTORIES = cases_in(Path(__file__).with_name("histories"))


@pytest.mark.parametrize("case", HISTORIES.values(), ids=HISTORIES)
def test_what_is_known_of_a_history_is_found(case: TraceCase) -> None:
    finding = found_of(case.lines)
    told: dict[str, object] = {"answered": finding.answered.value}
    if finding.reason:
        told["reason"] = finding.reason
    if finding.answered is Answered.NOT_LINEARIZABLE:
        told["wrong_at"] = finding.shares[0].fails_at
    if "share" in case.expected:
        told["share"] = finding.shares[0].name
    if "calls" in case.expected:
        told["calls"] = finding.calls
    assert told == {name: value for name, value in case.expected.items() if name != "why"}


ON_REAL_CLOCKS = {
    name: case
    for name, case in HISTORIES.items()
    if name.startswith(("real_clocks", "purgatories")) and isinstance(case.first.clock, WallClock)
}


@pytest.mark.parametrize("case", ON_REAL_CLOCKS.values(), ids=ON_REAL_CLOCKS)
def test_the_replay_finds_the_same(case: TraceCase) -> None:
    rows = list(rows_of(RunReplay("r"), iter(case.lines)))
    (verdict,) = (row for row in rows if isinstance(row, VerdictRow))
    assert (verdict.verdict == RunVerdict.DIVERGES.value) is ("wrong_at" in case.expected)
