"""A search for a rule's id finds every place: no id is put together from parts."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (
    *("spec", "model", "impl", "tla", "conformance", "pipeline", "course", "lab"),
    *("examples", "docs"),
)
PART_OF_AN_ID = re.compile(r"^(TIMER|PURGATORY|POOL|MUTING)-")


def put_together(source: str) -> Iterator[int]:
    """The lines of f-strings that begin as a rule's id does."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.JoinedStr(values=[ast.Constant(value=str(text)), _, *_]):
                if PART_OF_AN_ID.match(text):
                    yield node.lineno


def test_no_rule_id_is_put_together() -> None:
    files = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    assert len(files) > 500
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in files
        for line in put_together(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_an_id_that_is_put_together_is_found() -> None:
    source = 'rule = f"TIMER-{word}"\nsaid = f"{name} breaks TIMER-CASCADE"\n'
    assert list(put_together(source)) == [1]
