"""Pages of the site in a headless browser: home at three widths, others at two."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

from tests.conformance.reporting.browser import faults_here

pytestmark = [pytest.mark.verify, pytest.mark.documentation, pytest.mark.browser, pytest.mark.slow]

ORIGIN = "http://localhost"
SIZES = ((1440, 900), (1024, 768), (390, 844))
CLAIM = "text=Kafka loses count of finished requests."
FIGURE = ".first .purgatory-viewer"
ONE_OF_EACH_KIND = (
    "course/class/",
    "course/one-wheel/",
    "explanation/the-wheel-is-a-timer/",
    "findings/",
    "how-to/check-traces-on-a-cluster/",
    "reference/bugs-that-people-had/",
    "reference/command-line/",
    "reference/memory-pool/",
    "reference/mutants/",
    "reference/performance/",
    "reference/tla/TimingWheel/",
    "reference/trace-results/",
    "tutorial/first-adapter/",
)


@pytest.fixture
def home(browser_page: Page, site: Path) -> Iterator["Home"]:
    browser = browser_page.context.browser
    assert browser is not None
    home = Home(browser, site)
    yield home
    home.close()


class Home:
    """The home page, opened in a size, in colours, with or without motion."""

    def __init__(self, browser: Browser, site: Path) -> None:
        self._browser, self._site = browser, site
        self._open: list[Page] = []

    def opened(
        self, size: tuple[int, int], *, path: str = "", without: str = "", **media: Any
    ) -> Page:
        """Return the page in a context of its own; ``without`` is a file that it does not get."""
        page = self._browser.new_context(**{"reduced_motion": "reduce", **media}).new_page()
        page.set_default_timeout(300_000)  # only a hang reaches it
        page.clock.install(time=0)
        page.clock.pause_at(1_000)
        self._open.append(page)

        def answer(route: Route) -> None:
            name = route.request.url.removeprefix(ORIGIN).partition("?")[0].lstrip("/")
            file = self._site / name
            file = file / "index.html" if file.is_dir() else file
            if file.is_file() and file.name != without:
                route.fulfill(path=file)
            else:
                route.abort()

        page.route("**/*", answer)
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.goto(f"{ORIGIN}/{path}")
        return page

    def close(self) -> None:
        for page in self._open:
            page.context.close()


def top(page: Page, selector: str) -> float:
    box = page.locator(selector).first.bounding_box()
    assert box is not None
    return box["y"]


def below_the_first_screen(page: Page, height: int) -> list[str]:
    """Return what a reader does not see before scrolling."""
    doors = page.locator(".doors h3").all_inner_texts()
    assert len(doors) == 3
    places = {CLAIM: top(page, CLAIM), FIGURE: top(page, f"{FIGURE} svg")}
    places["$ make demo"] = top(page, ".first .highlight")
    places |= {door: top(page, f".doors h3:has-text('{door}')") for door in doors}
    return [name for name, place in places.items() if place > height - 20]


def test_the_first_screen_says_why_shows_the_wheel_and_has_a_command(home: Home) -> None:
    """On a desktop all is there, the doors included; a small screen has the wheel at least."""
    wide, middle, phone = SIZES
    assert below_the_first_screen(home.opened(wide), wide[1]) == []
    assert "$ make demo" not in below_the_first_screen(home.opened(middle), middle[1])
    for size in (middle, phone):
        page = home.opened(size)
        missing = below_the_first_screen(page, size[1])
        assert CLAIM not in missing
        assert FIGURE not in missing


def test_what_is_not_in_the_first_screen_is_seen(home: Home) -> None:
    """Without the style of the site the doors are far below."""
    page = home.opened(SIZES[0], without="site.css")
    assert len(below_the_first_screen(page, SIZES[0][1])) >= 3


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_home_fits_and_can_be_read(home: Home, size: tuple[int, int], colours: str) -> None:
    """Nothing overflows, and every text has the contrast of level AA."""
    page = home.opened(size, color_scheme=colours)
    assert page.get_attribute("body", "data-md-color-scheme") == (
        "slate" if colours == "dark" else "default"
    )
    page.evaluate(_WITHOUT_THE_THEMES_PARTS)
    # On a phone the theme lets blocks of code reach the edges of the screen.
    assert set(faults_here(page)) <= {"article.md-content__inner.md-typeset overflows"}


@pytest.mark.parametrize(("size", "colours"), [(SIZES[0], "light"), (SIZES[2], "dark")])
@pytest.mark.parametrize("path", ONE_OF_EACH_KIND)
def test_pages_fit_and_can_be_read(
    home: Home, path: str, size: tuple[int, int], colours: str
) -> None:
    """Nothing is wider than the screen, no word is cut, and texts have the contrast of AA."""
    page = home.opened(size, path=path, color_scheme=colours)
    assert page.locator("h1").count() == 1
    page.evaluate(_WITHOUT_THE_THEMES_PARTS)
    assert set(faults_here(page)) <= {"article.md-content__inner.md-typeset overflows"}


def test_what_cannot_be_read_is_seen(home: Home) -> None:
    page = home.opened(SIZES[2], color_scheme="dark")
    page.evaluate("document.querySelector('.doors').style.cssText = 'color: #333; width: 500px'")
    found = faults_here(page)
    assert "the page overflows" in found
    assert any("rgb(51, 51, 51) on" in fault for fault in found)


_WITHOUT_THE_THEMES_PARTS = """
document.querySelectorAll(
  ".md-sidebar, .md-header, .md-footer, .md-search, .md-top, .headerlink, " +
  "body > :not(.md-container)"
).forEach(part => part.remove())
"""


def test_the_wheel_moves_by_itself_unless_less_motion_is_wanted(home: Home) -> None:
    """It begins with its tasks in it, and can be stopped."""
    page = home.opened(SIZES[0])
    assert page.get_attribute(FIGURE, "data-at") == "4"
    assert page.inner_text(f"{FIGURE} button >> nth=1") == "Play"
    assert page.locator(f"{FIGURE} [data-key^='task ']").count() >= 4
    page = home.opened(SIZES[0], reduced_motion="no-preference")
    page.wait_for_selector(f"{FIGURE} button:has-text('Pause')")
    assert page.get_attribute(FIGURE, "data-at") == "4"
    page.clock.run_for(1_700)
    assert page.get_attribute(FIGURE, "data-at") == "5"
    page.click(f"{FIGURE} button >> nth=1")
    assert page.inner_text(f"{FIGURE} button >> nth=1") == "Play"


def test_the_wheel_goes_by_keys_and_shifts_nothing(home: Home) -> None:
    """The figure can be reached by the keyboard; its steps leave all else where it is."""
    for size in SIZES:
        page = home.opened(size)
        page.focus(FIGURE)
        page.keyboard.press("Home")
        last = int(page.get_attribute(f"{FIGURE} input", "max") or 0)
        tops = set()
        for at in range(last + 1):
            assert page.get_attribute(FIGURE, "data-at") == str(at)
            tops.add(page.evaluate("document.querySelector('.doors').offsetTop"))
            page.keyboard.press("ArrowRight")
        assert last > 12
        assert len(tops) == 1
        assert page.locator(f"{FIGURE} [data-key]").count() > 0
