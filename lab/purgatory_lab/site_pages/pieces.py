"""The pieces of a package's sources: functions, classes and constants, with the rules they name."""

import ast
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from purgatory_lab.site_pages.checkout import RULE


@dataclass(frozen=True)
class Piece:
    """A function, a class without its methods, or a constant, with the rules that it names."""

    module: str
    name: str
    source: str
    rules: tuple[str, ...]

    @property
    def anchor(self) -> str:
        """Return the anchor on the page of its annotated source."""
        return f"{self.module}.{self.name}"


@cache
def pieces(package: Path) -> tuple[Piece, ...]:
    """Return the pieces of all modules of a package, in the order of the sources."""
    return tuple(
        piece
        for path in sorted(package.rglob("*.py"))
        for piece in _module_pieces(".".join(path.relative_to(package).with_suffix("").parts), path)
    )


def _module_pieces(module: str, path: Path) -> Iterator[Piece]:
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    body = ast.parse(source).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        match node:
            case ast.FunctionDef():
                yield _piece(module, node.name, node, lines, node.end_lineno)
            case ast.ClassDef():
                methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
                head_end = _first_line(methods[0]) - 1 if methods else node.end_lineno
                yield _piece(module, node.name, node, lines, head_end)
                for method in methods:
                    name = f"{node.name}.{method.name}"
                    yield _piece(module, name, method, lines, method.end_lineno)
            case ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name)):
                explained = isinstance(after, ast.Expr)
                end = after.end_lineno if explained and after else node.end_lineno
                yield _piece(module, name, node, lines, end)


_Documented = ast.FunctionDef | ast.ClassDef


def _first_line(node: ast.FunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _piece(module: str, name: str, node: ast.stmt, lines: list[str], end: int | None) -> Piece:
    first = _first_line(node) if isinstance(node, _Documented) else node.lineno
    source = textwrap.dedent("\n".join(lines[first - 1 : end])).rstrip()
    docstring = ast.get_docstring(node) if isinstance(node, _Documented) else None
    return Piece(module, name, source, tuple(dict.fromkeys(RULE.findall(docstring or ""))))
