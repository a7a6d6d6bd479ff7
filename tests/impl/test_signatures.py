"""Compare what ``help`` shows in both builds: names, kinds, defaults, docstrings."""

# The sources say what is expected; the package that is asked is pure or compiled.

import ast
import functools
import inspect
from pathlib import Path
from typing import Any

import pytest

import purgatory_impl
import purgatory_impl.network

SOURCES = Path(__file__).parents[2] / "impl" / "purgatory_impl"


def classes() -> dict[str, type]:
    """The public classes by name, errors left out: these are pure in both builds."""
    found = {}
    for package in (purgatory_impl, purgatory_impl.network):
        for name in package.__all__:
            value = getattr(package, name)
            if isinstance(value, type) and not issubclass(value, Exception):
                found[name] = value
    return found


@functools.cache
def docstrings() -> dict[str, str]:
    """The docstrings of public classes, methods and properties, and that of ``__init__``."""
    found = {}
    for path in SOURCES.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found[node.name] = ast.get_docstring(node) or ""
                for method in node.body:
                    if isinstance(method, ast.FunctionDef) and (
                        not method.name.startswith("_") or method.name == "__init__"
                    ):
                        docstring = ast.get_docstring(method) or ""
                        found[f"{node.name}.{method.name}"] = docstring
    return found


def documented() -> list[str]:
    """The names of the public classes, and of what is public in each by itself."""
    names = []
    for kind in classes().values():
        names.append(kind.__name__)
        names += [f"{kind.__name__}.{name}" for name in vars(kind)]
    return sorted(name for name in names if docstrings().get(name))


@functools.cache
def written() -> dict[str, str]:
    """The arguments of each public method of a class, as the sources write them."""
    arguments = {}
    for path in SOURCES.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                for method in node.body:
                    if (
                        isinstance(method, ast.FunctionDef)
                        and not method.decorator_list
                        and not method.name.startswith("_")
                    ):
                        arguments[f"{node.name}.{method.name}"] = spelled(method.args)
    return arguments


def spelled(arguments: ast.arguments) -> str:
    """Names in order, a star before those that are given by name alone, defaults behind them."""
    plain = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    defaults = [ast.unparse(each) for each in arguments.defaults]
    first = len(plain) - len(defaults)
    words = [
        name if place < first else f"{name}={defaults[place - first]}"
        for place, name in enumerate(plain)
    ]
    if arguments.kwonlyargs:
        words.append("*")
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        words.append(each.arg if default is None else f"{each.arg}={ast.unparse(default)}")
    return ", ".join(words)


def shown(method: Any) -> str:
    """The same of a signature; that ``self`` is given by its place alone is left out."""
    words = []
    starred = False
    for each in inspect.signature(method).parameters.values():
        if each.kind is each.KEYWORD_ONLY and not starred:
            words.append("*")
            starred = True
        words.append(each.name if each.default is each.empty else f"{each.name}={each.default!r}")
    return ", ".join(words)


def methods() -> list[str]:
    """The public methods that the public classes define themselves."""
    return sorted(
        f"{kind.__name__}.{name}"
        for kind in classes().values()
        for name in vars(kind)
        if f"{kind.__name__}.{name}" in written()
    )


@pytest.mark.parametrize("name", methods())
def test_a_method_shows_the_arguments_that_its_source_has(name: str) -> None:
    kind, _, method = name.partition(".")
    assert shown(vars(classes()[kind])[method]) == written()[name]


@pytest.mark.parametrize("name", documented())
def test_what_is_public_shows_the_docstring_that_its_source_has(name: str) -> None:
    kind, _, member = name.partition(".")
    asked = classes()[kind]
    if member == "__init__":
        shown_there = (inspect.getdoc(asked) or "") + (inspect.getdoc(vars(asked)[member]) or "")
        assert docstrings()[name] in shown_there
    elif member:
        assert inspect.getdoc(vars(asked)[member]) == docstrings()[name]
    else:
        assert (inspect.getdoc(asked) or "").startswith(docstrings()[name])


def test_there_are_docstrings_of_classes_methods_and_properties() -> None:
    """The control: the list is not empty by mistake."""
    names = set(documented())
    assert len(names) > 100
    assert {"Timer", "Timer.__init__", "Timer.add", "Purgatory.stale", "MemoryPool"} <= names


def test_there_are_methods_of_both_packages() -> None:
    """The control: neither list is empty by mistake, and arguments are told apart."""
    assert len(methods()) > 30
    assert {"Timer.add", "DelayedOperation.force_complete"} <= set(methods())
    assert shown(lambda a, *, b=1: None) == "a, *, b=1"
    assert shown(lambda a, b=1: None) != "a, *, b=1"
