"""The page of the suite's throughput follows from the file of the last run beside it."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from purgatory_conformance.reporting.marked_pages import between_marks
from purgatory_lab.benchmarks.conformance_throughput import Measured, text_of

pytestmark = pytest.mark.verify

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"


def test_the_page_follows_from_the_file_of_the_last_run() -> None:
    file = REFERENCE / "results" / "conformance-throughput.json"
    measured = msgspec.json.decode(file.read_bytes(), type=Measured)
    page = (REFERENCE / "figures.md").read_text(encoding="utf-8")
    assert between_marks(page, "figures", text_of(measured)) == page

    (label, figure), *others = measured.figures
    changed = replace(figure, steps=figure.steps + 1)
    other = Measured(measured.machine, [(label, changed), *others])
    assert between_marks(page, "figures", text_of(other)) != page
