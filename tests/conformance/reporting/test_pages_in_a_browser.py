"""Every page in a headless browser: it fits a phone, a tablet and a desktop, and can be read."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import msgspec
import pytest
from playwright.sync_api import Page

from purgatory_conformance.exploring.claims import Sizes
from purgatory_conformance.exploring.shelves import shelf_of
from purgatory_conformance.reporting.html import render_html
from purgatory_conformance.reporting.narrative_html import render_narrative
from purgatory_conformance.reporting.results import Results
from purgatory_model.claims.narrative import Narrative, NarrativeStep
from purgatory_spec.messages import Implementation

from .browser import faults
from .conftest import MakeResults, never_expires

pytestmark = [pytest.mark.verify, pytest.mark.browser, pytest.mark.slow]

FaultsOf = Callable[[str], list[str]]


@pytest.fixture(scope="module")
def faults_of(browser_page: Page) -> FaultsOf:
    """Finds the faults of pages."""
    return partial(faults, browser_page)


_COUNTS = {"timer": "2", "queue": "0", "estimate": "12", "stale": "1", "lists": "a: o1 o2, b: o1"}
_SAID = "completes operation 2 and leaves its entries in the lists of both keys"
WIDE = Narrative(
    title="Operations expire together: the estimate forgets them for ever.",
    actors=("caller", "reaper", "executor", "purger"),
    counts=tuple(_COUNTS),
    steps=(
        NarrativeStep(0, "", "at first", _COUNTS),
        NarrativeStep(1, "caller", _SAID, _COUNTS | {"estimate": "13", "lists": "a: o2"}),
        NarrativeStep(2, "reaper", _SAID, _COUNTS),
        NarrativeStep(3, "purger", _SAID, _COUNTS | {"stale": "2"}, "claim broken: stale is few"),
    ),
    verdict="StaleIsBounded is broken. It says: When nothing runs, few operations are stale.",
    explanation="Two stale operations stay in the list, and no purge will ever come for them.",
    loop=1,
)
"""A story with as many actors and counts as any that a checker finds."""


def test_reports_on_broken_subjects_of_every_component(
    faults_of: FaultsOf, broken_components: tuple[Results, ...]
) -> None:
    """Everything fits, no word is broken, and every text can be read."""
    assert all(results.causes for results in broken_components)
    for shown in (broken_components, *((results,) for results in broken_components)):
        assert faults_of(render_html(shown)) == []


def test_reports_step_to_the_state_that_was_expected(
    browser_page: Page, broken_components: tuple[Results, ...]
) -> None:
    """It tells what was expected and what was seen, and draws the state of the model."""
    for results in broken_components:
        browser_page.set_content(render_html([results]))
        figures = browser_page.query_selector_all(".purgatory-viewer")
        assert len(figures) == len(results.causes)
        for figure, cause in zip(figures, results.causes, strict=True):
            figure.focus()
            browser_page.keyboard.press("End")
            said = " ".join(figure.inner_text().split())
            assert " ".join(f"expected {cause.expected}; seen {cause.seen}".split()) in said
            assert figure.query_selector_all("svg text")


def test_reports_on_conformant_subjects(
    faults_of: FaultsOf, conformant_components: tuple[Results, ...]
) -> None:
    """Everything fits, no word is broken, and every text can be read."""
    assert not any(results.causes for results in conformant_components)
    assert faults_of(render_html(conformant_components)) == []


def test_a_report_with_deviations_failures_and_hints(
    faults_of: FaultsOf, eventful_results: Results
) -> None:
    """Everything fits, no word is broken, and every text can be read."""
    states = [
        msgspec.structs.replace(line, state=state)
        for line in eventful_results.rules
        for state in ("deviates", "doubtful", "too few")
    ]
    results = msgspec.structs.replace(eventful_results, rules=tuple(states))
    assert faults_of(render_html([results])) == []


def test_a_report_with_a_name_that_is_wider_than_the_page(
    faults_of: FaultsOf, make_results: MakeResults
) -> None:
    """The names are broken, and the page does not overflow."""
    name = "x" * 300
    results = make_results(never_expires(name), why=name)
    header = msgspec.structs.replace(
        results.header, subject=name, implementation=Implementation(name, name, name)
    )
    assert faults_of(render_html([msgspec.structs.replace(results, header=header)])) == []


@pytest.mark.parametrize(
    "story",
    [
        WIDE,
        replace(WIDE, is_witness=True, loop=None),
        replace(WIDE, actors=("caller",), counts=("timer",), steps=WIDE.steps[:2], loop=None),
    ],
    ids=["broken claim", "witness", "small"],
)
def test_explanations(faults_of: FaultsOf, story: Narrative) -> None:
    """Everything fits, no word is broken, and every text can be read."""
    assert faults_of(render_narrative(story)) == []


_LONG = "unbreakable" * 3


@pytest.mark.parametrize(
    ("planted", "fault"),
    [
        ('<div style="width: 500px">wide</div>', "380: the page overflows"),
        (f'<p style="width: 6rem; white-space: nowrap">{_LONG}</p>', "1280: p overflows"),
        (
            '<table><tr><td style="display: block; width: 2rem; overflow-wrap: anywhere">'
            "operation</td></tr></table>",
            "1280: the word operation is broken in td",
        ),
        (
            '<svg class="panel" width="90"><text x="9" y="9">' + _LONG + "</text></svg>",
            "leaves its",
        ),
        ('<p style="color: #999; background: #fff">pale</p>', "light: rgb(153, 153, 153) on"),
        (
            '<svg><rect width="90" height="30" style="fill: #777"></rect>'
            '<text x="5" y="20" style="fill: #888">pale</text></svg>',
            "dark: rgb(136, 136, 136) on rgb(119, 119, 119)",
        ),
    ],
    ids=["wide page", "wide text", "narrow cell", "wide picture", "pale text", "pale picture"],
)
def test_planted_faults_are_found(
    planted: str, fault: str, faults_of: FaultsOf, good_page: str
) -> None:
    """Given a page without faults into which one was put, when it is shown, that one is found."""
    assert faults_of(good_page) == []
    found = faults_of(good_page.replace("</main>", f"{planted}</main>"))
    assert any(fault in each for each in found), found


def test_what_scrolls_by_itself_may_be_wide(faults_of: FaultsOf, good_page: str) -> None:
    """Given a page with something wide in a region that scrolls: that is no fault."""
    wide = '<div style="overflow-x: auto"><div style="width: 2000px">wide</div></div>'
    assert faults_of(good_page.replace("</main>", f"{wide}</main>")) == []


@pytest.fixture(scope="module")
def good_page() -> str:
    return render_narrative(WIDE)


@pytest.mark.parametrize(
    ("component", "claim"),
    [
        ("timer", "true-means-expired"),
        ("purgatory", "mass-expiry-stale-operations"),
        ("memory_pool", "below-bound"),
    ],
)
def test_explanations_with_a_viewer(faults_of: FaultsOf, component: str, claim: str) -> None:
    """A viewer ends with the broken claim, and everything fits and can be read."""
    looked = shelf_of(claim, component, False).look(claim, Sizes(), 200_000)
    assert looked.narrative is not None
    assert looked.run is not None
    assert looked.run.frames[-1].step == looked.narrative.steps[-1].number
    assert "it is false that" in looked.run.frames[-1].says
    text = render_narrative(looked.narrative, looked.run)
    assert text.count('<figure class="purgatory-viewer"') == 1
    assert faults_of(text) == []
