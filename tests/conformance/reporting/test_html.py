"""The HTML page: complete, well formed, self-contained, and safe whatever a subject's names are."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import msgspec
import pytest

from purgatory_conformance.reporting.html import render_html
from purgatory_conformance.reporting.results import DeviationLine, FailureLine, Results
from purgatory_spec.cases import Step
from purgatory_spec.messages import Implementation
from purgatory_spec.operations import Add, Advance
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Clock, Component, Observable
from purgatory_spec.requirements import requirements

from .conftest import SILENT, MakeResults, never_expires

_VOID = {"meta", "br", "hr", "img", "input", "link"}


class _Page(HTMLParser):
    """A page that was read: every element was closed where it belongs."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.addresses += [
            v or "" for name, v in attrs if name in ("src", "href", "data", "action")
        ]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip() and self.open:
            self.texts.setdefault(self.open[-1], []).append(" ".join(data.split()))


@pytest.fixture(scope="module")
def silent_results(make_results: MakeResults) -> Results:
    """A task that should have expired did not; nothing is observed."""
    return make_results([Step(Add("t1", 25), Outcome()), Step(Advance(30), Outcome(False))])


def test_a_conformant_subject_has_its_verdict_and_every_rule(good_results: Results) -> None:
    page = _Page(render_html([good_results]))

    assert "✓ conformant" in page.texts["strong"]
    assert "every applicable rule was put to the test and held" in page.texts["div"]
    assert [id_ for id_ in page.ids if id_.startswith("TIMER-")] == [
        rule.id for rule in good_results.rules
    ]
    assert set(page.texts["h2"]) == {"Timer"}
    assert set(page.texts["h3"]) == {"All rules"}
    for rule in requirements(Component.TIMER):
        assert (rule.title in page.texts["summary"]) == (rule.id in page.ids)
    cells = page.texts["td"]
    for line in good_results.rules:
        assert str(line.visits) in cells
    assert cells.count("✓ held") == len(good_results.rules)


def test_every_cause_has_its_rule_steps_sentences_picture_and_command(
    broken_results: Results,
) -> None:
    text = render_html([broken_results])
    page = _Page(text)

    assert "✗ not conformant" in page.texts["strong"]
    assert broken_results.causes
    for number, cause in enumerate(broken_results.causes, start=1):
        assert f"cause-{number}" in page.ids
        assert f"purgatory replay {cause.replay}" in page.texts["code"]
        assert {cause.expected, cause.seen} <= set(page.texts["strong"])
        assert {cause.before, cause.after} <= set(page.texts["dd"])
        assert f"picture-{number}-title" in page.ids
    assert page.texts["span"].count("✗ diverges") == len(broken_results.causes)
    broken = {rule.id for rule in broken_results.rules if rule.state == "broken"}
    assert page.texts["td"].count("✗ broken") == len(broken)


def test_the_pictures_are_well_formed_and_their_ids_their_own(broken_results: Results) -> None:
    twice = msgspec.structs.replace(broken_results, causes=broken_results.causes * 2)

    text = render_html([twice])

    pictures = re.findall(r'<svg [^>]*class="wheel".*?</svg>', text)
    assert len(pictures) == len(twice.causes) > 1
    assert {ET.fromstring(picture).tag for picture in pictures} == {
        "{http://www.w3.org/2000/svg}svg"
    }
    ids = _Page(text).ids
    assert len(ids) == len(set(ids))


def test_the_page_loads_nothing(broken_results: Results) -> None:
    text = render_html([broken_results])
    page = _Page(text)

    assert not {"link", "iframe", "img", "object"} & set(page.tags)
    assert page.tags.count("script") == len(broken_results.causes) + 1
    assert not re.search(r"\ssrc=|fetch\(|import\b|XMLHttpRequest|WebSocket|sendBeacon", text)
    assert {address[0] for address in page.addresses} == {"#"}
    assert "@import" not in text
    assert set(re.findall(r"url\(([^)]*)\)", text)) <= {"#hatch-legend", "#hatch-1", "#hatch-2"}
    assert set(re.findall(r"\w+://[^\s\"'<]+", text)) == {"http://www.w3.org/2000/svg"}


def test_rules_and_causes_lead_to_each_other(broken_results: Results) -> None:
    page = _Page(render_html([broken_results]))

    assert {address.removeprefix("#") for address in page.addresses} <= set(page.ids)
    for number, cause in enumerate(broken_results.causes, start=1):
        assert page.addresses.count(f"#cause-{number}") == 1 + len(cause.also)
        assert f"#{cause.rule}" in page.addresses


def test_a_rule_that_the_page_does_not_list_is_no_link(eventful_results: Results) -> None:
    page = _Page(render_html([eventful_results]))

    assert "TIMER-SPAN" in page.texts["code"]
    assert "TIMER-SPAN" not in page.ids
    assert {address.removeprefix("#") for address in page.addresses} <= set(page.ids)


def test_what_asks_for_something_stands_before_what_held(good_results: Results) -> None:
    states = ("held", "too few", "deviates", "doubtful", "broken", "held")
    lines = [
        msgspec.structs.replace(line, state=state)
        for line, state in zip(good_results.rules, states, strict=False)
    ]
    results = msgspec.structs.replace(good_results, rules=tuple(lines))

    page = _Page(render_html([results]))

    identifiers = [id_ for id_ in page.ids if id_.startswith("TIMER-")]
    assert identifiers == [lines[place].id for place in (4, 3, 2, 1, 0, 5)]


def test_an_observable_that_the_step_before_did_not_show_is_marked(
    make_results: MakeResults,
) -> None:
    shown = [{"size": 1, "levels": 1}, {"size": 2, "levels": 1}, {"size": 2, "levels": 1}]
    profile = msgspec.structs.replace(
        SILENT, observables=frozenset({Observable.SIZE, Observable.LEVELS})
    )
    results = make_results(
        [
            Step(Add("t1", 1), Outcome(observed=shown[0])),
            Step(Add("t2", 1), Outcome(observed=shown[1])),
            Step(Advance(1), Outcome(False, observed=shown[2])),
        ],
        profile=profile,
    )

    text = render_html([results])

    assert re.findall(r'<li class="changed">(\w+) <b>(\w+)</b>', text) == [("size", "2")]
    assert text.count("<li>size <b>") == 2


def test_the_rules_text_is_rendered(good_results: Results) -> None:
    text = render_html([good_results])

    assert "has the expiry <code>x = t + d</code>. Its <em>due tick</em> is" in text
    assert "except for the wheels of TIMER-OWN-CLOCK: due is relative" not in text
    assert "except for the wheels of TIMER-OWN-CLOCK." in text
    assert not any("`" in words for words in _Page(text).texts["p"])


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "</svg><b>", '"onload="x', "{{ 7 * 7 }}", "\x00\x1b[1m"]
)
def test_names_cannot_leave_their_place(name: str, make_results: MakeResults) -> None:
    results = make_results(never_expires(name), why=name, hint=name)
    results = msgspec.structs.replace(
        results,
        header=msgspec.structs.replace(
            results.header, subject=name, implementation=Implementation(name, name, name)
        ),
        failures=(FailureLine("crashed", name, name, name, f"{name}\n\tlast {name}\r\n"),),
        deviations=(DeviationLine("TIMER-SIZE", name, name, name, name, 0),),
    )

    text = render_html([results])
    page = _Page(text)

    assert "script" not in page.tags
    assert "b" not in page.tags
    assert "49" not in page.texts["h1"][0]
    assert not any(ord(letter) < 32 and letter != "\n" for letter in text)
    text.encode("utf-8")


def test_half_a_character_does_not_break_the_page(make_results: MakeResults) -> None:
    results = make_results(never_expires("\ud800"))

    assert b"\\ud800" in render_html([results]).encode("utf-8")


def test_observables_are_shown_where_there_are_any(
    broken_results: Results, silent_results: Results
) -> None:
    assert "observables after it" in _Page(render_html([broken_results])).texts["th"]
    assert "observables after it" not in _Page(render_html([silent_results])).texts["th"]


def test_nondeterminism_failures_deviations_and_the_hint_are_told(
    eventful_results: Results,
) -> None:
    page = _Page(render_html([eventful_results]))

    assert "failed in 2 of 5 repetitions" in page.texts["strong"]
    assert any("41 failing cases" in words for words in page.texts["p"])
    assert "! the subject hung" in page.texts["span"]
    assert page.texts["pre"][0] == "[[deviation]]"
    assert page.texts["pre"][1].endswith("line 29 line 30")
    assert "docs/findings.md#a-pool-that-grows" in page.texts["code"]
    assert {"deviations/size.jsonl", "deviations/span.jsonl"} <= set(page.texts["code"])
    assert "because X-1" in page.texts["td"]
    assert "✗ not seen" in page.texts["span"]


def test_a_real_clock_has_no_picture_and_the_page_says_so(silent_results: Results) -> None:
    header = silent_results.header
    wall = msgspec.structs.replace(header.profile, clock=Clock.WALL)
    results = msgspec.structs.replace(
        silent_results, header=msgspec.structs.replace(header, profile=wall)
    )

    page = _Page(render_html([results]))

    assert "svg" not in page.tags
    assert any("real clock" in words for words in page.texts["figcaption"])


def test_steps_that_the_model_now_allows_have_no_picture(silent_results: Results) -> None:
    (cause,) = silent_results.causes
    harmless = msgspec.structs.replace(cause, steps=cause.steps[:1])

    page = _Page(render_html([msgspec.structs.replace(silent_results, causes=(harmless,))]))

    assert "svg" not in page.tags
    assert any("does not follow" in words for words in page.texts["figcaption"])


def test_a_rule_of_another_suite_is_shown_without_its_text(silent_results: Results) -> None:
    (cause,) = silent_results.causes
    foreign = msgspec.structs.replace(cause, rule="TIMER-OF-TOMORROW")

    page = _Page(render_html([msgspec.structs.replace(silent_results, causes=(foreign,))]))

    assert "TIMER-OF-TOMORROW" in page.ids
    assert page.texts["code"].count("TIMER-OF-TOMORROW") == 2
