"""Adapter projects to begin with, in six languages: ``purgatory init`` copies one.

A kit is a folder of layers. ``common`` goes into every project; ``timer``, ``purgatory`` and
``memory-pool`` go into a project with that component; ``timer-wall`` takes the place of ``timer``
where the clock moves by itself. ``scripts`` goes into a project whose tasks or operations follow
scripts. The folder ``shared`` goes into projects of every language.

A line of a kit that ends with the comment ``only: timer wall`` goes into a project with that
component and that clock, and into no other; the language may be named, too, and ``or`` separates
what suffices. A file name that begins with ``dot-`` begins with a dot in the project.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Final

from purgatory_spec.profiles import Component

_FOLDER: Final = Path(__file__).resolve().parent
_ONLY: Final = re.compile(r"^(?P<line>.*?) *(?:#|//|<!--) only: (?P<words>[\w ]+?)(?: -->)?$")
_NAME: Final = "@NAME@"

COMPONENTS: Final = (Component.TIMER, Component.PURGATORY, Component.MEMORY_POOL)
"""The components that a kit has a naive implementation of."""


class Language(Enum):
    """The languages that there is a kit for."""

    PYTHON = "python"
    GO = "go"
    RUST = "rust"
    JAVA = "java"
    JAVASCRIPT = "javascript"
    C = "c"


WITHOUT_WALL: Final = (Language.C,)
"""The languages whose kits have no timer on the real clock."""


class Clock(Enum):
    """The mover of the timer's clock."""

    VIRTUAL = "virtual"
    """The runner: the implementation takes a clock."""

    WALL = "wall"
    """The real clock, which the implementation reads."""


class NoSuchKit(ValueError):
    """A combination of components and clock for which there is no kit; the message says why."""


def project(
    language: Language, components: Collection[Component], clock: Clock, name: str
) -> dict[Path, str]:
    """Return the text of every file of an adapter project, by its path in the project.

    Args:
        language: the language of the implementation.
        components: the implementation's components, at least one of ``COMPONENTS``.
        clock: who moves the timer's clock.
        name: the subject's name in reports.

    Raises:
        NoSuchKit: there is no such component, or it is not judged on this clock.
    """
    unknown = [each.value for each in components if each not in COMPONENTS]
    if unknown or not components:
        raise NoSuchKit(f"no kit has the component {', '.join(unknown) or '(none was named)'}")
    others = [each.value for each in components if each is not Component.TIMER]
    if clock is Clock.WALL and others:
        raise NoSuchKit(
            f"only a timer is judged on the real clock; give the {others[0].replace('_', ' ')} "
            "a project of its own, with --clock virtual"
        )
    if clock is Clock.WALL and language in WITHOUT_WALL:
        raise NoSuchKit(
            f"there is no kit in {language.value} for the real clock; begin with --clock virtual, "
            "and see docs/how-to/judge-real-clock-code.md"
        )
    words = {language.value, clock.value, *(each.value for each in components)}
    files: dict[Path, str] = {}
    for layer in _layers(language, components, clock):
        for path in sorted(layer.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                text = path.read_text(encoding="utf-8").replace(_NAME, name)
                files[_named(path.relative_to(layer))] = _kept(text, words)
    return files


def write(files: Mapping[Path, str], folder: Path) -> None:
    """Write the files of a project; a file that is there with the same text is left alone.

    Raises:
        OSError: a file or folder cannot be written.
    """
    for path, text in files.items():
        written = folder / path
        if not written.is_file() or written.read_text(encoding="utf-8") != text:
            written.parent.mkdir(parents=True, exist_ok=True)
            written.write_text(text, encoding="utf-8")


def _layers(language: Language, components: Collection[Component], clock: Clock) -> Iterator[Path]:
    """Yield the folders that are laid over each other, the general ones first."""
    yield _FOLDER / "shared"
    yield _FOLDER / language.value / "common"
    has_scripts = clock is Clock.VIRTUAL or language is Language.JAVASCRIPT
    if has_scripts and {Component.TIMER, Component.PURGATORY} & {*components}:
        yield _FOLDER / language.value / "scripts"
    for component in COMPONENTS:
        if component in components:
            name = component.value.replace("_", "-")
            layer = _FOLDER / language.value / name
            wall = layer.with_name(f"{name}-wall")
            yield wall if clock is Clock.WALL and wall.is_dir() else layer


def _named(path: Path) -> Path:
    """Return the path in the project: a leading ``dot-`` is a dot."""
    return Path(*(re.sub("^dot-", ".", part) for part in path.parts))


def _kept(text: str, words: Collection[str]) -> str:
    """Drop the lines for other components, languages or clocks."""
    lines = []
    for line in text.splitlines():
        only = _ONLY.match(line)
        if only is None:
            lines.append(line)
        elif any(set(each.split()) <= set(words) for each in only["words"].split(" or ")):
            lines.append(only["line"])
    return "\n".join(lines) + "\n"
