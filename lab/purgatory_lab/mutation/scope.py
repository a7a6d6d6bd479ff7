"""The modules that are mutated, the trials of their mutants, and the parts outside the scope.

One thread and a virtual clock decide what a mutated module does, but for the parts that are listed
in ``left_out.toml``, name by name and line by line, each with the reason. Mutants of those parts
are judged all the same, and counted apart.

Two kinds of positions have no mutants. The first holds no behaviour: annotations, signatures,
protocols, decorators of abstract methods, and imports and decorators that only a type checker or
the compiler sees. The second is default values of arguments: the suite gives every argument.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec

from purgatory_judge.case_judge import Deviation
from purgatory_lab.scheduling.yield_points import Size
from purgatory_spec.profiles import Component


@dataclass(frozen=True)
class Trial:
    """The trial of a mutant: the campaigns on one component of a subject of ours.

    ``maker`` is the function of ``purgatory_conformance.subjects.bundled`` that makes the subject.
    ``sizes`` are constants of the implementation that are smaller in this trial.
    """

    maker: str
    component: Component
    deviations: tuple[Deviation, ...] = ()
    sizes: tuple[Size, ...] = ()

    @property
    def name(self) -> str:
        """Return subject, component, and the smaller constants."""
        smaller = (f"{size.name} {size.value}" for size in self.sizes)
        return ", ".join([self.maker, self.component.value, *smaller])

    @property
    def as_users_run(self) -> bool:
        """Decide whether the trial is ``purgatory check bundled --suite standard``."""
        return self.maker == "bundled_subject" and self.as_shipped

    @property
    def as_shipped(self) -> bool:
        """Decide whether the trial is ``purgatory check --suite standard`` of a bundled subject."""
        return not self.sizes


IMPORT: Final = "import"
"""The stage before the first trial."""

TIMER = Trial("bundled_subject", Component.TIMER)
PURGATORY = Trial("bundled_subject", Component.PURGATORY)
INLINE = Trial("bundled_inline_subject", Component.TIMER)
INLINE_PURGATORY = Trial("bundled_inline_subject", Component.PURGATORY)
POOL = Trial("bundled_subject", Component.MEMORY_POOL)
AS_PUBLISHED = Trial(
    "bundled_proposal_subject",
    Component.PURGATORY,
    (
        Deviation(
            rule="PURGATORY-STALE-OPERATIONS",
            variant="stale_uncounted",
            replay="",
            reason="the estimate of the published design forgets what has expired and not run",
        ),
    ),
)


def _places(places: int) -> Size:
    return Size("purgatory_impl.chunks", "CHUNK", places, "lists have more than one chunk")


_HOLD_OF_TWO = Size(
    "purgatory_impl.timer", "_STEPS_PER_HOLD", 2, "a pass takes more than one hold of the lock"
)
_BATCH_OF_TWO = Size("purgatory_impl.task_queue", "BATCH", 2, "the queue has more than one batch")

SMALL_HOLDS = replace(TIMER, sizes=(_HOLD_OF_TWO,))
SMALL_BATCHES = tuple(replace(trial, sizes=(_BATCH_OF_TWO,)) for trial in (TIMER, INLINE))
SMALL_CHUNKS = tuple(replace(PURGATORY, sizes=(_places(places),)) for places in (2, 4, 8))

_TIMER = (TIMER, PURGATORY, INLINE, SMALL_HOLDS)
_EXECUTOR = (TIMER, PURGATORY, INLINE, *SMALL_BATCHES)
_PURGATORY = (PURGATORY, INLINE_PURGATORY, AS_PUBLISHED)
_LISTS = (PURGATORY, *SMALL_CHUNKS, AS_PUBLISHED)
_POOL = (POOL,)

MODULES: dict[str, tuple[Trial, ...]] = {
    "arguments": (TIMER, PURGATORY, POOL),
    "wheel": _TIMER,
    "bucket": _TIMER,
    "task": _TIMER,
    "timer": _TIMER,
    "executors": _EXECUTOR,
    "task_queue": _EXECUTOR,
    "chunks": _LISTS,
    "walks": _LISTS,
    "watchers": _LISTS,
    "watcher_lists": _LISTS,
    "delayed_operation": _PURGATORY,
    "accounting": _PURGATORY,
    "purgatory": _PURGATORY,
    "memory_pool": _POOL,
    "leak_detecting_memory_pool": _POOL,
    "unbounded_memory_pool": _POOL,
    "depletion": _POOL,
}
"""The modules that are mutated, each with the trials of its mutants, as users run them first."""

_LOCKS_ALONE = "locks; one thread never waits for one, and the thin ones are the compiled build's"

MODULES_LEFT_OUT: dict[str, str] = {
    "__init__": "names alone",
    "clocks": "real time and sleeping; of the virtual clock only its reading is deterministic",
    "exclusion": _LOCKS_ALONE,
    "guarded": "the locks of an operation; one thread alone never waits for one",
    "operation_locks": _LOCKS_ALONE,
    "left_operations": "one thread alone leaves nothing to others; planted races break it",
    "failures": "requests to end the program, in the main thread alone, and words for people",
    "stacks": "the size of a thread's stack, which no case makes small",
    "errors": "texts, and one reason code for each class",
    "compiler": "what the compiler alone reads",
    "callable_operation": "an addition, which no rule speaks of; it has tests of its own",
    "event_loops": "an addition, which no rule speaks of; it has tests of its own",
}
"""The modules that are not mutated, each with the reason."""


@dataclass(frozen=True)
class LeftOut:
    """An exclusion from a module's scope: a class, a function, or one line of either.

    Attributes:
        module: The module.
        definition: The class or the function, dotted; empty at the module's level.
        reason: In words.
        line: The line as it is; empty for all lines.
        of_threads: Whether the exclusion is about a second thread.
        is_equivalent: Whether callers of one thread cannot tell a survivor from the original.
    """

    module: str
    definition: str
    reason: str
    line: str = ""
    of_threads: bool = False
    is_equivalent: bool = False

    def holds(self, module: str, definition: str, line: str) -> bool:
        """Decide whether the exclusion means a line of a function."""
        if module != self.module:
            return False
        if self.line:
            return (definition, line) == (self.definition, self.line)
        return f"{definition}.".startswith(f"{self.definition}.")


class _Reason(msgspec.Struct, forbid_unknown_fields=True):
    words: str
    threads: bool = False
    equivalent: bool = False


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    module: str
    definition: str
    reason: str
    lines: tuple[str, ...] = ("",)


class _List(msgspec.Struct, forbid_unknown_fields=True):
    reasons: dict[str, _Reason]
    left_out: tuple[_Entry, ...]


def _read_left_out() -> Iterator[LeftOut]:
    """Yield the exclusions of the list; see its first lines for the form."""
    text = Path(__file__).with_name("left_out.toml").read_bytes()
    read = msgspec.toml.decode(text, type=_List)
    for each in read.left_out:
        why = read.reasons[each.reason]
        for line in each.lines:
            yield LeftOut(
                *(each.module, each.definition, why.words, line),
                of_threads=why.threads,
                is_equivalent=why.equivalent,
            )


LEFT_OUT: Final = tuple(_read_left_out())
"""The code that is left out: it takes a second thread, or no rule speaks of it."""


def left_out_of(module: str, definition: str, line: str) -> LeftOut | None:
    """Return the exclusion of a line of a function; None where it is in scope."""
    return next((each for each in LEFT_OUT if each.holds(module, definition, line)), None)


@dataclass(frozen=True)
class Span:
    """Positions from ``start`` up to ``end``, each a line from 1 and a column from 0."""

    start: tuple[int, int]
    end: tuple[int, int]

    def holds(self, position: tuple[int, int]) -> bool:
        """Decide whether a position lies inside."""
        return self.start <= position < self.end


_FOR_COMPILERS = {"final", "mypyc_attr"}
"""Decorators of classes that type checkers and the compiler look at, and the program does not."""


def type_spans(tree: ast.Module) -> tuple[Span, ...]:
    """Return the spans with nothing but types; default values of arguments lie inside."""
    return tuple(_type_spans(tree))


def _type_spans(tree: ast.Module) -> Iterator[Span]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef():
                abstract = "abstractmethod" in {_name(each) for each in node.decorator_list}
                start = _with_decorators(node) if abstract else _span(node).start
                yield Span(start, _span(node.body[0]).start)
            case ast.ClassDef() if "Protocol" in {_name(base) for base in node.bases}:
                yield _span(node)
            case ast.ClassDef():
                for decorator in node.decorator_list:
                    if _name(decorator) in _FOR_COMPILERS:
                        # From the sign before it on.
                        yield Span((decorator.lineno, 0), _span(decorator).end)
            case ast.AnnAssign(annotation=annotation):
                yield _span(annotation)
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield _span(node)


def _name(node: ast.expr) -> str:
    """Return the identifier of a name or of a called name; empty for any other expression."""
    named = node.func if isinstance(node, ast.Call) else node
    return named.id if isinstance(named, ast.Name) else ""


def default_spans(tree: ast.Module) -> tuple[Span, ...]:
    """Return the spans of the default values of arguments."""
    return tuple(
        _span(default)
        for node in ast.walk(tree)
        if isinstance(node, ast.arguments)
        for default in (*node.defaults, *node.kw_defaults)
        if default is not None
    )


_SIMPLE_STATEMENTS = (
    ast.Expr,
    ast.Assign,
    ast.AugAssign,
    ast.Return,
    ast.Raise,
    ast.Delete,
    ast.Assert,
    ast.Break,
    ast.Continue,
)


def statement_spans(tree: ast.Module) -> tuple[Span, ...]:
    """Return the spans of simple statements, without imports, docstrings, slots, declarations."""
    return tuple(_statement_spans(tree))


def _statement_spans(tree: ast.Module) -> Iterator[Span]:
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Assign(targets=[ast.Name(id="__slots__")]):
                pass
            case ast.AnnAssign(value=value):
                if value is not None:
                    yield _span(node)
            case ast.stmt() if isinstance(node, _SIMPLE_STATEMENTS):
                yield _span(node)


def definitions(tree: ast.Module) -> tuple[tuple[Span, str], ...]:
    """Return the functions and classes with their dotted names, outer ones first."""
    return tuple(_definitions(tree.body, ""))


def _definitions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[Span, str]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield Span(_with_decorators(node), _span(node).end), f"{prefix}{node.name}"
            yield from _definitions(node.body, f"{prefix}{node.name}.")


def _with_decorators(node: ast.FunctionDef | ast.ClassDef) -> tuple[int, int]:
    """Return the start of the first line, whether of a decorator or of the definition."""
    return min([node.lineno, *(each.lineno for each in node.decorator_list)]), 0


def _span(node: ast.expr | ast.stmt) -> Span:
    end_line, end_column = node.end_lineno, node.end_col_offset
    assert end_line is not None
    assert end_column is not None
    return Span((node.lineno, node.col_offset), (end_line, end_column))
