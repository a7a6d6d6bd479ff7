"""The annotated sources: the model and the implementation beside the rules that they state.

A folder has a page for each part, and an index. A part is a few modules that are read together.
"""

import ast
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from purgatory_lab.site_pages.checkout import ROOT, RULE, link_to_rule, linked, piece_name
from purgatory_spec.requirements import all_requirements, requirement


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


@dataclass(frozen=True)
class Annotated:
    """The annotated sources of a package.

    Attributes:
        folder: Of the pages, below the reference.
        package: Where the sources are.
        head: What the index says before the list of parts.
        parts: The modules of each part, by the name of the part's page.
        titles: What each part shows, in words.
    """

    folder: str
    package: Path
    head: str
    parts: Mapping[str, tuple[str, ...]]
    titles: Mapping[str, str]

    def link(self, piece: Piece) -> str:
        """Return the piece as a link from a page of the reference; its name where none shows it."""
        name = f"`{piece.module}.{piece.name}`"
        for part, modules in self.parts.items():
            if piece.module in modules:
                return f"[{name}]({self.folder}/{part}.md#{piece.anchor})"
        return name

    def pages(self) -> dict[str, str]:
        """Return the index and the parts, by their paths below the reference."""
        listed = [f"- [{self.titles[part]}]({part}.md)" for part in self.parts]
        pages = {f"{self.folder}/index.md": f"{self.head}\n" + "\n".join(listed) + "\n"}
        for part, modules in self.parts.items():
            pages[f"{self.folder}/{part}.md"] = "\n".join(self._part(self.titles[part], modules))
        return pages

    def _part(self, title: str, modules: tuple[str, ...]) -> Iterator[str]:
        yield f"# {title}\n"
        for module in modules:
            source = self.package / f"{module.replace('.', '/')}.py"
            docstring = ast.get_docstring(ast.parse(source.read_text("utf-8"))) or ""
            yield f"## {module} {{ #{module} }}\n\n{docstring.replace('``', '`')}\n"
            for piece in pieces(self.package):
                if piece.module == module:
                    yield _beside(piece)


def _beside(piece: Piece) -> str:
    rules = [f"- {link_to_rule(rule, '../')}: {requirement(rule).title}" for rule in piece.rules]
    words = "\n".join([piece_name(piece.anchor, piece.name.rpartition(".")[2]), "", *rules])
    left = f'<div class="piece-rules" markdown>\n\n{words}\n\n</div>'
    right = f'<div class="piece-source" markdown>\n\n```python\n{piece.source}\n```\n\n</div>'
    return f'<div class="piece" markdown>\n{left}\n{right}\n</div>\n'


def _rules_without_a_function(package: Path) -> str:
    stated = {rule for piece in pieces(package) for rule in piece.rules}
    elsewhere = [rule.id for rule in all_requirements() if rule.id not in stated]
    names = ", ".join(linked(rule, "../") for rule in elsewhere)
    return f"\n{_ELSEWHERE}\n\n{names}\n\n## Parts\n" if elsewhere else ""


_ELSEWHERE = """## Rules without a function of their own

These hold of the model as a whole (its tests say so one by one), or speak of a real clock, which
the model does not have and the runner judges by intervals:"""

_MODEL: Final = ROOT / "model" / "purgatory_model"
_IMPLEMENTATION: Final = ROOT / "impl" / "purgatory_impl"

MODEL: Final = Annotated(
    "model",
    _MODEL,
    """# The annotated model

The executable model, whole but for its imports: on the right the source, on the left the rules
that a function states.
"""
    + _rules_without_a_function(_MODEL),
    {
        "timer": (
            *("kafka_timer", "timing_wheel", "pending_tasks", "arithmetic"),
            *("timer", "choices.timers"),
        ),
        "purgatory": (
            *("kafka_purgatory", "walk", "call", "purgatory_state", "watcher_lists"),
            *("purgatory_faces", "purgatory", "choices.walks", "choices.meanwhile"),
            *("choices.watches", "choices.inline_executor", "choices.accounting"),
            "claims.purgatory",
        ),
        "memory-pool": ("memory_pool", "memory_pool_arithmetic", "claims.memory_pool"),
        "channel-muting": (
            *("kafka_channels", "channel_state", "channel_muting", "choices.channels"),
            "claims.channel_muting",
        ),
    },
    {
        "timer": "The timer: what every timer does, two ways of keeping tasks, their rounding",
        "purgatory": "The purgatory: its calls, its state, its watcher lists, its claims",
        "memory-pool": "The memory pool, its arithmetic, its claims",
        "channel-muting": "Channels that wait for memory, and their claims",
    },
)

IMPLEMENTATION: Final = Annotated(
    "implementation",
    _IMPLEMENTATION,
    """# The annotated implementation

The implementation beside the rules that its functions keep. These are the modules that keep rules;
each begins with what it does and in which order locks are taken.
""",
    {
        "timer": ("timer", "wheel", "bucket", "task", "task_queue", "executors", "clocks"),
        "purgatory": (
            *("purgatory", "delayed_operation", "accounting"),
            *("watcher_lists", "watchers", "walks", "chunks"),
        ),
        "memory-pool": ("memory_pool", "unbounded_memory_pool", "leak_detecting_memory_pool"),
        "network": (
            *("network.server", "network.network_thread", "network.channel"),
            "network.memory_line",
        ),
    },
    {
        "timer": "The timer: the wheel, its buckets, tasks, executors and clocks",
        "purgatory": "The purgatory: operations, accounting, watcher lists and walks",
        "memory-pool": "The memory pools",
        "network": "The network: channels that wait for memory",
    },
)
