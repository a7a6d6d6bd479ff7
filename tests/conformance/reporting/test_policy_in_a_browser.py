"""Scripts that a page may run and load, in a headless browser: its own ones alone."""

import re
from collections.abc import Callable, Mapping

import pytest
from playwright.sync_api import Page

from purgatory_conformance.reporting.html import render_html
from purgatory_conformance.reporting.narrative_html import render_narrative
from purgatory_conformance.reporting.results import Results
from purgatory_conformance.viewing.markup import viewer_page
from purgatory_conformance.viewing.runs import run_of_case
from purgatory_course.playing.page import play_page
from purgatory_course.teaching.lessons import lessons, slides
from purgatory_course.teaching.sheet import sheet_page
from purgatory_course.teaching.slides import slides_page
from purgatory_model.claims.narrative import Narrative, NarrativeStep
from purgatory_spec.cases import read_case
from purgatory_spec.resources import specification_folder
from purgatory_traces.commands.linearize import render_page as timeline
from purgatory_traces.results.rows import VerdictRow
from purgatory_traces.summary.html import render_page as summary_page
from purgatory_traces.summary.summary import Summary
from tests.pipeline.linearizability.test_linearize_command import ONE_BYTE, WRONG
from tests.pipeline.linearizability.traces import found_of, located

pytestmark = [pytest.mark.verify, pytest.mark.browser, pytest.mark.slow]

_STORY = Narrative(
    title="A story",
    actors=("caller",),
    counts=("timer",),
    steps=tuple(NarrativeStep(n, "caller", f"step {n}", {"timer": str(n)}) for n in range(3)),
    verdict="A claim is broken.",
    explanation="It is.",
)
_CASE = read_case(specification_folder() / "vectors" / "timer" / "across-zero.jsonl")


def _summary() -> str:
    summary = Summary()
    summary.take(VerdictRow("a", "s", "timer", "conforms", 10, 10))
    return summary_page(summary, "head")


PAGES: Mapping[str, Callable[[], str]] = {
    "a story": lambda: render_narrative(_STORY),
    "figures": lambda: str(viewer_page((run_of_case(_CASE),))),
    "the page to play on": lambda: str(play_page()),
    "slides": lambda: str(slides_page(slides())),
    "a sheet": lambda: str(sheet_page(lessons(), solutions=True)),
    "a summary of traces": _summary,
    "a timeline": lambda: timeline(found_of(located(ONE_BYTE, WRONG))),
}
"""Every page that a command writes, but for the reports of checks."""

_WATCH = """
<script>window.refused = [];
document.addEventListener('securitypolicyviolation',
  violation => refused.push(violation.effectiveDirective));</script>
"""


@pytest.fixture(params=[*PAGES, "a report", "a report on what is conformant"])
def html(
    request: pytest.FixtureRequest,
    broken_components: tuple[Results, ...],
    conformant_components: tuple[Results, ...],
) -> str:
    """A page that a command writes."""
    if request.param == "a report":
        return render_html(broken_components)
    if request.param == "a report on what is conformant":
        return render_html(conformant_components)
    return PAGES[request.param]()


def refused(page: Page, html: str) -> list[str]:
    """Return the refusals by the policy of a page; the watching script stands before the policy."""
    page.goto("about:blank")
    page.set_content(html.replace("<meta charset", f"{_WATCH}<meta charset", 1))
    page.wait_for_load_state()
    found: list[str] = page.evaluate("window.refused")
    return found


def test_a_page_runs_its_own_scripts_and_is_refused_nothing(browser_page: Page, html: str) -> None:
    """Its policy refuses nothing in it, and its scripts have drawn what they draw."""
    assert refused(browser_page, html) == []
    figures = browser_page.locator(".purgatory-viewer").all()
    assert bool(figures) == ("<script>" in html)
    for figure in figures:
        assert figure.locator("svg *").count()


def injected(html: str, element: str) -> str:
    """The page with an element in its body that did not come from its makers."""
    return re.sub(r"(<body[^>]*>)", lambda body: body[1] + element, html, count=1)


ELEMENTS = {
    "a script": "<script>document.title = 'taken over'</script>",
    "a handler": "<p id=x>x</p><img src=x onerror=\"document.title = 'taken over'\">",
    "a script from elsewhere": '<script src="https://example.org/x.js"></script>',
    "a picture from elsewhere": '<img src="https://example.org/x.png">',
    "a picture in the page": '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">',
    "a frame": '<iframe src="https://example.org/"></iframe>',
    "an object": '<object data="https://example.org/x"></object>',
    "a style from elsewhere": '<link rel="stylesheet" href="https://example.org/x.css">',
}


def test_a_page_runs_and_loads_nothing_that_came_into_it(browser_page: Page, html: str) -> None:
    """None of them runs or loads; without the policy, as a control, the script runs."""
    for element in ELEMENTS.values():
        assert refused(browser_page, injected(html, element)) != []
        assert browser_page.title() != "taken over"
    script = injected(html, ELEMENTS["a script"])
    free = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", script)
    assert refused(browser_page, free) == []
    assert browser_page.title() == "taken over"


def test_the_policy_stands_in_front_of_what_it_is_about(html: str) -> None:
    policy = html.index('<meta http-equiv="Content-Security-Policy"')
    first = min(html.find(each) % len(html) for each in ("<script", "<style", "<link", "<img"))
    assert policy < first
    assert html.count("Content-Security-Policy") == 1
    (allowed,) = re.findall(r"script-src ([^;]*);", html)
    assert "unsafe" not in allowed
    assert "http" not in allowed
