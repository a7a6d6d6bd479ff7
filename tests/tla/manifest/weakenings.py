"""Claims that were changed in one place, mechanically, and the models that notice.

A changed claim is noticed where one of its models has another verdict than the manifest says: a
must-fail that holds, because the claim has become weaker, or a claim that is violated, because it
has become stronger. Counts of states are not looked at: they would change with the next edit. What
TLC cannot evaluate is no claim, and counts for nothing.
"""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from purgatory_tla.checkers.checking import check
from purgatory_tla.checkers.configurations import Configuration
from purgatory_tla.errors import CheckerError
from purgatory_tla.manifest.manifest import Kind, Mode, Model, checked, read_manifest
from purgatory_tla.modules.module_text import read_module
from purgatory_tla.resources import modules_folder

from ..comparing.seeded_changes import copied_modules
from ..record import code_of_module

_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_COMPARISON = re.compile(r"(?<= )(<=|>=|<|>|=)(?= )")
_INSTEAD = {"<=": ("<",), "<": ("<=",), ">=": (">",), ">": (">=",), "=": ("<=", ">=")}
_CONJUNCT = re.compile(r"/\\ (?=\S)[^\n]*")
_INLINE = re.compile(r"(?<=\S) /\\ (?:[^()/\n]|\([^()\n]*\))+?(?=\)| /\\| =>| \\/|$)", re.MULTILINE)
_FAIRNESS = re.compile(r"\bSF_")


@dataclass(frozen=True)
class Change:
    """A replacement of the characters from ``start`` to ``end``."""

    start: int
    end: int
    instead: str


@dataclass(frozen=True)
class Weakening:
    """A change of a claim, by its place in the module's text without comments."""

    module: str
    claim: str
    change: Change
    words: str

    def __str__(self) -> str:
        """Return the claim and the change."""
        return f"{self.claim}: {self.words}"


def claims_of(module: str) -> tuple[str, ...]:
    """Return the invariants and properties of a module that its models claim."""
    names: dict[str, None] = {}
    for model in _small(module):
        if model.kind is Kind.CLAIM:
            names |= dict.fromkeys(checked(model, modules_folder()))
    own = read_module(modules_folder() / f"{module}.tla").definitions
    return tuple(name for name in names if name in own and name != "TypeOK")


def weakenings(module: str) -> Iterator[Weakening]:
    """Yield every change of every claim of a module."""
    for claim in claims_of(module):
        body, offset = _body(module, claim)
        for each in changes_of(body):
            words = f"{body[each.start : each.end].strip()!r} is {each.instead.strip()!r}"
            place = Change(each.start + offset, each.end + offset, each.instead)
            yield Weakening(module, claim, place, words)


def changes_of(body: str) -> Iterator[Change]:
    """Yield the changes of a definition: numbers, comparisons, conjuncts, fairness."""
    for each in _NUMBER.finditer(body):
        yield Change(each.start(), each.end(), str(int(each[0]) + 1))
        if int(each[0]) > 0:
            yield Change(each.start(), each.end(), str(int(each[0]) - 1))
    for each in _COMPARISON.finditer(body):
        yield from (Change(each.start(), each.end(), instead) for instead in _INSTEAD[each[0]])
    for each in _CONJUNCT.finditer(body):
        if body[: each.start()].rpartition("\n")[2].strip() == "":
            yield Change(each.start(), each.end(), "/\\ TRUE")
    for each in _INLINE.finditer(body):
        yield Change(each.start(), each.end(), "")
    for each in _FAIRNESS.finditer(body):
        yield Change(each.start(), each.end(), "WF_")


class NoClaim(Exception):
    """TLC cannot evaluate the changed claim."""


def noticing_model(weakening: Weakening, folder: Path) -> str | None:
    """Return the first model whose verdict is another with the change, or none.

    Raises:
        NoClaim: TLC has no verdict on the changed claim.
    """
    copy = copied_modules(folder)
    shutil.copytree(modules_folder() / "models", copy / "models")
    path = copy / f"{weakening.module}.tla"
    text = code_of(weakening.module)
    change = weakening.change
    changed = text[: change.start] + change.instead + text[change.end :]
    path.write_text(changed, encoding="utf-8")
    for model in _models_about(weakening.module, weakening.claim):
        try:
            found = check(
                path,
                copy / "models" / str(model.configuration),
                constants=model.constants or None,
                invariants=_asked(model, weakening.claim, "invariants"),
                properties=_asked(model, weakening.claim, "properties"),
                specification=model.specification,
                symmetry=model.symmetry,
                constraints=model.constraints,
                java_options=("-XX:TieredStopAtLevel=1",),
            )
        except CheckerError as error:
            raise NoClaim(str(error)) from error
        if found.outcome.value != model.expected.value:
            return model.name
    return None


def code_of(module: str) -> str:
    """Return the text of a module without comments."""
    return code_of_module((modules_folder() / f"{module}.tla").read_text(encoding="utf-8"))


def _body(module: str, claim: str) -> tuple[str, int]:
    """Return the text of a definition behind its name, and where it begins."""
    text = code_of(module)
    found = re.search(rf"^{claim} ==(?P<body>.*?)(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found is not None, claim
    return found["body"], found.start("body")


MOST_STATES = 2_000
"""Models with more distinct states are not run: there are too many changes for them."""


def _small(module: str) -> list[Model]:
    return [
        each
        for each in read_manifest().models
        if each.module == module
        and each.mode is Mode.EXHAUSTIVE
        and (each.distinct or 0) <= MOST_STATES
    ]


def _models_about(module: str, claim: str) -> list[Model]:
    """Return the must-fails of a claim, and then the models that claim it, the smallest first."""
    small = sorted(_small(module), key=lambda each: each.generated or 0)
    fails = [each for each in small if each.kind is Kind.MUST_FAIL and each.violated == claim]
    claims = [
        each
        for each in small
        if each.kind is Kind.CLAIM and claim in checked(each, modules_folder())
    ]
    return [*fails, *claims]


def _asked(model: Model, claim: str, kind: str) -> tuple[str, ...]:
    """Return the claim where it is of that kind in the model, and nothing otherwise."""
    stated = Configuration.read(modules_folder() / "models" / str(model.configuration))
    own: tuple[str, ...] | None = getattr(model, kind)
    names: tuple[str, ...] = getattr(stated, kind) if own is None else own
    return (claim,) if claim in names else ()
