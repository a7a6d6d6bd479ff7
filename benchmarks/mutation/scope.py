"""What is mutated, and what of it is left out, with the reason.

A module is named because one thread and a virtual clock decide everything that it does. What is
left out of such a module is listed here, name by name; nothing else is, but for positions that
hold no behaviour: type annotations and imports that only a type checker sees.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from purgatory_spec.profiles import Component

_TIMER = (Component.TIMER,)
_PURGATORY = (Component.PURGATORY,)
_POOL = (Component.MEMORY_POOL,)

MODULES: dict[str, tuple[Component, ...]] = {
    "wheel": _TIMER,
    "bucket": _TIMER,
    "task": _TIMER,
    "timer": _TIMER,
    "watchers": _PURGATORY,
    "watcher_lists": _PURGATORY,
    "delayed_operation": _PURGATORY,
    "accounting": _PURGATORY,
    "purgatory": _PURGATORY,
    "memory_pool": _POOL,
    "leak_detecting_memory_pool": _POOL,
    "unbounded_memory_pool": _POOL,
    "depletion": _POOL,
}
"""The modules that are mutated, each with the components whose campaigns judge its mutants."""

MODULES_LEFT_OUT: dict[str, str] = {
    "__init__": "names alone",
    "clocks": "real time and sleeping; of the virtual clock only its reading is deterministic",
    "errors": "texts, and one reason code for each class",
    "executors": "threads; the suite's subject replaces what is not one",
}
"""The modules that are not mutated, each with the reason."""


@dataclass(frozen=True)
class LeftOut:
    """A function of a mutated module that is left out."""

    module: str
    definition: str
    reason: str


LEFT_OUT: tuple[LeftOut, ...] = (
    LeftOut("timer", "Timer._reap", "the reaper's thread"),
    LeftOut("timer", "Timer._sleep_until_due", "the reaper's thread"),
    LeftOut("timer", "Timer._wake_reaper_if_earlier", "called only while a reaper sleeps"),
    LeftOut("purgatory", "Purgatory._reap", "the reaper's thread"),
    LeftOut("accounting", "ExactAccounting.wait_for_purge", "the reaper's thread"),
    LeftOut("accounting", "ProposalAccounting.wait_for_purge", "the reaper's thread"),
)
"""Every function that is left out. All of them run in threads of their own."""


@dataclass(frozen=True)
class Span:
    """Positions from ``start`` up to ``end``, each a line from 1 and a column from 0."""

    start: tuple[int, int]
    end: tuple[int, int]

    def holds(self, position: tuple[int, int]) -> bool:
        """Whether a position lies inside."""
        return self.start <= position < self.end


def type_spans(tree: ast.Module) -> tuple[Span, ...]:
    """Where there are only types: annotations, and what is under ``if TYPE_CHECKING``."""
    return tuple(_span(node) for node in _type_nodes(tree))


def _type_nodes(tree: ast.Module) -> Iterator[ast.expr | ast.stmt]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(returns=ast.expr() as returned):
                yield returned
            case ast.arg(annotation=ast.expr() as annotation):
                yield annotation
            case ast.AnnAssign(annotation=annotation):
                yield annotation
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield node


def definitions(tree: ast.Module) -> tuple[tuple[Span, str], ...]:
    """The functions and classes with their dotted names, outer ones first."""
    return tuple(_definitions(tree.body, ""))


def _definitions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[Span, str]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first_line = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield Span((first_line, 0), _span(node).end), f"{prefix}{node.name}"
            yield from _definitions(node.body, f"{prefix}{node.name}.")


def _span(node: ast.expr | ast.stmt) -> Span:
    end_line, end_column = node.end_lineno, node.end_col_offset
    assert end_line is not None
    assert end_column is not None
    return Span((node.lineno, node.col_offset), (end_line, end_column))
