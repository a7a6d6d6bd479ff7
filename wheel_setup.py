"""Compiles the implementation by mypyc; run by the build hook, in a folder with a copy of it.

    python wheel_setup.py build_ext --build-lib output "purgatory_impl/timer.py ..."

``MYPYC_OPT_LEVEL`` in the environment is the level at which the C is optimised, 3 unless it is set.

The compiler leaves docstrings out. So what it writes in C gets them from the sources, behind the
signatures that it writes itself: then ``help`` shows of the compiled build what it shows of the
pure one.
"""

import ast
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from mypyc.build import mypycify
from mypyc.codegen.cstring import c_string_initializer
from setuptools import setup

_FUNCTION = re.compile(r'(\(PyCFunction\)CPyPy_(\w+),[^"{}]*PyDoc_STR\("(?:[^"\\]|\\.)*)("\))')
_CLASS = re.compile(
    r'(PyTypeObject CPyType_(\w+)_template_ = \{[^}]*?\.tp_doc = PyDoc_STR\("(?:[^"\\]|\\.)*)("\))'
)
_PROPERTY = re.compile(r"(\(getter\)(\w+),\s*(?:NULL|\(setter\)\w+),\s*)NULL(, NULL\})")
_MODULE = re.compile(r'("([\w.]+)",\s*)NULL(, /\* docstring \*/)')


def main(modules: list[str]) -> None:
    """Compile the modules, given as paths in this folder."""
    level = os.environ.get("MYPYC_OPT_LEVEL", "3")
    extensions = mypycify(modules, opt_level=level, debug_level="0")
    docstrings = dict(_docstrings(modules))
    for written in {source for each in extensions for source in each.sources}:
        path = Path(written)
        if path.name.startswith("__native"):
            path.write_text(_documented(path.read_text("utf-8"), docstrings), "utf-8")
    if os.name == "posix":
        # Nobody outside calls a module's functions by their names: so they may be inlined.
        for each in extensions:
            each.extra_compile_args += ["-fvisibility=hidden", "-fno-semantic-interposition"]
    setup(name="compiled", packages=[], ext_modules=extensions)


def _docstrings(modules: list[str]) -> Iterator[tuple[str, str]]:
    """Each docstring, by the names that the compiler may give in C to what it describes.

    A module has its full name there. What it holds is named by the last parts of that, as many as
    tell it apart: a name for which there are two docstrings is none of the compiler's.
    """
    by_name: dict[str, set[str]] = {}
    for path in modules:
        parts = path.removesuffix(".py").split("/")
        tree = ast.parse(Path(path).read_text("utf-8"))
        by_name[".".join(parts)] = {ast.get_docstring(tree) or ""}
        for inside, docstring in _docstrings_in(tree):
            for first in range(len(parts)):
                by_name.setdefault("___".join([*parts[first:], inside]), set()).add(docstring)
    for name, docstrings in by_name.items():
        if len(docstrings) == 1:
            yield name, docstrings.pop()


def _docstrings_in(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            docstring = ast.get_docstring(node) or ""
        if isinstance(node, ast.FunctionDef):
            yield node.name, docstring
        elif isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, ast.FunctionDef):
                    of_method = ast.get_docstring(each) or ""
                    is_property = "property" in {ast.unparse(one) for one in each.decorator_list}
                    yield f"{node.name}{'_get_' if is_property else '___'}{each.name}", of_method
                    if each.name == "__init__" and of_method:
                        # The interpreter shows its own words for ``__init__``.
                        docstring += f"\n\n{of_method}"
            yield node.name, docstring


def _documented(written: str, docstrings: dict[str, str]) -> str:
    """C code with docstrings: behind a signature, and where there is nothing yet."""

    def behind(found: re.Match[str]) -> str:
        docstring = docstrings.get(found[2], "")
        return found[1] + c_string_initializer(docstring.encode())[1:-1] + found[3]

    def in_place(found: re.Match[str]) -> str:
        docstring = docstrings.get(found[2])
        said = f"PyDoc_STR({c_string_initializer(docstring.encode())})" if docstring else "NULL"
        return found[1] + said + found[3]

    for pattern in (_FUNCTION, _CLASS):
        written = pattern.sub(behind, written)
    for pattern in (_PROPERTY, _MODULE):
        written = pattern.sub(in_place, written)
    return written


if __name__ == "__main__":
    main(sys.argv.pop().split())
