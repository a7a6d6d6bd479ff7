"""The viewer in a headless browser: every step of a run shows what the model says."""

from typing import Any

import pytest
from playwright.sync_api import Page

from purgatory_conformance.knowledge import all_vectors
from purgatory_conformance.viewing.markup import viewer_page
from purgatory_conformance.viewing.runs import Run, run_of_case
from purgatory_model.timer import timing_wheel_model
from purgatory_spec.cases import Case
from purgatory_spec.operations import Add, Advance, Cancel, RunOne
from purgatory_spec.profiles import TimerConfiguration

from ..reporting.browser import faults
from .test_runs import WHEEL, case_of

pytestmark = [pytest.mark.verify, pytest.mark.browser, pytest.mark.slow]

Shown = dict[str, Any]

WHEEL_STEPS = (
    Add("a", 2),
    Add("b", 7),
    Add("c", 27),
    Cancel("a"),
    Advance(2),
    Advance(5),
    Advance(7),
    RunOne(),
    Advance(30),
)


@pytest.fixture(scope="module")
def page(browser_page: Page) -> Page:
    browser_page.emulate_media(reduced_motion="reduce")
    return browser_page


@pytest.fixture(scope="module")
def wheel_run() -> Run:
    return run_of_case(case_of(*WHEEL_STEPS))


def opened(page: Page, run: Run) -> None:
    page.set_viewport_size({"width": 900, "height": 700})
    page.set_content(str(viewer_page((run,))))
    page.focus(".purgatory-viewer")
    page.keyboard.press("Home")


def shown(page: Page) -> Shown:
    """Return the present state of the picture, read from its shapes and texts."""
    found: Shown = page.evaluate(_SHOWN)
    return found


_SHOWN = """
() => {
  const of = (root, selector) => [...root.querySelectorAll(selector)];
  const boxes = {}, buckets = {};
  for (const row of of(document, '[data-boxes]')) {
    boxes[row.dataset.boxes] = of(row, '[data-key]').map(each => {
      const stale = each.querySelector('text').classList.contains('stale');
      return each.querySelector('text').textContent + (stale ? '*' : '');
    });
  }
  for (const place of of(document, '.place.queued')) {
    const inside = of(document, '[data-key]').filter(each => {
      const box = each.querySelector('rect').getBBox();
      return place.isPointInFill(new DOMPoint(box.x + box.width / 2, box.y + box.height / 2));
    });
    const tasks = inside.map(each => each.querySelector('text').textContent);
    buckets[`${place.dataset.level} at ${place.dataset.first}`] = tasks.sort();
  }
  const texts = {};
  for (const row of of(document, '[data-words-of]')) {
    const words = of(row, 'text').slice(1).map(each => each.textContent);
    texts[row.dataset.wordsOf] = words.join(' ');
  }
  const held = of(document, '[data-budget] [data-key]').map(each => each.dataset.words);
  return { boxes, buckets, texts, held, says: document.querySelector('.viewer-says').innerText };
}
"""


def walked(page: Page, run: Run) -> list[Shown]:
    """Return the picture's state at each frame, from the first to the last."""
    opened(page, run)
    found: list[Shown] = [shown(page)]
    for _ in run.frames[1:]:
        page.keyboard.press("ArrowRight")
        found.append(shown(page))
    return found


def last_of_each_step(run: Run, found: list[Shown]) -> list[Shown]:
    """Return the picture's states at the ends of steps."""
    ends = {frame.step: place for place, frame in enumerate(run.frames)}
    return [found[place] for place in ends.values()]


def differences_from_the_wheel(page: Page, run: Run) -> list[str]:
    """Return the differences of the picture from the states of the model, stepped here itself."""
    model = timing_wheel_model(TimerConfiguration(wheel_size=4), WHEEL)
    state = model.initial()
    expected: list[Shown] = []
    for operation in (None, *WHEEL_STEPS):
        if operation is not None:
            ((_, state),) = model.successors(state, operation)
        wheel = state.store
        expected.append(
            {
                "buckets": {
                    f"{level} at {expiry}": sorted(f"{t} due {wheel.due_ticks[t]}" for t in tasks)
                    for (expiry, level), tasks in wheel.buckets.items()
                },
                "delay queue": [
                    f"{expiry} (level {level})" + ("" if wheel.buckets[expiry, level] else "*")
                    for expiry, level in sorted(wheel.buckets)
                ],
                "executor": list(state.queue),
                "clock": f"{state.now_ms}, the wheel's own {wheel.own_clock_ms}",
            }
        )
    found = last_of_each_step(run, walked(page, run))
    assert len(found) == len(expected)
    seen = [
        {
            "buckets": each["buckets"],
            "delay queue": each["boxes"]["delay queue"],
            "executor": each["boxes"]["executor"],
            "clock": each["texts"]["clock"],
        }
        for each in found
    ]
    return [
        f"step {number}: {name}"
        for number, (one, other) in enumerate(zip(seen, expected, strict=True))
        for name in other
        if one[name] != other[name]
    ]


def test_every_step_of_a_wheel_shows_what_the_model_says(page: Page, wheel_run: Run) -> None:
    """Buckets, delay queue, executor and clock are those of the model after each step."""
    assert differences_from_the_wheel(page, wheel_run) == []


@pytest.mark.parametrize(
    ("right", "wrong", "seen"),
    [
        ('"first_ms":16,"last_ms":31', '"first_ms":20,"last_ms":35', "step 3: buckets"),
        ('"words":"16 (level 3)"', '"words":"17 (level 3)"', "step 3: delay queue"),
        ('"words":"7, the wheel', '"words":"8, the wheel', "step 7: clock"),
    ],
)
def test_a_wrong_state_is_seen(
    page: Page, wheel_run: Run, right: str, wrong: str, seen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The picture differs from the model where the value belongs."""
    made = str(viewer_page((wheel_run,)))
    assert right in made
    monkeypatch.setattr(f"{__name__}.viewer_page", lambda _: made.replace(right, wrong))
    assert seen in differences_from_the_wheel(page, wheel_run)


def differences_from_a_vector(page: Page, name: str) -> list[str]:
    """Return the differences of the picture from the counts of a golden vector's steps."""
    vector = next(each for each in all_vectors() if each.header.case == name)
    run = run_of_case(Case(vector.header, vector.steps))
    found: list[str] = []
    for number, (step, seen) in enumerate(
        zip(vector.steps, last_of_each_step(run, walked(page, run))[1:], strict=True), start=1
    ):
        assert step.outcome is not None
        lists = [
            box for key, row in seen["boxes"].items() if key.startswith("list ") for box in row
        ]
        counted = {
            "entries": len(lists),
            "stale_entries": sum(box.endswith("*") for box in lists),
            "timer_size": len(seen["boxes"].get("timer", ())),
            "queued": len(seen["boxes"].get("executor", ())),
            "used_bytes": sum(int(words.split()[1]) for words in seen["held"]),
        }
        found += [
            f"step {number}: {count}"
            for count, value in counted.items()
            if count in step.outcome.observed and step.outcome.observed[count] != value
        ]
    return found


@pytest.mark.parametrize(
    "name", ["purge-threshold", "mass-expiry", "lost-wake-up", "allocation-bound"]
)
def test_every_step_of_a_vector_shows_what_the_vector_records(page: Page, name: str) -> None:
    """Entries, stale entries, time-outs and bytes are those of the vector after each step."""
    assert differences_from_a_vector(page, name) == []


@pytest.mark.parametrize(
    ("name", "right", "wrong", "seen"),
    [
        ("purge-threshold", '"stale":true', '"stale":false', "step 1: stale_entries"),
        ("allocation-bound", '"size_bytes":10', '"size_bytes":9', "step 1: used_bytes"),
    ],
)
def test_a_wrong_count_is_seen(
    page: Page, name: str, right: str, wrong: str, seen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The picture differs from the vector."""
    make = viewer_page
    monkeypatch.setattr(
        f"{__name__}.viewer_page", lambda runs: str(make(runs)).replace(right, wrong)
    )
    assert seen in differences_from_a_vector(page, name)


def test_every_step_is_told_in_words(page: Page, wheel_run: Run) -> None:
    """A live region tells the number, the step and the state, as the list of all steps does."""
    found = walked(page, wheel_run)
    assert page.get_attribute(".viewer-says", "aria-live") == "polite"
    for frame, seen in zip(wheel_run.frames, found, strict=True):
        number = f"Step {frame.step} of {len(WHEEL_STEPS)}: " if frame.step else ""
        assert seen["says"].startswith(f"{number}{frame.says}")
        assert seen["says"].endswith(frame.state)
    items = page.evaluate("[...document.querySelectorAll('li')].map(each => each.textContent)")
    assert items == [f"{frame.says} {frame.state}" for frame in wheel_run.frames]


def test_keys_and_buttons_step_and_stop_at_both_ends(page: Page, wheel_run: Run) -> None:
    """Given a run: the frame is the one before, behind, first or last."""
    opened(page, wheel_run)
    last = len(wheel_run.frames) - 1
    places = []
    for key in ("ArrowLeft", "ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight", "Home"):
        page.keyboard.press(key)
        places.append(int(page.get_attribute(".purgatory-viewer", "data-at") or -1))
    assert places == [0, 1, 2, 1, last, last, 0]
    page.click("text=Forward")
    assert page.get_attribute(".purgatory-viewer", "data-at") == "1"
    page.click("text=Back")
    assert page.get_attribute(".purgatory-viewer", "data-at") == "0"
    assert page.is_disabled("text=Back")


def test_play_goes_to_the_end_and_stops(page: Page, wheel_run: Run) -> None:
    page.clock.install()
    opened(page, wheel_run)
    page.keyboard.press("Space")
    assert page.inner_text("button >> nth=1") == "Pause"
    page.clock.run_for(1_700)
    assert page.get_attribute(".purgatory-viewer", "data-at") == "1"
    page.clock.run_for(1_700 * len(wheel_run.frames))
    assert page.get_attribute(".purgatory-viewer", "data-at") == str(len(wheel_run.frames) - 1)
    assert page.inner_text("button >> nth=1") == "Play"


@pytest.mark.parametrize(("motion", "moves"), [("reduce", False), ("no-preference", True)])
def test_nothing_moves_for_readers_who_want_less_motion(
    page: Page, wheel_run: Run, motion: Any, moves: bool
) -> None:
    page.emulate_media(reduced_motion=motion)
    opened(page, wheel_run)
    moved = False
    for _ in wheel_run.frames[1:]:
        page.keyboard.press("ArrowRight")
        moved |= page.evaluate("document.getAnimations().length") > 0
    page.emulate_media(reduced_motion="reduce")
    assert moved is moves


def test_on_paper_there_is_a_still_and_every_step_in_words(page: Page, wheel_run: Run) -> None:
    """The first shows the frame with most boxes, the second its own, and the words are open."""
    opened(page, wheel_run)
    boxes = []
    for _ in wheel_run.frames:
        boxes.append(page.locator(".purgatory-viewer [data-key]").count())
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Home")
    page.evaluate(_NOTE_WHAT_IS_PRINTED)
    for key, still in (("Home", boxes.index(max(boxes))), ("End", len(boxes) - 1)):
        page.keyboard.press(key)
        at = page.get_attribute(".purgatory-viewer", "data-at")
        page.pdf()
        assert page.evaluate("window.printed") == [str(still), True]
        assert page.get_attribute(".purgatory-viewer", "data-at") == at
        assert page.get_attribute("details", "open") is None


_NOTE_WHAT_IS_PRINTED = """
addEventListener("beforeprint", () => {
  const figure = document.querySelector(".purgatory-viewer");
  window.printed = [figure.dataset.at, figure.querySelector("details").open];
})
"""


def test_the_page_of_every_component_fits_and_can_be_read(page: Page, wheel_run: Run) -> None:
    """Everything fits, no word is broken, and every text can be read."""
    names = ("purge-threshold", "allocation-bound", "two-reasons")
    vectors = [each for each in all_vectors() if each.header.case in names]
    runs = [wheel_run, *(run_of_case(Case(each.header, each.steps)) for each in vectors)]
    assert len(runs) == 4
    for run in runs:
        assert faults(page, str(viewer_page((run,)))) == []
