"""The code of Python modules and of all that they import, as inputs of digests."""

import ast
import io
import tokenize
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec, resolve_name
from pathlib import Path


def folders_of(packages: Iterable[str]) -> dict[str, Path]:
    """Return the folder of each installed package, by name."""
    folders = {}
    for name in packages:
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        folders[name] = Path(spec.origin).parent
    return folders


def python_texts(packages: Mapping[str, Path], name: str) -> dict[str, str]:
    """Return the code of a Python module and of all modules of ours that it imports, by name."""
    texts: dict[str, str] = {}
    waiting = [name]
    while waiting:
        module = waiting.pop()
        path = _file_of(packages, module)
        if module in texts or path is None:
            continue
        texts[module], imported = _read_code(_read_text(path, path.stat().st_mtime_ns))
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        waiting += [*(resolve_name(each, package) for each in imported), package]
    return texts


def _file_of(packages: Mapping[str, Path], module: str) -> Path | None:
    """Return the file of a module of one of the packages; None for everything else."""
    first, *rest = module.split(".")
    if first not in packages:
        return None
    path = packages[first].joinpath(*rest)
    candidates = (path / "__init__.py", path.with_suffix(".py"))
    return next((each for each in candidates if each.is_file()), None)


@cache
def _read_text(path: Path, _changed: int) -> str:
    return path.read_text(encoding="utf-8")


@cache
def _read_code(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the code of a text and the names that it imports, each of which may be a module.

    A name with leading dots is relative to the package of the text.
    """
    tree = ast.parse(text)
    imported: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            dot = "." if node.module else ""
            imported += [base, *(f"{base}{dot}{each.name}" for each in node.names)]
    return code_of(text, tree), tuple(imported)


def code_of(text: str, tree: ast.Module) -> str:
    """Return a Python text without comments, strings that stand alone, and empty lines."""
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            first, last = node.lineno - 1, node.end_lineno or node.lineno
            if lines[first][: node.col_offset].strip() == "":  # nothing else stands on its line
                lines[first:last] = [""] * (last - first)
    return "\n".join(line.rstrip() for line in lines if line.strip())
