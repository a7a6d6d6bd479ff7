"""A counterexample is shown as a table that fits, and as a page; nothing is lost in either."""

import io
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from rich.console import Console

from purgatory_conformance.reporting.narrative import laid_out, print_narrative
from purgatory_conformance.reporting.narrative_html import least_rem, render_narrative, wordy_counts
from purgatory_model.claims.narrative import Narrative, NarrativeStep

STEPS = (
    NarrativeStep(0, "", "at first", {"timer": "0", "estimate": "0", "live": "0"}),
    NarrativeStep(1, "caller", "counts operation 1", {"timer": "0", "estimate": "1", "live": "0"}),
    NarrativeStep(
        2, "reaper", "resets the estimate to 0", {"timer": "0", "estimate": "0", "live": "0"}
    ),
    NarrativeStep(
        3,
        "caller",
        "adds operation 1 to timer and list",
        {"timer": "1", "estimate": "0", "live": "1"},
        "claim broken: live is counted",
    ),
)
STORY = Narrative(
    title="A reset wipes an operation that was counted and is not yet in the timer.",
    actors=("caller", "reaper"),
    counts=("timer", "estimate", "live"),
    steps=STEPS,
    verdict="LiveIsCounted is broken.",
    explanation="The reaper reads between count and add.",
)


def told(width: int, story: Narrative = STORY) -> str:
    file = io.StringIO()
    print_narrative(Console(file=file, width=width, no_color=True), story)
    return file.getvalue()


def looping(loop: int) -> Narrative:
    return Narrative("t", STORY.actors, STORY.counts, STEPS, "v", loop=loop)


def test_a_wide_terminal_has_a_column_for_each_actor_and_count() -> None:
    """Every actor has a column, the counts stand beside, and the remark ends its step."""
    caller, reaper = "adds operation 1 to timer and list", "resets the estimate to 0"
    rows = [
        ("step", "caller", "reaper", "timer  estimate  live"),
        ("   0", "", "", "    0         0     0"),
        ("   1", "counts operation 1", "", "    0         1     0"),
        ("   2", "", reaper, "    0         0     0"),
        ("   3", caller, "", "    1         0     1    claim broken: live is counted"),
    ]
    assert told(130).splitlines() == [
        STORY.title,
        "",
        *(f"{step}  {one:<34}  {other:<24}  {rest}" for step, one, other, rest in rows),
        "",
        STORY.verdict,
        STORY.explanation,
    ]


def test_a_narrow_terminal_has_one_column_for_who_and_one_for_what() -> None:
    """Print the actor and the action in a column each, with the counts beside them."""
    lines = told(60).splitlines()
    assert lines[3].split() == ["step", "who", "what", "timer", "estimate", "live"]
    assert any(line.split()[:3] == ["2", "reaper", "resets"] for line in lines)


def test_a_very_narrow_terminal_has_the_changed_counts_below() -> None:
    """The counts stand below the steps that change them, and only the changed ones."""
    lines = [line.strip() for line in told(44).splitlines()]
    assert "step  who     what" in lines
    assert "estimate 1" in lines
    assert "timer 1, live 1" in lines


@pytest.mark.parametrize("width", range(40, 200, 7))
def test_no_line_is_too_long_and_no_word_is_lost(width: int) -> None:
    """Given a terminal of any width: every line fits, and every word of every step is there."""
    text = told(width)
    assert max(len(line) for line in text.splitlines()) <= width
    for step in STEPS[1:]:
        assert set(step.text.split()) <= set(text.split())
    assert {"claim", "broken:", "counted"} <= set(text.split())


def test_a_loop_is_said_in_words() -> None:
    """The last line says which."""
    assert laid_out(looping(1), 120)[-1].text.strip() == (
        "The state is now that after step 1; the steps after it repeat for ever."
    )
    assert laid_out(looping(3), 120)[-1].text.strip() == "Nothing happens any more after step 3."


def test_unprintable_characters_do_not_reach_the_terminal() -> None:
    """Given a step whose text holds an escape code: the code is shown and not sent."""
    step = NarrativeStep(1, "a", "\x1b[2J", {})
    assert "\x1b" not in told(80, Narrative("t", ("a",), (), (step,), "v"))


class Page(HTMLParser):
    """The cells of the table, and whether every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.attributes += attributes
        if tag not in ("meta", "input"):
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data


def test_the_page_is_well_formed_and_says_what_the_table_says() -> None:
    """Every cell is there, nothing is loaded, and the broken claim is said in words."""
    text = render_narrative(STORY)
    page = Page(text)
    assert page.open == []
    header = ["step", "caller", "reaper", "timer", "estimate", "live", "remark"]
    assert page.cells[:7] == header
    assert page.cells[7:14] == ["0", "", "", "0", "0", "0", "at first"]
    assert page.cells[28:35] == [
        "3",
        "adds operation 1 to timer and list",
        "",
        "1",
        "0",
        "1",
        "← claim broken: live is counted",
    ]
    assert not {name for name, _ in page.attributes} & {"src", "href"}
    for loading in ("<script src", "import(", "url(", "@import"):
        assert loading not in text


def test_the_page_marks_the_steps_that_repeat() -> None:
    """The steps behind step 1 are marked and the loop is said; of the other its end is."""
    text = render_narrative(looping(1))
    assert (text.count('class="repeats"'), text.count('class="remarked repeats"')) == (1, 1)
    assert "after step 3 all is as after step 1" in text
    assert "nothing happens any more after step 3" in render_narrative(looping(3))


def test_a_witness_is_not_shown_as_a_failure() -> None:
    """The verdict of the second alone is that of success, and its remark has another colour."""
    witness = replace(STORY, is_witness=True)
    for story, verdict in ((STORY, '"verdict"'), (witness, '"verdict good"')):
        assert f"<p class={verdict}>" in render_narrative(story)

    def remark(story: Narrative) -> str:
        file = io.StringIO()
        print_narrative(Console(file=file, width=130, force_terminal=True), story)
        return next(line for line in file.getvalue().splitlines() if "live is counted" in line)

    assert "\x1b[" in remark(STORY)
    assert remark(STORY) != remark(witness)


def test_the_rows_are_stacked_on_pages_that_are_narrower_than_the_table() -> None:
    """The second needs a wider page for its columns, and long counts are broken into lines."""
    counts = (*STORY.counts, "lists")
    steps = tuple(replace(s, counts={**s.counts, "lists": "a: o1 o2 o3, b: o1"}) for s in STEPS)
    wide = replace(STORY, actors=("caller", "reaper", "executor"), counts=counts, steps=steps)
    assert least_rem(STORY) + 11 < least_rem(wide)
    assert f"@media (max-width: {least_rem(wide)}rem)" in render_narrative(wide)
    assert not wordy_counts(STORY)
    assert wordy_counts(wide) == {"lists"}


def test_markup_in_texts_is_escaped() -> None:
    """Given a step whose text holds markup, when the page is rendered, it is text."""
    step = NarrativeStep(1, "a", "<b>bold</b>", {})
    text = render_narrative(Narrative("<i>t</i>", ("a",), (), (step,), "v"))
    assert "<b>" not in text
    assert "<i>" not in text
