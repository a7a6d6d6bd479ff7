"""Pictures of panels: they show the model's states, and what was seen beside what was expected."""

from collections.abc import Iterator
from xml.etree import ElementTree as ET

import msgspec
import pytest

from purgatory_conformance.specimens.small import channel_muting, memory_pool, purgatory
from purgatory_conformance.support.registry import support_of
from purgatory_judge.components import PROFILES
from purgatory_judge.registry import judged
from purgatory_judge.retraced_case import RetracedCase
from purgatory_spec import profiles
from purgatory_spec.cases import Step
from purgatory_spec.operations import Allocate, Announce, Check, Connect, Force, Poll, Watch
from purgatory_spec.outcomes import Outcome, completed, received, tried

_SVG = "{http://www.w3.org/2000/svg}"


class _Panels:
    """The drawn panels of steps of which the last diverges, asked by classes."""

    def __init__(
        self,
        configuration: profiles.Configuration,
        profile: profiles.Profile,
        *steps: Step,
        number: int = 1,
    ) -> None:
        (component,) = (each for each, kind in PROFILES.items() if isinstance(profile, kind))
        silent = msgspec.structs.replace(profile, observables=frozenset())
        judge = judged(component).judge(configuration, silent, ())
        states: list[object] = []
        for step in steps:
            assert step.outcome is not None
            states.append(judge.state)
            divergence = judge.step(step.operation, step.outcome).divergence
        assert divergence is not None
        assert len(states) == len(steps)
        case = RetracedCase(configuration, silent, steps, tuple(states), divergence)
        self.text = support_of(component).picture(case, number)
        self.roots = list(ET.fromstring(f"<figure>{self.text}</figure>"))

    def titles(self) -> list[str]:
        return [root.findtext(f"{_SVG}title") or "" for root in self.roots]

    def description(self, place: int) -> str:
        return self.roots[place].findtext(f"{_SVG}desc") or ""

    def names(self, place: int, kind: str) -> list[str]:
        """The texts of a class in a panel."""
        return [t.text or "" for t in self._of(place, "text") if kind in t.attrib["class"].split()]

    def texts(self, place: int) -> list[str]:
        return [t.text or "" for t in self.roots[place].iter(f"{_SVG}text")]

    def parts(self, place: int) -> list[tuple[int, float]]:
        """The holders of a budget: bytes and width."""
        return [
            (int(r.attrib["data-bytes"]), float(r.attrib["width"]))
            for r in self._of(place, "rect")
            if "data-bytes" in r.attrib
        ]

    def bound(self, place: int) -> list[tuple[int, float]]:
        return [
            (int(line.attrib["data-bytes"]), float(line.attrib["x1"]))
            for line in self._of(place, "line")
        ]

    def _of(self, place: int, tag: str) -> Iterator[ET.Element]:
        for element in self.roots[place].iter(f"{_SVG}{tag}"):
            if "class" in element.attrib:
                yield element


def _watch(name: str, *keys: str) -> Step:
    return Step(Watch(name, keys, 5), Outcome(False, events=(tried(name), tried(name))))


def test_a_purgatory_shows_its_lists_and_which_entries_are_stale() -> None:
    """The completed one's entries are stale before, gone from the checked list after."""
    panels = _Panels(
        profiles.PurgatoryConfiguration(),
        purgatory.PROFILE,
        _watch("o1", "a", "b"),
        _watch("o2", "a"),
        Step(Force("o1"), Outcome(True, events=(completed("o1"),))),
        Step(Check("a"), Outcome(0, events=(tried("o1"), tried("o2")))),
    )

    assert panels.titles() == ["before step 4", "expected after step 4", "step 4: check a"]
    assert panels.names(0, "stale") == ["o1", "o1"]
    assert panels.names(1, "stale") == ["o1"]
    assert panels.names(0, "queued") == ["o2", "o2 due 5"]
    assert panels.names(0, "focus") == ["o1", "o1"]
    assert panels.names(2, "expected")[1:] == ["—"]
    assert panels.names(2, "seen")[1:] == ["o1 tried"]
    assert panels.names(2, "alike") == ["o2 tried", "o2 tried"]
    assert "lists [a: o1* o2, b: o1*]" in panels.description(0)
    assert "expected —, seen o1 tried" in panels.description(2)


def test_a_pool_shows_who_holds_how_much_of_the_bound() -> None:
    """The holders are as wide as their bytes, and the bound is where all of them end."""
    panels = _Panels(
        profiles.MemoryPoolConfiguration(size_bytes=100, max_single_bytes=40),
        memory_pool.PROFILE,
        Step(Allocate("b1", 40), Outcome(True)),
        Step(Allocate("b2", 20), Outcome(True)),
        Step(Allocate("b3", 10), Outcome(False)),
    )

    (b1, b2), (bound,) = panels.parts(0), panels.bound(0)
    assert (b1[0], b2[0], bound[0]) == (40, 20, 100)
    assert b1[1] == pytest.approx(2 * b2[1], abs=0.2)
    assert bound[1] == pytest.approx(8 + 5 * b2[1], abs=0.5)
    assert [size for size, _ in panels.parts(1)] == [40, 20, 10]
    assert panels.names(1, "focus") == ["b3 10"]
    assert panels.names(2, "expected")[1:] == ["true"]
    assert "bytes: 60 of 100 held, 40 available" in panels.names(0, "faint")


def test_a_pool_that_gave_more_than_it_has_is_wider_than_its_bound() -> None:
    """The bound lies inside the bar."""
    panels = _Panels(
        profiles.MemoryPoolConfiguration(size_bytes=50, max_single_bytes=40),
        memory_pool.PROFILE,
        Step(Allocate("b1", 40), Outcome(True)),
        Step(Allocate("b2", 40), Outcome(True)),
        Step(Allocate("b3", 1), Outcome(True)),
    )

    ((_, width), _), ((_, bound),) = panels.parts(0), panels.bound(0)
    assert bound == pytest.approx(8 + 50 / 40 * width, abs=0.5)
    assert "bytes: 80 of 50 held, -30 available" in panels.names(0, "faint")


def test_an_unbounded_pool_has_no_bound_to_draw() -> None:
    """Given an unbounded pool that refuses a request: its bytes are told in words."""
    panels = _Panels(
        profiles.MemoryPoolConfiguration(unbounded=True),
        memory_pool.PROFILE,
        Step(Allocate("b1", 40), Outcome(False)),
    )

    assert panels.titles()[0] == "at first"
    assert not panels.bound(0)
    assert not panels.parts(0)


def test_a_server_shows_who_holds_and_who_waits() -> None:
    """The first channel's request is handled, the second channel waits."""
    panels = _Panels(
        profiles.ChannelMutingConfiguration(limit_bytes=10, max_request_bytes=10),
        channel_muting.PROFILE,
        Step(Connect("c1"), Outcome()),
        Step(Connect("c2"), Outcome()),
        Step(Announce("c1", 10, 14), Outcome()),
        Step(Poll(), Outcome(events=(received("c1#1"),))),
        Step(Announce("c2", 10, 14), Outcome()),
        Step(Poll(), Outcome(events=(received("c2#1"),))),
    )

    assert [size for size, _ in panels.parts(0)] == [10]
    assert panels.names(1, "focus") == ["c2"]
    assert panels.names(2, "expected")[1:] == ["—"]
    assert panels.names(2, "seen")[1:] == ["c2#1 received"]


def test_many_entries_make_no_endless_picture() -> None:
    """The picture is cut off, and says how much."""
    keys = ("a",) * 60 + tuple(f"k{number}" for number in range(40))
    panels = _Panels(
        profiles.PurgatoryConfiguration(),
        purgatory.PROFILE,
        _watch("o1", *keys),
        Step(Check("a"), Outcome(1, events=tuple([tried("o1")] * 60))),
    )

    assert "… and 36 more" in panels.names(0, "faint")
    assert "… and 33 more" in panels.texts(0)
    assert "100, of them 0 stale" in panels.texts(0)
    assert all(float(root.attrib["height"]) < 800 for root in panels.roots)


@pytest.mark.parametrize(
    "name", ["<b>&\"'", "]]>", "\x00\x1b[31m", "\ud800", "a\u2028b", "x" * 300]
)
def test_odd_names_leave_the_picture_well_formed(name: str) -> None:
    """The picture is well formed, within its width, and its ids are those of its number."""
    panels = _Panels(
        profiles.PurgatoryConfiguration(),
        purgatory.PROFILE,
        _watch(name, name),
        Step(Force(name), Outcome(False)),
        number=7,
    )

    panels.text.encode("utf-8")
    assert not any(ord(letter) < 32 for letter in panels.text)
    ids = [e.attrib["id"] for root in panels.roots for e in root.iter() if "id" in e.attrib]
    assert len(set(ids)) == 6
    assert all(each.startswith("picture-7-") for each in ids)
    for root in panels.roots:
        for rect in root.iter(f"{_SVG}rect"):
            right = float(rect.attrib["x"]) + float(rect.attrib["width"])
            assert right <= float(root.attrib["width"])
