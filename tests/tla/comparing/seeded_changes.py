"""One-line changes, planted on either side of a binding, that a comparison must report.

A change is planted in a copy: of the folder of TLA+ modules, or of the packages of the model, the
bindings and the proofs, which are imported under names of their own. What is installed is never
touched. To add a change: a line of ``changes.jsonl`` beside this file.
"""

import importlib
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

import purgatory_model
import purgatory_tla.bindings
import purgatory_tla.proofs
from purgatory_tla.comparing.binding import Binding
from purgatory_tla.resources import modules_folder

_MODEL = Path(purgatory_model.__file__).parent
_BINDINGS = Path(purgatory_tla.bindings.__file__).parent
_PROOFS = Path(purgatory_tla.proofs.__file__).parent
_NUMBERS = count(1)


class LineNotUnique(Exception):
    """The line that is to be changed stands in the file never, or more than once."""


@dataclass(frozen=True)
class SeededChange:
    """A change.

    Attributes:
        name: What it is, in a few words.
        binding: The binding as ``module.function`` of ``purgatory_tla.bindings``.
        file: ``Name.tla``, or ``purgatory_model/name.py``, ``bindings/name.py`` or
            ``proofs/name.py``.
        line: The line as it is, without its indentation.
        instead: The line that takes its place.
        action: The action of the first step that the comparison must tell as different.
        in_label_alone: No state shows it, but only the label of a step in the history.
    """

    name: str
    binding: str
    file: str
    line: str
    instead: str
    action: str
    in_label_alone: bool = False

    @property
    def in_tla(self) -> bool:
        """Return whether the change is in a module of TLA+."""
        return self.file.endswith(".tla")


def seeded_changes() -> tuple[SeededChange, ...]:
    """Return the changes of ``changes.jsonl``, in their order."""
    lines = Path(__file__).with_name("changes.jsonl").read_bytes()
    return tuple(msgspec.json.Decoder(SeededChange).decode_lines(lines))


def installed_binding(name: str) -> Binding[Any]:
    """The binding ``module.function`` as it is."""
    return _made("purgatory_tla.bindings", name)


@contextmanager
def changed_binding(change: SeededChange, folder: Path) -> Iterator[Binding[Any]]:
    """The binding over a copy of the model in which the change was made."""
    number = next(_NUMBERS)
    names = {
        "purgatory_model": f"changed_model_{number}",
        "purgatory_tla.bindings": f"changed_bindings_{number}",
        "purgatory_tla.proofs": f"changed_proofs_{number}",
    }
    _copy(_MODEL, folder / names["purgatory_model"])
    _copy(_BINDINGS, folder / names["purgatory_tla.bindings"])
    _copy(_PROOFS, folder / names["purgatory_tla.proofs"])
    package, _, file = change.file.partition("/")
    package = names.get(package) or names[f"purgatory_tla.{package}"]
    plant(change, folder / package / file)
    for path in folder.rglob("*.py"):
        _rename(path, names)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield _made(names["purgatory_tla.bindings"], change.binding)
    finally:
        sys.path.remove(str(folder))
        for name in [each for each in sys.modules if each.split(".")[0] in names.values()]:
            del sys.modules[name]


def changed_modules(change: SeededChange, folder: Path) -> Path:
    """A copy of the folder of modules in which the change was made."""
    copy = copied_modules(folder)
    plant(change, copy / change.file)
    return copy


def copied_modules(folder: Path) -> Path:
    """A copy of the folder of modules."""
    copy = folder / "tla"
    copy.mkdir()
    for path in modules_folder().glob("*.tla"):
        shutil.copy(path, copy)
    return copy


def plant(change: SeededChange, path: Path) -> None:
    """Change the one line.

    Raises:
        LineNotUnique: there is no such line, or more than one.
    """
    lines = path.read_text(encoding="utf-8").split("\n")
    places = [place for place, line in enumerate(lines) if line.strip() == change.line]
    if len(places) != 1:
        raise LineNotUnique(f"{change.file} has {len(places)} lines of the form: {change.line}")
    (place,) = places
    indentation = lines[place][: -len(change.line)]
    lines[place] = indentation + change.instead
    path.write_text("\n".join(lines), encoding="utf-8")


def _copy(package: Path, target: Path) -> None:
    shutil.copytree(package, target, ignore=shutil.ignore_patterns("__pycache__"))


def _rename(path: Path, names: dict[str, str]) -> None:
    text = path.read_text(encoding="utf-8")
    for name, copy in names.items():
        text = re.sub(rf"\b{re.escape(name)}\b", copy, text)
    path.write_text(text, encoding="utf-8")


def _made(package: str, name: str) -> Binding[Any]:
    module, _, function = name.rpartition(".")
    binding = getattr(importlib.import_module(f"{package}.{module}"), function)()
    assert isinstance(binding, Binding)
    return binding
