"""The page to play on in a headless browser: by mouse and by keys, and at each width."""

import pytest
from playwright.sync_api import Page

from purgatory_course.playing.hunts import Hunt, hunts
from purgatory_course.playing.page import play_page
from purgatory_spec.operations import Add, Advance, Cancel, RunOne
from tests.conformance.reporting.browser import faults_of_what_is_shown, shown

pytestmark = [pytest.mark.verify, pytest.mark.browser, pytest.mark.slow]

HTML = str(play_page())


@pytest.fixture
def page(browser_page: Page) -> Page:
    return shown(browser_page, HTML, 900, 800)


def rows(page: Page) -> list[str]:
    return [" | ".join(row.inner_text().split("\t")) for row in page.locator("tbody tr").all()]


def told(page: Page, part: str) -> str:
    return page.locator(f"[data-play={part}] .play-says").inner_text()


def play(page: Page, hunt: Hunt) -> None:
    """Make the steps of a hunt with the page's controls."""
    for step in hunt.steps:
        match step:
            case Add(task, delay_ms):
                page.select_option("[name=task]", task)
                page.fill("[name=delay_ms]", str(delay_ms))
                page.click("[data-do=add]")
            case Cancel(task):
                page.select_option("[name=task]", task)
                page.click("[data-do=cancel]")
            case Advance(to_ms):
                page.fill("[name=to_ms]", str(to_ms))
                page.click("[data-do=advance]")
            case RunOne():
                page.click("[data-do=run_one]")
            case _:
                raise AssertionError(step)


def test_the_page_fits_and_can_be_read(page: Page) -> None:
    """Nothing overflows on a phone, a tablet or a desktop, and light and dark have contrast."""
    page.select_option("[name=hunt]", index=len(hunts()) - 1)
    page.click("[data-do=answer]")
    assert page.locator(".play-differs").count() == 1
    assert faults_of_what_is_shown(page) == []


def test_the_wheel_follows_its_parameters(page: Page) -> None:
    """Given the wheel to change: ways, levels and the early window are those of the new wheel."""
    assert (
        rows(page)[2] == "c | 27 | 27 | level 3 at 16, then level 2 at 24, then level 1 at 27 | 27"
    )
    page.fill("[name=tick_ms]", "10")
    page.fill("[name=delays]", "59")
    assert rows(page) == ["a | 59 | 50 | level 2 at 40, then level 1 at 50 | 50, 9 ms early"]
    page.fill("[name=every_ms]", "25")
    assert rows(page) == ["a | 59 | 50 | level 2 at 40, then level 1 at 50 | 50, 9 ms early"]
    page.fill("[name=every_ms]", "45")
    assert rows(page)[0].endswith("90, 31 ms late")
    page.fill("[name=wheel_size]", "8")
    assert rows(page)[0] == "a | 59 | 50 | level 1 at 50 | 90, 31 ms late"
    assert told(page, "wheel") == "1 level, 1 bucket popped."
    assert page.locator("[data-play=wheel] .viewer-about").inner_text() == (
        "tick 10 ms, wheel size 8, clock at 0"
    )


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("delays", "3, x", "A delay is a whole number of ms from 0 to 1000000, and not x."),
        ("delays", " ", "Give the delays: numbers with commas between them."),
        ("delays", "1 2 3 4 5 6 7 8 9", "Give at most 8 delays."),
        ("wheel_size", "1", "wheel size: Value must be greater than or equal to 2."),
        ("every_ms", "-1", "Value must be greater than or equal to 0."),
        ("delays", "1000000", ""),
    ],
)
def test_what_cannot_be_played_is_told(page: Page, name: str, value: str, said: str) -> None:
    """A sentence says what to do, or the run is shown."""
    page.fill(f"[name={name}]", value)
    assert said in told(page, "wheel")
    page.fill("[name=every_ms]", "1")
    page.fill("[name=delays]", "1000")
    if not said:
        assert told(page, "wheel") == "More than 200 readings of the clock: take a larger step."


@pytest.mark.parametrize("hunt", hunts(), ids=lambda hunt: hunt.name)
def test_a_hunt_is_won_by_the_suites_steps(page: Page, hunt: Hunt) -> None:
    """The defect is found in the last of them and not before, in par, and its rule is named."""
    page.select_option("[name=hunt]", index=list(hunts()).index(hunt))
    assert hunt.rule not in page.inner_text("[data-play=hunt]")
    play(page, hunt)
    par = len(hunt.steps)
    steps = "1 step" if par == 1 else f"{par} steps"
    assert told(page, "hunt") == f"Found in {steps}, as few as the suite; par is {par}."
    shown = page.locator(".play-steps li").all_inner_texts()
    assert ["expected:" in text and "\nseen:" in text for text in shown] == [False] * (par - 1) + [
        True
    ]
    assert f"The rule is {hunt.rule}." in page.inner_text(".play-found")
    assert page.locator("[data-do=add]").is_disabled()
    page.click("[data-do=undo]")
    assert page.locator(".play-found").is_hidden()


def test_a_hunt_goes_by_keys(page: Page) -> None:
    """The defect is found; the clock does not go back, and what is no number is refused."""
    at = [hunt.name for hunt in hunts()].index("one-tick-late")
    page.select_option("[name=hunt]", index=at)
    page.focus("[name=delay_ms]")
    page.keyboard.press("Control+A")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    assert told(page, "hunt") == "1 of par 2: no difference yet."
    page.focus("[name=to_ms]")
    page.keyboard.press("Control+A")
    page.keyboard.type("-1")
    page.keyboard.press("Enter")
    assert told(page, "hunt") == "The clock reads 0, and does not go back."
    page.fill("[name=to_ms]", "")
    page.keyboard.press("Enter")
    assert told(page, "hunt") == "clock, ms: give a whole number."
    page.fill("[name=to_ms]", "2")
    page.keyboard.press("Enter")
    assert told(page, "hunt") == "Found in 2 steps, as few as the suite; par is 2."


def test_the_picture_is_of_the_right_timer(page: Page) -> None:
    """The picture still has the task, in level 1."""
    at = [hunt.name for hunt in hunts()].index("lost-on-cascade")
    page.select_option("[name=hunt]", index=at)
    page.click("[data-do=answer]")
    assert told(page, "hunt") == "The suite's way: 2 steps."
    cell = page.locator("[data-play=hunt] [data-tasks=a]")
    assert cell.get_attribute("data-level") == "1"
    assert page.locator("[data-play=hunt] .viewer-says").inner_text().startswith("Step 2 of 2")


def test_without_a_script_the_first_run_is_told_in_words(browser_page: Page) -> None:
    """The steps of a run of the model can be read, and no control is shown that does nothing."""
    browser_page.goto("about:blank")
    browser_page.set_content(HTML.partition("<script>")[0])
    shown = browser_page.inner_text("[data-play=wheel]")
    assert "All steps in words" in shown
    assert not browser_page.locator("form").first.is_visible()
    assert browser_page.locator("[data-play=wheel] li").count() == 9
