"""The text of a schedule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purgatory_lab.scheduling.errors import InvalidSchedule
from purgatory_lab.scheduling.schedule import as_text, from_text


def test_a_schedule_names_threads_by_letters() -> None:
    assert as_text((0, 0, 0, 1, 0)) == "a3ba"
    assert from_text("a12b3") == (0,) * 12 + (1,) * 3
    assert as_text(()) == "-"
    assert from_text("-") == ()


@given(st.lists(st.integers(0, 25)))
def test_text_and_choices_are_the_same(choices: list[int]) -> None:
    assert from_text(as_text(choices)) == tuple(choices)


@pytest.mark.parametrize("text", ["", "3a", "a0", "a1", "a03", "A2", "a 2", "a2\n", "a-b"])
def test_another_text_is_no_schedule(text: str) -> None:
    with pytest.raises(InvalidSchedule, match="such as a12b3a"):
        from_text(text)
