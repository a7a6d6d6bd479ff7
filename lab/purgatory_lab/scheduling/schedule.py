"""The schedule: the choices of a run as a short text that can be read, kept and replayed.

    a12b3a     thread a goes on twelve times where another could have, then b three times, then a

Threads are letters in the order in which they were started. Only real choices are counted, points
where more than one thread could go on.
"""

import re
from collections.abc import Sequence
from itertools import groupby

from purgatory_lab.scheduling.errors import InvalidSchedule

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_FORM = re.compile(r"(?:[a-z](?:[2-9]|[1-9][0-9]+)?)+")
_RUN = re.compile(r"([a-z])([0-9]*)")

MOST_THREADS = len(_LETTERS)
NO_CHOICE = "-"
"""The schedule of a run in which there was nothing to choose."""


def letter(thread: int) -> str:
    """Return the letter of a thread, counted from 0."""
    return _LETTERS[thread]


def as_text(choices: Sequence[int]) -> str:
    """Return the text of a sequence of choices, each the number of a thread."""
    if not choices:
        return NO_CHOICE
    runs = ((thread, len(list(same))) for thread, same in groupby(choices))
    return "".join(letter(thread) + (str(length) if length > 1 else "") for thread, length in runs)


def from_text(text: str) -> tuple[int, ...]:
    """Return the choices that a text stands for.

    Raises:
        InvalidSchedule: the text is no schedule; the message shows the form.
    """
    if text == NO_CHOICE:
        return ()
    if not _FORM.fullmatch(text):
        raise InvalidSchedule(
            f"{text!r} is no schedule: give letters of threads with how often each goes on, "
            f"such as a12b3a, or {NO_CHOICE} for a run without choices"
        )
    choices: list[int] = []
    for name, length in _RUN.findall(text):
        choices.extend([_LETTERS.index(name)] * int(length or 1))
    return tuple(choices)
