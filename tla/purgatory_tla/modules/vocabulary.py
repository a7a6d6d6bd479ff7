"""The vocabulary of a module: all definitions, inherited from extended modules or not."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from purgatory_tla.modules.literate import Definition, read_literate

_BLOCK_COMMENT = re.compile(r"\(\*.*?\*\)", re.DOTALL)
_LINE_COMMENT = re.compile(r"\\\*.*")


@dataclass(frozen=True, slots=True)
class Owned:
    """A definition, and the module in which it stands."""

    module: str
    definition: Definition

    @property
    def body(self) -> str:
        """Return the text behind the ``==``, without comments."""
        _, _, body = self.definition.source.partition("==")
        return _LINE_COMMENT.sub("", _BLOCK_COMMENT.sub("", body)).strip()

    @property
    def sentence(self) -> str:
        """Return the first sentence of the definition's comment, without the full stop."""
        words = " ".join(self.definition.words.split())
        sentence, _, _ = re.sub(r"\s*\([^)]*\)", "", words).partition(". ")
        return sentence.rstrip(".")


@cache
def vocabulary(folder: Path, module: str) -> Mapping[str, Owned]:
    """Return the definitions by name.

    Raises:
        FileNotFoundError: there is no such module in the folder.
    """
    read = read_literate(folder / f"{module}.tla")
    known: dict[str, Owned] = {}
    for extended in read.extends:
        if (folder / f"{extended}.tla").is_file():
            known |= vocabulary(folder, extended)
    return known | {each.name: Owned(module, each) for each in read.definitions}
