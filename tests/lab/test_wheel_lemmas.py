"""The pictures of the wheel's lemmas: of numbers for which they are true, and as checked in."""

from pathlib import Path

import pytest

from purgatory_lab.wheel_lemmas import FOLDER, PICTURES, Picture, drawn
from purgatory_tla.proofs.step_relations import python_of
from purgatory_tla.proofs.timing_wheel import LEMMAS

DOCS = Path(__file__).parents[2] / "docs"


def test_each_lemma_has_its_picture() -> None:
    assert [each.lemma for each in PICTURES] == [lemma.name for lemma in LEMMAS]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.lemma)
def test_the_lemma_is_true_of_the_numbers(picture: Picture) -> None:
    lemma = next(each for each in LEMMAS if each.name == picture.lemma)
    for name, formula in (*lemma.assumed.items(), *lemma.claimed.items()):
        assert eval(python_of(formula), {}, dict(picture.numbers)), name


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.lemma)
def test_the_picture_shows_the_numbers(picture: Picture) -> None:
    numbers = picture.numbers
    shown = {"own clock": ("own", "next_own"), "due": ("due",), "reading": ("to",)}
    for mark, names in shown.items():
        known = [numbers[name] for name in names if name in numbers]
        if mark in picture.marks and known:
            assert picture.marks[mark] in known


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.lemma)
def test_it_is_the_one_that_is_checked_in(picture: Picture) -> None:
    assert (DOCS / FOLDER / f"{picture.lemma}.svg").read_text(encoding="utf-8") == drawn(picture)
