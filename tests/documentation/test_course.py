"""Every lesson is short, has a run of the model to look at, and exercises with their solutions."""

import re
from pathlib import Path

import pytest

from .code_blocks import ROOT, blocks_of

pytestmark = pytest.mark.documentation

COURSE = ROOT / "docs" / "course"
LESSONS = tuple(
    COURSE / name
    for name in re.findall(
        r"(?m)^\d+\. \[.*?\]\(([a-z-]+\.md)\)", (COURSE / "index.md").read_text()
    )
)
"""In the order of the index."""

OTHER_PAGES = {COURSE / name for name in ("class.md", "index.md", "play.md", "teach.md")}

MOST_WORDS = 1200
FEWEST_EXERCISES = 2


def faults(text: str, lesson: Path) -> list[str]:
    """Return what a lesson lacks, or has too much of."""
    found: list[str] = []
    words = len(re.sub(r"(?ms)^```(?:jsonl|tla).*?^```$", "", text).split())
    if words > MOST_WORDS:
        found.append(f"{words} words")
    exercises, _, end = text.partition("## Exercises")[2].partition("\n---\n")
    parts = re.split(r"(?m)^\*\*\d\.\*\*", exercises)[1:]
    if len(parts) < FEWEST_EXERCISES:
        found.append(f"{len(parts)} exercises")
    found += [
        f"exercise {number} has no solution that is executed"
        for number, part in enumerate(parts, start=1)
        if not re.search(r"(?s)<summary>Solution</summary>.*^```(python|console|diff)", part, re.M)
    ]
    place = LESSONS.index(lesson)
    if place > 0 and f"]({LESSONS[place - 1].name})" not in end:
        found.append("no link to the lesson before")
    if place + 1 < len(LESSONS) and f"]({LESSONS[place + 1].name})" not in end:
        found.append("no link to the next lesson")
    return found


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_is_short_and_whole(lesson: Path) -> None:
    assert faults(lesson.read_text(encoding="utf-8"), lesson) == []
    assert any("viewer" in block.words for block in blocks_of(lesson))


def test_every_page_of_the_course_is_a_lesson_of_the_index() -> None:
    assert sorted(LESSONS) == sorted(set(COURSE.glob("*.md")) - OTHER_PAGES)


def test_what_a_lesson_lacks_is_found() -> None:
    text = "word " * 1300 + "\n## Exercises\n\n**1.** Think.\n\n---\n"
    assert faults(text, LESSONS[0])[:3] == [
        "1305 words",
        "1 exercises",
        "exercise 1 has no solution that is executed",
    ]
