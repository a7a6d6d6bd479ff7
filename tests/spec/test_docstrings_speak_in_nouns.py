"""A docstring's sentence names what it speaks of: at most a quarter of its words are pronouns."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    *("spec", "model", "impl", "tla", "conformance", "pipeline", "course", "lab"),
    "examples",
)
PRONOUNS = frozenset(
    [
        *("it", "its", "they", "them", "their", "one", "ones", "there", "where"),
        *("this", "that", "these", "those", "which", "what", "who", "whom"),
    ]
)
FEWEST_WORDS = 6
"""A shorter sentence is not judged: there one word is a large share."""

MOST = 3
"""Foggy sentences that are left. Lower the number when some are rewritten; never raise it."""


def is_foggy(sentence: str) -> bool:
    """Return whether more than a quarter of the sentence's words are pronouns and filler words."""
    words = re.findall(r"[A-Za-z']+", sentence.lower())
    pronouns = sum(word in PRONOUNS for word in words)
    return len(words) >= FEWEST_WORDS and 4 * pronouns > len(words)


def foggy_sentences(source: str) -> Iterator[tuple[int, str]]:
    """The foggy sentences of a module's docstrings, with the line where the docstring begins."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for sentence in re.split(r"(?<=[.!?])\s+", ast.get_docstring(node) or ""):
            if is_foggy(sentence):
                yield node.body[0].lineno, " ".join(sentence.split())


def test_docstrings_have_no_more_foggy_sentences_than_are_known() -> None:
    """Allow as many sentences of more than a quarter pronouns as are known."""
    files = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    assert len(files) > 500
    found = [
        f"{path.relative_to(ROOT)}:{line}: {sentence}"
        for path in files
        for line, sentence in foggy_sentences(path.read_text(encoding="utf-8"))
    ]
    advice = (
        f"{len(found)} sentences of docstrings are foggy, and {MOST} may be. Rewrite the sentence "
        "that you have added: name the operation, the list, the call that it speaks of, with a "
        "verb and the field's terms, in place of 'it', 'what', 'that', 'those', 'one', 'there'."
    )
    assert len(found) <= MOST, "\n".join([advice, *found])


def test_a_foggy_sentence_is_found_and_a_good_one_is_not() -> None:
    foggy = "The memory of this, the one that there is already if there is one."
    good = "The buffer that the holder released; None where nothing was released."
    source = f'def before():\n    """{foggy}"""\n\n\ndef after():\n    """{good}"""\n'
    assert list(foggy_sentences(source)) == [(2, foggy)]


def test_a_short_sentence_is_not_judged() -> None:
    assert not is_foggy("Release it where nothing waits.")
    assert is_foggy("Release it where nothing is waiting.")
