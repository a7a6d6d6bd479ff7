"""The knowledge about a rule: its statements, the vectors that show it, the known breakers."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import get_args, get_origin, get_type_hints

import purgatory_model
from purgatory_conformance.resources import adapters_folder
from purgatory_conformance.subjects.declaration import read_declaration
from purgatory_conformance.subjects.profile_rules import NEVER_JUDGED
from purgatory_judge.components import PROFILES
from purgatory_spec.cases import Case, read_case
from purgatory_spec.choices import Choice, Offer
from purgatory_spec.profiles import Component
from purgatory_spec.resources import specification_folder
from purgatory_spec.statements import ENTRY_POINT_GROUP, Statement, StatementsOf


@cache
def statements(rule: str) -> tuple[Statement, ...]:
    """Return the places that state a rule: docstrings of model, implementation, other packages."""
    ours = tuple(statement for statement, words in _documented() if rule in words)
    return ours + tuple(each for told in _tellers() for each in told(rule))


@cache
def _documented() -> tuple[tuple[Statement, frozenset[str]], ...]:
    """Return the definitions of model and implementation, with the words of their docstrings."""
    model = Path(purgatory_model.__file__).resolve().parent
    folders = {"purgatory_model": model, "purgatory_impl": _implementation_folder(model)}
    return tuple(
        found
        for package, folder in folders.items()
        for path in sorted(folder.rglob("*.py"))
        for found in _definitions(package, folder, path)
    )


@cache
def _tellers() -> tuple[StatementsOf, ...]:
    """Return the functions that packages name in the entry-point group."""
    found = sorted(metadata.entry_points(group=ENTRY_POINT_GROUP), key=lambda each: each.name)
    return tuple(each.load() for each in found)


def _implementation_folder(model: Path) -> Path:
    """Return the implementation's folder: beside the model's in a wheel, else in its own root."""
    beside = model.parent / "purgatory_impl"
    return beside if beside.is_dir() else model.parent.parent / "impl" / "purgatory_impl"


def _definitions(
    package: str, folder: Path, path: Path
) -> Iterator[tuple[Statement, frozenset[str]]]:
    module = ".".join(path.relative_to(folder).with_suffix("").parts)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        words = (ast.get_docstring(node) or "").replace(",", " ").replace(".", " ").split()
        yield Statement(package, module, node.name, node.lineno), frozenset(words)


@cache
def vectors(component: Component) -> tuple[Case, ...]:
    """Return the golden cases of a component, in the order of their file names."""
    folder = specification_folder() / "vectors" / component.value.replace("_", "-")
    return tuple(read_case(path) for path in sorted(folder.glob("*.jsonl")))


def all_vectors() -> tuple[Case, ...]:
    """Return the golden cases of all components."""
    return tuple(case for component in Component for case in vectors(component))


@dataclass(frozen=True)
class ProfileField:
    """A field of a component's profile: a choice, several of them, or an integer."""

    name: str
    default: object
    choice: type[Choice] | type[Offer] | None
    several: bool = False
    values: tuple[Choice | Offer, ...] = ()
    """The values of the choice that a profile may declare, the default first."""


def profile_fields(component: Component) -> tuple[ProfileField, ...]:
    """Return the fields of a component's profile, in the order in which it declares them."""
    kind = PROFILES[component]
    default = kind()
    fields: list[ProfileField] = []
    annotations = get_type_hints(kind)
    for name in kind.__struct_fields__:
        annotation = annotations[name]
        several = get_origin(annotation) is frozenset
        given: object = get_args(annotation)[0] if several else annotation
        choice = given if isinstance(given, type) and issubclass(given, Choice | Offer) else None
        standard = getattr(default, name)
        judged = [
            value for value in choice or () if value not in NEVER_JUDGED.get(component, frozenset())
        ]
        values = tuple(sorted(judged, key=lambda value: value is not standard))
        fields.append(ProfileField(name, standard, choice, several, values))
    return tuple(fields)


def deviations_of_adapters() -> tuple[tuple[str, str, str], ...]:
    """Return subject, rule and reason of every deviation that an adapter of ours declares."""
    found: list[tuple[str, str, str]] = []
    for path in sorted(adapters_folder().glob("*/purgatory.toml")):
        declaration = read_declaration(path)
        found += [(declaration.name, d.rule, d.reason) for d in declaration.deviations]
    return tuple(found)
