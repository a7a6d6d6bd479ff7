"""Claims that are changed in one place, mechanically: numbers, comparisons, conjuncts, fairness."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from purgatory_tla.manifest.manifest import Kind, Mode, Model, checked, read_manifest
from purgatory_tla.modules.module_text import read_module
from purgatory_tla.resources import modules_folder

from ..record import code_of_module

_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
# Strings, sets, sequences and truth values have no order.
_COMPARISON = re.compile(r"(?<=[^}\"] )(<=|>=|<|>|=)(?= (?![\"{<]|TRUE\b|FALSE\b))")
_INSTEAD = {"<=": ("<",), "<": ("<=",), ">=": (">",), ">": (">=",), "=": ("<=", ">=")}
# The brackets of an action, and the braces of a set, end a conjunct.
_CONJUNCT = re.compile(r"/\\ (?=\S)[^\n]*?(?=\]_\w+$|$)", re.MULTILINE)
_INLINE = re.compile(
    r"(?<=\S) /\\ (?:[^(){}/\n]|\([^()\n]*\)|\{[^{}\n]*\})+?(?=\)|\}| /\\| =>| \\/|\]_\w+$|$)",
    re.MULTILINE,
)
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
    for model in exhaustive_models(module):
        if model.kind is Kind.CLAIM:
            names |= dict.fromkeys(checked(model, modules_folder()))
    own = read_module(modules_folder() / f"{module}.tla").definitions
    return tuple(name for name in names if name in own and not name.endswith("TypeOK"))


def weakenings(module: str) -> Iterator[Weakening]:
    """Yield every change of every claim of a module."""
    for claim in claims_of(module):
        body, offset = body_of(module, claim)
        told: Counter[str] = Counter()
        for each in changes_of(body):
            words = f"{body[each.start : each.end].strip()!r} is {each.instead.strip()!r}"
            told[words] += 1
            again = f", place {told[words]}" if told[words] > 1 else ""
            place = Change(each.start + offset, each.end + offset, each.instead)
            yield Weakening(module, claim, place, words + again)


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


def code_of(module: str) -> str:
    """Return the text of a module without comments."""
    return code_of_module((modules_folder() / f"{module}.tla").read_text(encoding="utf-8"))


def body_of(module: str, claim: str) -> tuple[str, int]:
    """Return the text of a definition behind its name, and where it begins."""
    text = code_of(module)
    found = re.search(rf"^{claim} ==(?P<body>.*?)(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found is not None, claim
    return found["body"], found.start("body")


def exhaustive_models(module: str) -> list[Model]:
    """Return the models of a module that TLC explores completely, the smallest first."""
    models = [
        each
        for each in read_manifest().models
        if each.module == module and each.mode is Mode.EXHAUSTIVE
    ]
    return sorted(models, key=lambda each: each.generated or 0)
