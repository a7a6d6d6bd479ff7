"""The class takes ninety minutes, with a figure on each slide; its sheets need no network."""

import re

import pytest

from purgatory_course.playing.hunts import hunts
from purgatory_course.teaching.lessons import case_of, slides, slides_of
from purgatory_course.teaching.paper import HUNT, HUNTED, cells_of, first_wrong, room_page
from purgatory_course.teaching.rehearsal import rehearsal_page
from purgatory_course.teaching.slides import slides_page

SLIDE = """# A class

## One

Minutes: 3

| a |
|---|
| 1 |

> Say it.
"""


def test_the_class_takes_ninety_minutes_on_at_most_thirty_slides() -> None:
    chosen = slides()
    assert 20 <= len(chosen) <= 30
    assert sum(slide.minutes for slide in chosen) == 90


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Minutes: 3\n\n", ""),
        ("Minutes: 3", "Three minutes"),
        ("> Say it.", "Say it."),
        ("> Say it.", "| b |\n|---|\n| 2 |\n\n> Say it."),
        ("| a |\n|---|\n| 1 |", "No figure."),
    ],
)
def test_a_slide_has_minutes_one_figure_and_what_to_say(old: str, new: str) -> None:
    """The slide is read, and is refused with one of its parts left out, or with two figures."""
    (slide,) = slides_of(SLIDE)
    assert (slide.title, slide.minutes, slide.figure.kind) == ("One", 3, "table")
    assert old in SLIDE
    with pytest.raises(ValueError, match="the slide One needs"):
        slides_of(SLIDE.replace(old, new))


def test_each_figure_is_on_its_slide_and_the_words_are_notes() -> None:
    page, chosen = str(slides_page(slides())), slides()
    assert page.count('<section class="slide ') == len(chosen)
    runs = [slide for slide in chosen if slide.figure.kind == "viewer"]
    assert page.count('<figure class="purgatory-viewer"') == len(runs) > 5
    for slide in chosen:
        assert f"<h2>{slide.title}</h2>" in page
        assert f'<aside class="notes" hidden>{slide.says}</aside>' in page


def test_the_rehearsal_sheet_has_the_clock() -> None:
    """The last slide ends at ninety, and each begins where the one before has ended."""
    page = str(rehearsal_page(slides()))
    spans = [(int(a), int(b)) for a, b in re.findall(r"<td>(\d+) to (\d+)</td>", page)]
    assert [begins for begins, _ in spans] == [0, *(ends for _, ends in spans[:-1])]
    assert spans[-1][1] == 90
    assert all(slide.says in page for slide in slides())
    assert page.count("<li>Timer ") == len(HUNTED)


def test_there_is_a_ring_to_fill_in_for_each_step() -> None:
    page = str(room_page())
    runs = {
        case.header.case: len(case.steps)
        for case in (case_of(each.figure) for each in slides() if each.figure.kind == "viewer")
    }
    assert page.count("<svg ") == runs["class-wheel"] + runs["class-cascade"]
    assert page.count("level 3</text>") == runs["class-cascade"]
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.parametrize("number", HUNTED)
def test_each_timer_on_paper_goes_wrong_where_the_answer_says(number: int) -> None:
    """The cells differ from those of a right timer first where the answer is."""
    at = first_wrong(number)
    assert cells_of(number)[: at - 1] == cells_of(None)[: at - 1]
    assert cells_of(number)[at - 1] != cells_of(None)[at - 1]
    assert len(cells_of(number)) == len(HUNT)


def test_the_slide_of_the_hunt_has_the_pars_of_the_page_to_play() -> None:
    (hunt,) = (slide for slide in slides() if slide.title == "Hunt")
    pars = [
        (int(n), int(par))
        for n, par in re.findall(r">(\d+)</td>\s*<td[^>]*>(\d+)<", hunt.figure.html)
    ]
    assert pars == [(number, len(hunts()[number - 1].steps)) for number in HUNTED]
