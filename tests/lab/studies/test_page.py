"""The docs page says what the checked-in summaries say, and shows plots that are there."""

import re
from pathlib import Path

import pytest

from purgatory_lab.studies.catalogue import STUDIES
from purgatory_lab.studies.engines import result_of
from purgatory_lab.studies.page import ASSETS, LEAST_REQUESTS, PAGE, with_figures
from purgatory_lab.studies.plots import draw_plots
from purgatory_lab.studies.reading import Rows, count, words
from purgatory_lab.studies.setting import Setting
from purgatory_lab.studies.tables import Row, read_summary
from purgatory_traces.errors import PipelineError

DOCS = Path(__file__).parents[3] / "docs"
TEXT = (DOCS / PAGE).read_text(encoding="utf-8")


def summary(study: str) -> list[Row]:
    return read_summary(DOCS / ASSETS / f"{study}.csv")


def setting_of(row: Row) -> Setting:
    return Setting(**{name: row[name] for name in Setting.__dataclass_fields__})  # type: ignore[arg-type]


@pytest.mark.parametrize("study", STUDIES)
def test_the_page_says_what_the_summary_says(study: str) -> None:
    assert with_figures(TEXT, study, Rows(summary(study))) == TEXT


@pytest.mark.parametrize("study", STUDIES)
def test_control_another_number_changes_the_page(study: str) -> None:
    rows = summary(study)
    for row in rows:
        for name in ("purges", "queued_most", "over_distinct_sum"):
            row[name] = count(row, name) + 10**9
    assert with_figures(TEXT, study, Rows(rows)) != TEXT


@pytest.mark.parametrize("study", STUDIES)
def test_published_are_all_settings_with_enough_requests(study: str) -> None:
    settings = [setting_of(row) for row in summary(study)]
    assert settings == list(STUDIES[study].settings)
    assert min(setting.requests for setting in settings) >= LEAST_REQUESTS


@pytest.mark.parametrize("study", STUDIES)
def test_published_lost_no_request(study: str) -> None:
    for row in summary(study):
        assert count(row, "completed") + count(row, "expired") == count(row, "requests")


def test_the_implementation_agreed() -> None:
    assert "0 differ" in TEXT


@pytest.mark.slow
@pytest.mark.parametrize("study", ["keys", pytest.param("wheel", marks=pytest.mark.verify)])
def test_a_published_row_is_what_the_code_counts(study: str) -> None:
    row = summary(study)[2]
    assert result_of(setting_of(row)) == row


def test_plots_that_are_shown_are_those_that_are_there() -> None:
    shown = set(re.findall(r"\]\(\.\./assets/studies/([\w-]+\.svg)\)", TEXT))
    assert shown == {path.name for path in (DOCS / ASSETS).glob("*.svg")}
    assert len(shown) >= 10


@pytest.mark.parametrize(
    "study",
    [
        pytest.param(each, marks=() if each == "time-outs" else pytest.mark.verify)
        for each in STUDIES
    ],
)
def test_plots_are_drawn_from_the_summaries(study: str, tmp_path: Path) -> None:
    """Compare the points alone: another release of matplotlib may write them in other words."""
    for path in draw_plots(study, Rows(summary(study)), tmp_path):
        published = (DOCS / ASSETS / path.name).read_text(encoding="utf-8")
        assert lines_of(path.read_text(encoding="utf-8")) == lines_of(published)


def lines_of(svg: str) -> list[str]:
    """Return what is written, and how many points are drawn."""
    return [*re.findall(r"<text[^>]*>([^<]*)</text>", svg), str(svg.count("<use "))]


def test_a_page_without_a_place_is_a_problem() -> None:
    with pytest.raises(PipelineError, match="the page lacks the marks <!-- keys: begin -->"):
        with_figures("words", "keys", Rows(summary("keys")))


def test_control_a_row_must_be_the_only_one() -> None:
    rows = Rows([{"design": "old", "rate": 1}, {"design": "old", "rate": 2}])
    for settings, found in (({"design": "old"}, "2 rows"), ({"rate": 3}, "0 rows")):
        with pytest.raises(LookupError, match=found):
            rows.one(**settings)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, "0"),
        (0.00123, "0.0012"),
        (0.01234, "0.012"),
        (0.9999, "1.00"),
        (1.234, "1.23"),
        (12.34, "12.3"),
        (123.4, "123"),
        (999.7, "1,000"),
        (12345.6, "12,346"),
        (7, "7"),
        (-252.4, "-252"),
    ],
)
def test_numbers_have_three_digits(value: float, expected: str) -> None:
    assert words(value) == expected
