"""Slides in a headless browser: each fits, keys turn them, a figure keeps its own keys."""

import re

import pytest
from playwright.sync_api import Page

from purgatory_course.teaching.lessons import lessons, slides
from purgatory_course.teaching.paper import room_page
from purgatory_course.teaching.rehearsal import rehearsal_page
from purgatory_course.teaching.sheet import sheet_page
from purgatory_course.teaching.slides import slides_page
from tests.conformance.reporting.browser import faults, shown

pytestmark = [pytest.mark.verify, pytest.mark.browser, pytest.mark.slow]

SLIDES = str(slides_page(slides()))


@pytest.fixture
def page(browser_page: Page) -> Page:
    return shown(browser_page, SLIDES, 1280, 720)


def too_large(page: Page) -> list[str]:
    """The slides that do not fit the window."""
    found: list[str] = page.evaluate(_TOO_LARGE)
    return found


_TOO_LARGE = """
() => {
  const found = [], slides = [...document.querySelectorAll('.slide')];
  for (const slide of slides) {
    for (const each of slides) each.classList.toggle('here', each === slide);
    const { scrollWidth, scrollHeight } = document.documentElement;
    const wide = [...slide.querySelectorAll('pre')].some(e => e.scrollWidth > e.clientWidth + 1);
    if (scrollWidth > innerWidth || scrollHeight > innerHeight || wide)
      found.push(`${slides.indexOf(slide) + 1} ${slide.getAttribute('aria-label')}`);
  }
  return found;
}
"""


@pytest.mark.parametrize("size", [(1280, 720), (1024, 768), (1920, 1080)], ids=str)
def test_every_slide_fits_the_screen(page: Page, size: tuple[int, int]) -> None:
    """No slide has to be scrolled; with a slide too long one would be found."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    assert too_large(page) == []
    page.evaluate("document.querySelector('.slide').style.paddingTop = '150vh'")
    assert too_large(page) == ["1 Requests that cannot be answered yet"]


def test_slides_and_sheet_can_be_read(browser_page: Page) -> None:
    """Nothing overflows at any width, and both have contrast in light and dark."""
    pages = (slides_page(slides()[8:14]), rehearsal_page(slides()), room_page())
    for html in map(str, (*pages, sheet_page(lessons(), solutions=True))):
        browser_page.goto("about:blank")
        assert faults(browser_page, html) == []


def test_keys_turn_the_slides(page: Page) -> None:
    """Given the slides: one slide is shown, the right one, and the notes come and go."""
    count = page.locator(".slide").count()

    def at() -> str:
        assert page.locator(".slide:visible").count() == 1
        return page.inner_text(".bar output")

    assert at() == f"1 of {count}"
    for key, place in (
        ("ArrowRight", 2),
        ("PageDown", 3),
        ("ArrowLeft", 2),
        ("End", count),
        ("ArrowRight", count),
        ("Home", 1),
        ("PageUp", 1),
    ):
        page.keyboard.press(key)
        assert at() == f"{place} of {count}"
    page.click("[data-go='1']")
    assert at() == f"2 of {count}"
    assert page.locator(".notes:visible").count() == 0
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("n")
    assert page.locator(".notes:visible").count() == 1
    page.click("[data-notes]")
    assert page.locator(".notes:visible").count() == 0


def test_a_figure_with_the_focus_keeps_its_keys(page: Page) -> None:
    """The figure steps and the slide stays, and then the slide is turned."""
    while page.locator(".slide.here .purgatory-viewer").count() == 0:
        page.keyboard.press("PageDown")
    before = page.inner_text(".bar output")
    figure = page.locator(".slide.here .purgatory-viewer")
    figure.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert figure.get_attribute("data-at") == "1"
    assert page.inner_text(".bar output") == before
    assert figure.locator("svg [data-key], svg text").count() > 3
    page.keyboard.press("PageDown")
    assert page.inner_text(".bar output") != before


def test_every_slide_is_printed(page: Page) -> None:
    """Every slide is there on a sheet of its own, and the bar is not."""
    page.emulate_media(media="print")
    assert page.locator(".slide:visible").count() == page.locator(".slide").count()
    assert not page.locator(".bar").is_visible()
    printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == page.locator(".slide").count()
    page.emulate_media(media="screen")
