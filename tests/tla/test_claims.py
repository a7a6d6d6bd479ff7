"""The page of claims has what the manifest and the records say."""

import re

from .claims import PAGE, page_with_tables


def test_the_page_is_of_the_manifest_and_the_records() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page_with_tables(page) == page, "python -m tests.tla.claims writes it anew"


def test_a_page_with_another_number_of_states_is_put_right() -> None:
    page = PAGE.read_text(encoding="utf-8")
    older = re.sub(r"[\d,]+ states", "7 states", page, count=1)
    assert older != page
    assert page_with_tables(older) == page
