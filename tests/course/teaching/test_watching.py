"""Saves of a file are noticed: its first contents, each change, and a file that comes later."""

from collections.abc import Callable
from pathlib import Path

from purgatory_course.teaching.watching import saves


def test_each_change_is_noticed_once(tmp_path: Path) -> None:
    """The file comes late, stays, goes for a moment, and changes: two saves are seen."""
    file = tmp_path / "mine.py"
    happens: list[Callable[[], object]] = [
        lambda: file.write_text("one"),
        lambda: None,
        lambda: file.unlink(),
        lambda: file.write_text("one"),
        lambda: file.write_text("two"),
    ]
    left = iter(happens)
    seen = saves(file, lambda: next(left)())
    assert [next(seen), next(seen)] == [b"one", b"two"]
    assert list(left) == []
