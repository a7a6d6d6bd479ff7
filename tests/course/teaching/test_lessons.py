"""Lessons are read whole, and the sheet has their exercises, with solutions only if asked for."""

from purgatory_course.teaching.lessons import blocks_of, lesson_of, lessons
from purgatory_course.teaching.sheet import sheet_page

LESSON = """# A title with `code`

*The idea: one.*

Opening words. They go on.

## First

A [link](other.md#place) stands here, version 1.5 of it. Then more.

- **One.** It goes on.
- Two

```python
assert 1 < 2
```

| a | b |
|---|---|
| 1 | 2 |

## Exercises

**1.** What is it?

<details markdown>
<summary>Solution</summary>

It is *this*.

```python
assert True
```

</details>

---

Next: [Other](other.md)
"""


def test_a_lesson_is_read_as_it_stands() -> None:
    """Each block has its kind and its HTML, and links are their words."""
    lesson = lesson_of(3, LESSON)
    assert (lesson.title, lesson.idea) == (
        "A title with <code>code</code>",
        "<p><em>The idea: one.</em></p>\n",
    )
    opening, first = lesson.sections
    assert [block.html for block in opening.blocks] == ["<p>Opening words. They go on.</p>\n"]
    assert [block.kind for block in first.blocks] == ["text", "list", "code", "table"]
    assert "<li><strong>One.</strong> It goes on.</li>" in first.blocks[1].html
    assert first.blocks[2].lines == ("assert 1 &lt; 2".replace("&lt;", "<"),)
    assert "assert 1 &lt; 2" in first.blocks[2].html
    (exercise,) = lesson.exercises
    assert exercise.number == "3.1"
    assert [block.html for block in exercise.task] == ["<p>What is it?</p>\n"]
    assert [block.kind for block in exercise.solution] == ["text", "code"]


def test_html_in_a_lesson_cannot_run() -> None:
    """Given Markdown with a script in it, when its blocks are read, the script is text."""
    (block,) = blocks_of("Look: <script>alert(1)</script>")
    assert "<script" not in block.html
    assert "&lt;script&gt;" in block.html


def test_the_sheet_has_every_exercise_and_no_solution_unasked() -> None:
    """Given all lessons: each exercise is on both, each solution on the second alone."""
    found = lessons()
    assert len(found) == 11
    without, with_them = (str(sheet_page(found, solutions=each)) for each in (False, True))
    for lesson in found:
        assert len(lesson.exercises) >= 2
        for exercise in lesson.exercises:
            assert exercise.solution
            for page in (without, with_them):
                assert f"<h3>{exercise.number}</h3>\n{exercise.task[0].html}" in page
            assert all(block.html in with_them for block in exercise.solution)
    solved = [block for lesson in found for e in lesson.exercises for block in e.solution]
    assert not any(block.html in without for block in solved)
