"""The lessons and the class, read from their Markdown: sections, blocks, exercises, slides."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from purgatory_conformance.resources import course_folder
from purgatory_spec.cases import Case, decode_case

_LISTED = re.compile(r"(?m)^\d+\. \[.*?\]\((?P<file>[a-z-]+\.md)\)")
_LINK = re.compile(r"\[((?:[^\[\]]|`[^`]*`)+)\]\([^)]*\)")
_EXERCISE = re.compile(r"(?m)^\*\*(?P<number>\d+)\.\*\* ")
_SOLUTION = re.compile(
    r"(?s)<details markdown>\n<summary>Solution</summary>\n(?P<text>.*?)\n</details>"
)
_VIEWER = "jsonl viewer"
_CLASS = "class.md"
_MINUTES = re.compile(r"Minutes: (?P<minutes>\d+)")
_FIGURES = ("table", "code", "viewer")
_KINDS = {
    "table_open": "table",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "quote",
}


@dataclass(frozen=True)
class Block:
    """A block of a section: its kind, its lines, and all of it as HTML.

    ``kind`` is ``text``, ``list``, ``quote``, ``table``, ``code`` or ``viewer``; ``lines`` are
    those of a fence.
    """

    kind: str
    html: Markup
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """A section of a lesson."""

    title: Markup
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Exercise:
    """An exercise, ``LESSON.EXERCISE``, with its solution."""

    number: str
    task: tuple[Block, ...]
    solution: tuple[Block, ...]


@dataclass(frozen=True)
class Lesson:
    """A lesson: its number in the index, title, idea, sections and exercises."""

    number: int
    title: Markup
    idea: Markup
    sections: tuple[Section, ...]
    exercises: tuple[Exercise, ...]


@dataclass(frozen=True)
class Slide:
    """A slide of the class: its title, its minutes, its one figure, the words of the teacher."""

    title: Markup
    minutes: int
    figure: Block
    says: Markup


def slides() -> tuple[Slide, ...]:
    """Return the slides of the class, in their order."""
    return slides_of((course_folder() / _CLASS).read_text(encoding="utf-8"))


def slides_of(text: str) -> tuple[Slide, ...]:
    """Return the slides of a page of Markdown: a section each.

    Raises:
        ValueError: a section has not one line of minutes, one figure and one quotation.
    """
    _, *parts = re.split(r"(?m)^## ", text.partition("\n---\n")[0])
    return tuple(map(_slide, parts))


def _slide(part: str) -> Slide:
    heading, _, content = part.partition("\n")
    blocks = blocks_of(content)
    if sorted(block.kind in _FIGURES for block in blocks) != [False, False, True]:
        raise ValueError(f"the slide {heading} needs minutes, one figure and what to say")
    minutes, figure, says = blocks
    taken = _MINUTES.search(minutes.html)
    if taken is None or figure.kind not in _FIGURES or says.kind != "quote":
        raise ValueError(f"the slide {heading} needs minutes, one figure and what to say")
    return Slide(_inline(heading), int(taken["minutes"]), figure, says.html)


def case_of(block: Block) -> Case:
    """Return the case of a figure that steps through a run."""
    return decode_case("\n".join(block.lines) + "\n", "a figure of the course")


def lessons() -> tuple[Lesson, ...]:
    """Return all lessons in the order of the index."""
    folder = course_folder()
    files = _LISTED.findall((folder / "index.md").read_text(encoding="utf-8"))
    return tuple(
        lesson_of(number, (folder / file).read_text(encoding="utf-8"))
        for number, file in enumerate(files, start=1)
    )


def lesson_of(number: int, text: str) -> Lesson:
    """Return a lesson from its Markdown."""
    body, _, rest = text.partition("\n## Exercises\n")
    head, *parts = re.split(r"(?m)^## ", body)
    title, _, head = head.partition("\n")
    idea, *opening = blocks_of(head)
    sections = [Section(Markup("Why"), tuple(opening))] if opening else []
    for part in parts:
        heading, _, content = part.partition("\n")
        sections.append(Section(_inline(heading), tuple(blocks_of(content))))
    exercises = tuple(_exercises(number, rest.partition("\n---\n")[0]))
    heading = _inline(title.removeprefix("# "))
    return Lesson(number, heading, idea.html, tuple(sections), exercises)


def _exercises(lesson: int, text: str) -> Iterator[Exercise]:
    _, *parts = _EXERCISE.split(text)
    for number, part in zip(parts[::2], parts[1::2], strict=True):
        solution = _SOLUTION.search(part)
        task = part[: solution.start()] if solution else part
        solved = blocks_of(solution["text"]) if solution else []
        yield Exercise(f"{lesson}.{number}", tuple(blocks_of(task)), tuple(solved))


def blocks_of(markdown: str) -> list[Block]:
    """Return the blocks of a piece of Markdown; links are their words."""
    reader = _reader()
    tokens = reader.parse(_LINK.sub(r"\1", markdown))
    return [_block(reader, group) for group in _groups(tokens)]


def _groups(tokens: list[Token]) -> Iterator[list[Token]]:
    """Yield the tokens of each block at the top."""
    group: list[Token] = []
    depth = 0
    for token in tokens:
        group.append(token)
        depth += token.nesting
        if depth == 0:
            yield group
            group = []


def _block(reader: MarkdownIt, group: list[Token]) -> Block:
    first = group[0]
    if first.type == "fence":
        lines = tuple(first.content.rstrip("\n").split("\n"))
        kind = "viewer" if first.info.startswith(_VIEWER) else "code"
        code = Markup("<pre><code>{}</code></pre>").format("\n".join(lines))
        return Block(kind, code, lines=lines)
    html = Markup(reader.renderer.render(group, reader.options, {}))
    return Block(_KINDS.get(first.type, "text"), html)


def _inline(markdown: str) -> Markup:
    words = _LINK.sub(r"\1", markdown.replace("\n", " "))
    return Markup(_reader().renderInline(words))


@cache
def _reader() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")
