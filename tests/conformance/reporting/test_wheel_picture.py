"""The picture of a failing case: everything stands where its time is, and is where it belongs."""

from collections.abc import Callable
from itertools import pairwise
from xml.etree import ElementTree as ET

import msgspec
import pytest

from purgatory_conformance.drawing.wheel_picture import wheel_picture
from purgatory_conformance.drawing.wheel_scene import scene_of
from purgatory_conformance.reporting.results import Results
from purgatory_conformance.reporting.story import retraced
from purgatory_conformance.subjects.bundled.timer import PROFILE
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.cases import Step
from purgatory_spec.outcomes import Outcome, expired, ran

from .conftest import SILENT, MakeResults

_SVG = "{http://www.w3.org/2000/svg}"
_ANY = msgspec.structs.replace(SILENT, structure=profiles.Structure.ANY)
_CLOSE = 0.11


class _Picture:
    """A drawn picture, asked by classes and times."""

    def __init__(self, results: Results, number: int = 1) -> None:
        (cause,) = results.causes
        case = retraced(cause, results)
        assert case is not None
        self.text = wheel_picture(scene_of(case), case.divergence, number)
        self.root = ET.fromstring(self.text)

    @property
    def panels(self) -> list[ET.Element]:
        return [g for g in self.root.iter(f"{_SVG}g") if g.get("class") == "panel"]

    @property
    def axis(self) -> dict[int, float]:
        """The labels of the axis with their places."""
        return {
            int(label.attrib["data-time"]): float(label.attrib["x"])
            for label in self.root.iter(f"{_SVG}text")
            if "data-time" in label.attrib
        }

    def marks(self, kind: str) -> list[tuple[int, object]]:
        """The marks of a kind: the time and the place of each."""
        found: list[tuple[int, object]] = []
        for mark in self.root.iter():
            if mark.get("class") == f"mark {kind}":
                x = mark.get("cx") or mark.attrib["d"].split()[0].removeprefix("M")
                found.append((int(mark.attrib["data-time"]), float(x)))
        return found

    def differences(self) -> list[tuple[str, str]]:
        """Return the subject of each row of the comparison, and its words."""
        rows = [g for g in self.root.iter(f"{_SVG}g") if g.get("class") == "comparison"]
        return [
            (about.text or "", " ".join(part.text or "" for part in words))
            for about, words in map(_texts, rows)
        ]


def _texts(group: ET.Element) -> list[ET.Element]:
    return list(group.iter(f"{_SVG}text"))


def _rects(panel: ET.Element, word: str) -> list[ET.Element]:
    return [r for r in panel.iter(f"{_SVG}rect") if word in r.get("class", "").split()]


def _ends(rect: ET.Element) -> tuple[float, float]:
    x = float(rect.attrib["x"])
    return x, x + float(rect.attrib["width"])


Draw = Callable[..., _Picture]
"""Draws the picture of steps with the outcomes that were seen, of which the last diverges."""


@pytest.fixture(scope="module")
def draw(make_results: MakeResults) -> Draw:
    def drawn(
        *steps: tuple[op.Operation, Outcome],
        configuration: profiles.TimerConfiguration | None = None,
        profile: profiles.TimerProfile = SILENT,
        number: int = 1,
    ) -> _Picture:
        told = [Step(operation, outcome) for operation, outcome in steps]
        return _Picture(make_results(told, configuration, profile), number)

    return drawn


@pytest.fixture(scope="module")
def wrong_bucket(draw: Draw) -> _Picture:
    """A task of 78 ms on wheels of 3: it belongs to the bucket 54 of level 4."""
    seen = {
        "size": 1,
        "queued": 0,
        "wheel_clock_ms": 0,
        "queued_buckets": 1,
        "next_expiry_ms": 81,
        "levels": 5,
    }
    step = (op.Add("t1", 78), Outcome(observed=seen))
    return draw(step, configuration=profiles.TimerConfiguration(wheel_size=3), profile=PROFILE)


def test_the_expected_bucket_stands_over_its_span_and_is_highlighted(
    wrong_bucket: _Picture,
) -> None:
    before, after = wrong_bucket.panels
    (bucket,) = _rects(after, "queued")

    assert not _rects(before, "queued")
    assert (bucket.attrib["data-level"], bucket.attrib["data-expiry"]) == ("4", "54")
    assert "focus" in bucket.attrib["class"].split()
    assert _ends(bucket) == pytest.approx((wrong_bucket.axis[54], wrong_bucket.axis[81]), abs=0.11)
    (name,) = [text for text in _texts(after) if text.text == "t1"]
    assert _ends(bucket)[0] < float(name.attrib["x"]) < _ends(bucket)[1]
    assert bucket[0].text == "level 4, bucket 54 to 80: t1 due 78"


def test_every_level_covers_its_span_below_the_one_before(wrong_bucket: _Picture) -> None:
    before, after = wrong_bucket.panels
    lanes = _rects(after, "span")

    assert [lane.attrib["data-level"] for lane in _rects(before, "span")] == ["1"]
    assert [lane.attrib["data-level"] for lane in lanes] == ["1", "2", "3", "4"]
    for level, lane in enumerate(lanes, start=1):
        expected = wrong_bucket.axis[0], wrong_bucket.axis[3**level]
        assert _ends(lane) == pytest.approx(expected, abs=_CLOSE)
    tops = [float(lane.attrib["y"]) for lane in lanes]
    assert all(upper + 18 < lower for upper, lower in pairwise(tops))
    (bucket,) = _rects(after, "queued")
    assert bucket.attrib["y"] == lanes[3].attrib["y"]


def test_the_present_tick_of_each_level_is_hatched(wrong_bucket: _Picture) -> None:
    after = wrong_bucket.panels[-1]
    ticks = _rects(after, "present")

    assert len(ticks) == 4
    assert {tick.attrib["style"] for tick in ticks} == {"fill:url(#hatch-1)"}
    assert [p.attrib["id"] for p in wrong_bucket.root.iter(f"{_SVG}pattern")] == ["hatch-1"]
    for level in (2, 3, 4):
        expected = wrong_bucket.axis[0], wrong_bucket.axis[3 ** (level - 1)]
        assert _ends(ticks[level - 1]) == pytest.approx(expected, abs=_CLOSE)


def test_expected_and_seen_are_marked_at_their_times(wrong_bucket: _Picture) -> None:
    axis = wrong_bucket.axis

    assert wrong_bucket.marks("expected") == [(54, pytest.approx(axis[54], abs=_CLOSE))]
    assert wrong_bucket.marks("seen") == [(81, pytest.approx(axis[81], abs=_CLOSE))]
    assert wrong_bucket.differences() == [
        ("next expiry", "◆ expected at 54 ● seen at 81"),
        ("levels", "◆ expected 4 ● seen 5"),
    ]


def test_the_axis_runs_forward_and_nothing_leaves_the_picture(wrong_bucket: _Picture) -> None:
    _, _, width, height = map(float, wrong_bucket.root.attrib["viewBox"].split())

    assert {0, 54, 81} <= wrong_bucket.axis.keys()
    places = sorted(wrong_bucket.axis.items())
    assert all(one[1] < other[1] for one, other in pairwise(places))
    for element in wrong_bucket.root.iter():
        assert 0 <= float(element.get("x", 0)) <= width
        assert 0 <= float(element.get("y", 0)) <= height


def test_the_picture_is_told_in_words_too(wrong_bucket: _Picture) -> None:
    title, description = wrong_bucket.root[0], wrong_bucket.root[1]

    named = wrong_bucket.root.attrib["aria-labelledby"].split()
    assert wrong_bucket.root.attrib["role"] == "img"
    assert [title.attrib["id"], description.attrib["id"]] == named
    assert description.text is not None
    assert "expected after step 1: add t1, delay 78 ms: clock 0" in description.text
    assert "expected next_expiry_ms = 54. seen next_expiry_ms = 81" in description.text


def test_the_own_clock_lags_behind_the_clock(draw: Draw) -> None:
    picture = draw((op.Elapse(5), Outcome()), (op.Add("t1", 0), Outcome(events=(expired("t1"),))))

    lines: dict[str, tuple[int, object]] = {
        line.attrib["class"]: (int(line.attrib["data-time"]), float(line.attrib["x1"]))
        for line in picture.panels[-1].iter(f"{_SVG}line")
        if "clock" in line.get("class", "")
    }
    assert lines == {
        "own-clock": (0, pytest.approx(picture.axis[0], abs=_CLOSE)),
        "clock": (5, pytest.approx(picture.axis[5], abs=_CLOSE)),
    }
    assert {"own clock 0", "clock 5"} <= {text.text for text in _texts(picture.panels[-1])}
    assert picture.differences() == [("t1 expires", "◆ expected in the next advance ● seen at 5")]


def test_an_emptied_bucket_is_told_from_one_with_tasks(draw: Draw) -> None:
    late = Outcome(True, events=(expired("t1"),))
    picture = draw(
        (op.Add("t1", 1), Outcome()),
        (op.Add("t2", 2), Outcome()),
        (op.Cancel("t1"), Outcome()),
        (op.Advance(1), late),
    )

    before = picture.panels[-2]
    assert [r.attrib["data-expiry"] for r in _rects(before, "emptied")] == ["1"]
    assert [r.attrib["data-expiry"] for r in _rects(before, "queued")] == ["2"]
    assert not _rects(before, "focus")
    assert picture.marks("seen") == [(1, pytest.approx(picture.axis[1], abs=_CLOSE))]
    assert picture.differences() == [("t1 expires", "◆ expected not at all ● seen at 1")]
    titles = [_texts(panel)[0].text for panel in picture.panels]
    assert titles == [
        "at first",
        "after step 1: add t1, delay 1 ms",
        "after step 2: add t2, delay 2 ms",
        "after step 3: cancel t1",
        "expected after step 4: advance to 1",
    ]


def test_a_task_on_its_way_down_is_highlighted_in_both_buckets(draw: Draw) -> None:
    picture = draw(
        (op.Add("t1", 5), Outcome()),
        (op.Advance(4), Outcome(True, events=(expired("t1"),))),
        configuration=profiles.TimerConfiguration(wheel_size=2),
    )

    before, after = picture.panels[-2:]
    (high,), (low,) = _rects(before, "focus"), _rects(after, "focus")
    assert (high.attrib["data-level"], high.attrib["data-expiry"]) == ("3", "4")
    assert (low.attrib["data-level"], low.attrib["data-expiry"]) == ("1", "5")
    assert picture.marks("expected") == [(5, pytest.approx(picture.axis[5], abs=_CLOSE))]
    assert picture.marks("seen") == [(4, pytest.approx(picture.axis[4], abs=_CLOSE))]
    due = [line for line in before.iter(f"{_SVG}line") if line.get("class") == "due"]
    assert [float(line.attrib["x1"]) for line in due] == [
        pytest.approx(picture.axis[5], abs=_CLOSE)
    ]


def test_a_task_that_was_lost_on_its_way_down_is_highlighted(draw: Draw) -> None:
    profile = msgspec.structs.replace(
        SILENT,
        observables=frozenset({profiles.Observable.SIZE, profiles.Observable.QUEUED_BUCKETS}),
    )
    picture = draw(
        (op.Add("t1", 5), Outcome(observed={"size": 1, "queued_buckets": 1})),
        (op.Add("t2", 4), Outcome(observed={"size": 2, "queued_buckets": 1})),
        (
            op.Advance(4),
            Outcome(True, events=(expired("t2"),), observed={"size": 1, "queued_buckets": 0}),
        ),
        configuration=profiles.TimerConfiguration(wheel_size=2),
        profile=profile,
    )

    before, after = picture.panels[-2:]
    assert [r.attrib["data-expiry"] for r in _rects(before, "focus")] == ["4"]
    assert [r.attrib["data-expiry"] for r in _rects(after, "focus")] == ["5"]
    assert picture.differences() == [("queued buckets", "◆ expected 1 ● seen 0")]


def test_what_a_running_task_did_is_compared_with_what_it_should_have_done(draw: Draw) -> None:
    script = (op.AddInside("t2", 0), op.AddInside("t3", 7))
    picture = draw(
        (op.Add("t1", 0, script), Outcome(events=(expired("t1"),))),
        (op.RunOne(), Outcome(events=(ran("t1"),))),
    )

    assert picture.differences() == [("t2 expires", "◆ expected at 0 ● seen not in this step")]
    assert [r.attrib["data-expiry"] for r in _rects(picture.panels[-1], "queued")] == ["7"]


def test_of_many_levels_the_highest_is_drawn_and_those_between_are_counted(draw: Draw) -> None:
    adds = [(op.Add(f"t{level}", 2 ** (level - 1)), Outcome()) for level in range(1, 13)]
    picture = draw(
        *adds,
        (op.Advance(1), Outcome(False)),
        configuration=profiles.TimerConfiguration(wheel_size=2),
    )

    lanes = [lane.attrib["data-level"] for lane in _rects(picture.panels[-1], "span")]
    assert lanes == ["1", "2", "3", "4", "5", "6", "12"]
    assert "levels 7 to 11" in {text.text for text in _texts(picture.panels[-1])}


def test_a_huge_delay_makes_a_legible_picture(draw: Draw) -> None:
    profile = msgspec.structs.replace(SILENT, largest_delay_ms=profiles.LARGEST_LONG)
    picture = draw(
        (op.Add("t1", profiles.LARGEST_LONG - 3), Outcome(events=(expired("t1"),))),
        configuration=profiles.TimerConfiguration(wheel_size=2, start_ms=3),
        profile=profile,
    )

    after = picture.panels[-1]
    _, _, width, height = map(float, picture.root.attrib["viewBox"].split())
    assert width < 1500
    assert height < 600
    assert "levels 3 to 62" in {text.text for text in _texts(after)}
    (bucket,) = _rects(after, "queued")
    assert (bucket.attrib["data-level"], bucket.attrib["data-expiry"]) == ("63", str(2**62))
    places = sorted(picture.axis.items())
    assert all(one[1] + 20 < other[1] for one, other in pairwise(places))
    assert {3, 2**62, profiles.LARGEST_LONG} <= picture.axis.keys()
    expected = profiles.LARGEST_LONG, pytest.approx(picture.axis[profiles.LARGEST_LONG], abs=_CLOSE)
    assert picture.marks("expected") == [expected]
    assert picture.marks("seen") == [(3, pytest.approx(picture.axis[3], abs=_CLOSE))]


def test_many_steps_make_no_endless_picture(draw: Draw) -> None:
    adds = [(op.Add(f"t{i}", i), Outcome()) for i in range(2, 40)]
    picture = draw(
        *adds, (op.Advance(2), Outcome(False)), configuration=profiles.TimerConfiguration(2, 3)
    )

    assert 2 <= len(picture.panels) <= 5
    title = _texts(picture.panels[-1])[0].text
    assert title == "expected after step 39: advance to 2  ·  executor's queue: t2 t3"
    assert float(picture.root.attrib["height"]) < 1000


def test_a_timer_without_a_wheel_shows_tasks_at_their_due_ticks(draw: Draw) -> None:
    picture = draw(
        (op.Add("t1", 30), Outcome()),
        (op.Add("t2", 5000), Outcome()),
        (op.Advance(40), Outcome(False)),
        configuration=profiles.TimerConfiguration(tick_ms=20),
        profile=_ANY,
    )

    before, after = picture.panels[-2:]
    pending = {r.attrib["data-expiry"]: _ends(r)[0] for r in _rects(before, "queued")}
    assert pending == {
        "20": pytest.approx(picture.axis[20], abs=_CLOSE),
        "5000": pytest.approx(picture.axis[5000], abs=_CLOSE),
    }
    assert [r.attrib["data-expiry"] for r in _rects(before, "focus")] == ["20"]
    assert [r.attrib["data-expiry"] for r in _rects(after, "queued")] == ["5000"]
    assert picture.marks("expected") == [(40, pytest.approx(picture.axis[40], abs=_CLOSE))]
    assert picture.differences() == [("t1 expires", "◆ expected at 40 ● seen not in this step")]


def test_a_subject_that_only_shows_runs_has_a_picture_too(draw: Draw) -> None:
    profile = msgspec.structs.replace(_ANY, executor=profiles.Executor.INLINE)
    picture = draw(
        (op.Add("t1", 9), Outcome()),
        (op.Advance(4), Outcome(True, events=(ran("t1"),))),
        profile=profile,
    )

    assert picture.marks("expected") == [(9, pytest.approx(picture.axis[9], abs=_CLOSE))]
    assert picture.marks("seen") == [(4, pytest.approx(picture.axis[4], abs=_CLOSE))]


def test_what_has_no_time_is_told_in_words(draw: Draw) -> None:
    handed = Outcome(events=(expired("t1"),)), Outcome(events=(expired("t2"),))
    picture = draw(
        (op.Add("t1", 0), handed[0]),
        (op.Add("t2", 0), handed[1]),
        (op.RunOne(), Outcome(events=(ran("t2"),))),
    )

    assert picture.differences() == [("what runs", "◆ expected t1 ● seen t2")]
    assert not picture.marks("expected")
    assert "executor's queue: t1 t2" in (_texts(picture.panels[0])[0].text or "")


def test_a_closed_timer_is_said_to_be_closed(draw: Draw) -> None:
    picture = draw(
        (op.Add("t1", 1), Outcome()),
        (op.Shutdown(), Outcome()),
        (op.Advance(1), Outcome(False, events=(expired("t1"),))),
    )

    assert (_texts(picture.panels[-1])[0].text or "").endswith("·  closed")
    assert picture.differences() == [("t1 expires", "◆ expected not at all ● seen at 1")]


@pytest.mark.parametrize(
    "name", ["<b>&\"'", "]]>", "\x00\x1b[31m", "\ud800", "a\u2028b", "x" * 300]
)
def test_odd_names_leave_the_picture_well_formed(name: str, draw: Draw) -> None:
    picture = draw((op.Add(name, 5), Outcome()), (op.Advance(5), Outcome(False)), number=7)

    picture.text.encode("utf-8")
    assert not any(ord(letter) < 32 for letter in picture.text)
    assert len(_rects(picture.panels[-2], "focus")) == 1
    assert picture.root.attrib["aria-labelledby"] == "picture-7-title picture-7-text"
