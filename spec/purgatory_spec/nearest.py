"""Suggestions for a misspelt name: the known names that are nearest."""

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str], otherwise: str) -> str:
    """Return the names nearest to a word, as a question; ``otherwise`` where no name is near.

    Capital and small letters are taken for equal.
    """
    names = {each.lower(): each for each in known}
    near = difflib.get_close_matches(word.lower(), names, n=3, cutoff=0.6)
    return f"did you mean {' or '.join(names[each] for each in near)}?" if near else otherwise
