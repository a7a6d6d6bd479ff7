import pytest

from purgatory_traces.results.rows import CoverageRow, QuarantineRow, Row, VerdictRow
from purgatory_traces.results.schemas import payload_of, row_of

ROWS: list[Row] = [
    VerdictRow("a", "s", "timer", "conforms", 3, 3, model_version="1"),
    VerdictRow(
        run="µ",
        subject="s",
        component="timer",
        verdict="diverges",
        events=9,
        judged=4,
        seq=4,
        file="f",
        line=5,
        also=("TIMER-ADD", "TIMER-CANCEL"),
        deviated=("TIMER-SIZE",),
    ),
    CoverageRow("a", "TIMER-ADD", 1 << 40),
    QuarantineRow("f", 1, "\\xff{\n", "the line is not UTF-8"),
    QuarantineRow("f", 1, "{}", "a gap", "a", 0),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: type(row).__name__)
def test_a_row_comes_out_as_it_went_in(row: Row) -> None:
    out = row_of(*payload_of(row))
    assert (type(out), out) == (type(row), row)
