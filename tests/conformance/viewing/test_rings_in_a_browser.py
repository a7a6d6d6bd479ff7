"""The rings of a wheel in a headless browser: places that stay, hands that turn, tasks that fly."""

import math
import re
from typing import Any

import pytest
from playwright.sync_api import Page

from purgatory_conformance.viewing.markup import viewer_page
from purgatory_conformance.viewing.runs import Run, run_of_case
from purgatory_spec.cases import decode_case
from purgatory_spec.operations import Add, Advance
from tests.documentation.code_blocks import ROOT, blocks_of

from ..reporting.browser import faults
from .test_runs import case_of

pytestmark = [pytest.mark.verify, pytest.mark.browser, pytest.mark.slow]

SHIFT_WIDTHS = (390, 1024, 1440)


def cascade(wheel_size: int) -> Run:
    """Return a run in which a task comes down from the highest level to the lowest."""
    far_ms = wheel_size * wheel_size + wheel_size + 3
    steps = (Add("a", 1), Add("b", wheel_size), Add("c", far_ms), Advance(far_ms))
    return run_of_case(case_of(*steps, wheel_size=wheel_size))


def lessons() -> list[Run]:
    """Return the runs of all figures of the lessons."""
    pages = sorted((ROOT / "docs" / "course").glob("*.md"))
    blocks = [block for page in pages for block in blocks_of(page) if "viewer" in block.words]
    return [run_of_case(decode_case(block.text, block.where)) for block in blocks]


def with_defect(html: str, right: str, wrong: str) -> str:
    """Return the page with another script, and without the policy that would refuse to run it."""
    assert right in html
    return re.sub(
        '<meta http-equiv="Content-Security-Policy"[^>]*>', "", html.replace(right, wrong)
    )


@pytest.fixture
def page(browser_page: Page) -> Page:
    return browser_page


def opened(page: Page, html: str, *, width: int = 900, motion: Any = "reduce") -> None:
    page.emulate_media(reduced_motion=motion)
    page.set_viewport_size({"width": width, "height": 800})
    page.goto("about:blank")
    page.set_content(html)
    page.focus(".purgatory-viewer")


_RINGS = """
() => [...document.querySelectorAll('.place')].map(place => {
  const { level, first, place: at } = place.dataset;
  const inside = text => {
    const box = text.getBBox();
    const middle = new DOMPoint(box.x + box.width / 2, box.y + box.height / 2);
    return place.isPointInFill(middle);
  };
  const times = [...document.querySelectorAll('text.time')].filter(inside);
  const hand = document.querySelector(`[data-hand="${level}"] line`);
  const way = name => Number(hand.getAttribute(name));
  const turned = Math.atan2(way('y2') - way('y1'), way('x2') - way('x1'));
  return {
    level, at: Number(at), first: Number(first), outline: place.getAttribute('d'),
    times: times.map(text => text.textContent).join(''),
    present: place.classList.contains('present'), turned,
  };
})
"""


def faults_of_rings(page: Page, html: str, run: Run, places: int, *, width: int = 900) -> list[str]:
    """Return what moves although it should stay, and times and hands that are wrong."""
    opened(page, html, width=width)
    page.keyboard.press("Home")
    outlines: dict[tuple[str, int], str] = {}
    found: list[str] = []
    for _ in run.frames:
        for each in page.evaluate(_RINGS):
            level, at, first = each["level"], each["at"], each["first"]
            if outlines.setdefault((level, at), each["outline"]) != each["outline"]:
                found.append(f"level {level}: place {at} moves")
            tick = places ** (int(level) - 1)
            times = str(first) if tick == 1 else f"{first}\N{EN DASH}{first + tick - 1}"
            if each["times"] != times or first // tick % places != at:
                found.append(f"level {level}: place {at} says {each['times']}")
            angle = 2 * math.pi * at / places - math.pi / 2
            if each["present"] and math.cos(angle - each["turned"]) < 0.999:
                found.append(f"level {level}: the hand is not at place {at}")
        page.keyboard.press("ArrowRight")
    assert len(outlines) > places
    return found


@pytest.mark.parametrize("width", [900, 390])
@pytest.mark.parametrize("places", [2, 4, 8])
def test_places_stay_times_change_and_hands_point_at_the_present(
    page: Page, places: int, width: int
) -> None:
    """In every frame a place has its outline, its own times, and the hand if it is the present."""
    run = cascade(places)
    assert faults_of_rings(page, str(viewer_page((run,))), run, places, width=width) == []


@pytest.mark.parametrize(
    ("right", "wrong", "seen"),
    [
        ('"place":1,', '"place":2,', "moves|says"),
        ("angle_of(present.place,", "angle_of(present.place + 1,", "hand"),
        ("`${last_ms}`]", "`${first_ms}`]", "says"),
    ],
)
def test_a_wrong_ring_is_seen(page: Page, right: str, wrong: str, seen: str) -> None:
    run = cascade(4)
    html = with_defect(str(viewer_page((run,))), right, wrong)
    found = faults_of_rings(page, html, run, 4)
    assert any(re.search(seen, fault) for fault in found)


@pytest.mark.parametrize("places", [4, 20])
def test_a_cascade_is_a_flight_and_the_hand_turns(page: Page, places: int) -> None:
    """The pop of the highest level moves the task to the ring below, and turns the hand of it."""
    opened(page, str(viewer_page((cascade(places),))), motion="no-preference")
    moved: list[set[str]] = []
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowRight", *["ArrowRight"] * 3):
        page.keyboard.press(key)
        moved.append(set(page.evaluate(_MOVING)))
    assert moved[:4] == [set()] * 4
    assert "hand 1" in moved[4]
    assert any("task c" in each and "hand 1" in each for each in moved[5:])


_MOVING = """
() => document.getAnimations().map(each => {
  const { key, hand } = each.effect.target.dataset;
  return key ?? `hand ${hand}`;
})
"""


def shifts(page: Page, html: str, run: Run) -> list[str]:
    """Return the widths at which a step changes the height of the figure."""
    found: list[str] = []
    for width in SHIFT_WIDTHS:
        opened(page, html, width=width)
        page.keyboard.press("Home")
        heights: set[float] = set()
        for _ in run.frames:
            heights.add(page.evaluate("document.querySelector('figure').offsetHeight"))
            page.keyboard.press("ArrowRight")
        if len(heights) > 1:
            found.append(f"{run.title} at {width}: {sorted(heights)}")
    return found


def test_no_step_shifts_the_page(page: Page) -> None:
    """The figures of all lessons keep their height from the first step to the last."""
    runs = lessons()
    assert len(runs) > 8
    assert [shift for run in runs for shift in shifts(page, str(viewer_page((run,))), run)] == []


def test_a_shift_is_seen(page: Page) -> None:
    run = cascade(4)
    kept = "says.style.minHeight = `${Math.ceil(says.getBoundingClientRect().height)}px`;"
    html = with_defect(str(viewer_page((run,))), kept, "says.style.minHeight = '0';")
    assert shifts(page, html, run) != []


def is_empty(page: Page, html: str) -> bool:
    """Decide whether a figure opens without any task, operation or request in it."""
    opened(page, html)
    return page.locator(".purgatory-viewer [data-key]").count() == 0


def test_every_figure_opens_with_something_in_it(page: Page) -> None:
    """The figures of all lessons show tasks, operations or requests at once."""
    runs = lessons()
    assert [run.title for run in runs if is_empty(page, str(viewer_page((run,))))] == []
    opening = "at = fullest();\n    draw"
    html = with_defect(str(viewer_page((cascade(4),))), opening, "at = 0;\n    draw")
    assert is_empty(page, html)
    html = with_defect(html, "at = 0;\n    draw", opening)
    assert not is_empty(page, html)


def test_rings_of_any_size_fit_and_can_be_read(page: Page) -> None:
    """Two places, twelve, or a list beside a ring of sixty: at each width, light and dark."""
    for places in (2, 12, 60):
        assert faults(page, str(viewer_page((cascade(places),)))) == []
